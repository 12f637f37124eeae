#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <thread>

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

enum class Taken { yes, no, failed };  // failed: with errno

/// Takes the lock, unless another process has it. Who only looks shares it for a moment: that is waited for.
Taken take(const Handle& handle) {
    constexpr int attempts = 100;
    for (int i = 0; i < attempts; ++i) {
        if (lock(handle, LOCK_EX)) {
            return Taken::yes;
        }
        if (errno != EWOULDBLOCK) {
            return Taken::failed;
        }
        if (!lock(handle, LOCK_SH)) {
            break;
        }
        lock(handle, LOCK_UN);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Taken::no;
}

/// NFS without a lock server, and many a file system in user space. (NFS also says EBADF of what is open for reading.)
bool has_no_locks(int code) {
    return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EBADF;
}

Error may_be_held(const fs::path& temporary, int code) {
    return os::may_be_held(temporary, std::system_category().message(code));
}

/// False if its name is another file's now: without locks, somebody may have removed it by hand.
bool has_its_name(const File& temporary) {
    return info_of(temporary.path()).identity == temporary.opened_as().identity;
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
    switch (take(handle)) {
        case Taken::no: return {Handle(), false};
        case Taken::failed:
            if (const int code = errno; !has_no_locks(code)) {
                ::unlink(temporary.c_str());
                throw posix::system_error(temporary, "lock", code);
            }
            break;
        case Taken::yes: break;
    }
    // Between our creating and our locking it, another process may have taken it for a leftover.
    const bool ours = info_of(temporary).identity == info_by_handle(handle, temporary).identity;
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
    switch (take(handle)) {
        case Taken::no: return Leftover::locked;
        case Taken::failed: throw may_be_held(temporary, errno);
        case Taken::yes: break;
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

std::optional<Error> why_held(const fs::path& temporary) {
    const Handle handle = posix::open(temporary, O_RDONLY | O_NOFOLLOW);
    if (handle && lock(handle, LOCK_SH)) {
        return std::nullopt;
    }
    switch (errno) {
        case ENOENT:
        case ELOOP: return std::nullopt;
        case EWOULDBLOCK: return held(temporary);
        default: return may_be_held(temporary, errno);  // another user's, too
    }
}

Lock::~Lock() {
    // Where that fails, the next lock takes the temporary for a leftover.
    take_back([&] {
        if (owned_ && has_its_name(temporary_)) {
            posix::retry([&] { return ::unlink(temporary_.path().c_str()); });
        }
    });
}

void Lock::rename_to(const fs::path& to) {
    if (!has_its_name(temporary_)) {
        throw Error(ErrorCode::changed, "rename: the temporary was removed by hand", Hint::run_again)
            .at(temporary_.path());
    }
    rename_over(temporary_.path(), to);
    owned_ = false;
}

}  // namespace fixnvpe::os
