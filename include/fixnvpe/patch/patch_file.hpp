#pragma once

#include <filesystem>
#include <vector>

#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {

/// Carries out a decision to patch.
/// @param moved gets the new names of what was moved aside, whether or not all else goes well
/// @throws Error busy, changed (the file is not as seen any more: nothing is written), link, bad_undo, access_denied,
///         disk_full, verify_failed, interrupted, io
void patch_file(const Findings& seen, const Decision& decision, const CopyProgress& progress,
                std::vector<std::filesystem::path>& moved);

}  // namespace fixnvpe
