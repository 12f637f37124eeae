#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/patch/undo_file.hpp"

/// What stands beside a DLL, held against it: the one place that says what an original is.
namespace fixnvpe {

enum class SidecarState {
    original,   ///< the DLL's original: it differs in nothing but what a patch changes
    half_done,  ///< an undo file: some of its edits are carried out and some are not
    copy,       ///< equal to the DLL, or an undo file none of whose edits is carried out
    stale,      ///< belongs to another build of the DLL
    unusable,   ///< a link, damaged, or can't be read
    alone,      ///< the DLL is missing or can't be read: there is nothing to hold it against
    free,       ///< a temporary that a crash left
    locked,     ///< a temporary that another process holds
};

/// One file of ours beside a DLL.
struct Sidecar {
    SidecarKind kind = SidecarKind::full;
    std::filesystem::path path;
    os::FileInfo info;
    SidecarState state = SidecarState::unusable;
    bool ours = true;                    ///< false: its name alone is like ours, it is no PE file with GPU code
    std::optional<Error> error;          ///< why it is stale or unusable
    std::vector<std::uint8_t> original;  ///< original, half_done, copy: the header bytes of the original
    std::vector<std::uint8_t> edited;    ///< undo, where valid: the header bytes with all its edits carried out

    /// The original can be put back from it.
    [[nodiscard]] bool valid() const {
        return state == SidecarState::original || state == SidecarState::half_done || state == SidecarState::copy;
    }
    /// The DLL differs from the original that it holds: the DLL was patched.
    [[nodiscard]] bool shows_a_patch() const {
        return state == SidecarState::original || state == SidecarState::half_done;
    }
};

/// Looks at one of them.
/// @param dll what it belongs to; null: that is missing, or can't be read
/// @return nothing if it is not there
/// @throws Error io, access_denied where the folder can't be looked at
[[nodiscard]] std::optional<Sidecar> examine_sidecar(const SidecarPlace& place, const std::filesystem::path& dll_path,
                                                     const Dll* dll);

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
/// The one that holds the original of a patched DLL.
[[nodiscard]] const Sidecar* earlier_original(const std::vector<Sidecar>& sidecars);

/// The first name of NAME.bak.1, NAME.bak.2, … that is free.
[[nodiscard]] std::filesystem::path free_numbered_backup(const std::filesystem::path& dll);

}  // namespace fixnvpe
