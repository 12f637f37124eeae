#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/base/names.hpp"
#include "fixnvpe/pe/image.hpp"

/// The few fields of a PE file that fixnvpe may change, and how they are changed.
namespace fixnvpe {

/// The fields that a plan may change, and nothing else ever.
enum class Field { dll_characteristics, section_characteristics, check_sum };

/// The field's name in winnt.h.
template <>
inline constexpr auto names_of<Field> = names<Field>({
    {Field::dll_characteristics, "DllCharacteristics"},
    {Field::section_characteristics, "Characteristics"},
    {Field::check_sum, "CheckSum"},
});

/// Bytes that a field takes in the file.
[[nodiscard]] constexpr std::uint32_t width_of(Field field) {
    return field == Field::dll_characteristics ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

/// One number in the file that is replaced by another.
struct Edit {
    Field field = Field::dll_characteristics;
    std::uint32_t offset = 0;  ///< file offset in bytes
    std::uint32_t before = 0;
    std::uint32_t after = 0;

    [[nodiscard]] std::uint32_t width() const { return width_of(field); }
    friend bool operator==(const Edit&, const Edit&) = default;
};

/// What CheckSum means for a plan.
enum class CheckSumState {
    unset,       ///< zero, and stays zero
    plausible,   ///< kept right if it was right
    impossible,  ///< can't be right for a file of this size; left as it is
};

/// All fields that a plan for this image could change, with their present values as `before` and `after`.
[[nodiscard]] std::vector<Edit> editable_fields(const PeImage& image);

/// The edits that lead from one image of a file to another, as far as a plan could: where the fields of the first are.
[[nodiscard]] std::vector<Edit> edits_between(const PeImage& from, const PeImage& to);

void sort_by_offset(std::vector<Edit>& edits);

/// The bits of a field that a plan may change.
[[nodiscard]] std::uint32_t editable_bits(Field field);

/// Clears all bits of the headers that a plan for this image could change: what is left is what a file and its
/// backup, or its undo file, must have in common.
void clear_editable_bits(const PeImage& image, ByteSpan headers);

/// Writes each edit's `after` into the headers.
/// @throws Error malformed if an edit lies outside them
void apply_edits(const std::vector<Edit>& edits, ByteSpan headers);

/// Writes each edit's `before` into the headers.
void revert_edits(const std::vector<Edit>& edits, ByteSpan headers);

}  // namespace fixnvpe
