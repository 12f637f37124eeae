#pragma once

// What copy_contents() leaves to each system.

#include <cstdint>

#include "fixnvpe/os/copy.hpp"

namespace fixnvpe::os {

/// Makes the empty file one that can hold holes, or is compressed, as `from` is, where that must be said.
void copy_kind(const File& from, File& to);

/// Lets both files share their bytes. @return false if that can't be done: nothing is copied then
[[nodiscard]] bool clone(const File& from, File& to, std::uint64_t size, const CopyProgress& progress);

/// For us, in bytes, where this file lies.
[[nodiscard]] std::uint64_t free_space(const File& file);

struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};
/// The first stretch of data at or behind `offset`: all of the rest where the file system can't tell, and empty, at
/// the end, if there is none.
[[nodiscard]] Stretch next_data(const File& from, std::uint64_t offset, std::uint64_t size);

/// Copies without a way through our memory. @return bytes, fewer than `size` perhaps; 0 if the system can't
[[nodiscard]] std::uint64_t copy_in_kernel(const File& from, File& to, std::uint64_t offset, std::uint64_t size);

}  // namespace fixnvpe::os
