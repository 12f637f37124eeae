#include "fixnvpe/pe/headers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fixnvpe {
namespace {

/// Checks that the first `end` bytes can be had.
void check_extent(std::uint64_t end, std::uint64_t file_size, const char* what) {
    if (end > file_size) {
        throw Error(
            ErrorCode::truncated,
            fmt::format("read headers: {} ends at byte {}, but the file has only {} bytes", what, end, file_size),
            Hint::cut_short);
    }
    if (end > HEADER_BYTES_MAX) {
        throw Error(ErrorCode::malformed, fmt::format("read headers: {} ends at byte {}, past the limit of {} bytes",
                                                      what, end, HEADER_BYTES_MAX));
    }
}

}  // namespace

std::size_t header_extent(ByteView prefix, std::uint64_t file_size) {
    constexpr std::size_t signature_size = 2;
    if (file_size < signature_size) {
        throw Error(ErrorCode::not_pe, "read headers: not a PE file: it is too short for the MZ signature");
    }
    if (prefix.size() < signature_size) {
        return signature_size;
    }
    if (load_le<std::uint16_t>(prefix, 0) != IMAGE_DOS_SIGNATURE) {
        throw Error(ErrorCode::not_pe, "read headers: not a PE file: no MZ signature");
    }
    check_extent(size_of::DosHeader, file_size, "the MS-DOS header");
    if (prefix.size() < size_of::DosHeader) {
        return size_of::DosHeader;
    }
    const std::uint64_t nt_headers = load_le<std::uint32_t>(prefix, offset::e_lfanew);
    const std::uint64_t optional_header = nt_headers + size_of::NtSignatureAndFileHeader;
    check_extent(optional_header, file_size, "the COFF file header");
    if (prefix.size() < optional_header) {
        return static_cast<std::size_t>(optional_header);
    }
    if (load_le<std::uint32_t>(prefix, nt_headers) != IMAGE_NT_SIGNATURE) {
        throw Error(ErrorCode::not_pe, "read headers: not a PE file: no PE signature behind the MS-DOS header");
    }
    // The loader refuses such a file, and the words of CheckSum would straddle two fields.
    if (nt_headers % 4 != 0) {
        throw Error(ErrorCode::malformed, fmt::format("read headers: e_lfanew {} is not a multiple of 4", nt_headers));
    }
    const std::uint64_t section_table =
        optional_header + load_le<std::uint16_t>(prefix, nt_headers + offset::SizeOfOptionalHeader);
    check_extent(section_table, file_size, "the optional header");
    const std::uint64_t end =
        section_table +
        std::uint64_t{load_le<std::uint16_t>(prefix, nt_headers + offset::NumberOfSections)} * size_of::SectionHeader;
    check_extent(end, file_size, "the section table");
    return static_cast<std::size_t>(end);
}

PeLayout locate_headers(ByteView headers, std::uint64_t file_size) {
    const std::size_t end = header_extent(headers, file_size);
    if (end > headers.size()) {
        throw Error(ErrorCode::internal, fmt::format("read headers: {} bytes needed, {} given", end, headers.size()));
    }
    PeLayout layout;
    layout.nt_headers = load_le<std::uint32_t>(headers, offset::e_lfanew);
    layout.optional_header = layout.nt_headers + size_of::NtSignatureAndFileHeader;
    layout.number_of_sections = load_le<std::uint16_t>(headers, layout.nt_headers + offset::NumberOfSections);
    const std::size_t size = load_le<std::uint16_t>(headers, layout.nt_headers + offset::SizeOfOptionalHeader);
    layout.section_table = layout.optional_header + size;

    if (size < sizeof(std::uint16_t)) {
        throw Error(ErrorCode::malformed,
                    fmt::format("read headers: SizeOfOptionalHeader {} leaves no room for Magic", size));
    }
    const auto magic = load_le<std::uint16_t>(headers, layout.optional_header + offset::Magic);
    if (magic != IMAGE_NT_OPTIONAL_HDR32_MAGIC && magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC) {
        throw Error(ErrorCode::malformed,
                    fmt::format("read headers: Magic {:#06x} is neither PE32 (0x010b) nor PE32+ (0x020b)", magic));
    }
    layout.pe32_plus = magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC;
    const std::size_t fixed_part = layout.pe32_plus ? size_of::OptionalHeader64 : size_of::OptionalHeader32;
    if (size < fixed_part) {
        throw Error(ErrorCode::malformed,
                    fmt::format("read headers: SizeOfOptionalHeader {} is less than the {} bytes of {}", size,
                                fixed_part, layout.pe32_plus ? "PE32+" : "PE32"));
    }
    layout.data_directories = layout.optional_header + fixed_part;
    layout.number_of_rva_and_sizes = load_le<std::uint32_t>(
        headers,
        layout.optional_header + (layout.pe32_plus ? offset::NumberOfRvaAndSizes64 : offset::NumberOfRvaAndSizes32));
    const std::size_t room = (size - fixed_part) / size_of::DataDirectory;
    if (layout.number_of_rva_and_sizes > room) {
        throw Error(
            ErrorCode::malformed,
            fmt::format("read headers: NumberOfRvaAndSizes {} exceeds the {} that SizeOfOptionalHeader has room for",
                        layout.number_of_rva_and_sizes, room));
    }
    return layout;
}

}  // namespace fixnvpe
