#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// What to do about ASLR (IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE).
enum class AslrPolicy {
    automatic,  ///< clear it in the files whose .nv_fatb is writable
    keep,       ///< never touch it
    clear,      ///< clear it in every file that has .nv_fatb
};

struct Plan {
    std::vector<Edit> edits;  ///< sorted by offset; empty: nothing to do
    CheckSumState check_sum = CheckSumState::unset;
};

/// The edits that patch this file under this policy. Does not ask whether the file may be patched: that
/// is assess()'s part.
/// @param file_size bytes
[[nodiscard]] Plan make_plan(const PeImage& image, std::uint64_t file_size, AslrPolicy policy);

}  // namespace fixnvpe
