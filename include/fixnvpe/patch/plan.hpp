#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/patch/policy.hpp"
#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/image.hpp"

/// Which bytes of a file change: what design.md §4 calls the plan. Whether they may, decide() says.
namespace fixnvpe {

struct Plan {
    std::vector<Edit> edits;  ///< from the file as it is, sorted by offset; empty: nothing to do
    CheckSumState check_sum = CheckSumState::unset;
};

/// The edits that patch this file under this policy.
/// @param file_size bytes
[[nodiscard]] Plan make_plan(const PeImage& image, std::uint64_t file_size, AslrPolicy policy);

/// The same for a file that was patched before and whose original is known: what was done then stays, what is asked
/// for now is judged by the original, and CheckSum follows from the original's.
/// @param begun the file with all that the earlier patch was to do: the file itself, unless that was broken off half
/// way
[[nodiscard]] Plan make_plan_over(const PeImage& original, const PeImage& begun, const PeImage& image,
                                  std::uint64_t file_size, AslrPolicy policy);

}  // namespace fixnvpe
