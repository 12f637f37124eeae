#include "fixnvpe/patch/plan.hpp"

#include <algorithm>

#include "fixnvpe/pe/checksum.hpp"

namespace fixnvpe {
namespace {

bool clears_dynamic_base(const PeImage& image, AslrPolicy policy) {
    switch (policy) {
        case AslrPolicy::automatic: return image.has_writable_fatbin();
        case AslrPolicy::keep: return false;
        case AslrPolicy::clear: return image.has_fatbin();
    }
    return false;
}

}  // namespace

Plan make_plan(const PeImage& image, std::uint64_t file_size, AslrPolicy policy) {
    Plan plan;
    plan.check_sum = check_sum_state(image.check_sum, file_size);
    Edit check_sum;
    for (Edit edit : editable_fields(image)) {
        if (edit.field == Field::check_sum) {
            check_sum = edit;
            continue;
        }
        if (edit.field == Field::section_characteristics || clears_dynamic_base(image, policy)) {
            edit.after = edit.before & ~editable_bits(edit.field);
        }
        if (edit.after != edit.before) {
            plan.edits.push_back(edit);
        }
    }
    if (!plan.edits.empty() && plan.check_sum == CheckSumState::plausible) {
        check_sum.after = updated_check_sum(image.check_sum, file_size, plan.edits);
        if (check_sum.after != check_sum.before) {
            plan.edits.push_back(check_sum);
            sort_by_offset(plan.edits);
        }
    }
    return plan;
}

}  // namespace fixnvpe
