#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/patch/build.hpp"
#include "fixnvpe/patch/policy.hpp"
#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/pe/split.hpp"

/// Which bytes of a file change: what design.md §4 calls the plan. Whether they may, decide() says.
namespace fixnvpe {

struct Plan {
    std::vector<Edit> edits;  ///< from the file as it is, sorted by offset
    CheckSumState check_sum = CheckSumState::unset;
    Split split = {};                        ///< what is split beside
    std::vector<std::uint8_t> headers = {};  ///< of a split file: the header bytes with all of it carried out

    [[nodiscard]] bool empty() const { return edits.empty() && headers.empty(); }
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

/// The same for a file that is split, or is to be.
/// @param original what the plan starts from; it may be split itself, which is then taken back in thought
/// @param begun    as above
/// @param dll      as it is
/// @param split    of the result
[[nodiscard]] Plan make_split_plan(const FileHeaders& original, const PeImage& begun, const FileHeaders& dll,
                                   const Split& split, AslrPolicy policy);

}  // namespace fixnvpe
