#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fixnvpe/pe/headers.hpp"
#include "fixnvpe/pe/image.hpp"

/// PE files made from plain values. Written from Microsoft's "PE Format" specification and not from the
/// readers under test: of those it uses the names of offsets and flags alone.
namespace fixnvpe::test {

inline constexpr std::uint16_t IMAGE_FILE_MACHINE_I386 = 0x014C;
inline constexpr std::uint16_t IMAGE_FILE_MACHINE_AMD64 = 0x8664;
inline constexpr std::uint16_t IMAGE_FILE_MACHINE_ARM64 = 0xAA64;

inline constexpr std::uint16_t IMAGE_DLLCHARACTERISTICS_NX_COMPAT = 0x0100;

inline constexpr std::uint32_t SECTION_CODE = 0x60000020;       // CNT_CODE, execute, read
inline constexpr std::uint32_t SECTION_READ_ONLY = 0x40000040;  // CNT_INITIALIZED_DATA, read
inline constexpr std::uint32_t SECTION_WRITABLE = 0xC0000040;   // CNT_INITIALIZED_DATA, read, write
inline constexpr std::uint32_t SECTION_RELOC = 0x42000040;      // CNT_INITIALIZED_DATA, discardable, read

/// What a section holds. All but `bytes` are written so that tools and the Windows loader accept them.
enum class Content {
    bytes,        ///< TestSection::data
    code,         ///< one function, returning 42
    exports,      ///< the export directory: fixnvpe_answer, fixnvpe_fatbin and fixnvpe_wrapper
    fatbin,       ///< a CUDA fat binary's header, then TestSection::fatbin_size bytes that look random
    wrapper,      ///< .nvFatBi: magic, version, and a pointer to the last .nv_fatb before it, with a relocation
    relocations,  ///< the base relocations of all wrappers
};

struct TestSection {
    std::string name = {};  ///< up to 8 bytes
    std::uint32_t characteristics = SECTION_READ_ONLY;
    Content content = Content::bytes;
    std::vector<std::uint8_t> data = {};
    std::size_t fatbin_size = 512;
    std::uint32_t virtual_size = 0;  ///< 0: as many bytes as the contents have
    std::uint32_t raw_size = 0;      ///< 0: the contents, rounded up to FileAlignment; more: zeros behind them

    // Where it lies; unset: behind the section before it. A set one is taken as it is, be it wrong.
    std::optional<std::uint32_t> virtual_address = {};
    std::optional<std::uint32_t> size_of_raw_data = {};
    std::optional<std::uint32_t> pointer_to_raw_data = {};
};

enum class CheckSum {
    zero,
    right,
    wrong,       ///< off by one, but possible for the file's size
    impossible,  ///< no file of this size has it
};

struct PeSpec {
    std::uint16_t machine = IMAGE_FILE_MACHINE_AMD64;
    bool pe32_plus = true;
    std::uint32_t time_date_stamp = 0x5B60C8A7;
    std::uint16_t file_characteristics = 0x2022;  ///< DLL, large addresses, executable
    std::uint64_t image_base = 0x180000000;
    std::uint32_t section_alignment = 4096;
    std::uint32_t file_alignment = 512;
    std::uint32_t e_lfanew = 128;
    std::uint16_t dll_characteristics = IMAGE_DLLCHARACTERISTICS_NX_COMPAT | IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE |
                                        IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA;
    std::uint32_t number_of_rva_and_sizes = 16;
    std::uint16_t optional_header_padding = 0;  ///< bytes between the directories and the section table
    std::vector<TestSection> sections;
    /// Directories by index. Those of exports, relocations and the signature are set by their contents.
    std::map<std::uint32_t, DataDirectory> directories;
    std::vector<std::uint8_t> overlay;    ///< bytes behind the last section
    std::vector<std::uint8_t> signature;  ///< contents of a certificate table entry behind the overlay, not checked
    CheckSum check_sum = CheckSum::zero;
    bool exports_data = false;  ///< the beginning of `.data` is exported as fixnvpe_variable
};

/// A file of any size as its parts; what lies between them is zeros.
struct TestFile {
    struct Part {
        std::uint64_t offset = 0;
        std::vector<std::uint8_t> bytes;
    };
    std::vector<Part> parts;  ///< sorted by offset; the headers are the first
    std::uint64_t size = 0;   ///< bytes

    [[nodiscard]] std::vector<std::uint8_t> first(std::uint64_t count) const;
    [[nodiscard]] std::vector<std::uint8_t> bytes() const { return first(size); }
    /// Holes stay holes where the file system has them: 4 GiB take no longer than 4 KiB.
    void write(const std::filesystem::path& path) const;
};

[[nodiscard]] TestFile build(const PeSpec& spec);

/// What nvcc and MSVC make: code, exports, `.nv_fatb` with these characteristics, `.nvFatBi`, relocations.
/// ImageBase as in the real files: 0x180000000, or 0x10000000 for x86.
[[nodiscard]] PeSpec cuda_dll(std::uint16_t machine, std::uint32_t fatbin_characteristics);

/// The same DLL without GPU code.
[[nodiscard]] PeSpec plain_dll(std::uint16_t machine);

/// The first section of this name. @throws std::out_of_range
[[nodiscard]] TestSection& section(PeSpec& spec, const std::string& name);

/// CheckSum of a whole file from its definition, one word after another.
[[nodiscard]] std::uint32_t compute_check_sum(const std::vector<std::uint8_t>& file);

/// mt19937_64 gives the same numbers everywhere; the standard library's distributions don't.
using Rng = std::mt19937_64;
/// 0 … count - 1
[[nodiscard]] std::uint64_t below(Rng& rng, std::uint64_t count);
/// True in `percent` of 100 cases.
[[nodiscard]] bool chance(Rng& rng, unsigned percent);
[[nodiscard]] std::vector<std::uint8_t> random_bytes(Rng& rng, std::size_t count);

/// A valid PE file of a few KB: any machine, alignments, flags, none to three `.nv_fatb` or `__nv_rel`, look-alikes,
/// overlay, signature and CheckSum.
[[nodiscard]] PeSpec random_pe(std::uint64_t seed);

/// Changes one to four things in the headers that `bytes` starts with: a field to a value that breaks things,
/// a bit, a byte, or the length.
void mutate(std::vector<std::uint8_t>& bytes, Rng& rng);

}  // namespace fixnvpe::test
