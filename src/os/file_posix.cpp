#include "fixnvpe/os/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "file_steps.hpp"
#include "posix.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

FileType type_of(mode_t mode) {
    if (S_ISREG(mode)) {
        return FileType::regular;
    }
    if (S_ISDIR(mode)) {
        return FileType::folder;
    }
    return S_ISLNK(mode) ? FileType::link : FileType::other;
}

FileInfo to_info(const struct stat& s) {
    constexpr std::uint64_t block_size = 512;  // whatever the file system's own may be: POSIX, <sys/stat.h>
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    FileInfo info;
    info.type = type_of(s.st_mode);
    info.identity = {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino)};
    info.size = static_cast<std::uint64_t>(s.st_size);
    info.allocated = static_cast<std::uint64_t>(s.st_blocks) * block_size;
    info.hard_links = static_cast<std::uint64_t>(s.st_nlink);
    info.modified = std::int64_t{s.st_mtim.tv_sec} * nanoseconds + s.st_mtim.tv_nsec;
    return info;
}

}  // namespace

FileInfo info_of(const fs::path& path) {
    struct stat s {};
    if (::lstat(path.c_str(), &s) == -1) {
        // A name that is too long for the file system is not there: that of a backup, beside a long one.
        if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) {
            return {};
        }
        posix::fail(path, "look up");
    }
    return to_info(s);
}

FileInfo info_by_handle(const Handle& handle, const fs::path& path) {
    struct stat s {};
    if (::fstat(posix::descriptor(handle), &s) == -1) {
        posix::fail(path, "look up");
    }
    return to_info(s);
}

File File::open_to_read(const fs::path& path) {
    constexpr const char* step = "open";
    Handle handle = posix::open(path, O_RDONLY);
    if (!handle) {
        // A socket can't be opened at all.
        if (errno == ENXIO) {
            throw not_regular(path, step);
        }
        posix::fail(path, step);
    }
    return {path, std::move(handle), step};
}

File File::open_to_edit(const fs::path& path) {
    constexpr const char* step = "open for writing";
    Handle handle = posix::open(path, O_RDWR | O_NOFOLLOW);
    if (!handle) {
        posix::fail(path, step);
    }
    return {path, std::move(handle), step};
}

std::size_t read_some(const File& file, std::uint64_t offset, ByteSpan buffer) {
    const ssize_t n = posix::retry([&] {
        return ::pread(posix::descriptor(file.handle()), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    });
    if (n == -1) {
        posix::fail(file.path(), "read");
    }
    return static_cast<std::size_t>(n);
}

std::size_t write_some(File& file, std::uint64_t offset, ByteView bytes) {
    const ssize_t n = posix::retry([&] {
        return ::pwrite(posix::descriptor(file.handle()), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (n == -1) {
        posix::fail(file.path(), "write");
    }
    return static_cast<std::size_t>(n);
}

void File::flush() {
    if (posix::retry([&] { return ::fsync(posix::descriptor(handle_)); }) == -1) {
        posix::fail(path_, "flush");
    }
}

}  // namespace fixnvpe::os
