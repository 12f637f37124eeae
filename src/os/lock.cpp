#include "fixnvpe/os/lock.hpp"

#include <utility>

#include "fixnvpe/base/error.hpp"
#include "lock_steps.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

fs::path temporary_of(fs::path path) {
    return path += TEMPORARY_SUFFIX;
}

}  // namespace

Lock::Lock(const fs::path& path) : temporary_(temporary_of(path)) {
    constexpr int attempts = 16;
    for (int i = 0; i < attempts; ++i) {
        Created created = create_locked(temporary_.path());
        if (created.handle) {
            temporary_.handle_ = std::move(created.handle);
            return;
        }
        const Leftover leftover = created.exists ? remove_leftover(temporary_.path()) : Leftover::gone;
        if (leftover == Leftover::locked) {
            break;
        }
        removed_leftover_ |= leftover == Leftover::removed;
    }
    throw Error(ErrorCode::busy, "lock: another fixnvpe works on this file", Hint::wait).at(path);
}

bool is_locked(const fs::path& path) {
    return has_owner(temporary_of(path));
}

}  // namespace fixnvpe::os
