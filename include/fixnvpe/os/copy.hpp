#pragma once

#include <cstdint>
#include <functional>

#include "fixnvpe/os/file.hpp"

namespace fixnvpe::os {

using CopyProgress = std::function<void(std::uint64_t done)>;  ///< bytes

/// Copies all bytes to the empty file `to`: as a clone that shares them where the file system can, else in
/// chunks, holes kept. The free space is checked before the first byte is written.
/// @param progress called with the bytes done so far; may throw to stop
/// @throws Error disk_full, changed (the source's size changed meanwhile), io
void copy_contents(const File& from, File& to, const CopyProgress& progress);

/// For us, in bytes, on the file system of this folder.
[[nodiscard]] std::uint64_t free_space(const std::filesystem::path& folder);
/// True where copies may share their bytes and take nothing: it is of a kind that can do that.
[[nodiscard]] bool can_clone(const std::filesystem::path& folder);

}  // namespace fixnvpe::os
