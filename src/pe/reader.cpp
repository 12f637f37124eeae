#include "fixnvpe/pe/reader.hpp"

#include <fmt/format.h>

#include <string_view>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

/// Keeps the first difference it is shown.
class Comparison {
public:
    void numbers(std::string_view field, std::uint64_t ours, std::uint64_t theirs) {
        if (ours != theirs) {
            keep(field, fmt::format("{:#x}", ours), fmt::format("{:#x}", theirs));
        }
    }
    void names(std::string_view field, const std::string& ours, const std::string& theirs) {
        if (ours != theirs) {
            keep(field, fmt::format("\"{}\"", printable(ours)), fmt::format("\"{}\"", printable(theirs)));
        }
    }
    void directories(std::string_view name, const DataDirectory& ours, const DataDirectory& theirs) {
        numbers(fmt::format("VirtualAddress of {}", name), ours.virtual_address, theirs.virtual_address);
        numbers(fmt::format("Size of {}", name), ours.size, theirs.size);
    }
    void sections(std::size_t index, const Section& ours, const Section& theirs) {
        const auto of_it = [&](std::string_view field) { return fmt::format("{} of section {}", field, index + 1); };
        names(of_it("Name"), ours.name, theirs.name);
        numbers(of_it("VirtualSize"), ours.virtual_size, theirs.virtual_size);
        numbers(of_it("VirtualAddress"), ours.virtual_address, theirs.virtual_address);
        numbers(of_it("SizeOfRawData"), ours.size_of_raw_data, theirs.size_of_raw_data);
        numbers(of_it("PointerToRawData"), ours.pointer_to_raw_data, theirs.pointer_to_raw_data);
        numbers(of_it("Characteristics"), ours.characteristics, theirs.characteristics);
    }
    [[nodiscard]] const std::optional<std::string>& first() const { return first_; }

private:
    void keep(std::string_view field, const std::string& ours, const std::string& theirs) {
        if (!first_) {
            first_ = fmt::format("{} is {} in the file, but LIEF reads {}", field, ours, theirs);
        }
    }

    std::optional<std::string> first_;
};

std::uint16_t magic(const PeImage& image) {
    return image.layout.pe32_plus ? IMAGE_NT_OPTIONAL_HDR64_MAGIC : IMAGE_NT_OPTIONAL_HDR32_MAGIC;
}

}  // namespace

std::optional<std::string> difference(const PeImage& ours, const PeImage& theirs) {
    if (ours == theirs) {
        return std::nullopt;
    }
    Comparison comparison;
    comparison.numbers("Machine", ours.machine, theirs.machine);
    comparison.numbers("TimeDateStamp", ours.time_date_stamp, theirs.time_date_stamp);
    comparison.numbers("Magic", magic(ours), magic(theirs));
    comparison.numbers("ImageBase", ours.image_base, theirs.image_base);
    comparison.numbers("SectionAlignment", ours.section_alignment, theirs.section_alignment);
    comparison.numbers("CheckSum", ours.check_sum, theirs.check_sum);
    comparison.numbers("DllCharacteristics", ours.dll_characteristics, theirs.dll_characteristics);
    comparison.numbers("NumberOfRvaAndSizes", ours.layout.number_of_rva_and_sizes,
                       theirs.layout.number_of_rva_and_sizes);
    comparison.directories("the certificate table", ours.security, theirs.security);
    comparison.directories("the base relocation table", ours.base_relocations, theirs.base_relocations);
    comparison.numbers("the number of sections", ours.sections.size(), theirs.sections.size());
    for (std::size_t i = 0; i < ours.sections.size() && !comparison.first(); ++i) {
        if (!(ours.sections[i] == theirs.sections[i])) {
            comparison.sections(i, ours.sections[i], theirs.sections[i]);
        }
    }
    // Both have the rest of the layout from locate_headers().
    return comparison.first() ? comparison.first() : "the layout is another one for LIEF";
}

PeImage read_pe(ByteView headers, std::uint64_t file_size) {
    const PeLayout layout = locate_headers(headers, file_size);
    PeImage image = read_pe_raw(headers, layout);
#if FIXNVPE_WITH_LIEF
    if (const auto differs = difference(image, read_pe_lief(headers, layout))) {
        throw Error(ErrorCode::readers_disagree, "read headers: " + *differs, Hint::ambiguous_headers);
    }
#endif
    return image;
}

#if !FIXNVPE_WITH_LIEF
std::string reader_name() {
    return "without LIEF";
}
#endif

}  // namespace fixnvpe
