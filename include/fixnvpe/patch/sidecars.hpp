#pragma once

#include <filesystem>
#include <optional>

/// The names of the files that fixnvpe makes beside a DLL, and of fixNvPe.py's backup. None ends in .dll:
/// torch loads every *.dll of its folder. NAME is the DLL's whole file name, extension and all.
namespace fixnvpe {

[[nodiscard]] std::filesystem::path backup_path(const std::filesystem::path& dll);         ///< NAME.bak
[[nodiscard]] std::filesystem::path legacy_backup_path(const std::filesystem::path& dll);  ///< NAME_bak
[[nodiscard]] std::filesystem::path undo_path(const std::filesystem::path& dll);           ///< NAME.fixnvpe-undo
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& dll);      ///< NAME.fixnvpe-tmp
/// NAME.bak.N: the N-th stale backup that was moved aside.
[[nodiscard]] std::filesystem::path numbered_backup_path(const std::filesystem::path& dll, unsigned n);

enum class OwnFileKind { backup, numbered_backup, legacy_backup, undo, temporary };

/// What the name of one of our own files says.
struct OwnFileName {
    std::filesystem::path dll;  ///< the name without our suffix
    OwnFileKind kind = OwnFileKind::backup;
};

/// Reads a file name, or a whole path, without looking at the disk; the case of the suffix is ignored.
/// @return nothing if it is not one of ours
[[nodiscard]] std::optional<OwnFileName> own_file_name(const std::filesystem::path& name);

[[nodiscard]] bool is_own_file(const std::filesystem::path& name);
/// The DLL that this file of ours belongs to.
[[nodiscard]] std::optional<std::filesystem::path> dll_of(const std::filesystem::path& own_file);

/// True for *.dll, *.pyd and *.node, in any case: what is taken from a folder.
[[nodiscard]] bool has_dll_extension(const std::filesystem::path& name);

}  // namespace fixnvpe
