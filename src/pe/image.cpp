#include "fixnvpe/pe/image.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fixnvpe {

bool PeImage::has_fatbin() const {
    return std::any_of(sections.begin(), sections.end(), [](const Section& s) { return s.is_fatbin(); });
}

bool PeImage::has_writable_fatbin() const {
    return std::any_of(sections.begin(), sections.end(),
                       [](const Section& s) { return s.is_fatbin() && s.writable(); });
}

std::string machine_name(std::uint16_t machine) {
    switch (machine) {
        case 0x014C: return "x86";
        case 0x8664: return "x64";
        case 0xAA64: return "arm64";
        case 0xA641: return "arm64ec";
        case 0x01C4: return "arm";
        default: return fmt::format("{:#06x}", machine);
    }
}

}  // namespace fixnvpe
