#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/fat_binary.hpp"
#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/pe/split.hpp"

/// What the loader, or a program that asks for an export, knows of a DLL beside its sections: no split may tread on it.
namespace fixnvpe {

struct Place {
    std::uint64_t address = 0;  ///< RVA
    std::uint64_t size = 0;     ///< bytes
};

struct LoaderPlaces {
    /// The directories, the TLS index, the security cookie and the pointers of Control Flow Guard, the import tables
    /// that the loader writes.
    std::vector<Place> places;
    std::vector<std::uint32_t> exports;  ///< RVAs, sorted
    WhyNotSplit why = WhyNotSplit::nothing;
};

/// Follows them all; where `why` says what rules a split out, the rest need not be there.
/// @param headers the first bytes of the file
/// @throws what `read` throws
[[nodiscard]] LoaderPlaces loader_places(ByteView headers, const PeImage& image, const ReadAt& read);

}  // namespace fixnvpe
