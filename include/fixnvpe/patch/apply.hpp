#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/patch/plan.hpp"

/// The steps that change files, in an order in which a crash at any point loses nothing: at every instant the
/// original's bytes exist whole under NAME or its backup, or the undo file explains the mix.
namespace fixnvpe {

enum class BackupMode {
    full,  ///< NAME.bak
    undo,  ///< NAME.fixnvpe-undo; the file is edited in place
    none,  ///< neither; the file is edited in place
};

/// Called during a long copy with the bytes done and the bytes in all; may throw to stop.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// What one file needs, decided without writing anything.
struct Patch {
    std::vector<std::uint8_t> target;  ///< the header window as it shall be
    std::vector<Edit> edits;           ///< from the window as it is; empty: nothing to do
};

/// @param backups what find_backups() says of the file: where an undo file explains it, the plan starts from the
///                original
[[nodiscard]] Patch plan_patch(const PeFile& file, const std::vector<Backup>& backups, AslrPolicy policy);

/// The edits that lead from a file as it is to another header window of it.
[[nodiscard]] std::vector<Edit> header_difference(const PeFile& file, const std::vector<std::uint8_t>& window);

/// Fails where something that can't be used stands under the name of a backup: patch_file() would fail, too.
/// @throws Error link, bad_undo, not_regular_file, not_pe, access_denied, io
void require_usable_backups(const PeFile& seen, const std::vector<Backup>& backups, BackupMode mode);

/// Patches one file, with a backup made or an earlier valid one kept.
/// @param seen the file as it was when the patch was planned
/// @return what else was done, in words for the user: a stale backup moved aside
/// @throws Error busy, changed (the file is not as seen any more: nothing is written), link, bad_undo,
///         access_denied, disk_full, verify_failed, interrupted, io
std::vector<std::string> patch_file(const std::filesystem::path& path, const PeFile& seen,
                                    const std::vector<Backup>& backups, const Patch& patch, BackupMode mode,
                                    const CopyProgress& progress);

/// Puts the original back from this (valid) backup, and removes all valid ones unless they are to be kept.
/// @throws Error as patch_file
void restore_file(const std::filesystem::path& path, const PeFile& seen, const std::vector<Backup>& backups,
                  bool keep_backup, const CopyProgress& progress);

/// The file itself is missing, and its backup is there: a crash between two renames. Renames it back.
/// @throws Error no_backup, link, busy, access_denied, io
void put_back_missing(const std::filesystem::path& path);

/// Removes one of our own files beside a DLL, holding the DLL's lock.
/// @param seen the own file as it was when that was decided
/// @throws Error busy, changed, access_denied, io
void remove_own_file(const std::filesystem::path& dll, const std::filesystem::path& own_file, const os::FileInfo& seen);

/// Removes a temporary that a crash left beside the file. @return whether there was one
bool remove_leftover_temporary(const std::filesystem::path& path);

}  // namespace fixnvpe
