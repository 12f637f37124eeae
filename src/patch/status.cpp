#include "fixnvpe/patch/status.hpp"

#include <algorithm>

namespace fixnvpe {

Reason refusal_of(const PeImage& image, std::uint64_t file_size) {
    if (image.force_integrity()) {
        return {Why::force_integrity};
    }
    if (image.section_alignment < PAGE_SIZE_BYTES) {
        return {Why::section_alignment, image.section_alignment, PAGE_SIZE_BYTES};
    }
    for (const Section& section : image.sections) {
        const std::uint64_t end = std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data;
        if (section.size_of_raw_data != 0 && end > file_size) {
            return {Why::raw_data_past_end, end, file_size};
        }
    }
    return {};
}

std::vector<Warning> warnings_of(const PeImage& image, std::uint64_t file_size, const Plan& plan) {
    std::vector<Warning> warnings;
    if (plan.empty()) {
        return warnings;
    }
    if (image.is_signed(file_size)) {
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

}  // namespace fixnvpe
