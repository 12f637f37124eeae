#pragma once

// What the sources of this folder for POSIX share.

#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/file.hpp"

namespace fixnvpe::os::posix {

/// @param from where a file is renamed: it may be what stands in the way
[[nodiscard]] Error system_error(const std::filesystem::path& path, std::string_view step, int code,
                                 const std::filesystem::path& from = {});
/// Of errno.
[[noreturn]] void fail(const std::filesystem::path& path, std::string_view step,
                       const std::filesystem::path& from = {});

/// Calls again what a signal broke off.
template <typename Call>
auto retry(Call call) {
    decltype(call()) result;
    do {
        result = call();
    } while (result == -1 && errno == EINTR);
    return result;
}

[[nodiscard]] inline int descriptor(const Handle& handle) {
    return static_cast<int>(handle.native());
}

/// Opens without waiting for the other end of a pipe. @return no handle on failure, with errno
[[nodiscard]] Handle open(const std::filesystem::path& path, int flags, mode_t mode = 0);

}  // namespace fixnvpe::os::posix
