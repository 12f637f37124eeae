#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/pe/edit.hpp"

/// CheckSum of the optional header: the file's 16-bit words, without the field itself, added with
/// end-around carry, plus the file's size in bytes (imagehlp's CheckSumMappedFile). The sum of words is
/// arithmetic modulo 0xFFFF, so a change of some words is a change of the sum that needs no other byte.
namespace fixnvpe {

/// @param file_size bytes
[[nodiscard]] CheckSumState check_sum_state(std::uint32_t check_sum, std::uint64_t file_size);

/// The CheckSum after `edits`, from the changed numbers alone. Right if `check_sum` was.
/// @param check_sum plausible for file_size
/// @param file_size bytes
/// @param edits     none of them CheckSum itself
[[nodiscard]] std::uint32_t updated_check_sum(std::uint32_t check_sum, std::uint64_t file_size,
                                              const std::vector<Edit>& edits);

/// The same from two states of the header bytes.
/// @param before, after  of one size, and both with zeros in CheckSum
[[nodiscard]] std::uint32_t updated_check_sum(std::uint32_t check_sum, std::uint64_t file_size, ByteView before,
                                              ByteView after);

/// CheckSum of a whole file, whose bytes are given piece by piece, with zeros in the field itself.
class CheckSummer {
public:
    void add(ByteView bytes);
    [[nodiscard]] std::uint32_t check_sum() const;

private:
    std::uint64_t sum_ = 0;
    std::uint64_t size_ = 0;
};

}  // namespace fixnvpe
