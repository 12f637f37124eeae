#include "fixnvpe/pe/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fixnvpe {
namespace {

constexpr auto MACHINES = std::to_array<std::pair<std::uint16_t, std::string_view>>({
    {0x014C, "x86"},
    {0x8664, "x64"},
    {0xAA64, "arm64"},
    {0xA641, "arm64ec"},
    {0x01C4, "arm"},
});

}  // namespace

bool PeImage::has_fatbin() const {
    return std::any_of(sections.begin(), sections.end(), [](const Section& s) { return s.is_fatbin(); });
}

bool PeImage::has_writable_fatbin() const {
    return std::any_of(sections.begin(), sections.end(),
                       [](const Section& s) { return s.is_fatbin() && s.writable(); });
}

std::string machine_name(std::uint16_t machine) {
    const auto found =
        std::find_if(MACHINES.begin(), MACHINES.end(), [&](const auto& entry) { return entry.first == machine; });
    return found == MACHINES.end() ? fmt::format("{:#06x}", machine) : std::string(found->second);
}

}  // namespace fixnvpe
