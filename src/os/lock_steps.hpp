#pragma once

// What lock.cpp leaves to each system.

#include <filesystem>

#include "fixnvpe/os/handle.hpp"

namespace fixnvpe::os {

struct Created {
    Handle handle;        ///< locked; none if that could not be done now
    bool exists = false;  ///< because one stands there already
};
[[nodiscard]] Created create_locked(const std::filesystem::path& temporary);

enum class Leftover { gone, removed, locked };
/// Removes the temporary that a crash left, unless its maker still lives.
[[nodiscard]] Leftover remove_leftover(const std::filesystem::path& temporary);

/// True if another process has locked this temporary.
[[nodiscard]] bool has_owner(const std::filesystem::path& temporary);

}  // namespace fixnvpe::os
