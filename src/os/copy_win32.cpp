#include <algorithm>

#include "by_handle.hpp"
#include "copy_steps.hpp"

#include <winioctl.h>

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

template <typename In, typename Out>
bool control(HANDLE handle, DWORD code, const In& in, Out& out) {
    DWORD got = 0;
    return ::DeviceIoControl(handle, code, const_cast<In*>(&in), sizeof in, &out, sizeof out, &got, nullptr) != FALSE;
}

template <typename In>
bool control(HANDLE handle, DWORD code, const In& in) {
    DWORD got = 0;
    return ::DeviceIoControl(handle, code, const_cast<In*>(&in), sizeof in, nullptr, 0, &got, nullptr) != FALSE;
}

// Of <winioctl.h> since Windows 8, and ntifs.h: not in every SDK.
constexpr DWORD GET_INTEGRITY = 0x0009027C;      // FSCTL_GET_INTEGRITY_INFORMATION
constexpr DWORD SET_INTEGRITY = 0x0009C280;      // FSCTL_SET_INTEGRITY_INFORMATION
constexpr DWORD DUPLICATE_EXTENTS = 0x00098344;  // FSCTL_DUPLICATE_EXTENTS_TO_FILE
constexpr DWORD BLOCK_REFCOUNTING = 0x08000000;  // FILE_SUPPORTS_BLOCK_REFCOUNTING

struct Integrity {
    WORD algorithm;
    WORD reserved;
    DWORD flags;
};
struct IntegrityOfFile {
    Integrity integrity;
    DWORD checksum_chunk_size;
    DWORD cluster_size;
};
struct Extents {
    HANDLE source;
    LARGE_INTEGER source_offset;
    LARGE_INTEGER target_offset;
    LARGE_INTEGER size;
};

bool try_size(HANDLE handle, std::uint64_t size) {
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
    return ::SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof end) != FALSE;
}

std::wstring with_separator(const fs::path& folder) {
    std::wstring name = win32::extended(folder);
    if (name.back() != L'\\') {
        name += L'\\';
    }
    return name;
}

/// What is opened lies where copies can share their clusters.
bool shares_clusters(HANDLE handle) {
    DWORD features = 0;
    return ::GetVolumeInformationByHandleW(handle, nullptr, 0, nullptr, nullptr, &features, nullptr, 0) != FALSE &&
           (features & BLOCK_REFCOUNTING) != 0;
}

}  // namespace

void copy_kind(const File& from, File& to) {
    const DWORD attributes = win32::basic_info(native_of(from), from.path()).FileAttributes;
    // Before there is anything to compress, and no more than a matter of space: where it can't be done, so be it.
    if ((attributes & FILE_ATTRIBUTE_COMPRESSED) != 0) {
        control(native_of(to), FSCTL_SET_COMPRESSION, USHORT{COMPRESSION_FORMAT_DEFAULT});
    }
    if ((attributes & FILE_ATTRIBUTE_SPARSE_FILE) != 0) {
        control(native_of(to), FSCTL_SET_SPARSE, FILE_SET_SPARSE_BUFFER{TRUE});
    }
}

// Both then share their clusters: ReFS and Dev Drive.
bool clone(const File& from_file, File& to_file, std::uint64_t size, const CopyProgress& progress) {
    const HANDLE from = native_of(from_file);
    const HANDLE to = native_of(to_file);
    if (!shares_clusters(to) || !try_size(to, size)) {
        return false;
    }
    // Both files must have their checksums made in the same way.
    IntegrityOfFile source{};
    IntegrityOfFile target{};
    const DWORD none = 0;
    if (!control(from, GET_INTEGRITY, none, source) || !control(to, GET_INTEGRITY, none, target)) {
        return false;
    }
    if ((source.integrity.algorithm != target.integrity.algorithm ||
         source.integrity.flags != target.integrity.flags) &&
        !control(to, SET_INTEGRITY, Integrity{source.integrity.algorithm, 0, source.integrity.flags})) {
        return false;
    }
    // Whole clusters, the last of which may end behind the file, and under 4 GiB in one call.
    constexpr std::uint64_t stretch = std::uint64_t{1} << 30;
    const std::uint64_t cluster = std::max<DWORD>(source.cluster_size, 1);
    for (std::uint64_t done = 0; done < size; done = std::min(done + stretch, size)) {
        const std::uint64_t wanted = std::min(stretch, (size - done + cluster - 1) / cluster * cluster);
        Extents extents{};
        extents.source = from;
        extents.source_offset.QuadPart = static_cast<LONGLONG>(done);
        extents.target_offset.QuadPart = static_cast<LONGLONG>(done);
        extents.size.QuadPart = static_cast<LONGLONG>(wanted);
        if (!control(to, DUPLICATE_EXTENTS, extents)) {
            return false;
        }
        progress(std::min(done + stretch, size));
    }
    return true;
}

std::uint64_t free_space(const File& file) {
    return free_space(file.path().parent_path());
}

std::uint64_t free_space(const fs::path& folder) {
    ULARGE_INTEGER available{};
    if (::GetDiskFreeSpaceExW(with_separator(folder).c_str(), &available, nullptr, nullptr) == FALSE) {
        win32::fail(folder, "look up the free space");
    }
    return available.QuadPart;
}

bool can_clone(const fs::path& folder) {
    const Handle handle =
        win32::open(folder, FILE_READ_ATTRIBUTES, win32::SHARE_ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    return handle && shares_clusters(native_of(handle));
}

void set_size(File& file, std::uint64_t size) {
    if (!try_size(native_of(file), size)) {
        win32::fail(file.path(), "copy");
    }
}

Stretch next_data(const File& from, std::uint64_t offset, std::uint64_t size) {
    const HANDLE handle = native_of(from);
    if ((win32::basic_info(handle, from.path()).FileAttributes & FILE_ATTRIBUTE_SPARSE_FILE) == 0) {
        return {offset, size};
    }
    FILE_ALLOCATED_RANGE_BUFFER asked{};
    asked.FileOffset.QuadPart = static_cast<LONGLONG>(offset);
    asked.Length.QuadPart = static_cast<LONGLONG>(size - offset);
    FILE_ALLOCATED_RANGE_BUFFER found{};
    DWORD got = 0;
    if (::DeviceIoControl(handle, FSCTL_QUERY_ALLOCATED_RANGES, &asked, sizeof asked, &found, sizeof found, &got,
                          nullptr) == FALSE &&
        ::GetLastError() != ERROR_MORE_DATA) {
        return {offset, size};
    }
    if (got < sizeof found) {
        return {size, size};
    }
    const auto first = static_cast<std::uint64_t>(found.FileOffset.QuadPart);
    const auto last = first + static_cast<std::uint64_t>(found.Length.QuadPart);
    return {std::max(first, offset), std::min(last, size)};
}

std::uint64_t copy_in_kernel(const File& /*from*/, File& /*to*/, std::uint64_t /*offset*/, std::uint64_t /*size*/) {
    return 0;
}

}  // namespace fixnvpe::os
