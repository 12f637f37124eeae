#include "fixnvpe/os/lock.hpp"

#include <fmt/format.h>

#include <utility>

#include "fixnvpe/base/text.hpp"
#include "lock_steps.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

fs::path temporary_of(fs::path path) {
    return path += TEMPORARY_SUFFIX;
}

fs::path file_of(fs::path temporary) {
    return temporary.replace_extension();
}

}  // namespace

Error held(const fs::path& temporary) {
    return Error(ErrorCode::busy, "lock: another fixnvpe works on this file", Hint::wait).at(file_of(temporary));
}

Error may_be_held(const fs::path& temporary, std::string_view reason) {
    const fs::path file = file_of(temporary);
    const bool missing = info_of(file).type == FileType::missing;
    return Error(ErrorCode::busy, fmt::format("lock: another fixnvpe may be at work, which can't be told: {}", reason),
                 Hint::remove_if_alone, missing ? to_utf8(file.filename()) : std::string())
        .at(temporary);
}

Lock::Lock(const fs::path& path) : temporary_(temporary_of(path)) {
    constexpr int attempts = 16;
    for (int i = 0; i < attempts; ++i) {
        Created created = create_locked(temporary_.path());
        if (created.handle) {
            temporary_.handle_ = std::move(created.handle);
            temporary_.opened_as_ = temporary_.info();
            return;
        }
        const Leftover leftover = created.exists ? remove_leftover(temporary_.path()) : Leftover::gone;
        if (leftover == Leftover::locked) {
            break;
        }
        removed_leftover_ |= leftover == Leftover::removed;
    }
    throw os::held(temporary_.path());
}

std::optional<Error> why_locked(const fs::path& path) {
    return why_held(temporary_of(path));
}

}  // namespace fixnvpe::os
