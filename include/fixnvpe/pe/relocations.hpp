#pragma once

#include <cstdint>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/image.hpp"

/// What it costs each process when a DLL can't have its preferred base: the pages that the loader has to
/// write to become private memory (PE Format, "The .reloc Section").
namespace fixnvpe {

/// Where the base relocations lie in the file.
struct RelocationTable {
    std::uint64_t offset = 0;  ///< file offset
    std::uint32_t size = 0;    ///< bytes; 0: there are none
};

/// @throws Error malformed if the table lies in no section's raw data, or is longer than 64 MiB
[[nodiscard]] RelocationTable relocation_table(const PeImage& image);

/// Bytes of the pages that hold at least one fix-up. A table that breaks off counts as far as it goes.
[[nodiscard]] std::uint64_t relocated_bytes(ByteView table);

}  // namespace fixnvpe
