#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/patch/undo_file.hpp"

namespace fixnvpe {

enum class BackupKind {
    full,    ///< NAME.bak, the original file
    undo,    ///< NAME.fixnvpe-undo, the original's values of the changed fields
    legacy,  ///< NAME_bak, the original file as fixNvPe.py kept it
};

enum class BackupState {
    valid,     ///< matches the file: the original can be put back from it
    stale,     ///< belongs to another build of the file
    unusable,  ///< a link, damaged, or can't be read
};

[[nodiscard]] std::string_view to_string(BackupKind kind);
[[nodiscard]] std::string_view to_string(BackupState state);

/// A backup that stands beside a file, held against it.
struct Backup {
    BackupKind kind = BackupKind::full;
    std::filesystem::path file;
    os::FileInfo info;
    BackupState state = BackupState::unusable;
    std::optional<Error> reason;         ///< why it is not valid
    std::vector<std::uint8_t> original;  ///< where valid: the header window of the original
    std::vector<std::uint8_t> edited;    ///< undo, where valid: the window with all its edits carried out
    bool half_done = false;              ///< undo: some of its edits are carried out and some are not
};

/// Looks for all three kinds, in their order. A file that has no .nv_fatb, beside a backup that has none
/// either, is not ours, and such a backup is not listed.
/// @throws Error io, access_denied where the folder can't be looked at
[[nodiscard]] std::vector<Backup> find_backups(const std::filesystem::path& path, const PeFile& file);

/// Holds one file against the DLL that it is said to be a backup of.
/// @return nothing if it is not there, if neither of the two has a .nv_fatb, or if the DLL has none and a backup that
///         should hold the whole of it can't be read
[[nodiscard]] std::optional<Backup> examine_backup(BackupKind kind, const std::filesystem::path& backup,
                                                   const std::filesystem::path& path, const PeFile& file);

/// The first backup in this state.
[[nodiscard]] const Backup* first_in_state(const std::vector<Backup>& backups, BackupState state);

/// True if the file differs from the original that this (valid) backup holds: it was patched.
[[nodiscard]] bool shows_a_patch(const Backup& backup, const PeFile& file);

/// The first name of NAME.bak.1, NAME.bak.2, … that is free.
[[nodiscard]] std::filesystem::path free_numbered_backup(const std::filesystem::path& path);

}  // namespace fixnvpe
