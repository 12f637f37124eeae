#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/pe/image.hpp"
#include "support/pe_builder.hpp"

namespace fixnvpe::test {

/// What the pure layers get of a file: its first bytes, and its size.
struct Headers {
    std::string name;  ///< for messages
    std::vector<std::uint8_t> bytes;
    std::uint64_t file_size = 0;

    /// The window as the program reads it: from `bytes`, and zeros behind them, as far as header_extent() asks for
    /// and the file goes.
    [[nodiscard]] std::vector<std::uint8_t> window() const;
};

[[nodiscard]] Headers headers_of(const PeSpec& spec);

/// Every file in testdata/pe, whole.
[[nodiscard]] std::vector<Headers> fixtures();
[[nodiscard]] Headers fixture(const std::string& name);

/// Every shape of a real DLL (support/shapes.hpp), without what lies behind the headers.
[[nodiscard]] std::vector<Headers> shapes();

/// What a reader made of a file: an image, or an error. Equal if the image is, or the error's code.
struct Reading {
    std::optional<PeImage> image;
    std::optional<ErrorCode> error;
    std::string message;
    friend bool operator==(const Reading& a, const Reading& b) { return a.image == b.image && a.error == b.error; }
};

/// Each reader alone, called as read_pe is.
[[nodiscard]] PeImage read_pe_raw(ByteView headers, std::uint64_t file_size);
#if FIXNVPE_WITH_LIEF
[[nodiscard]] PeImage read_pe_lief(ByteView headers, std::uint64_t file_size);
#endif

using Reader = PeImage (*)(ByteView headers, std::uint64_t file_size);
[[nodiscard]] Reading reading(Reader reader, const Headers& headers);

}  // namespace fixnvpe::test
