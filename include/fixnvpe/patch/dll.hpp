#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// A PE file on disk, as far as it is ever read.
struct PeFile {
    os::FileInfo info;
    std::vector<std::uint8_t> window;  ///< the first bytes: 4,096, or more if the headers are longer
    PeImage image;                     ///< what the window says
};

/// Opens, looks up, reads the header window, closes: whatever the file's size.
/// @throws Error as os::File::open_to_read and read_pe
[[nodiscard]] PeFile read_pe_file(const std::filesystem::path& path);
[[nodiscard]] PeFile read_pe_file(const os::File& file);

/// The header window alone. @param file_size bytes
[[nodiscard]] std::vector<std::uint8_t> read_header_window(const os::File& file, std::uint64_t file_size);

}  // namespace fixnvpe
