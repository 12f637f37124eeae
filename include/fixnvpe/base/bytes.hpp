#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/base/error.hpp"

namespace fixnvpe {

using ByteView = std::span<const std::uint8_t>;
using ByteSpan = std::span<std::uint8_t>;

/// The little-endian number at `offset` (bytes from the start of `bytes`).
/// @throws Error malformed if it does not lie wholly inside `bytes`
template <std::unsigned_integral T>
[[nodiscard]] T load_le(ByteView bytes, std::size_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
        throw Error(ErrorCode::malformed, "read headers: a field lies past the end of what was read");
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value |= std::uint64_t{bytes[offset + i]} << (8 * i);
    }
    return static_cast<T>(value);
}

/// Writes the low `width` bytes of `value` at `offset`, least significant first.
/// @throws Error malformed if they do not lie wholly inside `bytes`
inline void store_le(ByteSpan bytes, std::size_t offset, std::size_t width, std::uint64_t value) {
    if (offset > bytes.size() || bytes.size() - offset < width) {
        throw Error(ErrorCode::malformed, "edit headers: a field lies past the end of what was read");
    }
    for (std::size_t i = 0; i < width; ++i) {
        bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

/// Two digits a byte, in lower case.
[[nodiscard]] std::string to_hex(ByteView bytes);
/// @return nothing if these are no such digits, in either case
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits);

}  // namespace fixnvpe
