#pragma once

#include <cstdint>
#include <functional>

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

/// Calls `visit` with the RVA of each fix-up, and how many bytes it changes.
/// @return false if the table breaks off: there may be more of them
bool each_relocation(ByteView table, const std::function<void(std::uint32_t address, std::uint32_t width)>& visit);

/// Bytes of the pages that hold at least one fix-up. A table that breaks off counts as far as it goes.
[[nodiscard]] std::uint64_t relocated_bytes(ByteView table);

}  // namespace fixnvpe
