#pragma once

#include <cstddef>
#include <cstdint>

#include "fixnvpe/base/bytes.hpp"

/// Where each field of a PE file's headers lies, and what its bits mean.
///
/// Names are those of winnt.h; the source is Microsoft's "PE Format" specification (chapters "MS-DOS
/// Stub", "COFF File Header", "Optional Header", "Section Table"). This is the only place with bare
/// offsets and flags.
namespace fixnvpe {

inline constexpr std::uint16_t IMAGE_DOS_SIGNATURE = 0x5A4D;     // "MZ"
inline constexpr std::uint32_t IMAGE_NT_SIGNATURE = 0x00004550;  // "PE\0\0"
inline constexpr std::uint16_t IMAGE_NT_OPTIONAL_HDR32_MAGIC = 0x010B;
inline constexpr std::uint16_t IMAGE_NT_OPTIONAL_HDR64_MAGIC = 0x020B;

inline constexpr std::uint16_t IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA = 0x0020;
inline constexpr std::uint16_t IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE = 0x0040;
inline constexpr std::uint16_t IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY = 0x0080;
inline constexpr std::uint16_t IMAGE_DLLCHARACTERISTICS_GUARD_CF = 0x4000;

inline constexpr std::uint32_t IMAGE_SCN_MEM_SHARED = 0x10000000;
inline constexpr std::uint32_t IMAGE_SCN_MEM_EXECUTE = 0x20000000;
inline constexpr std::uint32_t IMAGE_SCN_MEM_WRITE = 0x80000000;

inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_EXPORT = 0;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_IMPORT = 1;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_SECURITY = 4;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_BASERELOC = 5;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_DEBUG = 6;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_TLS = 9;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG = 10;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT = 11;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT = 13;
inline constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR = 14;
inline constexpr std::uint32_t IMAGE_NUMBEROF_DIRECTORY_ENTRIES = 16;

inline constexpr unsigned IMAGE_REL_BASED_ABSOLUTE = 0;  // padding, not a fix-up
inline constexpr unsigned IMAGE_REL_BASED_HIGH = 1;
inline constexpr unsigned IMAGE_REL_BASED_LOW = 2;
inline constexpr unsigned IMAGE_REL_BASED_HIGHLOW = 3;
inline constexpr unsigned RELOCATION_TYPE_SHIFT = 12;  // the type is the high 4 bits of an entry

/// A page of memory in bytes: the smallest SectionAlignment at which Windows maps the sections of a
/// file one by one with a protection of their own.
inline constexpr std::uint32_t PAGE_SIZE_BYTES = 4096;

/// Bytes of a file that are read first, and the most that are ever read of its headers.
inline constexpr std::size_t HEADER_BYTES_MIN = 4096;
inline constexpr std::size_t HEADER_BYTES_MAX = std::size_t{1} << 20;

/// Offsets in bytes; the comment says from where.
namespace offset {
inline constexpr std::size_t e_lfanew = 60;  // from the start of the file

inline constexpr std::size_t Machine = 4;  // from e_lfanew, behind the signature
inline constexpr std::size_t NumberOfSections = 6;
inline constexpr std::size_t TimeDateStamp = 8;
inline constexpr std::size_t PointerToSymbolTable = 12;
inline constexpr std::size_t NumberOfSymbols = 16;
inline constexpr std::size_t SizeOfOptionalHeader = 20;

inline constexpr std::size_t Magic = 0;  // from the start of the optional header
inline constexpr std::size_t ImageBase64 = 24;
inline constexpr std::size_t ImageBase32 = 28;
inline constexpr std::size_t SectionAlignment = 32;
inline constexpr std::size_t FileAlignment = 36;
inline constexpr std::size_t SizeOfImage = 56;
inline constexpr std::size_t SizeOfHeaders = 60;
inline constexpr std::size_t CheckSum = 64;
inline constexpr std::size_t DllCharacteristics = 70;
inline constexpr std::size_t NumberOfRvaAndSizes32 = 92;
inline constexpr std::size_t NumberOfRvaAndSizes64 = 108;

inline constexpr std::size_t DirectoryAddress = 0;  // from the start of a data directory
inline constexpr std::size_t DirectorySize = 4;

inline constexpr std::size_t Name = 0;  // from the start of a section header
inline constexpr std::size_t VirtualSize = 8;
inline constexpr std::size_t VirtualAddress = 12;
inline constexpr std::size_t SizeOfRawData = 16;
inline constexpr std::size_t PointerToRawData = 20;
inline constexpr std::size_t PointerToRelocations = 24;  // to NumberOfLinenumbers: 12 bytes that only objects use
inline constexpr std::size_t Characteristics = 36;

inline constexpr std::size_t RelocationPage = 0;  // from the start of a base relocation block
inline constexpr std::size_t RelocationBlockSize = 4;
}  // namespace offset

/// Sizes in bytes.
namespace size_of {
inline constexpr std::size_t DosHeader = 64;
inline constexpr std::size_t NtSignatureAndFileHeader = 24;
inline constexpr std::size_t OptionalHeader32 = 96;  // without data directories
inline constexpr std::size_t OptionalHeader64 = 112;
inline constexpr std::size_t DataDirectory = 8;
inline constexpr std::size_t SectionHeader = 40;
inline constexpr std::size_t SectionName = 8;
inline constexpr std::size_t BaseRelocationBlock = 8;  // without its entries
}  // namespace size_of

/// Where the headers of one file lie: file offsets and sizes in bytes.
struct PeLayout {
    std::size_t nt_headers = 0;
    std::size_t optional_header = 0;
    bool pe32_plus = false;
    std::size_t data_directories = 0;
    std::uint32_t number_of_rva_and_sizes = 0;
    std::size_t section_table = 0;
    std::uint16_t number_of_sections = 0;

    [[nodiscard]] std::size_t check_sum() const { return optional_header + offset::CheckSum; }
    [[nodiscard]] std::size_t dll_characteristics() const { return optional_header + offset::DllCharacteristics; }
    [[nodiscard]] std::size_t data_directory(std::size_t index) const {
        return data_directories + index * size_of::DataDirectory;
    }
    [[nodiscard]] std::size_t section_header(std::size_t index) const {
        return section_table + index * size_of::SectionHeader;
    }
    [[nodiscard]] std::size_t section_characteristics(std::size_t index) const {
        return section_header(index) + offset::Characteristics;
    }
    /// One past the last byte of the section table.
    [[nodiscard]] std::size_t end() const { return section_header(number_of_sections); }

    friend bool operator==(const PeLayout&, const PeLayout&) = default;
};

/// How many bytes from the start of the file hold its headers, as far as `prefix` shows. A result
/// larger than prefix.size() means: read that many, and ask again.
/// @param prefix    the first bytes of the file
/// @param file_size bytes
/// @throws Error not_pe, truncated (the headers pass the end of the file) or malformed (they pass
///         HEADER_BYTES_MAX)
[[nodiscard]] std::size_t header_extent(ByteView prefix, std::uint64_t file_size);

/// Finds the headers.
/// @param headers the first bytes of the file, at least header_extent() of them
/// @throws Error as header_extent, and malformed for an optional header that is no PE32 or PE32+ one or
///         is too short for its own fields
[[nodiscard]] PeLayout locate_headers(ByteView headers, std::uint64_t file_size);

}  // namespace fixnvpe
