#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixnvpe/pe/fat_binary.hpp"
#include "support/pe_builder.hpp"

/// Fat binaries made from their rules, and files to look for them in.
namespace fixnvpe::test {

/// One fat binary of this size in all: its header, then entries whose payload is not zero.
/// @param size bytes, a multiple of 8, 80 or more
[[nodiscard]] std::vector<std::uint8_t> fat_binary(std::size_t size, std::size_t entries = 1);

/// The first bytes of one of this size; the payload that follows is not looked at.
[[nodiscard]] std::vector<std::uint8_t> fat_binary_headers(std::uint64_t size);

/// Reads from a file as build() makes it: what lies between its parts is zeros.
[[nodiscard]] ReadAt read_from(const TestFile& file);

/// A DLL like cuFFT's: variables, GPU code and variables in `.data`, nothing in fatbin sections.
/// @param data what `.data` holds in the file; behind it, as many zero bytes more in memory
[[nodiscard]] PeSpec dll_with_data(std::vector<std::uint8_t> data, std::uint32_t zeros = 0);

/// Appends bytes, from the next multiple of 16 on. @return where they begin
std::size_t append_aligned(std::vector<std::uint8_t>& data, const std::vector<std::uint8_t>& bytes);

}  // namespace fixnvpe::test
