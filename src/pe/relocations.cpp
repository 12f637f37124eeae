#include "fixnvpe/pe/relocations.hpp"

#include <algorithm>
#include <set>

namespace fixnvpe {
namespace {

constexpr std::uint32_t TABLE_MAX = std::uint32_t{64} << 20;

std::uint32_t width_of_relocation(unsigned type) {
    switch (type) {
        case IMAGE_REL_BASED_HIGH:
        case IMAGE_REL_BASED_LOW: return sizeof(std::uint16_t);
        case IMAGE_REL_BASED_HIGHLOW: return sizeof(std::uint32_t);
        default: return sizeof(std::uint64_t);  // as wide as any is
    }
}

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

bool each_relocation(ByteView table, const std::function<void(std::uint32_t address, std::uint32_t width)>& visit) {
    std::size_t at = 0;
    while (table.size() - at >= size_of::BaseRelocationBlock) {
        const auto page = load_le<std::uint32_t>(table, at + offset::RelocationPage);
        const auto size = load_le<std::uint32_t>(table, at + offset::RelocationBlockSize);
        if (size < size_of::BaseRelocationBlock || size > table.size() - at) {
            return false;
        }
        for (std::size_t entry = at + size_of::BaseRelocationBlock; entry + sizeof(std::uint16_t) <= at + size;
             entry += sizeof(std::uint16_t)) {
            const auto value = load_le<std::uint16_t>(table, entry);
            const unsigned type = value >> RELOCATION_TYPE_SHIFT;
            if (type != IMAGE_REL_BASED_ABSOLUTE) {
                visit(page + value % (1U << RELOCATION_TYPE_SHIFT), width_of_relocation(type));
            }
        }
        at += size;
    }
    return at == table.size();
}

std::uint64_t relocated_bytes(ByteView table) {
    std::set<std::uint32_t> pages;
    std::uint32_t last = UINT32_MAX;  // of most fix-ups the next is on the same page
    each_relocation(table, [&](std::uint32_t address, std::uint32_t /*width*/) {
        if (address / PAGE_SIZE_BYTES != last) {
            last = address / PAGE_SIZE_BYTES;
            pages.insert(last);
        }
    });
    return std::uint64_t{pages.size()} * PAGE_SIZE_BYTES;
}

}  // namespace fixnvpe
