#pragma once

// What lock.cpp leaves to each system.

#include <filesystem>
#include <optional>
#include <string_view>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/handle.hpp"

namespace fixnvpe::os {

struct Created {
    Handle handle;        ///< locked; none if that could not be done now
    bool exists = false;  ///< because one stands there already
};
[[nodiscard]] Created create_locked(const std::filesystem::path& temporary);

enum class Leftover { gone, removed, locked };
/// Removes the temporary that a crash left, unless its maker still lives.
/// @throws Error may_be_held
[[nodiscard]] Leftover remove_leftover(const std::filesystem::path& temporary);

/// Nothing if no other process has locked this temporary; else held() or may_be_held().
[[nodiscard]] std::optional<Error> why_held(const std::filesystem::path& temporary);

/// Another process has locked the temporary.
[[nodiscard]] Error held(const std::filesystem::path& temporary);
/// Whether one has can't be told. @param reason the system's
[[nodiscard]] Error may_be_held(const std::filesystem::path& temporary, std::string_view reason);

}  // namespace fixnvpe::os
