#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/pe/headers.hpp"

namespace fixnvpe {

/// The sections that CUDA compilers put GPU code into: fat binaries, and relocatable ones from separate compilation
/// (`__nv_relfatbin`, cut). Each name fills all 8 bytes.
inline constexpr std::string_view FATBIN_SECTION = ".nv_fatb";
inline constexpr std::string_view RELOCATABLE_FATBIN_SECTION = "__nv_rel";

/// One entry of the section table (PE Format, "Section Table").
struct Section {
    std::string name;                       ///< up to 8 bytes, cut at the first NUL; any bytes
    std::uint32_t virtual_size = 0;         ///< bytes in memory
    std::uint32_t virtual_address = 0;      ///< RVA
    std::uint32_t size_of_raw_data = 0;     ///< bytes in the file
    std::uint32_t pointer_to_raw_data = 0;  ///< file offset
    std::uint32_t characteristics = 0;      ///< IMAGE_SCN_*

    [[nodiscard]] bool is_fatbin() const { return name == FATBIN_SECTION || name == RELOCATABLE_FATBIN_SECTION; }
    [[nodiscard]] bool writable() const { return (characteristics & IMAGE_SCN_MEM_WRITE) != 0; }
    friend bool operator==(const Section&, const Section&) = default;
};

/// One entry of the data directories (PE Format, "Optional Header Data Directories").
struct DataDirectory {
    std::uint32_t virtual_address = 0;  ///< RVA, but a file offset for IMAGE_DIRECTORY_ENTRY_SECURITY
    std::uint32_t size = 0;             ///< bytes
    [[nodiscard]] bool present() const { return virtual_address != 0 && size != 0; }
    friend bool operator==(const DataDirectory&, const DataDirectory&) = default;
};

/// What the headers of one PE file say: plain values, no bytes.
struct PeImage {
    PeLayout layout;
    std::uint16_t machine = 0;  ///< IMAGE_FILE_MACHINE_*
    std::uint32_t time_date_stamp = 0;
    std::uint64_t image_base = 0;         ///< preferred address
    std::uint32_t section_alignment = 0;  ///< bytes
    std::uint32_t check_sum = 0;
    std::uint16_t dll_characteristics = 0;  ///< IMAGE_DLLCHARACTERISTICS_*
    DataDirectory security;                 ///< the Authenticode signature
    DataDirectory base_relocations;
    std::vector<Section> sections;

    [[nodiscard]] bool dynamic_base() const { return has(IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE); }
    [[nodiscard]] bool high_entropy_va() const { return has(IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA); }
    [[nodiscard]] bool force_integrity() const { return has(IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY); }
    [[nodiscard]] bool guard_cf() const { return has(IMAGE_DLLCHARACTERISTICS_GUARD_CF); }
    /// The certificate must lie in the file. @param file_size bytes
    [[nodiscard]] bool is_signed(std::uint64_t file_size) const {
        return security.present() && std::uint64_t{security.virtual_address} + security.size <= file_size;
    }
    [[nodiscard]] bool has_fatbin() const;
    [[nodiscard]] bool has_writable_fatbin() const;
    friend bool operator==(const PeImage&, const PeImage&) = default;

private:
    [[nodiscard]] bool has(std::uint16_t flag) const { return (dll_characteristics & flag) != 0; }
};

/// "x64", "x86", "arm64", … or the number in hexadecimal (PE Format, "Machine Types").
[[nodiscard]] std::string machine_name(std::uint16_t machine);

}  // namespace fixnvpe
