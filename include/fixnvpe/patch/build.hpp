#pragma once

#include <cstdint>
#include <vector>

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

/// Headers with all splits taken back, and CheckSum as it was before them.
struct Unsplit {
    std::vector<std::uint8_t> bytes;
    PeImage image;
    bool was_split = false;
};

/// What is not split, or by nobody we know, stays as it is.
[[nodiscard]] Unsplit unsplit(const FileHeaders& file);

/// With zeros in its place.
[[nodiscard]] std::vector<std::uint8_t> without_check_sum(ByteView headers, const PeImage& image);

enum class Build {
    same,          ///< equal sizes and headers, splits taken back, but for the bits that a patch clears and CheckSum
    signed_since,  ///< the same, and the DLL has got a certificate table at its end
    other,
};

/// How a backup stands to its DLL.
struct Relation {
    Build build = Build::other;
    bool shown_to_be_other = false;  ///< Machine, or TimeDateStamp where both have one, differs
    /// CheckSum shows that all other bytes are equal, too: it is set in both, and differs exactly as the bits make it.
    bool proven = false;
    bool same_headers = false;  ///< but for the bits that a patch clears and CheckSum, whatever the sizes
    bool has_more_bits =
        false;  ///< the backup has a bit that a patch has cleared in the DLL, or the DLL alone is split
    bool lacks_bits =
        false;          ///< the DLL has one that is clear in the backup, or that is split otherwise: patched itself
    unsigned bits = 0;  ///< how many of the bits that a patch clears are set in the backup; one more if not split
};

/// How many of the bits that a patch clears are set, and one more if it is not split: the original has the most.
[[nodiscard]] unsigned editable_bits_set(const PeImage& image);

[[nodiscard]] Relation relate(const FileHeaders& dll, const FileHeaders& backup);

}  // namespace fixnvpe
