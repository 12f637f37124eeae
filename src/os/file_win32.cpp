#include "fixnvpe/os/file.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "by_handle.hpp"
#include "file_steps.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

/// One system call reads or writes this much at the most.
constexpr std::size_t IO_CHUNK = std::size_t{1} << 30;

std::uint64_t join(DWORD high, DWORD low) {
    return std::uint64_t{high} << 32 | low;
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
        identity = {identity.volume, std::hash<std::wstring>()(win32::final_path(handle)), 1};
    }
    return identity;
}

OVERLAPPED at(std::uint64_t offset) {
    OVERLAPPED overlapped{};
    overlapped.Offset = static_cast<DWORD>(offset);
    overlapped.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return overlapped;
}

}  // namespace

FileInfo info_of(const fs::path& path) {
    const Handle handle = win32::open(path, FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, win32::NO_FOLLOW);
    if (!handle) {
        if (win32::is_missing(::GetLastError())) {
            return {};
        }
        win32::fail(path, "look up");
    }
    return info_by_handle(handle, path);
}

FileInfo info_by_handle(const Handle& opened, const fs::path& path) {
    const HANDLE handle = native_of(opened);
    FileInfo info;
    info.type = FileType::other;
    if (::GetFileType(handle) != FILE_TYPE_DISK) {
        return info;
    }
    BY_HANDLE_FILE_INFORMATION information{};
    if (::GetFileInformationByHandle(handle, &information) == FALSE) {
        if (win32::is_unsupported(::GetLastError())) {  // a whole volume
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
    info.type = win32::type_of(information.dwFileAttributes, tag.ReparseTag);
    info.identity = identity_of(handle, information);
    info.size = join(information.nFileSizeHigh, information.nFileSizeLow);
    info.allocated = static_cast<std::uint64_t>(standard.AllocationSize.QuadPart);
    info.hard_links = information.nNumberOfLinks;
    info.modified = static_cast<std::int64_t>(
        join(information.ftLastWriteTime.dwHighDateTime, information.ftLastWriteTime.dwLowDateTime));
    info.changed = win32::basic_info(handle, path).ChangeTime.QuadPart;
    return info;
}

File File::open_to_read(const fs::path& path) {
    constexpr const char* step = "open";
    Handle handle = win32::open(path, GENERIC_READ, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (!handle) {
        win32::fail(path, step);
    }
    return {path, std::move(handle), step};
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
    bool lifted = false;
    if (!handle && ::GetLastError() == ERROR_ACCESS_DENIED) {
        const win32::WithoutReadOnly writable(path);
        lifted = writable.changed();
        if (lifted) {
            handle = open();
        } else {
            ::SetLastError(ERROR_ACCESS_DENIED);
        }
    }
    if (!handle) {
        win32::fail(path, step);
    }
    File file(path, std::move(handle), step);
    must_be_same(file, named);
    if (lifted) {
        file.opened_as_.changed = named.changed;  // the change was ours
    }
    return file;
}

std::size_t read_some(const File& file, std::uint64_t offset, ByteSpan buffer) {
    OVERLAPPED place = at(offset);
    const auto wanted = static_cast<DWORD>(std::min(buffer.size(), IO_CHUNK));
    DWORD got = 0;
    if (::ReadFile(native_of(file), buffer.data(), wanted, &got, &place) == FALSE &&
        ::GetLastError() != ERROR_HANDLE_EOF) {
        win32::fail(file.path(), "read");
    }
    return got;
}

std::size_t write_some(File& file, std::uint64_t offset, ByteView bytes) {
    OVERLAPPED place = at(offset);
    const auto wanted = static_cast<DWORD>(std::min(bytes.size(), IO_CHUNK));
    DWORD done = 0;
    if (::WriteFile(native_of(file), bytes.data(), wanted, &done, &place) == FALSE) {
        win32::fail(file.path(), "write");
    }
    return done;
}

void File::flush() {
    if (::FlushFileBuffers(native_of(handle_)) == FALSE) {
        win32::fail(path_, "flush");
    }
}

}  // namespace fixnvpe::os
