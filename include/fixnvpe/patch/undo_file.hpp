#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/os/file.hpp"
#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/image.hpp"

namespace fixnvpe {

/// What `NAME.fixnvpe-undo` holds: enough to take the edits of `patch --backup undo` back.
struct UndoRecord {
    std::string file_name;                 ///< without folder, UTF-8; for people
    std::uint64_t file_size = 0;           ///< bytes
    std::uint64_t fingerprint = 0;         ///< of the headers: header_fingerprint()
    std::vector<Edit> edits;               ///< `before` is the original's value
    std::optional<std::int64_t> modified;  ///< of the original, as os::FileInfo has it; older undo files lack it

    friend bool operator==(const UndoRecord&, const UndoRecord&) = default;
};

/// The largest undo file that is written or read, in bytes: some 400 edits, where a DLL takes three. Reading JSON
/// can take the square of its length in time, and many times its length in memory.
inline constexpr std::size_t UNDO_FILE_MAX = std::size_t{1} << 16;

/// A number that tells two builds of a DLL apart: FNV-1a, 64 bits, over the header window without the bits
/// that a plan may change. Against mistakes, not against forgery.
[[nodiscard]] std::uint64_t header_fingerprint(ByteView window, const PeImage& image);

[[nodiscard]] std::string to_json(const UndoRecord& record);

/// @throws Error bad_undo: no JSON, another schema or tool, a value out of its range
[[nodiscard]] UndoRecord parse_undo(std::string_view json);

/// Reads a whole undo file. @throws Error bad_undo also where it is longer than UNDO_FILE_MAX
[[nodiscard]] UndoRecord read_undo(const os::File& file);

/// How far the edits of a record are carried out in a file.
enum class UndoProgress { none, half, all };

/// Holds an undo record, which anybody may have written, against the file it stands beside: it may name
/// nothing but the fields that a plan for this very file may change, and only their bits.
/// @param file_size bytes
/// @throws Error stale_backup (made for another file or build), bad_undo (names anything else)
[[nodiscard]] UndoProgress check_undo(const UndoRecord& record, std::uint64_t file_size, ByteView window,
                                      const PeImage& image);

}  // namespace fixnvpe
