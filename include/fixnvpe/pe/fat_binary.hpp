#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/image.hpp"

/// Fat binaries that lie among the variables of a section, as in cuFFT's and cuRAND's `.data`.
///
/// A fat binary: u32 magic, u16 version 1, u16 header size 16, u64 size; then entries (u16 kind, u16 version, u32
/// header size, u64 payload size, ...) that fill that size exactly. NVIDIA documents none of it: these are the rules
/// that all of 67,110 in five real files keep, and nothing that breaks one of them is taken for a fat binary.
namespace fixnvpe {

/// Reads the bytes of a file from this file offset on, as many as there are and fit. @return how many
using ReadAt = std::function<std::size_t(std::uint64_t offset, ByteSpan into)>;

/// An unbroken chain of fat binaries: between two lie only zeros, up to the next multiple of 16.
struct Run {
    std::size_t section = 0;    ///< its index
    std::uint32_t address = 0;  ///< RVA of the first
    std::uint32_t size = 0;     ///< bytes

    [[nodiscard]] std::uint64_t end() const { return std::uint64_t{address} + size; }
    friend bool operator==(const Run&, const Run&) = default;
};

/// Shorter runs are worth no section of their own: bytes.
inline constexpr std::uint32_t RUN_MIN = std::uint32_t{1} << 20;

/// Runs of at least `shortest` bytes in the raw data of one section, in ascending order. Jumps from one fat binary to
/// the next by their sizes, and reads all of what lies between runs; memory is constant.
/// @param visit called with the RVA of each fat binary, in runs of any length
/// @throws Error truncated if the file ends in that section, and what `read` throws
[[nodiscard]] std::vector<Run> find_runs(const PeImage& image, std::size_t section, const ReadAt& read,
                                         const std::function<void(std::uint32_t address)>& visit = {},
                                         std::uint32_t shortest = RUN_MIN);

/// Runs of at least `shortest` bytes may lie there, and cost commit: it is writable, long enough, and no fatbin
/// section.
[[nodiscard]] bool may_hold_runs(const Section& section, std::uint32_t shortest = RUN_MIN);

}  // namespace fixnvpe
