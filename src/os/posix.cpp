#include "posix.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

namespace fixnvpe::os {

namespace fs = std::filesystem;

void Handle::close() noexcept {
    if (*this) {
        ::close(posix::descriptor(*this));
        native_ = NONE;
    }
}

namespace posix {

Error system_error(const fs::path& path, std::string_view step, int code) {
    const std::string message = fmt::format("{}: {}", step, std::system_category().message(code));
    switch (code) {
        case ENOENT:
        case ENOTDIR: return Error(ErrorCode::not_found, message).at(path);
        case EACCES:
        case EPERM: return Error(ErrorCode::access_denied, message, Hint::be_owner_or_root).at(path);
        case EROFS: return Error(ErrorCode::access_denied, message, Hint::mounted_read_only).at(path);
        case ENOSPC:
        case EDQUOT: return Error(ErrorCode::disk_full, message, Hint::free_space).at(path);
        case ETXTBSY: return Error(ErrorCode::busy, message, Hint::close_program).at(path);
        case ELOOP: return Error(ErrorCode::link, message, Hint::name_the_file).at(path);
        default: return Error(ErrorCode::io, message).at(path);
    }
}

void fail(const fs::path& path, std::string_view step) {
    throw system_error(path, step, errno);
}

Handle open(const fs::path& path, int flags, mode_t mode) {
    return Handle(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode); }));
}

}  // namespace posix
}  // namespace fixnvpe::os
