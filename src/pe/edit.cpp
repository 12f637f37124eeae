#include "fixnvpe/pe/edit.hpp"

#include <algorithm>

namespace fixnvpe {
namespace {

Edit field_of(Field field, std::size_t offset, std::uint32_t width, std::uint32_t value) {
    return {field, static_cast<std::uint32_t>(offset), width, value, value};
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

std::vector<Edit> editable_fields(const PeImage& image) {
    const PeLayout& layout = image.layout;
    std::vector<Edit> fields{
        field_of(Field::check_sum, layout.check_sum(), sizeof image.check_sum, image.check_sum),
        field_of(Field::dll_characteristics, layout.dll_characteristics(), sizeof image.dll_characteristics,
                 image.dll_characteristics)};
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (image.sections[i].is_fatbin()) {
            fields.push_back(field_of(Field::section_characteristics, layout.section_characteristics(i),
                                      sizeof image.sections[i].characteristics, image.sections[i].characteristics));
        }
    }
    sort_by_offset(fields);
    return fields;
}

void sort_by_offset(std::vector<Edit>& edits) {
    std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
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
