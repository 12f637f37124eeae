#include "fixnvpe/os/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#if defined(__linux__)
#include <linux/fs.h>
#endif

#include "fixnvpe/base/text.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t COPY_CHUNK = std::size_t{1} << 20;
/// One system call copies this much at the most, so that progress and Ctrl-C get their turn.
constexpr std::size_t KERNEL_COPY_CHUNK = std::size_t{32} << 20;

Error system_error(const fs::path& path, std::string_view step, int code) {
    const std::string message = fmt::format("{}: {}", step, std::system_category().message(code));
    switch (code) {
        case ENOENT:
        case ENOTDIR: return Error(ErrorCode::not_found, message).at(path);
        case EACCES:
        case EPERM: return Error(ErrorCode::access_denied, message, Hint::be_owner_or_root).at(path);
        case EROFS: return Error(ErrorCode::access_denied, message, Hint::mounted_read_only).at(path);
        case ENOSPC:
        case EDQUOT:
            return Error(ErrorCode::disk_full, message, Hint::free_space).at(path);
        case ETXTBSY: return Error(ErrorCode::busy, message, Hint::close_program).at(path);
        case ELOOP: return Error(ErrorCode::link, message, Hint::name_the_file).at(path);
        default: return Error(ErrorCode::io, message).at(path);
    }
}

[[noreturn]] void fail(const fs::path& path, std::string_view step) {
    throw system_error(path, step, errno);
}

/// Calls again what a signal broke off.
template <typename Call>
auto retry(Call call) {
    decltype(call()) result;
    do {
        result = call();
    } while (result == -1 && errno == EINTR);
    return result;
}

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

int descriptor(std::intptr_t native) {
    return static_cast<int>(native);
}

/// Opens without waiting for the other end of a pipe.
int open_file(const fs::path& path, int flags, mode_t mode = 0) {
    return retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode); });
}

fs::path folder_of(const fs::path& path) {
    const fs::path folder = path.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

/// Free for us, in bytes.
std::uint64_t free_space(const fs::path& folder) {
    struct statvfs s {};
    if (::statvfs(folder.c_str(), &s) == -1) {
        fail(folder, "look up the free space");
    }
    return std::uint64_t{s.f_bavail} * s.f_frsize;
}

bool clone([[maybe_unused]] int from, [[maybe_unused]] int to) {
#if defined(FICLONE)
    return ::ioctl(to, FICLONE, from) == 0;
#else
    return false;
#endif
}

/// Copies one stretch through memory: what every file system can do.
std::uint64_t copy_through_memory(const File& from, File& to, std::uint64_t offset, std::uint64_t size,
                                  std::vector<std::uint8_t>& buffer) {
    buffer.resize(COPY_CHUNK);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer.size()));
    const std::size_t got = from.read_at(offset, ByteSpan(buffer).first(wanted));
    to.write_at(offset, ByteView(buffer).first(got));
    return got;
}

}  // namespace

FileInfo info_of(const fs::path& path) {
    struct stat s {};
    if (::lstat(path.c_str(), &s) == -1) {
        // A name that is too long for the file system is not there: that of a backup, beside a long one.
        if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) {
            return {};
        }
        fail(path, "look up");
    }
    return to_info(s);
}

File File::open_to_read(const fs::path& path) {
    const int fd = open_file(path, O_RDONLY);
    if (fd == -1) {
        // A socket can't be opened at all.
        if (errno == ENXIO) {
            throw Error(ErrorCode::not_regular_file, "open: not a regular file").at(path);
        }
        fail(path, "open");
    }
    File file(path, fd);
    file.opened_as_ = file.info();
    if (file.opened_as_.type != FileType::regular) {
        throw Error(ErrorCode::not_regular_file, "open: not a regular file").at(path);
    }
    return file;
}

File File::open_to_edit(const fs::path& path) {
    const int fd = open_file(path, O_RDWR | O_NOFOLLOW);
    if (fd == -1) {
        fail(path, "open for writing");
    }
    File file(path, fd);
    file.opened_as_ = file.info();
    if (file.opened_as_.type != FileType::regular) {
        throw Error(ErrorCode::not_regular_file, "open for writing: not a regular file").at(path);
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
        ::close(descriptor(std::exchange(native_, -1)));
    }
}

FileInfo File::info() const {
    struct stat s {};
    if (::fstat(descriptor(native_), &s) == -1) {
        fail(path_, "look up");
    }
    return to_info(s);
}

std::size_t File::read_at(std::uint64_t offset, ByteSpan buffer) const {
    std::size_t done = 0;
    while (done < buffer.size()) {
        const ssize_t n = retry([&] {
            return ::pread(descriptor(native_), buffer.data() + done, buffer.size() - done,
                           static_cast<off_t>(offset + done));
        });
        if (n == -1) {
            fail(path_, "read");
        }
        if (n == 0) {
            break;
        }
        done += static_cast<std::size_t>(n);
    }
    return done;
}

void File::write_at(std::uint64_t offset, ByteView bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = retry([&] {
            return ::pwrite(descriptor(native_), bytes.data() + done, bytes.size() - done,
                            static_cast<off_t>(offset + done));
        });
        if (n == -1) {
            fail(path_, "write");
        }
        done += static_cast<std::size_t>(n);
    }
}

void File::flush() {
    if (retry([&] { return ::fsync(descriptor(native_)); }) == -1) {
        fail(path_, "flush");
    }
}

namespace {

fs::path temporary_of(const fs::path& path) {
    fs::path temporary = path;
    temporary += TEMPORARY_SUFFIX;
    return temporary;
}

Error busy_error(const fs::path& path) {
    return Error(ErrorCode::busy, "lock: another fixnvpe works on this file", Hint::wait).at(path);
}

bool lock(int fd) {
    return retry([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0;
}

/// Removes the temporary that a crash left, unless its maker still lives.
void remove_leftover(const fs::path& path, const fs::path& temporary) {
    const int fd = open_file(temporary, O_RDONLY | O_NOFOLLOW);
    if (fd == -1) {
        if (errno == ENOENT) {
            return;
        }
        fail(temporary, "open the leftover temporary");
    }
    struct stat opened {};
    struct stat named {};
    const bool regular = ::fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode);
    const bool locked = regular && lock(fd);
    // Asked only with the lock in hand: before, its maker may have renamed it, and another made the next one.
    const bool same = locked && ::lstat(temporary.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
                      opened.st_dev == named.st_dev;
    const int removed = same ? ::unlink(temporary.c_str()) : 0;
    const int reason = errno;
    ::close(fd);
    if (!regular) {
        throw Error(ErrorCode::not_regular_file, "remove the leftover temporary: not a regular file", Hint::remove_by_hand)
            .at(temporary);
    }
    if (!locked) {
        throw busy_error(path);
    }
    if (removed == -1 && reason != ENOENT) {
        throw system_error(temporary, "remove the leftover temporary", reason);
    }
}

}  // namespace

Claim::Claim(const fs::path& path) : file_(temporary_of(path), -1) {
    const fs::path& temporary = file_.path();
    constexpr int attempts = 16;
    constexpr mode_t owner_only = 0600;
    for (int i = 0; i < attempts; ++i) {
        const int fd = open_file(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, owner_only);
        if (fd == -1 && errno == EEXIST) {
            remove_leftover(path, temporary);
            continue;
        }
        if (fd == -1) {
            fail(temporary, "create");
        }
        file_.native_ = fd;
        // Between our creating and our locking it, another process may have taken it for a leftover.
        if (lock(fd) && info_of(temporary).identity == file_.info().identity) {
            return;
        }
        file_.close();
    }
    throw busy_error(path);
}

Claim::~Claim() {
    if (owned_) {
        // Where that fails, the next claim takes the temporary for a leftover.
        retry([&] { return ::unlink(file_.path().c_str()); });
    }
}

void Claim::rename_to(const fs::path& to) {
    rename_over(file_.path(), to);
    owned_ = false;
}

bool is_claimed(const fs::path& path) {
    const int fd = open_file(temporary_of(path), O_RDONLY | O_NOFOLLOW);
    if (fd == -1) {
        return false;
    }
    const bool free = retry([&] { return ::flock(fd, LOCK_SH | LOCK_NB); }) == 0;
    ::close(fd);
    return !free;
}

void copy_contents(const File& from, File& to, const std::function<void(std::uint64_t)>& progress) {
    const FileInfo source = from.info();
    const int in = descriptor(from.native_);
    const int out = descriptor(to.native_);
    if (clone(in, out)) {
        progress(source.size);
        return;
    }
    const std::uint64_t needed = std::min(source.size, source.allocated);
    if (const std::uint64_t available = free_space(folder_of(to.path())); available < needed) {
        throw Error(ErrorCode::disk_full,
                    fmt::format("copy: needs {}, has {}", human_size(needed), human_size(available)),
                    Hint::free_space)
            .at(to.path());
    }
    // The length first: holes come by themselves.
    if (retry([&] { return ::ftruncate(out, static_cast<off_t>(source.size)); }) == -1) {
        fail(to.path(), "copy");
    }
    std::vector<std::uint8_t> buffer;
    bool in_kernel = true;
    std::uint64_t done = 0;
    std::uint64_t data_end = 0;
    while (done < source.size) {
        if (done == data_end) {
            const off_t data = ::lseek(in, static_cast<off_t>(done), SEEK_DATA);
            if (data == -1 && errno == ENXIO) {  // nothing but a hole up to the end
                done = source.size;
                progress(done);
                break;
            }
            const off_t hole = data == -1 ? -1 : ::lseek(in, data, SEEK_HOLE);
            done = data == -1 ? done : static_cast<std::uint64_t>(data);
            data_end = hole == -1 ? source.size : static_cast<std::uint64_t>(hole);
        }
        const std::uint64_t size = std::min(data_end, source.size) - done;
        std::uint64_t copied = 0;
        if (in_kernel) {
            auto in_offset = static_cast<off_t>(done);
            auto out_offset = static_cast<off_t>(done);
            const ssize_t n = retry([&] {
                return ::copy_file_range(in, &in_offset, out, &out_offset,
                                         static_cast<std::size_t>(std::min<std::uint64_t>(size, KERNEL_COPY_CHUNK)), 0);
            });
            if (n == -1 && (errno == ENOSPC || errno == EDQUOT || errno == EIO)) {
                fail(to.path(), "copy");
            }
            in_kernel = n > 0;  // else: this pair of file systems can't, or the file ended
            copied = n > 0 ? static_cast<std::uint64_t>(n) : 0;
        }
        if (copied == 0) {
            copied = copy_through_memory(from, to, done, size, buffer);
        }
        if (copied == 0) {
            break;
        }
        done += copied;
        progress(done);
    }
    if (done < source.size || from.info().size != source.size) {
        throw Error(ErrorCode::changed, "copy: the file changed meanwhile", Hint::run_again).at(from.path());
    }
}

void copy_metadata(const File& from, File& to) {
    const int in = descriptor(from.native_);
    const int out = descriptor(to.native_);
    struct stat source {};
    struct stat target {};
    if (::fstat(in, &source) == -1 || ::fstat(out, &target) == -1) {
        fail(from.path(), "look up");
    }
    if ((source.st_uid != target.st_uid || source.st_gid != target.st_gid) &&
        ::fchown(out, source.st_uid, source.st_gid) == -1) {
        fail(to.path(), "keep the owner");
    }
    constexpr mode_t permission_bits = 07777;
    if (::fchmod(out, source.st_mode & permission_bits) == -1) {
        fail(to.path(), "keep the mode");
    }
    // Extended attributes hold the ACL, too.
    const ssize_t size = ::flistxattr(in, nullptr, 0);
    if (size == -1 && errno != ENOTSUP) {
        fail(from.path(), "list the extended attributes");
    }
    std::vector<char> names(size > 0 ? static_cast<std::size_t>(size) : 0);
    const ssize_t listed = names.empty() ? 0 : ::flistxattr(in, names.data(), names.size());
    if (listed == -1) {
        fail(from.path(), "list the extended attributes");
    }
    const std::string_view all(names.data(), static_cast<std::size_t>(listed));
    for (std::size_t at = 0; at < all.size();) {
        const std::string name(all.substr(at, all.find('\0', at) - at));
        at += name.size() + 1;
        const ssize_t length = ::fgetxattr(in, name.c_str(), nullptr, 0);
        std::vector<char> value(length > 0 ? static_cast<std::size_t>(length) : 0);
        const ssize_t got = length == -1 ? -1 : ::fgetxattr(in, name.c_str(), value.data(), value.size());
        if (got == -1 || ::fsetxattr(out, name.c_str(), value.data(), static_cast<std::size_t>(got), 0) == -1) {
            // Labels of the system's own (SELinux) are set by the system where we may not.
            const bool ours = name.starts_with("user.") || name.starts_with("system.");
            if (ours) {
                fail(to.path(), "keep the extended attributes");
            }
        }
    }
}

bool can_be_replaced(const fs::path& /*path*/) {
    return true;
}

bool make_hard_link(const fs::path& existing, const fs::path& name) {
    if (::linkat(AT_FDCWD, existing.c_str(), AT_FDCWD, name.c_str(), 0) == 0) {
        return true;
    }
    // EPERM is what Linux says of a file system without hard links (and of files that are not ours to
    // link: renaming works there, too).
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) {
        return false;
    }
    fail(name, "link the original as the backup");
}

void rename_over(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) == -1) {
        fail(to, "rename");
    }
}

void rename_new(const fs::path& from, const fs::path& to) {
#if defined(RENAME_NOREPLACE)
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        fail(to, "rename");
    }
#endif
    // A file system that can't do both in one step.
    if (info_of(to).type != FileType::missing) {
        throw system_error(to, "rename", EEXIST);
    }
    rename_over(from, to);
}

bool remove(const fs::path& path) {
    if (::unlink(path.c_str()) == 0) {
        return true;
    }
    if (errno == ENOENT) {
        return false;
    }
    fail(path, "remove");
}

void sync_folder(const fs::path& folder) {
    const int fd = open_file(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY);
    if (fd == -1) {
        // A folder that may be written to but not read can't be opened, so it can't be flushed either.
        if (errno == EACCES) {
            return;
        }
        fail(folder, "flush the folder");
    }
    const int result = retry([&] { return ::fsync(fd); });
    const int reason = errno;
    ::close(fd);
    if (result == -1 && reason != EINVAL) {  // EINVAL: a file system that has no such step
        throw system_error(folder, "flush the folder", reason);
    }
}

std::vector<FolderEntry> list_folder(const fs::path& folder) {
    struct Closer {
        void operator()(DIR* d) const { ::closedir(d); }
    };
    const std::unique_ptr<DIR, Closer> dir(::opendir(folder.c_str()));
    if (!dir) {
        fail(folder, "list");
    }
    std::vector<FolderEntry> entries;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(dir.get());
        if (entry == nullptr) {
            if (errno != 0) {
                fail(folder, "list");
            }
            return entries;
        }
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        FileType type = FileType::other;
        switch (entry->d_type) {
            case DT_REG: type = FileType::regular; break;
            case DT_DIR: type = FileType::folder; break;
            case DT_LNK: type = FileType::link; break;
            case DT_UNKNOWN: type = info_of(folder / name).type; break;
            default: break;
        }
        entries.push_back({fs::path(name), type});
    }
}

fs::path canonical(const fs::path& path) {
    struct Freer {
        void operator()(char* text) const { std::free(text); }
    };
    const std::unique_ptr<char, Freer> real(::realpath(path.c_str(), nullptr));
    if (!real) {
        fail(path, "find what it leads to");
    }
    return real.get();
}

char32_t fold_case(char32_t c) {
    return c;
}

}  // namespace fixnvpe::os
