#pragma once

// What file.cpp leaves to each system.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/file.hpp"

namespace fixnvpe::os {

/// Of anything open. @param path for the error
[[nodiscard]] FileInfo info_by_handle(const Handle& handle, const std::filesystem::path& path);

/// Some of what is there, in one call. @return bytes; 0 at the file's end
[[nodiscard]] std::size_t read_some(const File& file, std::uint64_t offset, ByteSpan buffer);
[[nodiscard]] std::size_t write_some(File& file, std::uint64_t offset, ByteView bytes);

/// @throws Error changed, where the name was given to another file before that was opened for writing
void must_be_same(const File& file, const FileInfo& named);

[[nodiscard]] Error not_regular(const std::filesystem::path& path, std::string_view step, Hint hint = Hint::none);

}  // namespace fixnvpe::os
