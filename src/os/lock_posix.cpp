#include <sys/file.h>
#include <unistd.h>

#include "file_steps.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/names.hpp"
#include "lock_steps.hpp"
#include "posix.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

bool lock(const Handle& handle, int kind) {
    return posix::retry([&] { return ::flock(posix::descriptor(handle), kind | LOCK_NB); }) == 0;
}

}  // namespace

Created create_locked(const fs::path& temporary) {
    constexpr mode_t owner_only = 0600;
    Handle handle = posix::open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, owner_only);
    if (!handle && errno == EEXIST) {
        return {Handle(), true};
    }
    if (!handle) {
        posix::fail(temporary, "create");
    }
    // Between our creating and our locking it, another process may have taken it for a leftover.
    const bool ours =
        lock(handle, LOCK_EX) && info_of(temporary).identity == info_by_handle(handle, temporary).identity;
    return {ours ? std::move(handle) : Handle(), false};
}

Leftover remove_leftover(const fs::path& temporary) {
    constexpr const char* step = "remove the leftover temporary";
    const Handle handle = posix::open(temporary, O_RDONLY | O_NOFOLLOW);
    if (!handle) {
        if (errno == ENOENT) {
            return Leftover::gone;
        }
        posix::fail(temporary, "open the leftover temporary");
    }
    const FileInfo opened = info_by_handle(handle, temporary);
    if (opened.type != FileType::regular) {
        throw not_regular(temporary, step, Hint::remove_by_hand);
    }
    if (!lock(handle, LOCK_EX)) {
        return Leftover::locked;
    }
    // Asked only with the lock in hand: before, its maker may have renamed it, and another made the next one.
    if (info_of(temporary).identity != opened.identity) {
        return Leftover::gone;
    }
    if (::unlink(temporary.c_str()) == -1) {
        if (errno == ENOENT) {
            return Leftover::gone;
        }
        posix::fail(temporary, step);
    }
    return Leftover::removed;
}

bool has_owner(const fs::path& temporary) {
    const Handle handle = posix::open(temporary, O_RDONLY | O_NOFOLLOW);
    return handle && !lock(handle, LOCK_SH);
}

Lock::~Lock() {
    if (owned_) {
        // Where that fails, the next lock takes the temporary for a leftover.
        posix::retry([&] { return ::unlink(temporary_.path().c_str()); });
    }
}

void Lock::rename_to(const fs::path& to) {
    rename_over(temporary_.path(), to);
    owned_ = false;
}

}  // namespace fixnvpe::os
