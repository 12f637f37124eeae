#include <LIEF/version.h>
#include <fmt/format.h>
#include <LIEF/PE/Binary.hpp>
#include <LIEF/PE/DataDirectory.hpp>
#include <LIEF/PE/Header.hpp>
#include <LIEF/PE/OptionalHeader.hpp>
#include <LIEF/PE/Parser.hpp>
#include <LIEF/PE/Section.hpp>
#include <LIEF/logging.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

/// Sections that LIEF is given in one go: as many as Windows loads. LIEF 1.0 passes over those behind the thousandth,
/// and every version copies for each what PointerToRawData leads to. In a bad file that is all it was given.
constexpr std::size_t SECTIONS_AT_ONCE = 96;

/// LIEF follows each data directory that has a VirtualAddress, in old versions without enough checks. So that number
/// is handed to it as the Size of another directory, which has no VirtualAddress.
/// @return that directory; it comes before this one, so it is read wherever this one is
constexpr std::size_t carrier_of_address(std::size_t directory) {
    return directory - IMAGE_DIRECTORY_ENTRY_SECURITY;
}

/// The headers alone, in the shape that LIEF knows: the MS-DOS header, the others right behind it, sixteen data
/// directories whatever the file has, and the section table.
///
/// The file is untrusted, and what its headers point to was not read. So nothing is left that LIEF could follow but
/// PointerToRawData, and each version checks that it leads to bytes that LIEF was given. All else that is read stands
/// where a PE file has it.
/// @param first the first of the `count` sections that are in the copy
std::vector<std::uint8_t> headers_for_lief(ByteView headers, const PeLayout& layout, std::size_t first,
                                           std::size_t count) {
    const auto at = [&](std::size_t offset) { return headers.begin() + static_cast<std::ptrdiff_t>(offset); };
    constexpr std::size_t nt_headers = size_of::DosHeader;

    std::vector<std::uint8_t> copy(at(0), at(nt_headers));
    copy.insert(copy.end(), at(layout.nt_headers), at(layout.data_directories));
    const std::size_t data_directories = copy.size();
    copy.resize(data_directories + IMAGE_NUMBEROF_DIRECTORY_ENTRIES * size_of::DataDirectory);
    const std::size_t section_table = copy.size();
    copy.insert(copy.end(), at(layout.section_header(first)), at(layout.section_header(first + count)));

    const ByteSpan bytes(copy);
    store_le(bytes, offset::e_lfanew, sizeof(std::uint32_t), nt_headers);
    store_le(bytes, nt_headers + offset::NumberOfSections, sizeof(std::uint16_t), count);
    store_le(bytes, nt_headers + offset::PointerToSymbolTable, sizeof(std::uint32_t), 0);
    store_le(bytes, nt_headers + offset::NumberOfSymbols, sizeof(std::uint32_t), 0);
    store_le(bytes, nt_headers + offset::SizeOfOptionalHeader, sizeof(std::uint16_t),
             section_table - nt_headers - size_of::NtSignatureAndFileHeader);
    const auto size_at = [&](std::size_t directory) {
        return data_directories + directory * size_of::DataDirectory + offset::DirectorySize;
    };
    for (const std::size_t directory : {IMAGE_DIRECTORY_ENTRY_SECURITY, IMAGE_DIRECTORY_ENTRY_BASERELOC}) {
        if (directory < layout.number_of_rva_and_sizes) {
            const ByteView from = headers.subspan(layout.data_directory(directory), size_of::DataDirectory);
            store_le(bytes, size_at(directory), sizeof(std::uint32_t),
                     load_le<std::uint32_t>(from, offset::DirectorySize));
            store_le(bytes, size_at(carrier_of_address(directory)), sizeof(std::uint32_t),
                     load_le<std::uint32_t>(from, offset::DirectoryAddress));
        }
    }
    return copy;
}

std::unique_ptr<const LIEF::PE::Binary> parse(const std::vector<std::uint8_t>& headers) {
    // What it has to say of headers without a file is noise. LIEF 0.9.0, which has another name for this, does not
    // define its version's numbers.
#ifdef LIEF_VERSION_MAJOR
    LIEF::logging::disable();
#else
    LIEF::Logger::disable();
#endif
    std::unique_ptr<const LIEF::PE::Binary> binary;
    try {
        binary = LIEF::PE::Parser::parse(headers);
    } catch (const std::exception& e) {
        throw Error(ErrorCode::malformed, fmt::format("read headers: LIEF: {}", e.what()));
    }
    if (!binary) {
        throw Error(ErrorCode::malformed, "read headers: LIEF cannot read them");
    }
    return binary;
}

DataDirectory directory_of(const LIEF::PE::Binary& binary, std::size_t index) {
    const auto& directories = binary.data_directories();
    if (index >= directories.size()) {
        return {};
    }
    return {directories[carrier_of_address(index)].size(), directories[index].size()};
}

Section section_of(const LIEF::PE::Section& section) {
    const std::string& name = section.name();
    return {
        name.substr(0, std::min(name.find('\0'), size_of::SectionName)),
        section.virtual_size(),
        static_cast<std::uint32_t>(section.virtual_address()),
        section.sizeof_raw_data(),
        section.pointerto_raw_data(),
        section.characteristics(),
    };
}

/// @param layout of the file
PeImage image_of(const LIEF::PE::Binary& binary, const PeLayout& layout) {
    const auto& file_header = binary.header();
    const auto& optional_header = binary.optional_header();
    PeImage image;
    image.layout = layout;
    image.layout.pe32_plus = static_cast<unsigned>(optional_header.magic()) == IMAGE_NT_OPTIONAL_HDR64_MAGIC;
    image.layout.number_of_rva_and_sizes = optional_header.numberof_rva_and_size();
    image.machine = static_cast<std::uint16_t>(file_header.machine());
    image.time_date_stamp = file_header.time_date_stamp();
    image.image_base = optional_header.imagebase();
    image.section_alignment = optional_header.section_alignment();
    image.check_sum = optional_header.checksum();
    image.dll_characteristics = static_cast<std::uint16_t>(optional_header.dll_characteristics());
    image.security = directory_of(binary, IMAGE_DIRECTORY_ENTRY_SECURITY);
    image.base_relocations = directory_of(binary, IMAGE_DIRECTORY_ENTRY_BASERELOC);
    return image;
}

}  // namespace

PeImage read_pe_lief(ByteView headers, const PeLayout& layout) {
    PeImage image;
    std::size_t first = 0;
    do {
        const std::size_t count = std::min(layout.number_of_sections - first, SECTIONS_AT_ONCE);
        const auto binary = parse(headers_for_lief(headers, layout, first, count));
        if (first == 0) {
            image = image_of(*binary, layout);
        }
        for (const auto& section : binary->sections()) {
            image.sections.push_back(section_of(section));
        }
        first += count;
    } while (first < layout.number_of_sections);
    return image;
}

std::string reader_name() {
    std::string_view version = LIEF_VERSION;
    return fmt::format("LIEF {}", version.substr(0, version.find('-')));
}

}  // namespace fixnvpe
