#pragma once

#include <cstdint>

#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// What a file costs of the commit limit in each process that maps it, in bytes.
struct CommitCharge {
    std::uint64_t now = 0;    ///< as the file is
    std::uint64_t after = 0;  ///< with its fatbin sections read-only
    std::uint64_t saved = 0;  ///< now - after
};

/// Windows charges each writable section that is not shared in full, in whole pages, used or not.
[[nodiscard]] CommitCharge commit_charge(const PeImage& image);

/// What a section takes in memory: bytes of whole pages.
[[nodiscard]] std::uint64_t mapped_size(const Section& section);

/// What one section adds to the charge, in bytes.
[[nodiscard]] std::uint64_t commit_charge(const Section& section);

}  // namespace fixnvpe
