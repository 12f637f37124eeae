#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fixnvpe/base/names.hpp"
#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// The state of one file.
enum class Status {
    unpatched,   ///< a fatbin section is writable, or the policy is `clear` and DYNAMIC_BASE is set
    patched,     ///< nothing to do any more
    not_needed,  ///< fatbin sections are read-only as shipped: nothing to gain
    no_fatbin,   ///< a PE file without a fatbin section
    refused,     ///< must not be patched
    not_pe,      ///< no PE file
    error,       ///< could not be read, truncated, malformed
};

template <>
inline constexpr auto names_of<Status> = names<Status>({
    {Status::unpatched, "unpatched"},
    {Status::patched, "patched"},
    {Status::not_needed, "not-needed"},
    {Status::no_fatbin, "no-fatbin"},
    {Status::refused, "refused"},
    {Status::not_pe, "not-pe"},
    {Status::error, "error"},
});

/// What the user should know of a file before and after patching it.
enum class Warning {
    is_signed,             ///< patching makes the Authenticode signature invalid
    guard_cf_lost,         ///< clearing DYNAMIC_BASE turns Control Flow Guard off
    check_sum_impossible,  ///< CheckSum can't be right for a file of this size; left alone
    same_image_base,       ///< another patched file has the same preferred base
};

template <>
inline constexpr auto names_of<Warning> = names<Warning>({
    {Warning::is_signed, "signed"},
    {Warning::guard_cf_lost, "guard-cf-lost"},
    {Warning::check_sum_impossible, "check-sum-impossible"},
    {Warning::same_image_base, "same-image-base"},
});

/// Why a decision was taken.
enum class Why {
    nothing,
    // A file must not be patched.
    force_integrity,
    section_alignment,  ///< value: SectionAlignment in bytes
    raw_data_past_end,  ///< value: where it ends; limit: the file's size in bytes
    // A file is not worked on.
    missing,           ///< the file is not there, but its backup is
    missing_for_good,  ///< nor is what has its backup's name one
    no_backup,         ///< patched, and nothing to restore it from
    no_valid_backup,   ///< patched, and verify was asked to require a backup
    broken,            ///< cut short or no PE file, but a backup is whole; value: its index
    broken_upgrade,    ///< cut short, and of another build than its backup
    bad_backup,        ///< one that stands in the way can't be used, or belongs to another build
    // A file of ours beside it stays, or goes.
    not_ours,
    usable,          ///< restore could use it
    equal,           ///< to its DLL, byte for byte
    patched_itself,  ///< not an original
    other_build,
    maybe_other_build,  ///< as far as can be told
    nothing_to_undo,
    bad_undo,
    half_done,
    dll_left_by_crash,  ///< the DLL is missing, and a crash's temporary is there
    dll_gone,
    dll_dropped,  ///< the same, and the packages that have files there came later, without it
    dll_damaged,
    left_by_crash,
    in_use,  ///< by another fixnvpe
};

template <>
inline constexpr auto names_of<Why> = names<Why>({
    {Why::nothing, ""},
    {Why::force_integrity, "force-integrity"},
    {Why::section_alignment, "section-alignment"},
    {Why::raw_data_past_end, "raw-data-past-end"},
    {Why::missing, "missing"},
    {Why::missing_for_good, "not-found"},
    {Why::no_backup, "no-backup"},
    {Why::no_valid_backup, "no-valid-backup"},
    {Why::broken, "broken"},
    {Why::broken_upgrade, "broken-upgrade"},
    {Why::bad_backup, "bad-backup"},
    {Why::not_ours, "not-ours"},
    {Why::usable, "usable"},
    {Why::equal, "equal"},
    {Why::patched_itself, "patched-itself"},
    {Why::other_build, "other-build"},
    {Why::maybe_other_build, "maybe-other-build"},
    {Why::nothing_to_undo, "nothing-to-undo"},
    {Why::bad_undo, "bad-undo"},
    {Why::half_done, "half-done"},
    {Why::dll_left_by_crash, "dll-left-by-crash"},
    {Why::dll_gone, "dll-gone"},
    {Why::dll_dropped, "dll-dropped"},
    {Why::dll_damaged, "dll-damaged"},
    {Why::left_by_crash, "left-by-crash"},
    {Why::in_use, "in-use"},
});

struct Reason {
    Why why = Why::nothing;
    std::uint64_t value = 0;
    std::uint64_t limit = 0;
    friend bool operator==(const Reason&, const Reason&) = default;
};

/// Why a file must not be patched, whatever is asked; nothing if it may be. @param file_size bytes
[[nodiscard]] Reason refusal_of(const PeImage& image, std::uint64_t file_size);

/// What is to be said before this plan is carried out. @param file_size bytes
[[nodiscard]] std::vector<Warning> warnings_of(const PeImage& image, std::uint64_t file_size, const Plan& plan);

}  // namespace fixnvpe
