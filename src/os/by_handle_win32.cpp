#include "by_handle.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace fixnvpe::os::win32 {
namespace {

namespace fs = std::filesystem;

// Of FILE_RENAME_INFO and FILE_DISPOSITION_INFO_EX, since Windows 10 1607 and (read-only) 1809.
constexpr DWORD RENAME_REPLACE = 0x01;
constexpr DWORD RENAME_POSIX = 0x02;  // a file that others have open gives its name up
constexpr DWORD RENAME_READ_ONLY = 0x40;
constexpr DWORD DISPOSITION_DELETE = 0x01;
constexpr DWORD DISPOSITION_POSIX = 0x02;  // the name goes at once, and not with the last handle
constexpr DWORD DISPOSITION_READ_ONLY = 0x10;

/// @return 0 if it can't be asked
DWORD attributes_of(HANDLE handle) {
    FILE_BASIC_INFO basic{};
    return ::GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic) != FALSE ? basic.FileAttributes
                                                                                                : 0;
}

bool set_attributes(HANDLE handle, DWORD attributes) {
    FILE_BASIC_INFO basic{};  // times of 0 stay as they are
    basic.FileAttributes = attributes == 0 ? FILE_ATTRIBUTE_NORMAL : attributes;
    return ::SetFileInformationByHandle(handle, FileBasicInfo, &basic, sizeof basic) != FALSE;
}

/// Someone has the file open or loaded.
bool is_in_use(const fs::path& path) {
    for (const DWORD access :
         {DWORD{FILE_WRITE_DATA}, DWORD{FILE_READ_DATA}}) {  // a read-only file can't be opened to write
        if (!open(path, access, 0, OPEN_EXISTING, NO_FOLLOW) && ::GetLastError() == ERROR_SHARING_VIOLATION) {
            return true;
        }
    }
    return !users_of(path).empty();
}

bool may_add_files(const fs::path& folder) {
    return open(folder.empty() ? fs::path(".") : folder, FILE_ADD_FILE, SHARE_ALL, OPEN_EXISTING,
                FILE_FLAG_BACKUP_SEMANTICS) ||
           ::GetLastError() != ERROR_ACCESS_DENIED;
}

bool set_name(HANDLE handle, FILE_INFO_BY_HANDLE_CLASS kind, DWORD flags, const std::wstring& to) {
    const std::size_t size = sizeof(FILE_RENAME_INFO) + to.size() * sizeof(wchar_t);
    std::vector<std::uint64_t> buffer(size / sizeof(std::uint64_t) + 1);
    auto& info = *reinterpret_cast<FILE_RENAME_INFO*>(buffer.data());
    std::memcpy(&info, &flags, sizeof flags);  // its first member: ReplaceIfExists or Flags
    info.FileNameLength = static_cast<DWORD>(to.size() * sizeof(wchar_t));
    std::memcpy(info.FileName, to.c_str(), (to.size() + 1) * sizeof(wchar_t));
    return ::SetFileInformationByHandle(handle, kind, &info, static_cast<DWORD>(size)) != FALSE;
}

}  // namespace

FileType type_of(DWORD attributes, DWORD reparse_tag) {
    // Other reparse points (deduplicated, compressed or cloud files) are what they look like.
    constexpr DWORD app_exec_link = 0x8000001B;
    constexpr DWORD unix_socket = 0x80000023;
    constexpr DWORD linux_fifo = 0x80000024;
    constexpr DWORD linux_block_device = 0x80000026;
    if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        if (reparse_tag == 0 || IsReparseTagNameSurrogate(reparse_tag)) {  // 0: Wine
            return FileType::link;
        }
        if (reparse_tag == app_exec_link || (reparse_tag >= unix_socket && reparse_tag <= linux_block_device &&
                                             (reparse_tag == unix_socket || reparse_tag >= linux_fifo))) {
            return FileType::other;
        }
    }
    if ((attributes & FILE_ATTRIBUTE_DEVICE) != 0) {
        return FileType::other;
    }
    return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileType::folder : FileType::regular;
}

std::wstring final_path(HANDLE handle) {
    std::wstring text;
    for (const DWORD volume :
         {DWORD{VOLUME_NAME_DOS}, DWORD{VOLUME_NAME_GUID}}) {  // GUID: a volume without a drive letter
        text.resize(::GetFinalPathNameByHandleW(handle, nullptr, 0, FILE_NAME_NORMALIZED | volume));
        if (!text.empty()) {
            text.resize(::GetFinalPathNameByHandleW(handle, text.data(), static_cast<DWORD>(text.size()),
                                                    FILE_NAME_NORMALIZED | volume));
        }
        if (!text.empty()) {
            break;
        }
    }
    return text;
}

FILE_BASIC_INFO basic_info(HANDLE handle, const fs::path& path) {
    FILE_BASIC_INFO basic{};
    if (::GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic) == FALSE) {
        fail(path, "look up");
    }
    return basic;
}

WithoutReadOnly::WithoutReadOnly(const fs::path& path)
    : handle_(open(path, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES, SHARE_ALL, OPEN_EXISTING, NO_FOLLOW)) {
    const DWORD attributes = handle_ ? attributes_of(native_of(handle_)) : 0;
    if ((attributes & FILE_ATTRIBUTE_READONLY) != 0 &&
        set_attributes(native_of(handle_), attributes & ~DWORD{FILE_ATTRIBUTE_READONLY})) {
        attributes_ = attributes;
    }
}

WithoutReadOnly::~WithoutReadOnly() {
    if (changed()) {
        set_attributes(native_of(handle_), attributes_);
    }
}

bool is_read_only(const fs::path& path) {
    const DWORD attributes = ::GetFileAttributesW(extended(path).c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0;
}

void fail_on_name(const fs::path& path, const char* step, DWORD code) {
    if (code == ERROR_ACCESS_DENIED && is_in_use(path)) {
        throw busy_error(path, step, code);
    }
    throw system_error(path, step, code);
}

DWORD patiently(const fs::path& path, const std::function<DWORD()>& attempt) {
    constexpr DWORD delete_pending = 303;
    constexpr DWORD longest_pause = 640;  // milliseconds
    constexpr DWORD enough = 5000;
    const auto may_pass = [](DWORD code) {
        return code == ERROR_SHARING_VIOLATION || code == ERROR_ACCESS_DENIED || code == delete_pending;
    };
    DWORD code = attempt();
    if (!may_pass(code) || !may_add_files(path.parent_path())) {
        return code;
    }
    DWORD waited = 0;
    for (DWORD pause = 10; may_pass(code) && waited < enough; pause = std::min(2 * pause, longest_pause)) {
        if (is_read_only(path) || !users_of(path).empty()) {
            break;
        }
        ::Sleep(pause);
        waited += pause;
        code = attempt();
    }
    return code;
}

Handle open_name(const fs::path& path, DWORD access) {
    Handle handle;
    const DWORD code = patiently(path, [&] {
        handle = open(path, access, SHARE_ALL, OPEN_EXISTING, NO_FOLLOW);
        return handle ? DWORD{ERROR_SUCCESS} : ::GetLastError();
    });
    ::SetLastError(code);
    return handle;
}

void rename_by_handle(HANDLE handle, const fs::path& to, bool replace) {
    const std::wstring name = extended(to);
    const DWORD flags = replace ? RENAME_REPLACE : 0;
    DWORD code = patiently(to, [&] {
        DWORD result = ERROR_INVALID_PARAMETER;
        for (const DWORD more : {RENAME_POSIX | RENAME_READ_ONLY, RENAME_POSIX}) {
            if (is_unsupported(result)) {
                result = set_name(handle, FILE_RENAME_INFO_EX, flags | more, name) ? ERROR_SUCCESS : ::GetLastError();
            }
        }
        if (is_unsupported(result)) {
            result = set_name(handle, FileRenameInfo, flags, name) ? ERROR_SUCCESS : ::GetLastError();
        }
        return result;
    });
    if (code == ERROR_ACCESS_DENIED && replace && is_read_only(to)) {
        // A system that knows no RENAME_READ_ONLY. Nobody may have the file open, not even we.
        const DWORD attributes = ::GetFileAttributesW(name.c_str());
        ::SetFileAttributesW(name.c_str(), FILE_ATTRIBUTE_NORMAL);
        code = set_name(handle, FileRenameInfo, flags, name) ? ERROR_SUCCESS : ::GetLastError();
        if (code != ERROR_SUCCESS) {
            ::SetFileAttributesW(name.c_str(), attributes);
        }
    }
    if (code != ERROR_SUCCESS) {
        fail_on_name(to, "rename", code);
    }
}

DWORD delete_by_handle(HANDLE handle, const fs::path& path) {
    FILE_DISPOSITION_INFO plain{TRUE};
    DWORD code = ERROR_INVALID_PARAMETER;
    for (const DWORD more : {DISPOSITION_READ_ONLY, DWORD{0}}) {
        DWORD flags = DISPOSITION_DELETE | DISPOSITION_POSIX | more;
        if (is_unsupported(code)) {
            const bool done =
                ::SetFileInformationByHandle(handle, FILE_DISPOSITION_INFO_EX, &flags, sizeof flags) != FALSE;
            code = done ? ERROR_SUCCESS : ::GetLastError();
        }
    }
    const auto try_plainly = [&] {
        const bool done = ::SetFileInformationByHandle(handle, FileDispositionInfo, &plain, sizeof plain) != FALSE;
        return done ? ERROR_SUCCESS : ::GetLastError();
    };
    if (is_unsupported(code)) {
        code = try_plainly();
    }
    if (code == ERROR_ACCESS_DENIED && (attributes_of(handle) & FILE_ATTRIBUTE_READONLY) != 0) {
        const WithoutReadOnly writable(path);  // its other names keep the mark
        code = try_plainly();
    }
    return code;
}

}  // namespace fixnvpe::os::win32
