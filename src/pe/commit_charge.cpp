#include "fixnvpe/pe/commit_charge.hpp"

namespace fixnvpe {

std::uint64_t mapped_size(const Section& section) {
    const std::uint64_t size = section.virtual_size != 0 ? section.virtual_size : section.size_of_raw_data;
    return (size + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES;
}

std::uint64_t commit_charge(const Section& section) {
    const bool charged = section.writable() && (section.characteristics & IMAGE_SCN_MEM_SHARED) == 0;
    return charged ? mapped_size(section) : 0;
}

CommitCharge commit_charge(const PeImage& image) {
    CommitCharge charge;
    for (const Section& section : image.sections) {
        const std::uint64_t bytes = commit_charge(section);
        charge.now += bytes;
        charge.saved += section.is_fatbin() ? bytes : 0;
    }
    charge.after = charge.now - charge.saved;
    return charge;
}

}  // namespace fixnvpe
