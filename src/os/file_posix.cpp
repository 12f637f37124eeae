#include "fixnvpe/os/file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

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
    const auto nanoseconds = [](const timespec& time) {
        constexpr std::int64_t second = 1'000'000'000;
        return std::int64_t{time.tv_sec} * second + time.tv_nsec;
    };
    FileInfo info;
    info.type = type_of(s.st_mode);
    info.identity = {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino)};
    info.size = static_cast<std::uint64_t>(s.st_size);
    info.allocated = static_cast<std::uint64_t>(s.st_blocks) * block_size;
    info.hard_links = static_cast<std::uint64_t>(s.st_nlink);
    info.modified = nanoseconds(s.st_mtim);
    info.changed = nanoseconds(s.st_ctim);
    return info;
}

[[noreturn]] void fail_to_open(const fs::path& path, const char* step) {
    if (errno == EWOULDBLOCK) {  // it would wait until the lease is given back: a minute, perhaps
        throw Error(ErrorCode::busy, fmt::format("{}: another program has a lease on it", step), Hint::leased).at(path);
    }
    posix::fail(path, step);
}

/// While it lives, a file of ours whose mode forbids it can be opened for writing. The mode keeps only newcomers from
/// writing: who has opened the file may go on.
class WithoutReadOnly {
public:
    explicit WithoutReadOnly(const fs::path& path) : handle_(posix::open(path, O_RDONLY | O_NOFOLLOW)) {
        if (handle_ && ::fstat(posix::descriptor(handle_), &before_) == 0 && S_ISREG(before_.st_mode) &&
            (before_.st_mode & S_IWUSR) == 0 && before_.st_uid == ::geteuid()) {
            lifted_ = set_mode(before_.st_mode | S_IWUSR);
        }
    }
    WithoutReadOnly(const WithoutReadOnly&) = delete;
    WithoutReadOnly& operator=(const WithoutReadOnly&) = delete;
    ~WithoutReadOnly() {
        if (lifted_) {
            set_mode(before_.st_mode);
        }
    }
    /// The file as it was; nothing if there was nothing to lift.
    [[nodiscard]] std::optional<FileInfo> before() const {
        return lifted_ ? std::optional(to_info(before_)) : std::nullopt;
    }

private:
    bool set_mode(mode_t mode) const {
        constexpr mode_t permission_bits = 07777;
        return ::fchmod(posix::descriptor(handle_), mode & permission_bits) == 0;
    }

    Handle handle_;
    struct stat before_ {};
    bool lifted_ = false;
};

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
        fail_to_open(path, step);
    }
    return {path, std::move(handle), step};
}

File File::open_to_edit(const fs::path& path) {
    constexpr const char* step = "open for writing";
    const auto open = [&] { return posix::open(path, O_RDWR | O_NOFOLLOW); };
    Handle handle = open();
    std::optional<FileInfo> before;
    if (!handle && errno == EACCES) {
        const WithoutReadOnly writable(path);
        before = writable.before();
        if (before) {
            handle = open();
        } else {
            errno = EACCES;
        }
    }
    if (!handle) {
        fail_to_open(path, step);
    }
    File file(path, std::move(handle), step);
    if (before) {
        must_be_same(file, *before);
        file.opened_as_.changed = before->changed;  // the change was ours
    }
    return file;
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
