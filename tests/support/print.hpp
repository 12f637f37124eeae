#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/patch/status.hpp"
#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/image.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"

/// How our values look in the message of a test that failed.
namespace fixnvpe::test {

inline std::string describe(const PeImage& image) {
    std::string text = fmt::format(
        "{{machine {}, {}, e_lfanew {}, sections at {}, directories {}, time {:#x}, base {:#x}, alignment {}, CheckSum "
        "{:#x}, DllCharacteristics {:#x}, security {:#x}+{:#x}, relocations {:#x}+{:#x}, sections",
        machine_name(image.machine), image.layout.pe32_plus ? "PE32+" : "PE32", image.layout.nt_headers,
        image.layout.section_table, image.layout.number_of_rva_and_sizes, image.time_date_stamp, image.image_base,
        image.section_alignment, image.check_sum, image.dll_characteristics, image.security.virtual_address,
        image.security.size, image.base_relocations.virtual_address, image.base_relocations.size);
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(image.sections.size(), most); ++i) {
        const Section& s = image.sections[i];
        text += fmt::format(" [{} {:#x}+{:#x} in file {:#x}+{:#x} {:#x}]", Catch::Detail::stringify(s.name),
                            s.virtual_address, s.virtual_size, s.pointer_to_raw_data, s.size_of_raw_data,
                            s.characteristics);
    }
    if (image.sections.size() > most) {
        text += fmt::format(" … {} in all", image.sections.size());
    }
    return text + "}";
}

inline std::string describe(const Edit& edit) {
    return fmt::format("{{{} at {}, {} bytes: {:#x} -> {:#x}}}", to_string(edit.field), edit.offset, edit.width(),
                       edit.before, edit.after);
}

inline std::string describe(const Reading& reading) {
    return reading.image ? describe(*reading.image)
                         : fmt::format("{{error {}: {}}}", to_string(*reading.error), reading.message);
}

inline std::string describe(CheckSumState state) {
    switch (state) {
        case CheckSumState::unset: return "unset";
        case CheckSumState::plausible: return "plausible";
        case CheckSumState::impossible: return "impossible";
    }
    return "?";
}

template <typename Named>
requires std::is_enum_v<Named> std::string describe(Named value) {
    return std::string(to_string(value));
}

}  // namespace fixnvpe::test

namespace Catch {

template <typename T>
struct FixnvpeStringMaker {
    static std::string convert(const T& value) { return fixnvpe::test::describe(value); }
};

template <>
struct StringMaker<fixnvpe::PeImage> : FixnvpeStringMaker<fixnvpe::PeImage> {};
template <>
struct StringMaker<fixnvpe::Edit> : FixnvpeStringMaker<fixnvpe::Edit> {};
template <>
struct StringMaker<fixnvpe::test::Reading> : FixnvpeStringMaker<fixnvpe::test::Reading> {};
template <>
struct StringMaker<fixnvpe::CheckSumState> : FixnvpeStringMaker<fixnvpe::CheckSumState> {};
template <>
struct StringMaker<fixnvpe::AslrPolicy> : FixnvpeStringMaker<fixnvpe::AslrPolicy> {};
template <>
struct StringMaker<fixnvpe::ErrorCode> : FixnvpeStringMaker<fixnvpe::ErrorCode> {};
template <>
struct StringMaker<fixnvpe::Status> : FixnvpeStringMaker<fixnvpe::Status> {};
template <>
struct StringMaker<fixnvpe::Warning> : FixnvpeStringMaker<fixnvpe::Warning> {};

}  // namespace Catch
