#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/patch/plan.hpp"

namespace fixnvpe {

/// The state of one file.
enum class Status {
    unpatched,   ///< a .nv_fatb section is writable, or the policy is `clear` and DYNAMIC_BASE is set
    patched,     ///< nothing to do any more
    not_needed,  ///< .nv_fatb is read-only as shipped: nothing to gain
    no_fatbin,   ///< a PE file without .nv_fatb
    refused,     ///< must not be patched
    not_pe,      ///< no PE file
    error,       ///< could not be read, truncated, malformed
};

/// The status as it stands in the output, such as "not-needed".
[[nodiscard]] std::string_view to_string(Status status);

/// What the user should know of a file before and after patching it.
enum class Warning {
    is_signed,             ///< patching makes the Authenticode signature invalid
    guard_cf_lost,         ///< clearing DYNAMIC_BASE turns Control Flow Guard off
    check_sum_impossible,  ///< CheckSum can't be right for a file of this size; left alone
    same_image_base,       ///< another patched file has the same preferred base
};

/// In a few words, for the file's line.
[[nodiscard]] std::string_view to_string(Warning warning);

struct Assessment {
    Status status = Status::no_fatbin;
    bool needs_patch = false;  ///< true for `unpatched`, and for `refused` where it would else be that
    std::string reason;        ///< why it is refused; else empty
    std::vector<Warning> warnings;
};

/// Judges one file by its headers.
/// @param file_size   bytes
/// @param kept_backup a valid backup of this file exists and differs from it: it was patched, whatever
///                    became of its DYNAMIC_BASE
[[nodiscard]] Assessment assess(const PeImage& image, std::uint64_t file_size, AslrPolicy policy, bool kept_backup);

}  // namespace fixnvpe
