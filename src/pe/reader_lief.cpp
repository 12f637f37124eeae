#include <LIEF/PE/Binary.hpp>
#include <LIEF/PE/Header.hpp>
#include <LIEF/PE/OptionalHeader.hpp>
#include <LIEF/PE/Parser.hpp>
#include <LIEF/PE/Section.hpp>
#include <LIEF/logging.hpp>
#include <LIEF/version.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

/// The headers alone, in the shape that LIEF knows: sixteen data directories, then the section table.
///
/// LIEF follows every pointer in the headers it is given (imports, signature, symbols, section contents),
/// in old versions without enough checks, and it takes sixteen data directories for granted. A header
/// window holds nothing they could point to, and the file is untrusted. So all pointers are blanked, and
/// the MS-DOS stub with them; a real file's headers are otherwise byte for byte what they were. Headers
/// that begin inside the MS-DOS header, which Windows allows, are moved behind it: they share bytes with
/// e_lfanew, which may not be blanked.
/// @param first the first of the `count` sections that are in the copy
std::vector<std::uint8_t> headers_without_pointers(ByteView window, const PeLayout& layout, std::size_t first,
                                                   std::size_t count) {
    const auto at = [&](std::size_t offset) { return window.begin() + static_cast<std::ptrdiff_t>(offset); };
    const std::size_t nt_headers = std::max(layout.nt_headers, size_of::DosHeader);

    std::vector<std::uint8_t> copy(at(0), at(size_of::DosHeader));
    copy.resize(nt_headers);
    copy.insert(copy.end(), at(layout.nt_headers), at(layout.data_directories));
    copy.resize(copy.size() + IMAGE_NUMBEROF_DIRECTORY_ENTRIES * size_of::DataDirectory);
    const std::size_t section_table = copy.size();
    const std::size_t from = layout.section_table + first * size_of::SectionHeader;
    copy.insert(copy.end(), at(from), at(from + count * size_of::SectionHeader));

    const ByteSpan bytes(copy);
    store_le(bytes, offset::e_lfanew, sizeof(std::uint32_t), nt_headers);
    store_le(bytes, nt_headers + offset::NumberOfSections, sizeof(std::uint16_t), count);
    store_le(bytes, nt_headers + offset::PointerToSymbolTable, sizeof(std::uint32_t), 0);
    store_le(bytes, nt_headers + offset::NumberOfSymbols, sizeof(std::uint32_t), 0);
    store_le(bytes, nt_headers + offset::SizeOfOptionalHeader, sizeof(std::uint16_t),
             section_table - nt_headers - size_of::NtSignatureAndFileHeader);
    for (std::size_t i = 0; i < count; ++i) {
        store_le(bytes, section_table + i * size_of::SectionHeader + offset::PointerToRawData, sizeof(std::uint32_t),
                 copy.size());
    }
    return copy;
}

std::unique_ptr<const LIEF::PE::Binary> parse(const std::vector<std::uint8_t>& headers) {
    // What it has to say of a header without pointers is noise. LIEF 0.9.0, which has another name for
    // this, does not define its version's numbers.
#ifdef LIEF_VERSION_MAJOR
    LIEF::logging::disable();
#else
    LIEF::Logger::disable();
#endif
    try {
        return LIEF::PE::Parser::parse(headers);
    } catch (const std::exception& e) {
        throw Error(ErrorCode::malformed, fmt::format("read headers: LIEF: {}", e.what()));
    }
}

template <typename Ours, typename Theirs>
void must_agree(std::string_view field, const Ours& ours, const Theirs& theirs) {
    const auto value = static_cast<Ours>(theirs);
    if (value != ours) {
        throw Error(ErrorCode::readers_disagree,
                    fmt::format("read headers: {} is {:#x} in the file, but LIEF reads {:#x}", field, ours, value),
                    Hint::ambiguous_headers);
    }
}

void must_agree(const Section& ours, const LIEF::PE::Section& theirs) {
    const std::string& full = theirs.name();
    const std::string name = full.substr(0, std::min(full.find('\0'), size_of::SectionName));
    if (name != ours.name) {
        throw Error(ErrorCode::readers_disagree, "read headers: a section's name differs between the file and LIEF",
                    Hint::ambiguous_headers);
    }
    must_agree("VirtualSize", ours.virtual_size, theirs.virtual_size());
    must_agree("VirtualAddress", ours.virtual_address, theirs.virtual_address());
    must_agree("SizeOfRawData", ours.size_of_raw_data, theirs.sizeof_raw_data());
    must_agree("Characteristics", ours.characteristics, theirs.characteristics());
}

}  // namespace

PeImage read_pe_lief(ByteView window, std::uint64_t file_size) {
    constexpr std::size_t sections_at_once = 1000;  // LIEF 1.0 passes over those behind
    PeImage image = read_pe_raw(window, file_size);
    std::size_t first = 0;
    do {
        const std::size_t count = std::min(image.sections.size() - first, sections_at_once);
        const auto binary = parse(headers_without_pointers(window, image.layout, first, count));
        if (!binary) {
            throw Error(ErrorCode::malformed, "read headers: LIEF cannot read them");
        }
        const auto& file_header = binary->header();
        const auto& optional_header = binary->optional_header();
        must_agree("Machine", image.machine, file_header.machine());
        must_agree("TimeDateStamp", image.time_date_stamp, file_header.time_date_stamp());
        must_agree("ImageBase", image.image_base, optional_header.imagebase());
        must_agree("SectionAlignment", image.section_alignment, optional_header.section_alignment());
        must_agree("CheckSum", image.check_sum, optional_header.checksum());
        must_agree("DllCharacteristics", image.dll_characteristics, optional_header.dll_characteristics());
        must_agree("NumberOfRvaAndSizes", image.layout.number_of_rva_and_sizes, optional_header.numberof_rva_and_size());

        // A result is not yet a parsed file: LIEF drops sections silently.
        const auto& sections = binary->sections();
        must_agree("the number of sections read", count, sections.size());
        for (const auto& theirs : sections) {
            must_agree(image.sections[first++], theirs);
        }
    } while (first < image.sections.size());
    return image;
}

PeImage read_pe(ByteView window, std::uint64_t file_size) {
    return read_pe_lief(window, file_size);
}

std::string reader_name() {
    std::string_view version = LIEF_VERSION;
    return fmt::format("LIEF {}", version.substr(0, version.find('-')));
}

}  // namespace fixnvpe
