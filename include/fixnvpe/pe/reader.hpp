#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/image.hpp"

/// Two readers that share nothing but where the headers begin and end. What both see alike may be written.
namespace fixnvpe {

/// Reads the headers with all readers that this build has.
/// @param headers   the first bytes of the file, at least header_extent() of them
/// @param file_size bytes
/// @throws Error not_pe, truncated, malformed, or readers_disagree, and then nothing may be written
[[nodiscard]] PeImage read_pe(ByteView headers, std::uint64_t file_size);

/// Reads each value from its place in the layout.
[[nodiscard]] PeImage read_pe_raw(ByteView headers, const PeLayout& layout);

#if FIXNVPE_WITH_LIEF
/// Reads each value with LIEF, Magic and NumberOfRvaAndSizes too. Of the layout it takes where the headers begin, and
/// where the data directories and the section table do.
[[nodiscard]] PeImage read_pe_lief(ByteView headers, const PeLayout& layout);
#endif

/// The first field that two readings of one file differ in: "CheckSum is 0x1 in the file, but LIEF reads 0x2".
/// @return nothing exactly if they are equal
[[nodiscard]] std::optional<std::string> difference(const PeImage& ours, const PeImage& theirs);

/// For --version: "LIEF 0.9.0" or "without LIEF".
[[nodiscard]] std::string reader_name();

}  // namespace fixnvpe
