#pragma once

#include <cstdint>
#include <string>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// Reads the headers with the reader that this build ships: LIEF where it is in, else our own.
/// @param window    the first bytes of the file, at least header_extent() of them
/// @param file_size bytes
/// @throws Error not_pe, truncated, malformed, or readers_disagree: LIEF and the layout read two different
///         values for one field, so nothing may be written
[[nodiscard]] PeImage read_pe(ByteView window, std::uint64_t file_size);

/// Reads the headers from the layout alone.
[[nodiscard]] PeImage read_pe_raw(ByteView window, std::uint64_t file_size);

#if FIXNVPE_WITH_LIEF
/// Reads the headers with LIEF, and holds each value against the bytes at its place in the layout.
[[nodiscard]] PeImage read_pe_lief(ByteView window, std::uint64_t file_size);
#endif

/// For --version: "LIEF 0.9.0" or "without LIEF".
[[nodiscard]] std::string reader_name();

}  // namespace fixnvpe
