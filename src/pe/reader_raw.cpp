#include <algorithm>

#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

std::string section_name(ByteView header) {
    const ByteView bytes = header.subspan(offset::Name, size_of::SectionName);
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), 0)};
}

DataDirectory data_directory(ByteView headers, const PeLayout& layout, std::uint32_t index) {
    if (index >= layout.number_of_rva_and_sizes) {
        return {};
    }
    const std::size_t at = layout.data_directory(index);
    return {load_le<std::uint32_t>(headers, at + offset::DirectoryAddress),
            load_le<std::uint32_t>(headers, at + offset::DirectorySize)};
}

}  // namespace

PeImage read_pe_raw(ByteView headers, const PeLayout& layout) {
    PeImage image;
    image.layout = layout;
    image.machine = load_le<std::uint16_t>(headers, layout.nt_headers + offset::Machine);
    image.time_date_stamp = load_le<std::uint32_t>(headers, layout.nt_headers + offset::TimeDateStamp);
    image.image_base = layout.pe32_plus ? load_le<std::uint64_t>(headers, layout.optional_header + offset::ImageBase64)
                                        : load_le<std::uint32_t>(headers, layout.optional_header + offset::ImageBase32);
    image.section_alignment = load_le<std::uint32_t>(headers, layout.optional_header + offset::SectionAlignment);
    image.check_sum = load_le<std::uint32_t>(headers, layout.check_sum());
    image.dll_characteristics = load_le<std::uint16_t>(headers, layout.dll_characteristics());
    image.security = data_directory(headers, layout, IMAGE_DIRECTORY_ENTRY_SECURITY);
    image.base_relocations = data_directory(headers, layout, IMAGE_DIRECTORY_ENTRY_BASERELOC);

    image.sections.reserve(layout.number_of_sections);
    for (std::size_t i = 0; i < layout.number_of_sections; ++i) {
        const ByteView header = headers.subspan(layout.section_header(i), size_of::SectionHeader);
        image.sections.push_back({
            section_name(header),
            load_le<std::uint32_t>(header, offset::VirtualSize),
            load_le<std::uint32_t>(header, offset::VirtualAddress),
            load_le<std::uint32_t>(header, offset::SizeOfRawData),
            load_le<std::uint32_t>(header, offset::PointerToRawData),
            load_le<std::uint32_t>(header, offset::Characteristics),
        });
    }
    return image;
}

}  // namespace fixnvpe
