#include "win32.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe::os {

void Handle::close() noexcept {
    if (*this) {
        ::CloseHandle(native_of(*this));
        native_ = NONE;
    }
}

namespace win32 {
namespace {

namespace fs = std::filesystem;

// Codes that MinGW-w64's <winerror.h> lacks.
constexpr DWORD VIRUS_INFECTED = 225;
constexpr DWORD VIRUS_DELETED = 226;
constexpr DWORD DISK_RESOURCES_EXHAUSTED = 314;
constexpr DWORD DISK_QUOTA_EXCEEDED = 1295;

/// The three bytes of a surrogate, which are no UTF-8. @return 0 if there is none
char32_t surrogate_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const bool there =
        text.size() >= 3 && byte(0) == 0xED && byte(1) >= 0xA0 && byte(1) <= 0xBF && (byte(2) & 0xC0) == 0x80;
    return there ? 0xD000U | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU) : 0;
}

bool is_separator(wchar_t c) {
    return c == L'\\' || c == L'/';
}

bool is_drive(std::wstring_view text) {
    const wchar_t letter = text.empty() ? L'\0' : static_cast<wchar_t>(text[0] | 0x20);
    return text.size() >= 2 && text[1] == L':' && letter >= L'a' && letter <= L'z';
}

/// GetFullPathNameW, for the short words that stand for the current folder of a drive.
std::wstring full_path(const std::wstring& text) {
    std::wstring result(::GetFullPathNameW(text.c_str(), 0, nullptr, nullptr), L'\0');
    result.resize(::GetFullPathNameW(text.c_str(), static_cast<DWORD>(result.size()), result.data(), nullptr));
    return result;
}

std::wstring_view take_name(std::wstring_view& rest) {
    const auto end = std::find_if(rest.begin(), rest.end(), is_separator);
    const auto name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    return name;
}

/// Appends the names of `rest` to a root, the first `fixed` of them for good.
std::wstring append_names(std::wstring root, std::wstring_view rest, std::size_t fixed) {
    std::vector<std::wstring_view> names;
    while (!rest.empty()) {
        const std::wstring_view name = take_name(rest);
        if (name == L"..") {
            names.resize(std::max(std::min(fixed, names.size()), names.size() - (names.empty() ? 0 : 1)));
        } else if (!name.empty() && name != L".") {
            names.push_back(name);
        }
    }
    for (const std::wstring_view name : names) {
        root += L'\\';
        root += name;
    }
    // "C:" alone is the volume, "C:\" its root folder.
    return names.size() <= fixed ? root + L'\\' : root;
}

std::string in_users_language(DWORD code) {
    struct Freer {
        void operator()(wchar_t* text) const { ::LocalFree(text); }
    };
    wchar_t* text = nullptr;
    DWORD size =
        ::FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
                         nullptr, code, 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
    const std::unique_ptr<wchar_t, Freer> owner(text);
    std::wstring_view message(text != nullptr ? text : L"", size);
    while (!message.empty() && (message.back() <= L' ' || message.back() == L'.')) {
        message.remove_suffix(1);
    }
    return message.empty() ? fmt::format("error {}", code) : fmt::format("{} ({})", from_wide(message), code);
}

}  // namespace

std::wstring to_wide(std::string_view text) {
    std::wstring result;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        const char32_t surrogate = c.valid ? 0 : surrogate_at(text);
        if (c.valid && c.value >= 0x10000) {
            result += static_cast<wchar_t>(0xD800 + ((c.value - 0x10000) >> 10));
            result += static_cast<wchar_t>(0xDC00 + ((c.value - 0x10000) & 0x3FF));
        } else if (c.valid) {
            result += static_cast<wchar_t>(c.value);
        } else {
            result += surrogate != 0 ? static_cast<wchar_t>(surrogate) : L'\xFFFD';
        }
        text.remove_prefix(surrogate != 0 ? 3 : c.length);
    }
    return result;
}

std::string from_wide(std::wstring_view text) {
    return encode_utf8(code_points(text));
}

std::wstring extended(const fs::path& path) {
    std::wstring text = path.native();
    const auto has_unc_root = [](const std::wstring& p) {
        return p.size() > 2 && is_separator(p[0]) && is_separator(p[1]);
    };
    // What Windows does not resolve, or a device.
    if (has_unc_root(text) && text.size() > 3 && (text[2] == L'?' || text[2] == L'.') && is_separator(text[3])) {
        return (text[2] == L'?' ? L"\\\\?\\" : L"\\\\.\\") + text.substr(4);
    }
    if (is_drive(text) && (text.size() == 2 || !is_separator(text[2]))) {
        text = full_path(text.substr(0, 2)) + L'\\' + text.substr(2);
    } else if (!is_drive(text) && !has_unc_root(text)) {
        text = full_path(!text.empty() && is_separator(text[0]) ? L"\\" : L".") + L'\\' + text;
    }
    if (text.starts_with(L"\\\\?\\")) {  // the current folder has such a path itself
        const std::wstring bare = without_prefix(text);
        if (bare == text) {
            return append_names(L"\\\\?", std::wstring_view(text).substr(4), 1);
        }
        text = bare;
    }
    if (has_unc_root(text)) {
        return append_names(L"\\\\?\\UNC", std::wstring_view(text).substr(2), 2);
    }
    return append_names(L"\\\\?", text, 1);
}

std::wstring without_prefix(std::wstring_view path) {
    constexpr std::wstring_view prefix = L"\\\\?\\";
    constexpr std::wstring_view unc = L"UNC\\";
    if (path.starts_with(prefix)) {
        const std::wstring_view rest = path.substr(prefix.size());
        if (is_drive(rest) && rest.size() > 2 && rest[2] == L'\\') {
            return std::wstring(rest);
        }
        if (rest.starts_with(unc)) {
            return L"\\\\" + std::wstring(rest.substr(unc.size()));
        }
    }
    return std::wstring(path);
}

Error busy_error(const fs::path& path, std::string_view step, DWORD code) {
    return Error(ErrorCode::busy, fmt::format("{}: {}", step, in_users_language(code)), Hint::close_program,
                 users_of(path))
        .at(path)
        .with_number(static_cast<long>(code));
}

Error system_error(const fs::path& path, std::string_view step, DWORD code) {
    const auto error = [&](ErrorCode kind, Hint hint = Hint::none) {
        return Error(kind, fmt::format("{}: {}", step, in_users_language(code)), hint)
            .at(path)
            .with_number(static_cast<long>(code));
    };
    switch (code) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME:
        case ERROR_INVALID_DRIVE:
        case ERROR_BAD_NETPATH:
        case ERROR_BAD_NET_NAME:
        case ERROR_NOT_READY: return error(ErrorCode::not_found);
        case ERROR_ACCESS_DENIED: return error(ErrorCode::access_denied, Hint::allow_program);
        case ERROR_NETWORK_ACCESS_DENIED:
        case ERROR_PRIVILEGE_NOT_HELD: return error(ErrorCode::access_denied, Hint::be_administrator);
        case ERROR_WRITE_PROTECT: return error(ErrorCode::access_denied, Hint::write_protected);
        case VIRUS_INFECTED:
        case VIRUS_DELETED: return error(ErrorCode::access_denied, Hint::blocked_by_antivirus);
        case ERROR_SHARING_VIOLATION:
        case ERROR_LOCK_VIOLATION:
        case ERROR_USER_MAPPED_FILE: return busy_error(path, step, code);
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL:
        case DISK_QUOTA_EXCEEDED:
        case DISK_RESOURCES_EXHAUSTED: return error(ErrorCode::disk_full, Hint::free_space);
        case ERROR_CANT_RESOLVE_FILENAME:
        case STOPPED_ON_LINK: return error(ErrorCode::link, Hint::name_the_file);
        default: return error(ErrorCode::io);
    }
}

bool is_missing(DWORD code) {
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME ||
           code == ERROR_INVALID_DRIVE || code == ERROR_BAD_NETPATH || code == ERROR_BAD_NET_NAME ||
           code == ERROR_DIRECTORY;
}

bool is_unsupported(DWORD code) {
    return code == ERROR_INVALID_PARAMETER || code == ERROR_INVALID_FUNCTION || code == ERROR_NOT_SUPPORTED ||
           code == ERROR_CALL_NOT_IMPLEMENTED || code == ERROR_INVALID_LEVEL;
}

bool keeps_writers_out(const fs::path& path) {
    return !open(path, FILE_WRITE_DATA, SHARE_ALL, OPEN_EXISTING, NO_FOLLOW) &&
           ::GetLastError() == ERROR_SHARING_VIOLATION;
}

bool stops_renaming(DWORD code) {
    return code == ERROR_ALREADY_EXISTS || code == ERROR_FILE_EXISTS || is_missing(code) || code == ERROR_DISK_FULL ||
           code == ERROR_HANDLE_DISK_FULL || code == DISK_QUOTA_EXCEEDED || code == DISK_RESOURCES_EXHAUSTED;
}

void fail(const fs::path& path, std::string_view step) {
    throw system_error(path, step, ::GetLastError());
}

Handle open(const fs::path& path, DWORD access, DWORD share, DWORD disposition, DWORD flags) {
    return owned(::CreateFileW(extended(path).c_str(), access, share, nullptr, disposition, flags, nullptr));
}

}  // namespace win32
}  // namespace fixnvpe::os
