#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#if defined(__linux__)
#include <linux/fs.h>
#include <sys/vfs.h>
#endif

#include "copy_steps.hpp"
#include "posix.hpp"

namespace fixnvpe::os {
namespace {

int descriptor(const File& file) {
    return posix::descriptor(file.handle());
}

}  // namespace

void copy_kind(const File& /*from*/, File& /*to*/) {}

bool clone([[maybe_unused]] const File& from, [[maybe_unused]] File& to, [[maybe_unused]] std::uint64_t size,
           [[maybe_unused]] const CopyProgress& progress) {
#if defined(FICLONE)
    if (::ioctl(descriptor(to), FICLONE, descriptor(from)) == 0) {
        progress(size);
        return true;
    }
#endif
    return false;
}

std::uint64_t free_space(const File& file) {
    struct statvfs s {};
    if (::fstatvfs(descriptor(file), &s) == -1) {
        posix::fail(file.path(), "look up the free space");
    }
    return std::uint64_t{s.f_bavail} * s.f_frsize;
}

std::uint64_t free_space(const std::filesystem::path& folder) {
    struct statvfs s {};
    if (::statvfs(folder.c_str(), &s) == -1) {
        posix::fail(folder, "look up the free space");
    }
    return std::uint64_t{s.f_bavail} * s.f_frsize;
}

bool can_clone([[maybe_unused]] const std::filesystem::path& folder) {
#if defined(FICLONE)
    // Btrfs, XFS, bcachefs, OCFS2, ZFS. Whether this one does is seen when it is tried.
    constexpr std::array<std::uint32_t, 5> kinds{0x9123683E, 0x58465342, 0xCA451A4E, 0x7461636F, 0x2FC12FC1};
    struct statfs s {};
    return ::statfs(folder.c_str(), &s) == 0 &&
           std::find(kinds.begin(), kinds.end(), static_cast<std::uint32_t>(s.f_type)) != kinds.end();
#else
    return false;
#endif
}

void set_size(File& file, std::uint64_t size) {
    if (posix::retry([&] { return ::ftruncate(descriptor(file), static_cast<off_t>(size)); }) == -1) {
        posix::fail(file.path(), "copy");
    }
}

Stretch next_data(const File& from, std::uint64_t offset, std::uint64_t size) {
    const off_t data = ::lseek(descriptor(from), static_cast<off_t>(offset), SEEK_DATA);
    if (data == -1) {
        return {errno == ENXIO ? size : offset, size};
    }
    const off_t hole = ::lseek(descriptor(from), data, SEEK_HOLE);
    const std::uint64_t end = hole == -1 ? size : static_cast<std::uint64_t>(hole);
    return {std::min(static_cast<std::uint64_t>(data), size), std::min(end, size)};
}

std::uint64_t copy_in_kernel(const File& from, File& to, std::uint64_t offset, std::uint64_t size) {
    constexpr std::uint64_t chunk = std::uint64_t{32} << 20;  // so that progress and Ctrl-C get their turn
    auto in_offset = static_cast<off_t>(offset);
    auto out_offset = static_cast<off_t>(offset);
    const ssize_t n = posix::retry([&] {
        return ::copy_file_range(descriptor(from), &in_offset, descriptor(to), &out_offset,
                                 static_cast<std::size_t>(std::min(size, chunk)), 0);
    });
    if (n == -1 && (errno == ENOSPC || errno == EDQUOT || errno == EIO)) {
        posix::fail(to.path(), "copy");
    }
    return n > 0 ? static_cast<std::uint64_t>(n) : 0;  // else: this pair of file systems can't, or the file ended
}

}  // namespace fixnvpe::os
