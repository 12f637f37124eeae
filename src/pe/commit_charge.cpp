#include "fixnvpe/pe/commit_charge.hpp"

namespace fixnvpe {

CommitCharge commit_charge(const PeImage& image) {
    CommitCharge charge;
    for (const Section& section : image.sections) {
        if (!section.writable() || (section.characteristics & IMAGE_SCN_MEM_SHARED) != 0) {
            continue;
        }
        const std::uint64_t size = section.virtual_size != 0 ? section.virtual_size : section.size_of_raw_data;
        const std::uint64_t pages = (size + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES;
        charge.now += pages;
        charge.saved += section.is_fatbin() ? pages : 0;
    }
    charge.after = charge.now - charge.saved;
    return charge;
}

}  // namespace fixnvpe
