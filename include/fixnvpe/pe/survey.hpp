#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/fat_binary.hpp"
#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/pe/split.hpp"

/// What a split of one file would free, and what it can't: the one look into a file behind its headers.
namespace fixnvpe {

/// Fat binaries among the variables of a section.
struct Found {
    Run run;
    WhyNotSplit why = WhyNotSplit::nothing;  ///< nothing: it is part of the split
    friend bool operator==(const Found&, const Found&) = default;
};

struct Survey {
    std::vector<Found> found;  ///< in the order of the file
    Split split;               ///< empty: there is nothing to split

    /// Bytes of fat binaries that stay writable.
    [[nodiscard]] std::uint64_t bytes_left() const;
    /// Why the largest of them does.
    [[nodiscard]] WhyNotSplit why_left() const;
    friend bool operator==(const Survey&, const Survey&) = default;
};

/// Looks through the writable sections of a file that is not split. Only where they hold fat binaries is more read:
/// what the loader knows of, and the base relocations.
/// @param headers  the first bytes of the file
/// @param shortest runs that are shorter are passed over: bytes
/// @throws Error truncated, and what `read` throws
[[nodiscard]] Survey survey(ByteView headers, const PeImage& image, std::uint64_t file_size, const ReadAt& read,
                            std::uint32_t shortest = RUN_MIN);

/// True if any fat binary lies in a writable section that is no fatbin section, in a run of 1 MiB or more.
[[nodiscard]] bool holds_fat_binaries(const PeImage& image, const ReadAt& read);

}  // namespace fixnvpe
