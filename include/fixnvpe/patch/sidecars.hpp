#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "fixnvpe/base/names.hpp"

/// Sidecars: the files that fixnvpe makes beside a DLL, and fixNvPe.py's backup, by their names. None ends in .dll:
/// torch loads every *.dll of its folder. NAME is the DLL's whole file name, extension and all.
namespace fixnvpe {

[[nodiscard]] std::filesystem::path backup_path(const std::filesystem::path& dll);         ///< NAME.bak
[[nodiscard]] std::filesystem::path legacy_backup_path(const std::filesystem::path& dll);  ///< NAME_bak
[[nodiscard]] std::filesystem::path undo_path(const std::filesystem::path& dll);           ///< NAME.fixnvpe-undo
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& dll);      ///< NAME.fixnvpe-tmp
/// NAME.bak.N, NAME.fixnvpe-undo.N: the N-th one that was moved aside.
[[nodiscard]] std::filesystem::path numbered_path(const std::filesystem::path& sidecar, unsigned n);

enum class SidecarKind {
    full,           ///< NAME.bak, the original file
    undo,           ///< NAME.fixnvpe-undo, the original's values of the changed fields
    legacy,         ///< NAME_bak, the original file as fixNvPe.py kept it
    numbered,       ///< NAME.bak.N
    numbered_undo,  ///< NAME.fixnvpe-undo.N
    temporary,      ///< NAME.fixnvpe-tmp: the lock, and the copy that is being made
};

template <>
inline constexpr auto names_of<SidecarKind> = names<SidecarKind>({
    {SidecarKind::full, "full"},
    {SidecarKind::undo, "undo"},
    {SidecarKind::legacy, "legacy"},
    {SidecarKind::numbered, "numbered"},
    {SidecarKind::numbered_undo, "numbered-undo"},
    {SidecarKind::temporary, "temporary"},
});

[[nodiscard]] constexpr bool is_undo_kind(SidecarKind kind) {
    return kind == SidecarKind::undo || kind == SidecarKind::numbered_undo;
}

/// It was moved aside.
[[nodiscard]] constexpr bool is_numbered(SidecarKind kind) {
    return kind == SidecarKind::numbered || kind == SidecarKind::numbered_undo;
}

struct SidecarPlace {
    SidecarKind kind = SidecarKind::full;
    std::filesystem::path path;
};

/// NAME.bak, the undo file, fixNvPe.py's NAME_bak and the temporary, in this order: that in which restore takes them.
[[nodiscard]] std::vector<SidecarPlace> sidecars_of(const std::filesystem::path& dll);

/// What the name of one of our own files says.
struct SidecarName {
    std::filesystem::path dll;  ///< the name without our suffix
    SidecarKind kind = SidecarKind::full;
};

/// Reads a file name, or a whole path, without looking at the disk; the case of the suffix is ignored.
/// @return nothing if it is not one of ours
[[nodiscard]] std::optional<SidecarName> sidecar_name(const std::filesystem::path& name);

[[nodiscard]] bool is_sidecar(const std::filesystem::path& name);
/// The DLL that this file of ours belongs to.
[[nodiscard]] std::optional<std::filesystem::path> dll_of(const std::filesystem::path& sidecar);

/// True for *.dll, *.pyd, *.node, *.exe, *.mexw64 and *.so, in any case: what is taken from a folder.
[[nodiscard]] bool has_dll_extension(const std::filesystem::path& name);

}  // namespace fixnvpe
