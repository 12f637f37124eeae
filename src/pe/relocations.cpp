#include "fixnvpe/pe/relocations.hpp"

#include <algorithm>
#include <set>

namespace fixnvpe {
namespace {

constexpr std::uint32_t TABLE_MAX = std::uint32_t{64} << 20;

}  // namespace

RelocationTable relocation_table(const PeImage& image) {
    const DataDirectory& directory = image.base_relocations;
    if (!directory.present()) {
        return {};
    }
    if (directory.size > TABLE_MAX) {
        throw Error(ErrorCode::malformed, "read relocations: the table is longer than 64 MiB");
    }
    for (const Section& section : image.sections) {
        const bool begins_inside = directory.virtual_address >= section.virtual_address &&
                                   directory.virtual_address - section.virtual_address < section.size_of_raw_data;
        if (begins_inside) {
            const std::uint32_t into = directory.virtual_address - section.virtual_address;
            return {std::uint64_t{section.pointer_to_raw_data} + into,
                    std::min(directory.size, section.size_of_raw_data - into)};
        }
    }
    throw Error(ErrorCode::malformed, "read relocations: the table lies in no section");
}

std::uint64_t relocated_bytes(ByteView table) {
    std::set<std::uint32_t> pages;
    std::size_t at = 0;
    while (table.size() - at >= size_of::BaseRelocationBlock) {
        const auto page = load_le<std::uint32_t>(table, at + offset::RelocationPage);
        const auto size = load_le<std::uint32_t>(table, at + offset::RelocationBlockSize);
        if (size < size_of::BaseRelocationBlock || size > table.size() - at) {
            break;
        }
        for (std::size_t entry = at + size_of::BaseRelocationBlock; entry + sizeof(std::uint16_t) <= at + size;
             entry += sizeof(std::uint16_t)) {
            const unsigned type = load_le<std::uint16_t>(table, entry) >> RELOCATION_TYPE_SHIFT;
            if (type != IMAGE_REL_BASED_ABSOLUTE) {
                pages.insert(page / PAGE_SIZE_BYTES);
                break;
            }
        }
        at += size;
    }
    return std::uint64_t{pages.size()} * PAGE_SIZE_BYTES;
}

}  // namespace fixnvpe
