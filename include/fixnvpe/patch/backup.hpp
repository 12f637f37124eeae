#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/patch/undo_file.hpp"

/// What stands beside a DLL, held against it: the one place that says what an original is.
namespace fixnvpe {

enum class SidecarState {
    original,        ///< the DLL's original: it has all bits of the DLL's that a patch clears, and more
    half_done,       ///< an undo file: some of its edits are carried out and some are not
    copy,            ///< has the same bits, or an undo file none of whose edits is carried out: shows nothing
    patched_itself,  ///< lacks a bit that the DLL has: never an original
    stale,           ///< none of these: as far as can be told, of another build of the DLL
    unusable,        ///< a link, damaged, or can't be read
    alone,           ///< the DLL is missing or broken: there is nothing to hold it against
    free,            ///< a temporary that a crash left
    locked,          ///< a temporary that another process holds
};

/// One file of ours beside a DLL.
struct Sidecar {
    SidecarKind kind = SidecarKind::full;
    std::filesystem::path path;
    os::FileInfo info;      ///< of what has this name: a link is a link
    os::FileInfo contents;  ///< full, legacy, numbered: of the file that a link leads to
    SidecarState state = SidecarState::unusable;
    SidecarState by_headers = SidecarState::unusable;  ///< before all bytes were compared
    bool proven = false;                   ///< CheckSum, or a comparison, shows that all other bytes are the DLL's
    bool compared = false;                 ///< byte for byte: what state says was seen
    bool equal = true;                     ///< copy: in every byte, as far as it was compared
    bool shown_to_be_other = false;        ///< stale: another build, and not only as far as can be told
    bool whole = false;                    ///< full, legacy, numbered: a PE file with GPU code, not cut short
    bool same_headers = false;             ///< but for what a patch changes, whatever the sizes
    bool signed_since = false;             ///< the DLL has a certificate table that the backup lacks
    unsigned bits = 0;                     ///< of those that a patch clears: how many are set in the original
    bool ours = true;                      ///< false: its name alone is like ours, it is no PE file with GPU code
    std::optional<Error> error;            ///< why it is stale or unusable
    std::optional<std::int64_t> modified;  ///< undo: the time of the original, where it is known
    std::uint64_t original_size = 0;       ///< undo: of the original, in bytes
    std::vector<std::uint8_t> original;    ///< original, half_done, copy: the header bytes of the original
    std::vector<std::uint8_t> edited;      ///< undo, where valid: the header bytes with all its edits carried out

    [[nodiscard]] bool is_link() const { return info.type == os::FileType::link; }
    /// The original can be put back from it.
    [[nodiscard]] bool holds_original() const {
        return state == SidecarState::original || state == SidecarState::half_done;
    }
};

/// Looks at one of them.
/// @param dll what it belongs to; null: that is missing, or can't be read
/// @param deep a file whose headers tell of no GPU code may hold some all the same: look for it among its variables
/// @return nothing if it is not there
/// @throws Error io, access_denied where the folder can't be looked at
[[nodiscard]] std::optional<Sidecar> examine_sidecar(const SidecarPlace& place, const std::filesystem::path& dll_path,
                                                     const Dll* dll, bool deep = false);

/// Compares all bytes behind the headers with the DLL's, or the sum of the DLL's own with what an undo file has; and
/// judges again.
/// @param progress called with the bytes done so far; may throw to stop
/// @throws Error as os::File::open_to_read, changed
void compare_bytes(Sidecar& sidecar, const Dll& dll, const std::function<void(std::uint64_t done)>& progress);

/// The first sidecar for which this holds; null if there is none.
template <typename Condition>
[[nodiscard]] const Sidecar* first_that(const std::vector<Sidecar>& sidecars, Condition condition) {
    for (const Sidecar& sidecar : sidecars) {
        if (condition(sidecar)) {
            return &sidecar;
        }
    }
    return nullptr;
}

[[nodiscard]] const Sidecar* of_kind(const std::vector<Sidecar>& sidecars, SidecarKind kind);

/// The first name of NAME.bak.1, NAME.bak.2, … (or NAME.fixnvpe-undo.1, …) that is free.
[[nodiscard]] std::filesystem::path free_numbered_path(const std::filesystem::path& sidecar);

}  // namespace fixnvpe
