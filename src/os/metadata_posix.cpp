#include "fixnvpe/os/metadata.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "posix.hpp"

namespace fixnvpe::os {
namespace {

constexpr mode_t PERMISSION_BITS = 07777;
constexpr const char* CAPABILITIES = "security.capability";

int descriptor(const File& file) {
    return posix::descriptor(file.handle());
}

struct stat status_of(const File& file) {
    struct stat s {};
    if (::fstat(descriptor(file), &s) == -1) {
        posix::fail(file.path(), "look up");
    }
    return s;
}

void set_mode(File& file, mode_t mode) {
    if (::fchmod(descriptor(file), mode & PERMISSION_BITS) == -1) {
        posix::fail(file.path(), "keep the mode");
    }
}

/// Their names. An ACL is one of them.
std::vector<std::string> attributes_of(const File& file) {
    const ssize_t size = ::flistxattr(descriptor(file), nullptr, 0);
    if (size == -1 && errno != ENOTSUP) {
        posix::fail(file.path(), "list the extended attributes");
    }
    std::vector<char> buffer(size > 0 ? static_cast<std::size_t>(size) : 0);
    const ssize_t listed = buffer.empty() ? 0 : ::flistxattr(descriptor(file), buffer.data(), buffer.size());
    if (listed == -1) {
        posix::fail(file.path(), "list the extended attributes");
    }
    const std::string_view all(buffer.data(), static_cast<std::size_t>(listed));
    std::vector<std::string> names;
    for (std::size_t at = 0; at < all.size(); at += names.back().size() + 1) {
        names.emplace_back(all.substr(at, all.find('\0', at) - at));
    }
    return names;
}

std::optional<std::vector<char>> attribute(const File& file, const char* name) {
    const ssize_t size = ::fgetxattr(descriptor(file), name, nullptr, 0);
    std::vector<char> value(size > 0 ? static_cast<std::size_t>(size) : 0);
    const ssize_t got = size == -1 ? -1 : ::fgetxattr(descriptor(file), name, value.data(), value.size());
    if (got == -1) {
        return std::nullopt;
    }
    value.resize(static_cast<std::size_t>(got));
    return value;
}

bool set_attribute(File& file, const char* name, const std::vector<char>& value) {
    return ::fsetxattr(descriptor(file), name, value.data(), value.size(), 0) == 0;
}

void keep_owner(const struct stat& source, File& to) {
    const struct stat target = status_of(to);
    if ((source.st_uid == target.st_uid && source.st_gid == target.st_gid) ||
        ::fchown(descriptor(to), source.st_uid, source.st_gid) == 0) {
        return;
    }
    if (errno == EPERM && source.st_uid == target.st_uid) {
        const Error error = posix::system_error(to.path(), "keep the group", EPERM);
        throw Error(error.code(), error.message(), Hint::be_in_group).at(to.path());
    }
    posix::fail(to.path(), "keep the owner");
}

}  // namespace

void copy_metadata(const File& from, File& to) {
    constexpr const char* step = "keep the extended attributes";
    const std::vector<std::string> names = attributes_of(from);
    const struct stat source = status_of(from);
    keep_owner(source, to);
    // The folder may have given it an ACL. This goes before the mode, which would else let others in by it.
    for (const std::string& name : attributes_of(to)) {
        if (name.starts_with("system.") && std::find(names.begin(), names.end(), name) == names.end() &&
            ::fremovexattr(descriptor(to), name.c_str()) == -1) {
            posix::fail(to.path(), step);
        }
    }
    set_mode(to, source.st_mode);
    for (const std::string& name : names) {
        const auto value = attribute(from, name.c_str());
        // Labels of the system's own (SELinux) are set by the system where we may not.
        const bool ours = name.starts_with("user.") || name.starts_with("system.");
        if (!(value && set_attribute(to, name.c_str(), *value)) && ours) {
            posix::fail(to.path(), step);
        }
    }
}

void set_modified(File& file, std::int64_t modified) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t fraction = (modified % second + second) % second;  // of a time before 1970, too
    timespec times[2]{};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = static_cast<time_t>((modified - fraction) / second);
    times[1].tv_nsec = static_cast<long>(fraction);
    if (::futimens(descriptor(file), times) == -1) {
        posix::fail(file.path(), "keep the time");
    }
}

Privileges::Privileges(const File& file)
    : mode_(status_of(file).st_mode & PERMISSION_BITS),
      capabilities_(attribute(file, CAPABILITIES).value_or(std::vector<char>())) {}

void Privileges::put_back(File& file) const {
    if ((status_of(file).st_mode & PERMISSION_BITS) != mode_) {
        set_mode(file, mode_);
    }
    if (!capabilities_.empty()) {
        static_cast<void>(set_attribute(file, CAPABILITIES, capabilities_));
    }
}

}  // namespace fixnvpe::os
