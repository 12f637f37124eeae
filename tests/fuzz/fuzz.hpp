#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "fixnvpe/base/bytes.hpp"
#include "support/headers.hpp"

/// A fuzz target: each .cpp beside this file has one. libFuzzer calls it, or replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fixnvpe::test {

/// Stops the target if something does not hold that must hold for every input.
inline void expect(bool holds, std::string_view what) {
    if (!holds) {
        std::fprintf(stderr, "expected: %.*s\n", static_cast<int>(what.size()), what.data());
        std::abort();
    }
}

/// An input that holds two: a text up to the first NUL, and what stands behind it.
inline std::pair<std::string_view, ByteView> split(ByteView input) {
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const std::size_t end = std::min(text.find('\0'), text.size());
    return {text.substr(0, end), input.subspan(std::min(end + 1, input.size()))};
}

/// An input that is a file: its size in 8 bytes, then its first bytes; those behind them are zeros.
/// @return its header window; nothing if it has none, or one so long (200 sections) that it would only cost time
inline std::optional<Headers> headers_from(ByteView input) {
    constexpr std::size_t size_field = sizeof(std::uint64_t);
    constexpr std::size_t longest = 8192;
    if (input.size() < size_field) {
        return std::nullopt;
    }
    Headers headers{"input", {input.begin() + size_field, input.end()}, load_le<std::uint64_t>(input, 0)};
    try {
        headers.bytes = headers.window();
    } catch (const Error&) {
        return std::nullopt;
    }
    return headers.bytes.size() <= longest ? std::optional(headers) : std::nullopt;
}

}  // namespace fixnvpe::test
