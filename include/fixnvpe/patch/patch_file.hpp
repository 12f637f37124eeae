#pragma once

#include <filesystem>
#include <optional>

#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {

/// Carries out a decision to patch.
/// @return where a stale backup was moved to, if there was one
/// @throws Error busy, changed (the file is not as seen any more: nothing is written), link, bad_undo, access_denied,
///         disk_full, verify_failed, interrupted, io
std::optional<std::filesystem::path> patch_file(const Findings& seen, const Decision& decision,
                                                const CopyProgress& progress);

}  // namespace fixnvpe
