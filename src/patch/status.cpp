#include "fixnvpe/patch/status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixnvpe/patch/plan.hpp"

namespace fixnvpe {
namespace {

/// Why a file with .nv_fatb must not be patched; empty if it may be.
std::string refusal(const PeImage& image, std::uint64_t file_size) {
    if (image.force_integrity()) {
        return "FORCE_INTEGRITY is set: Windows would not load it with an invalid signature";
    }
    if (image.section_alignment < PAGE_SIZE_BYTES) {
        return fmt::format("SectionAlignment {} is under {}: its sections share pages", image.section_alignment,
                           PAGE_SIZE_BYTES);
    }
    for (const Section& section : image.sections) {
        const std::uint64_t end = std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data;
        if (section.size_of_raw_data != 0 && end > file_size) {
            return fmt::format("a section's raw data ends at byte {}, but the file has only {}: a broken download",
                               end, file_size);
        }
    }
    return {};
}

std::vector<Warning> warnings_of(const PeImage& image, const Plan& plan) {
    std::vector<Warning> warnings;
    if (image.is_signed()) {
        warnings.push_back(Warning::is_signed);
    }
    const auto clears_aslr = [](const Edit& edit) { return edit.field == Field::dll_characteristics; };
    if (image.guard_cf() && std::any_of(plan.edits.begin(), plan.edits.end(), clears_aslr)) {
        warnings.push_back(Warning::guard_cf_lost);
    }
    if (plan.check_sum == CheckSumState::impossible) {
        warnings.push_back(Warning::check_sum_impossible);
    }
    return warnings;
}

}  // namespace

std::string_view to_string(Status status) {
    switch (status) {
        case Status::unpatched: return "unpatched";
        case Status::patched: return "patched";
        case Status::not_needed: return "not-needed";
        case Status::no_fatbin: return "no-fatbin";
        case Status::refused: return "refused";
        case Status::not_pe: return "not-pe";
        case Status::error: return "error";
    }
    return "error";
}

std::string_view to_string(Warning warning) {
    switch (warning) {
        case Warning::is_signed: return "signed";
        case Warning::guard_cf_lost: return "loses Control Flow Guard";
        case Warning::check_sum_impossible: return "CheckSum was wrong before, left alone";
        case Warning::same_image_base: return "shares its preferred base";
    }
    return "";
}

Assessment assess(const PeImage& image, std::uint64_t file_size, AslrPolicy policy, bool kept_backup) {
    Assessment result;
    if (!image.has_fatbin()) {
        result.status = Status::no_fatbin;
        return result;
    }
    const Plan plan = make_plan(image, file_size, policy);
    result.needs_patch = !plan.edits.empty();
    if (result.needs_patch) {
        result.status = Status::unpatched;
        result.warnings = warnings_of(image, plan);
    } else {
        result.status = !image.dynamic_base() || kept_backup ? Status::patched : Status::not_needed;
    }
    if (std::string reason = refusal(image, file_size); !reason.empty()) {
        result.status = Status::refused;
        result.reason = std::move(reason);
    }
    return result;
}

}  // namespace fixnvpe
