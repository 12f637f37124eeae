#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/os/file.hpp"
#include "fixnvpe/patch/build.hpp"
#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/pe/split.hpp"

namespace fixnvpe {

/// What `NAME.fixnvpe-undo` holds: enough to take the edits of `patch --backup undo` back.
struct UndoRecord {
    std::string file_name;                     ///< without folder, UTF-8; for people
    std::uint64_t file_size = 0;               ///< bytes
    std::optional<std::int64_t> modified;      ///< of the original, as os::FileInfo has it; older undo files lack it
    std::vector<std::uint8_t> headers;         ///< of the original, as read_headers() has them; schema 1 lacks them
    std::optional<std::uint64_t> fingerprint;  ///< schema 1: header_fingerprint() of them
    std::vector<Edit> edits;                   ///< `before` is the original's value
    Split split = {};                          ///< what was split besides

    friend bool operator==(const UndoRecord&, const UndoRecord&) = default;
};

/// The largest undo file that is written or read, in bytes: headers of some 28 KiB, where a DLL's take 4. Reading JSON
/// can take the square of its length in time, and many times its length in memory.
inline constexpr std::size_t UNDO_FILE_MAX = std::size_t{1} << 16;

/// A number that tells two builds of a DLL apart: FNV-1a, 64 bits, over the header window without the bits
/// that a plan may change. Against mistakes, not against forgery.
[[nodiscard]] std::uint64_t header_fingerprint(ByteView window, const PeImage& image);

/// As schema 2, with headers.
[[nodiscard]] std::string to_json(const UndoRecord& record);

/// @throws Error bad_undo: no JSON, another schema or tool, a value out of its range
[[nodiscard]] UndoRecord parse_undo(std::string_view json);

/// Reads a whole undo file. @throws Error bad_undo also where it is longer than UNDO_FILE_MAX
[[nodiscard]] UndoRecord read_undo(const os::File& file);

/// The header bytes between which a DLL was edited.
struct UndoEnds {
    std::vector<std::uint8_t> original;  ///< none of the edits is carried out
    std::vector<std::uint8_t> edited;    ///< all of them are
    PeImage image;                       ///< what `original` says
    std::uint32_t check_sum_after = 0;   ///< in `edited`
};

/// What a record, which anybody may have written, says: it may name nothing but the fields that a plan for these
/// headers may change, and only their bits, and a split that these headers can have.
/// @param dll what it stands beside; only schema 1 needs it
/// @throws Error bad_undo (names anything else), stale_backup (schema 1: made for another file or build)
[[nodiscard]] UndoEnds ends_of(const UndoRecord& record, const FileHeaders& dll);

/// True if the edit was broken off: these are the headers of neither end, and each byte is that of one.
[[nodiscard]] bool is_between(const UndoEnds& ends, ByteView headers);

}  // namespace fixnvpe
