#include "fixnvpe/os/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "win32.hpp"

namespace fixnvpe::os {

using win32::Handle;

namespace {

namespace fs = std::filesystem;

/// One system call reads or writes this much at the most.
constexpr std::size_t IO_CHUNK = std::size_t{1} << 30;

// Of FILE_RENAME_INFO and FILE_DISPOSITION_INFO_EX, since Windows 10 1607 and (read-only) 1809.
constexpr DWORD RENAME_REPLACE = 0x01;
constexpr DWORD RENAME_POSIX = 0x02;  // a file that others have open gives its name up
constexpr DWORD RENAME_READ_ONLY = 0x40;
constexpr DWORD DISPOSITION_DELETE = 0x01;
constexpr DWORD DISPOSITION_POSIX = 0x02;  // the name goes at once, and not with the last handle
constexpr DWORD DISPOSITION_READ_ONLY = 0x10;

HANDLE handle_of(std::intptr_t native) {
    return reinterpret_cast<HANDLE>(native);
}

std::intptr_t native_of(Handle handle) {
    return reinterpret_cast<std::intptr_t>(handle.release());
}

/// The system, or the file system, does not know this call.
bool is_unsupported(DWORD code) {
    return code == ERROR_INVALID_PARAMETER || code == ERROR_INVALID_FUNCTION || code == ERROR_NOT_SUPPORTED ||
           code == ERROR_CALL_NOT_IMPLEMENTED || code == ERROR_INVALID_LEVEL;
}

bool is_missing(DWORD code) {
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME ||
           code == ERROR_INVALID_DRIVE || code == ERROR_BAD_NETPATH || code == ERROR_BAD_NET_NAME ||
           code == ERROR_DIRECTORY;
}

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

std::uint64_t join(DWORD high, DWORD low) {
    return std::uint64_t{high} << 32 | low;
}

std::wstring final_path(HANDLE handle) {
    std::wstring text;
    for (const DWORD volume : {DWORD{VOLUME_NAME_DOS}, DWORD{VOLUME_NAME_GUID}}) {  // GUID: a volume without a drive letter
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

FileIdentity identity_of(HANDLE handle, const BY_HANDLE_FILE_INFORMATION& information) {
    FileIdentity identity;
    FILE_ID_INFO id{};
    if (::GetFileInformationByHandleEx(handle, FileIdInfo, &id, sizeof id) != FALSE) {
        static_assert(sizeof id.FileId == 2 * sizeof(std::uint64_t));
        identity.volume = id.VolumeSerialNumber;
        std::memcpy(&identity.file, id.FileId.Identifier, sizeof identity.file);
        std::memcpy(&identity.file_high, id.FileId.Identifier + sizeof identity.file, sizeof identity.file_high);
    } else {
        identity = {information.dwVolumeSerialNumber, join(information.nFileIndexHigh, information.nFileIndexLow)};
    }
    const auto is_none = [](std::uint64_t n) { return n == 0 || n == UINT64_MAX; };
    if (is_none(identity.file) && is_none(identity.file_high)) {
        // A file system without such numbers has no second names either.
        identity = {identity.volume, std::hash<std::wstring>()(final_path(handle)), 1};
    }
    return identity;
}

FileInfo info_by_handle(HANDLE handle, const fs::path& path) {
    FileInfo info;
    info.type = FileType::other;
    if (::GetFileType(handle) != FILE_TYPE_DISK) {
        return info;
    }
    BY_HANDLE_FILE_INFORMATION information{};
    if (::GetFileInformationByHandle(handle, &information) == FALSE) {
        if (is_unsupported(::GetLastError())) {  // a whole volume
            return info;
        }
        win32::fail(path, "look up");
    }
    FILE_ATTRIBUTE_TAG_INFO tag{};
    if ((information.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
        ::GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag) == FALSE) {
        tag.ReparseTag = 0;
    }
    FILE_STANDARD_INFO standard{};
    if (::GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard) == FALSE) {
        win32::fail(path, "look up");
    }
    info.type = type_of(information.dwFileAttributes, tag.ReparseTag);
    info.identity = identity_of(handle, information);
    info.size = join(information.nFileSizeHigh, information.nFileSizeLow);
    info.allocated = static_cast<std::uint64_t>(standard.AllocationSize.QuadPart);
    info.hard_links = information.nNumberOfLinks;
    info.modified = static_cast<std::int64_t>(
        join(information.ftLastWriteTime.dwHighDateTime, information.ftLastWriteTime.dwLowDateTime));
    return info;
}

Error not_regular(const fs::path& path, const char* step) {
    return Error(ErrorCode::not_regular_file, fmt::format("{}: not a regular file", step)).at(path);
}

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

/// While it lives, the read-only mark of a file is off. It keeps only newcomers from writing: who has opened
/// the file may go on.
class WithoutReadOnly {
public:
    explicit WithoutReadOnly(const fs::path& path)
        : handle_(win32::open(path, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING,
                              win32::NO_FOLLOW)) {
        const DWORD attributes = handle_ ? attributes_of(handle_.get()) : 0;
        if ((attributes & FILE_ATTRIBUTE_READONLY) != 0 &&
            set_attributes(handle_.get(), attributes & ~DWORD{FILE_ATTRIBUTE_READONLY})) {
            attributes_ = attributes;
        }
    }
    WithoutReadOnly(const WithoutReadOnly&) = delete;
    WithoutReadOnly& operator=(const WithoutReadOnly&) = delete;
    ~WithoutReadOnly() {
        if (changed()) {
            set_attributes(handle_.get(), attributes_);
        }
    }
    [[nodiscard]] bool changed() const { return attributes_ != 0; }

private:
    Handle handle_;
    DWORD attributes_ = 0;
};

bool is_read_only(const fs::path& path) {
    const DWORD attributes = ::GetFileAttributesW(win32::extended(path).c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0;
}

/// Someone has the file open or loaded.
bool is_in_use(const fs::path& path) {
    for (const DWORD access : {DWORD{FILE_WRITE_DATA}, DWORD{FILE_READ_DATA}}) {  // a read-only file can't be opened to write
        if (!win32::open(path, access, 0, OPEN_EXISTING, win32::NO_FOLLOW) &&
            ::GetLastError() == ERROR_SHARING_VIOLATION) {
            return true;
        }
    }
    return !win32::users_of(path).empty();
}

/// Windows says "access denied", too, where only another program stands in the way.
[[noreturn]] void fail_on_name(const fs::path& path, const char* step, DWORD code) {
    if (code == ERROR_ACCESS_DENIED && is_in_use(path)) {
        throw win32::busy_error(path, step, code);
    }
    throw win32::system_error(path, step, code);
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

/// @param handle opened with DELETE
void rename_handle(HANDLE handle, const fs::path& to, bool replace) {
    const std::wstring name = win32::extended(to);
    const DWORD flags = replace ? RENAME_REPLACE : 0;
    DWORD code = ERROR_SHARING_VIOLATION;
    constexpr int attempts = 5;
    constexpr DWORD pause = 20;  // milliseconds: a virus scanner looks at each new file, and soon lets go of it
    for (int i = 0; i < attempts && code == ERROR_SHARING_VIOLATION; ++i) {
        ::Sleep(i == 0 ? 0 : pause << i);
        code = ERROR_INVALID_PARAMETER;
        for (const DWORD more : {RENAME_POSIX | RENAME_READ_ONLY, RENAME_POSIX}) {
            if (is_unsupported(code)) {
                code = set_name(handle, win32::FILE_RENAME_INFO_EX, flags | more, name) ? ERROR_SUCCESS : ::GetLastError();
            }
        }
        if (is_unsupported(code)) {
            code = set_name(handle, FileRenameInfo, flags, name) ? ERROR_SUCCESS : ::GetLastError();
        }
    }
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

void rename(const fs::path& from, const fs::path& to, bool replace) {
    const Handle handle =
        win32::open(from, DELETE | SYNCHRONIZE, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW);
    if (!handle) {
        fail_on_name(from, "rename", ::GetLastError());
    }
    rename_handle(handle.get(), to, replace);
}

/// @param handle opened with DELETE and FILE_READ_ATTRIBUTES
/// @return ERROR_SUCCESS or the reason
DWORD delete_by_handle(HANDLE handle, const fs::path& path) {
    FILE_DISPOSITION_INFO plain{TRUE};
    DWORD code = ERROR_INVALID_PARAMETER;
    for (const DWORD more : {DISPOSITION_READ_ONLY, DWORD{0}}) {
        DWORD flags = DISPOSITION_DELETE | DISPOSITION_POSIX | more;
        if (is_unsupported(code)) {
            const bool done =
                ::SetFileInformationByHandle(handle, win32::FILE_DISPOSITION_INFO_EX, &flags, sizeof flags) != FALSE;
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

}  // namespace

FileInfo info_of(const fs::path& path) {
    const Handle handle =
        win32::open(path, FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW);
    if (!handle) {
        if (is_missing(::GetLastError())) {
            return {};
        }
        win32::fail(path, "look up");
    }
    return info_by_handle(handle.get(), path);
}

File File::open_to_read(const fs::path& path) {
    Handle handle = win32::open(path, GENERIC_READ, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (!handle) {
        win32::fail(path, "open");
    }
    File file(path, native_of(std::move(handle)));
    file.opened_as_ = file.info();
    if (file.opened_as_.type != FileType::regular) {
        throw not_regular(path, "open");
    }
    return file;
}

File File::open_to_edit(const fs::path& path) {
    constexpr const char* step = "open for writing";
    const FileInfo named = info_of(path);
    if (named.type == FileType::link) {
        throw win32::system_error(path, step, win32::STOPPED_ON_LINK);
    }
    if (named.type == FileType::folder || named.type == FileType::other) {
        throw not_regular(path, step);
    }
    // Without the flag that keeps links from being followed: a deduplicated file, too, is a reparse point.
    const auto open = [&] {
        return win32::open(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING, 0);
    };
    Handle handle = open();
    if (!handle && ::GetLastError() == ERROR_ACCESS_DENIED) {
        const WithoutReadOnly writable(path);
        if (writable.changed()) {
            handle = open();
        } else {
            ::SetLastError(ERROR_ACCESS_DENIED);
        }
    }
    if (!handle) {
        win32::fail(path, step);
    }
    File file(path, native_of(std::move(handle)));
    file.opened_as_ = file.info();
    if (file.opened_as_.identity != named.identity) {
        throw Error(ErrorCode::changed, "open for writing: another program changed the file meanwhile", Hint::run_again)
            .at(path);
    }
    return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), native_(std::exchange(other.native_, -1)), opened_as_(other.opened_as_) {}

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        close();
        path_ = std::move(other.path_);
        native_ = std::exchange(other.native_, -1);
        opened_as_ = other.opened_as_;
    }
    return *this;
}

File::~File() {
    close();
}

void File::close() noexcept {
    if (native_ != -1) {
        ::CloseHandle(handle_of(std::exchange(native_, -1)));
    }
}

FileInfo File::info() const {
    return info_by_handle(handle_of(native_), path_);
}

namespace {

OVERLAPPED at(std::uint64_t offset) {
    OVERLAPPED overlapped{};
    overlapped.Offset = static_cast<DWORD>(offset);
    overlapped.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return overlapped;
}

}  // namespace

std::size_t File::read_at(std::uint64_t offset, ByteSpan buffer) const {
    std::size_t done = 0;
    while (done < buffer.size()) {
        OVERLAPPED place = at(offset + done);
        const auto wanted = static_cast<DWORD>(std::min(buffer.size() - done, IO_CHUNK));
        DWORD got = 0;
        if (::ReadFile(handle_of(native_), buffer.data() + done, wanted, &got, &place) == FALSE &&
            ::GetLastError() != ERROR_HANDLE_EOF) {
            win32::fail(path_, "read");
        }
        if (got == 0) {
            break;
        }
        done += got;
    }
    return done;
}

void File::write_at(std::uint64_t offset, ByteView bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        OVERLAPPED place = at(offset + done);
        const auto wanted = static_cast<DWORD>(std::min(bytes.size() - done, IO_CHUNK));
        DWORD got = 0;
        if (::WriteFile(handle_of(native_), bytes.data() + done, wanted, &got, &place) == FALSE) {
            win32::fail(path_, "write");
        }
        done += got;
    }
}

void File::flush() {
    if (::FlushFileBuffers(handle_of(native_)) == FALSE) {
        win32::fail(path_, "flush");
    }
}

namespace {

fs::path temporary_of(const fs::path& path) {
    fs::path temporary = path;
    temporary += TEMPORARY_SUFFIX;
    return temporary;
}

Error claimed_error(const fs::path& path) {
    return Error(ErrorCode::busy, "lock: another fixnvpe works on this file", Hint::wait).at(path);
}

/// Nobody else may write to it, rename it or delete it: that is the lock.
Handle create_locked(const fs::path& temporary) {
    Handle handle;
    // The owner and the permissions are copied later, as far as they may be.
    for (const DWORD more : {DWORD{WRITE_DAC | WRITE_OWNER}, DWORD{WRITE_DAC}, DWORD{0}}) {
        handle = win32::open(temporary, GENERIC_READ | GENERIC_WRITE | DELETE | more, FILE_SHARE_READ, CREATE_NEW,
                             FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT);
        if (handle || ::GetLastError() != ERROR_ACCESS_DENIED) {
            break;
        }
    }
    return handle;
}

/// Removes the temporary that a crash left, unless its maker still lives.
void remove_leftover(const fs::path& path, const fs::path& temporary) {
    constexpr const char* step = "remove the leftover temporary";
    const Handle handle =
        win32::open(temporary, DELETE | FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW);
    if (!handle) {
        if (const DWORD code = ::GetLastError(); code == ERROR_SHARING_VIOLATION) {
            throw claimed_error(path);
        } else if (!is_missing(code)) {
            throw win32::system_error(temporary, step, code);
        }
        return;
    }
    const FileType type = info_by_handle(handle.get(), temporary).type;
    if (type == FileType::link) {
        throw Error(ErrorCode::link, fmt::format("{}: it is a link", step), Hint::remove_by_hand).at(temporary);
    }
    if (type != FileType::regular) {
        throw Error(ErrorCode::not_regular_file, fmt::format("{}: not a regular file", step), Hint::remove_by_hand)
            .at(temporary);
    }
    if (const DWORD code = delete_by_handle(handle.get(), temporary); code != ERROR_SUCCESS) {
        throw win32::system_error(temporary, step, code);
    }
}

}  // namespace

Claim::Claim(const fs::path& path) : file_(temporary_of(path), -1) {
    const fs::path& temporary = file_.path();
    constexpr int attempts = 16;
    for (int i = 0; i < attempts; ++i) {
        if (Handle handle = create_locked(temporary)) {
            file_.native_ = native_of(std::move(handle));
            return;
        }
        const DWORD code = ::GetLastError();
        if (code == ERROR_FILE_EXISTS || code == ERROR_ALREADY_EXISTS) {
            remove_leftover(path, temporary);
        } else if (code == ERROR_ACCESS_DENIED && info_of(temporary).type != FileType::missing) {
            ::Sleep(1);  // one is being deleted
        } else {
            throw win32::system_error(temporary, "create", code);
        }
    }
    throw claimed_error(path);
}

Claim::~Claim() {
    if (owned_) {
        delete_by_handle(handle_of(file_.native_), file_.path());
    }
}

void Claim::rename_to(const fs::path& to) {
    rename_handle(handle_of(file_.native_), to, true);
    owned_ = false;
    ::FlushFileBuffers(handle_of(file_.native_));  // the name, too
    file_.close();                                 // the loader wants no writer beside it
}

bool is_claimed(const fs::path& path) {
    // The owner writes, which is not to be shared here.
    const Handle handle = win32::open(temporary_of(path), FILE_READ_DATA, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                      OPEN_EXISTING, win32::NO_FOLLOW);
    return !handle && ::GetLastError() == ERROR_SHARING_VIOLATION;
}

bool can_be_replaced(const fs::path& path) {
    return !is_read_only(path) &&
           (win32::open(path, FILE_WRITE_DATA, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW) ||
            ::GetLastError() != ERROR_SHARING_VIOLATION);
}

bool make_hard_link(const fs::path& existing, const fs::path& name) {
    if (::CreateHardLinkW(win32::extended(name).c_str(), win32::extended(existing).c_str(), nullptr) != FALSE) {
        return true;
    }
    const DWORD code = ::GetLastError();
    // A file that we may not link may still be ours to rename.
    if (is_unsupported(code) || code == ERROR_TOO_MANY_LINKS || code == ERROR_ACCESS_DENIED) {
        return false;
    }
    throw win32::system_error(name, "link the original as the backup", code);
}

void rename_over(const fs::path& from, const fs::path& to) {
    rename(from, to, true);
}

void rename_new(const fs::path& from, const fs::path& to) {
    rename(from, to, false);
}

bool remove(const fs::path& path) {
    constexpr const char* step = "remove";
    const Handle handle =
        win32::open(path, DELETE | FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW);
    if (!handle) {
        if (is_missing(::GetLastError())) {
            return false;
        }
        fail_on_name(path, step, ::GetLastError());
    }
    if (info_by_handle(handle.get(), path).type == FileType::folder) {
        throw Error(ErrorCode::not_regular_file, "remove: it is a folder").at(path);
    }
    if (const DWORD code = delete_by_handle(handle.get(), path); code != ERROR_SUCCESS) {
        fail_on_name(path, step, code);
    }
    return true;
}

void sync_folder(const fs::path& folder) {
    const Handle handle = win32::open(folder, FILE_WRITE_DATA, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle && ::FlushFileBuffers(handle.get()) != FALSE) {
        return;
    }
    // Who may not add files can't flush either; only some file systems have this step.
    if (const DWORD code = ::GetLastError(); code != ERROR_ACCESS_DENIED && !is_unsupported(code)) {
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
            entries.push_back({fs::path(name), type_of(data.dwFileAttributes, data.dwReserved0)});
        }
    } while (::FindNextFileW(find, &data) != FALSE);
    if (::GetLastError() != ERROR_NO_MORE_FILES) {
        win32::fail(folder, "list");
    }
    return entries;
}

fs::path canonical(const fs::path& path) {
    constexpr const char* step = "find what it leads to";
    const Handle handle =
        win32::open(path, FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (!handle) {
        win32::fail(path, step);
    }
    const std::wstring text = final_path(handle.get());
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
    if (c > 0xFFFF || ::LCMapStringEx(LOCALE_NAME_INVARIANT, LCMAP_UPPERCASE, &lower, 1, &upper, 1, nullptr, nullptr, 0) != 1) {
        return c;
    }
    return static_cast<char32_t>(upper);
}

}  // namespace fixnvpe::os
