#include "fixnvpe/pe/edit.hpp"

#include <algorithm>

namespace fixnvpe {
namespace {

Edit unchanged(Field field, std::size_t offset, std::uint32_t value) {
    return {field, static_cast<std::uint32_t>(offset), value, value};
}

std::uint32_t value_in(ByteView headers, const Edit& field) {
    return field.width() == sizeof(std::uint16_t) ? load_le<std::uint16_t>(headers, field.offset)
                                                  : load_le<std::uint32_t>(headers, field.offset);
}

}  // namespace

std::vector<Edit> editable_fields(const PeImage& image) {
    const PeLayout& layout = image.layout;
    std::vector<Edit> fields{
        unchanged(Field::check_sum, layout.check_sum(), image.check_sum),
        unchanged(Field::dll_characteristics, layout.dll_characteristics(), image.dll_characteristics)};
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (image.sections[i].is_fatbin()) {
            fields.push_back(unchanged(Field::section_characteristics, layout.section_characteristics(i),
                                       image.sections[i].characteristics));
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

std::vector<Edit> edits_between(const PeImage& from, const PeImage& to) {
    std::vector<Edit> edits = editable_fields(from);
    const std::vector<Edit> theirs = editable_fields(to);
    edits.resize(std::min(edits.size(), theirs.size()));  // half done, they may have other sections
    for (std::size_t i = 0; i < edits.size(); ++i) {
        edits[i].after = theirs[i].before;
    }
    std::erase_if(edits, [](const Edit& e) { return e.before == e.after; });
    return edits;
}

void clear_editable_bits(const PeImage& image, ByteSpan headers) {
    for (const Edit& field : editable_fields(image)) {
        store_le(headers, field.offset, field.width(), value_in(headers, field) & ~editable_bits(field.field));
    }
}

void apply_edits(const std::vector<Edit>& edits, ByteSpan headers) {
    for (const Edit& edit : edits) {
        store_le(headers, edit.offset, edit.width(), edit.after);
    }
}

void revert_edits(const std::vector<Edit>& edits, ByteSpan headers) {
    for (const Edit& edit : edits) {
        store_le(headers, edit.offset, edit.width(), edit.before);
    }
}

}  // namespace fixnvpe
