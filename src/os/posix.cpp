#include "posix.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <system_error>

#include "fixnvpe/base/text.hpp"

#if defined(__linux__)
#include <linux/fs.h>
#endif

namespace fixnvpe::os {

namespace fs = std::filesystem;

void Handle::close() noexcept {
    if (*this) {
        ::close(posix::descriptor(*this));
        native_ = NONE;
    }
}

namespace posix {
namespace {

/// "chattr -i FILE", if a mark on the file keeps even root from changing it; else empty.
std::string chattr_for([[maybe_unused]] const fs::path& path) {
#if defined(FS_IOC_GETFLAGS)
    int flags = 0;
    const Handle handle = open(path, O_RDONLY | O_NOFOLLOW);
    if (handle && ::ioctl(descriptor(handle), FS_IOC_GETFLAGS, &flags) == 0) {
        if ((flags & FS_IMMUTABLE_FL) != 0) {
            return "chattr -i " + to_utf8(path);
        }
        if ((flags & FS_APPEND_FL) != 0) {
            return "chattr -a " + to_utf8(path);
        }
    }
#endif
    return {};
}

Error not_permitted(const fs::path& path, const std::string& message, const fs::path& from) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const fs::path& marked : {path, folder, from}) {
        if (const std::string command = chattr_for(marked); !command.empty()) {
            return Error(ErrorCode::access_denied, message, Hint::take_mark_away, command).at(path);
        }
    }
    return Error(ErrorCode::access_denied, message, Hint::be_owner_or_root).at(path);
}

Error error_of(const fs::path& path, std::string_view step, int code, const fs::path& from) {
    const std::string message = fmt::format("{}: {}", step, std::system_category().message(code));
    switch (code) {
        case ENOENT:
        case ENOTDIR: return Error(ErrorCode::not_found, message).at(path);
        case EPERM: return not_permitted(path, message, from);
        case EACCES: return Error(ErrorCode::access_denied, message, Hint::be_owner_or_root).at(path);
        case EROFS: return Error(ErrorCode::access_denied, message, Hint::mounted_read_only).at(path);
        case ENOSPC:
        case EDQUOT: return Error(ErrorCode::disk_full, message, Hint::free_space).at(path);
        case EFBIG: return Error(ErrorCode::io, message, Hint::size_limit).at(path);
        case ETXTBSY: return Error(ErrorCode::busy, message, Hint::close_program).at(path);
        case ELOOP: return Error(ErrorCode::link, message, Hint::name_the_file).at(path);
        default: return Error(ErrorCode::io, message).at(path);
    }
}

}  // namespace

Error system_error(const fs::path& path, std::string_view step, int code, const fs::path& from) {
    return error_of(path, step, code, from).with_number(code);
}

void fail(const fs::path& path, std::string_view step, const fs::path& from) {
    throw system_error(path, step, errno, from);
}

Handle open(const fs::path& path, int flags, mode_t mode) {
    return Handle(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode); }));
}

}  // namespace posix
}  // namespace fixnvpe::os
