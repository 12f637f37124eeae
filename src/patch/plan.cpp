#include "fixnvpe/patch/plan.hpp"

#include <algorithm>
#include <utility>

#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/reader.hpp"

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

/// All editable fields, those that the policy wants changed with their new value; CheckSum as it is.
std::vector<Edit> wanted(const PeImage& image, AslrPolicy policy) {
    std::vector<Edit> fields = editable_fields(image);
    for (Edit& edit : fields) {
        const bool clears = edit.field == Field::section_characteristics ||
                            (edit.field == Field::dll_characteristics && clears_dynamic_base(image, policy));
        edit.after = clears ? edit.before & ~editable_bits(edit.field) : edit.before;
    }
    return fields;
}

/// Lets CheckSum follow from the other fields, and leaves out what stays as it is.
Plan finished(std::vector<Edit> fields, std::uint32_t check_sum, std::uint64_t file_size) {
    std::erase_if(fields, [](const Edit& e) { return e.field != Field::check_sum && e.before == e.after; });
    Plan plan;
    plan.check_sum = check_sum_state(check_sum, file_size);
    const auto field =
        std::find_if(fields.begin(), fields.end(), [](const Edit& e) { return e.field == Field::check_sum; });
    Edit edit = *field;
    fields.erase(field);
    plan.edits = std::move(fields);
    if (plan.check_sum == CheckSumState::plausible) {
        edit.after = updated_check_sum(check_sum, file_size, plan.edits);
    }
    if (edit.after != edit.before) {
        plan.edits.push_back(edit);
        sort_by_offset(plan.edits);
    }
    return plan;
}

}  // namespace

Plan make_plan(const PeImage& image, std::uint64_t file_size, AslrPolicy policy) {
    return finished(wanted(image, policy), image.check_sum, file_size);
}

Plan make_plan_over(const PeImage& original, const PeImage& begun, const PeImage& image, std::uint64_t file_size,
                    AslrPolicy policy) {
    std::vector<Edit> fields = wanted(original, policy);
    const std::vector<Edit> done = editable_fields(begun);
    const std::vector<Edit> present = editable_fields(image);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].field != Field::check_sum) {
            fields[i].after &= done[i].before;
        }
    }
    Plan plan = finished(fields, original.check_sum, file_size);
    // From the original's values to those of the file as it is.
    std::vector<Edit> edits = present;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const auto changed = std::find_if(plan.edits.begin(), plan.edits.end(),
                                          [&](const Edit& e) { return e.offset == fields[i].offset; });
        edits[i].after = changed != plan.edits.end() ? changed->after : fields[i].before;
    }
    std::erase_if(edits, [](const Edit& e) { return e.before == e.after; });
    plan.edits = std::move(edits);
    return plan;
}

Plan make_split_plan(const FileHeaders& original, const PeImage& begun, const FileHeaders& dll, const Split& split,
                     AslrPolicy policy) {
    const Unsplit base = unsplit(original);
    std::vector<Edit> fields = wanted(base.image, policy);
    const std::vector<Edit> done = editable_fields(begun);
    std::vector<std::uint8_t> headers = base.bytes;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].field != Field::check_sum) {
            fields[i].after &= i < done.size() ? done[i].before : UINT32_MAX;
            store_le(headers, fields[i].offset, fields[i].width(), fields[i].after);
        }
    }
    if (!split.pages.empty()) {
        headers = split_headers(headers, read_pe(headers, dll.file_size), split);
    }
    PeImage image = read_pe(headers, dll.file_size);
    Plan plan;
    plan.check_sum = check_sum_state(base.image.check_sum, dll.file_size);
    if (plan.check_sum == CheckSumState::plausible) {
        image.check_sum =
            updated_check_sum(base.image.check_sum, dll.file_size, without_check_sum(base.bytes, base.image),
                              without_check_sum(headers, image));
        store_le(headers, image.layout.check_sum(), width_of(Field::check_sum), image.check_sum);
    }
    if (std::equal(headers.begin(), headers.end(), dll.bytes.begin(), dll.bytes.end())) {
        return plan;
    }
    plan.edits = edits_between(dll.image, image);
    plan.split = is_split(dll.image) ? Split() : split;
    plan.headers = std::move(headers);
    return plan;
}

}  // namespace fixnvpe
