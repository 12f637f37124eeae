#include "fixnvpe/os/names.hpp"

#include <memory>
#include <string_view>

#include "by_handle.hpp"
#include "file_steps.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

void rename(const fs::path& from, const fs::path& to, bool replace) {
    const Handle handle = win32::open_name(from, DELETE | SYNCHRONIZE);
    if (!handle) {
        win32::fail_on_name(from, "rename", ::GetLastError());
    }
    win32::rename_by_handle(native_of(handle), to, replace);
}

}  // namespace

bool can_be_replaced(const fs::path& path) {
    return !win32::is_read_only(path) && info_of(path).type != FileType::link && !win32::keeps_writers_out(path);
}

bool make_hard_link(const fs::path& existing, const fs::path& name) {
    if (::CreateHardLinkW(win32::extended(name).c_str(), win32::extended(existing).c_str(), nullptr) != FALSE) {
        return true;
    }
    const DWORD code = ::GetLastError();
    if (win32::stops_renaming(code)) {
        throw win32::system_error(name, "link the original as the backup", code);
    }
    return false;  // FAT, a folder of OneDrive's, a file that we may not link: it may still be ours to rename
}

void rename_over(const fs::path& from, const fs::path& to) {
    rename(from, to, true);
}

void rename_new(const fs::path& from, const fs::path& to) {
    rename(from, to, false);
}

bool remove(const fs::path& path) {
    constexpr const char* step = "remove";
    const Handle handle = win32::open_name(path, DELETE | FILE_READ_ATTRIBUTES);
    if (!handle) {
        if (win32::is_missing(::GetLastError())) {
            return false;
        }
        win32::fail_on_name(path, step, ::GetLastError());
    }
    if (info_by_handle(handle, path).type == FileType::folder) {
        throw Error(ErrorCode::not_regular_file, "remove: it is a folder").at(path);
    }
    const DWORD code = win32::patiently(path, [&] { return win32::delete_by_handle(native_of(handle), path); });
    if (code != ERROR_SUCCESS) {
        win32::fail_on_name(path, step, code);
    }
    return true;
}

void sync_folder(const fs::path& folder) {
    const Handle handle =
        win32::open(folder, FILE_WRITE_DATA, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle && ::FlushFileBuffers(native_of(handle)) != FALSE) {
        return;
    }
    // Who may not add files can't flush either; only some file systems have this step.
    if (const DWORD code = ::GetLastError(); code != ERROR_ACCESS_DENIED && !win32::is_unsupported(code)) {
        throw win32::system_error(folder, "flush the folder", code);
    }
}

std::vector<FolderEntry> list_folder(const fs::path& folder) {
    struct Closer {
        void operator()(void* find) const { ::FindClose(find); }
    };
    std::wstring pattern = win32::extended(folder);
    pattern += pattern.back() == L'\\' ? L"*" : L"\\*";
    WIN32_FIND_DATAW data{};
    HANDLE find = ::FindFirstFileExW(pattern.c_str(), FindExInfoBasic, &data, FindExSearchNameMatch, nullptr,
                                     FIND_FIRST_EX_LARGE_FETCH);
    std::vector<FolderEntry> entries;
    if (find == INVALID_HANDLE_VALUE) {
        const DWORD code = ::GetLastError();
        // The root folder of a drive has no "." and "..": it may have no entry at all.
        if (code == ERROR_FILE_NOT_FOUND && info_of(folder).type == FileType::folder) {
            return entries;
        }
        throw win32::system_error(folder, "list", code);
    }
    const std::unique_ptr<void, Closer> closer(find);
    do {
        const std::wstring_view name = data.cFileName;
        if (name != L"." && name != L"..") {
            entries.push_back({fs::path(name), win32::type_of(data.dwFileAttributes, data.dwReserved0)});
        }
    } while (::FindNextFileW(find, &data) != FALSE);
    if (::GetLastError() != ERROR_NO_MORE_FILES) {
        win32::fail(folder, "list");
    }
    return entries;
}

Rooted split_root(const fs::path& path) {
    const std::wstring& text = path.native();
    const auto is_separator = [&](std::size_t i) { return i < text.size() && (text[i] == L'\\' || text[i] == L'/'); };
    const auto end_of_name = [&](std::size_t i) { return std::min(text.find_first_of(L"\\/", i), text.size()); };
    std::size_t end = 0;
    if (is_separator(0) && is_separator(1) && text.size() > 2 && !is_separator(2)) {
        end = end_of_name(2);  // the server, or "?" and "."
        const bool device = end == 3 && (text[2] == L'?' || text[2] == L'.');
        std::size_t names = 1;
        if (device && ::_wcsnicmp(text.c_str() + end, L"\\UNC\\", 5) == 0) {
            names = 3;
        }
        for (; names > 0 && end < text.size(); --names) {
            end = end_of_name(end + 1);
        }
    } else {
        end = text.size() > 1 && text[1] == L':' ? std::size_t{2} : 0;
    }
    end += is_separator(end) ? std::size_t{1} : 0;
    return {text.substr(0, end), text.substr(end)};
}

fs::path canonical(const fs::path& path) {
    constexpr const char* step = "find what it leads to";
    const Handle handle =
        win32::open(path, FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (!handle) {
        win32::fail(path, step);
    }
    const std::wstring text = win32::final_path(native_of(handle));
    if (text.empty()) {
        win32::fail(path, step);
    }
    return win32::without_prefix(text);
}

char32_t fold_case(char32_t c) {
    if (c < 0x80) {
        return c >= U'a' && c <= U'z' ? c - (U'a' - U'A') : c;
    }
    // NTFS knows no case beyond the first plane.
    wchar_t upper = 0;
    const auto lower = static_cast<wchar_t>(c);
    if (c > 0xFFFF ||
        ::LCMapStringEx(LOCALE_NAME_INVARIANT, LCMAP_UPPERCASE, &lower, 1, &upper, 1, nullptr, nullptr, 0) != 1) {
        return c;
    }
    return static_cast<char32_t>(upper);
}

}  // namespace fixnvpe::os
