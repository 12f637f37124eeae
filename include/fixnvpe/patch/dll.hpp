#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/pe/fat_binary.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// A PE file on disk, as far as it is ever read.
struct Dll {
    std::filesystem::path path;
    os::FileInfo info;
    std::optional<os::FileInfo> link = {};  ///< of its name, where that is a link to the file
    std::vector<std::uint8_t> headers;      ///< the first bytes: 4,096, or more if the headers are longer
    PeImage image;                          ///< what the headers say
};

/// Opens, looks up, reads the headers, closes: whatever the file's size.
/// @throws Error as os::File::open_to_read and read_pe
[[nodiscard]] Dll read_dll(const std::filesystem::path& path);
[[nodiscard]] Dll read_dll(const os::File& file);

/// The header bytes alone. @param file_size bytes
[[nodiscard]] std::vector<std::uint8_t> read_headers(const os::File& file, std::uint64_t file_size);

/// Reads from the file, for who knows no files. It must stay open.
[[nodiscard]] ReadAt reader_of(const os::File& file);

/// True if these are its first bytes, whatever they mean: of an edit that was broken off they may be no headers.
[[nodiscard]] bool begins_with(const os::File& file, const std::vector<std::uint8_t>& headers);

}  // namespace fixnvpe
