#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/os/names.hpp"
#include "fixnvpe/patch/sidecars.hpp"

namespace fixnvpe {

/// A file beside a target whose name says that it is ours. Only its content can show that it really is.
struct FoundSidecar {
    std::filesystem::path path;
    std::filesystem::path dll;
    SidecarKind kind = SidecarKind::full;
    bool orphan = false;                          ///< the DLL is not there
    std::optional<os::FileIdentity> folder = {};  ///< where it was found
};

/// What a folder lists, and what of it is ours.
class Listing {
public:
    Listing() = default;
    /// @param spelling of the folder, for the paths that this gives
    /// @throws Error as os::list_folder and os::info_of
    Listing(const std::filesystem::path& folder, const std::filesystem::path& spelling);

    [[nodiscard]] const std::vector<os::FolderEntry>& entries() const { return entries_; }
    /// Those of each DLL, by its folded name.
    [[nodiscard]] const std::map<std::u32string, std::vector<FoundSidecar>>& sidecars() const { return sidecars_; }
    [[nodiscard]] std::vector<FoundSidecar> sidecars_of(const std::filesystem::path& dll) const;
    /// NAME.bak.N and NAME.fixnvpe-undo.N, sorted.
    [[nodiscard]] std::vector<SidecarPlace> numbered_of(const std::filesystem::path& dll) const;
    /// A file by the name it is listed under: the user may have spelled that in another case, or in 8.3.
    [[nodiscard]] std::filesystem::path as_listed(const std::filesystem::path& file) const;

private:
    std::vector<os::FolderEntry> entries_;
    std::map<std::u32string, std::vector<FoundSidecar>> sidecars_;
};

}  // namespace fixnvpe
