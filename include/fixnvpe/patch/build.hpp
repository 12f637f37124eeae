#pragma once

#include <cstdint>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/pe/image.hpp"

/// Are two files the same build, one of them patched? Judged by their headers alone: pure.
namespace fixnvpe {

/// The headers of one file.
struct FileHeaders {
    ByteView bytes;
    std::uint64_t file_size = 0;  ///< bytes
    const PeImage& image;
};

enum class Build {
    same,          ///< equal sizes and headers, but for the bits that a patch clears and CheckSum
    signed_since,  ///< the same, and the DLL has got a certificate table at its end
    other,
};

/// How a backup stands to its DLL.
struct Relation {
    Build build = Build::other;
    bool shown_to_be_other = false;  ///< Machine, or TimeDateStamp where both have one, differs
    /// CheckSum shows that all other bytes are equal, too: it is set in both, and differs exactly as the bits make it.
    bool proven = false;
    bool same_headers = false;   ///< but for the bits that a patch clears and CheckSum, whatever the sizes
    bool has_more_bits = false;  ///< the backup has a bit that a patch has cleared in the DLL
    bool lacks_bits = false;     ///< the DLL has one that is clear in the backup: that was patched itself
    unsigned bits = 0;           ///< how many of the bits that a patch clears are set in the backup
};

/// How many of the bits that a patch clears are set.
[[nodiscard]] unsigned editable_bits_set(const PeImage& image);

[[nodiscard]] Relation relate(const FileHeaders& dll, const FileHeaders& backup);

}  // namespace fixnvpe
