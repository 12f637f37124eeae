#include "fixnvpe/patch/plan.hpp"

#include <algorithm>

#include "fixnvpe/pe/checksum.hpp"

namespace fixnvpe {
namespace {

Edit dll_characteristics_edit(const PeImage& image, std::uint16_t after) {
    return {Field::dll_characteristics, static_cast<std::uint32_t>(image.layout.dll_characteristics()),
            sizeof(std::uint16_t), image.dll_characteristics, after};
}

Edit section_edit(const PeImage& image, std::size_t index, std::uint32_t after) {
    return {Field::section_characteristics, static_cast<std::uint32_t>(image.layout.section_characteristics(index)),
            sizeof(std::uint32_t), image.sections[index].characteristics, after};
}

Edit check_sum_edit(const PeImage& image, std::uint32_t after) {
    return {Field::check_sum, static_cast<std::uint32_t>(image.layout.check_sum()), sizeof(std::uint32_t),
            image.check_sum, after};
}

void sort_by_offset(std::vector<Edit>& edits) {
    std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
}

bool clears_dynamic_base(const PeImage& image, AslrPolicy policy) {
    switch (policy) {
        case AslrPolicy::automatic: return image.has_writable_fatbin();
        case AslrPolicy::keep: return false;
        case AslrPolicy::clear: return image.has_fatbin();
    }
    return false;
}

}  // namespace

std::string_view to_string(Field field) {
    switch (field) {
        case Field::dll_characteristics: return "DllCharacteristics";
        case Field::section_characteristics: return "Characteristics";
        case Field::check_sum: return "CheckSum";
    }
    return "";
}

Plan make_plan(const PeImage& image, std::uint64_t file_size, AslrPolicy policy) {
    Plan plan;
    plan.check_sum = check_sum_state(image.check_sum, file_size);
    if (image.dynamic_base() && clears_dynamic_base(image, policy)) {
        const auto mask = static_cast<std::uint16_t>(~IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE);
        plan.edits.push_back(
            dll_characteristics_edit(image, static_cast<std::uint16_t>(image.dll_characteristics & mask)));
    }
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        const Section& section = image.sections[i];
        if (section.is_fatbin() && section.writable()) {
            plan.edits.push_back(section_edit(image, i, section.characteristics & ~IMAGE_SCN_MEM_WRITE));
        }
    }
    if (!plan.edits.empty() && plan.check_sum == CheckSumState::plausible) {
        const std::uint32_t after = updated_check_sum(image.check_sum, file_size, plan.edits);
        if (after != image.check_sum) {
            plan.edits.push_back(check_sum_edit(image, after));
        }
    }
    sort_by_offset(plan.edits);
    return plan;
}

std::vector<Edit> editable_fields(const PeImage& image) {
    std::vector<Edit> fields{dll_characteristics_edit(image, image.dll_characteristics),
                             check_sum_edit(image, image.check_sum)};
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (image.sections[i].is_fatbin()) {
            fields.push_back(section_edit(image, i, image.sections[i].characteristics));
        }
    }
    sort_by_offset(fields);
    return fields;
}

std::uint32_t editable_bits(Field field) {
    switch (field) {
        case Field::dll_characteristics: return IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE;
        case Field::section_characteristics: return IMAGE_SCN_MEM_WRITE;
        case Field::check_sum: return UINT32_MAX;
    }
    return 0;
}

void clear_editable_bits(const PeImage& image, ByteSpan window) {
    for (const Edit& field : editable_fields(image)) {
        const std::uint32_t value = field.width == sizeof(std::uint16_t) ? load_le<std::uint16_t>(window, field.offset)
                                                                         : load_le<std::uint32_t>(window, field.offset);
        store_le(window, field.offset, field.width, value & ~editable_bits(field.field));
    }
}

void apply_edits(const std::vector<Edit>& edits, ByteSpan window) {
    for (const Edit& edit : edits) {
        store_le(window, edit.offset, edit.width, edit.after);
    }
}

void revert_edits(const std::vector<Edit>& edits, ByteSpan window) {
    for (const Edit& edit : edits) {
        store_le(window, edit.offset, edit.width, edit.before);
    }
}

}  // namespace fixnvpe
