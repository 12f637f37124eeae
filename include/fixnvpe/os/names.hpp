#pragma once

#include <filesystem>
#include <vector>

#include "fixnvpe/os/file.hpp"

/// Names of files, and the folders that hold them.
namespace fixnvpe::os {

/// False where the file's name can't be given to another file at once, and it can't be linked: on Windows a DLL that is
/// loaded, a read-only file, and a link. Such a file can be renamed first.
[[nodiscard]] bool can_be_replaced(const std::filesystem::path& path);

/// Makes `name` a second name of the file `existing`.
/// @return false if the file system has no hard links, or no more of them for this file
/// @throws Error if `name` exists, and for any other failure
[[nodiscard]] bool make_hard_link(const std::filesystem::path& existing, const std::filesystem::path& name);

/// Renames; what stood at `to` is replaced in one step.
void rename_over(const std::filesystem::path& from, const std::filesystem::path& to);

/// Renames; fails if `to` exists.
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file or a link, not a folder. A missing one is no error. @return whether it was there
bool remove(const std::filesystem::path& path);

/// Waits until the names in this folder are on the disk; nothing where the system has no such step.
void sync_folder(const std::filesystem::path& folder);

/// One name in a folder. A link is a link.
struct FolderEntry {
    std::filesystem::path name;  ///< without the folder
    FileType type = FileType::missing;
};

/// All names in a folder but "." and "..", in no order.
/// @throws Error not_found, access_denied, io
[[nodiscard]] std::vector<FolderEntry> list_folder(const std::filesystem::path& folder);

/// The absolute path of what `path` leads to, without links, "." and "..".
/// @throws Error not_found (also for a link to nothing), link (a link to itself), access_denied, io
[[nodiscard]] std::filesystem::path canonical(const std::filesystem::path& path);

/// A path in two.
struct Rooted {
    std::filesystem::path
        root;  ///< "/", "C:\\", "\\\\server\\share\\", of which the standard library may see only "\\"
    std::filesystem::path rest;
};
[[nodiscard]] Rooted split_root(const std::filesystem::path& path);

/// As info_of, but of what a link leads to.
/// @throws Error as info_of and canonical
[[nodiscard]] FileInfo info_behind(const std::filesystem::path& path);

/// Names that are equal when each of their characters is folded are one name to the system: upper case on
/// Windows, the character itself elsewhere.
[[nodiscard]] char32_t fold_case(char32_t c);

}  // namespace fixnvpe::os
