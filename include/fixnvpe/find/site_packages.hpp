#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fixnvpe/os/file.hpp"

/// How Python environments lie on the disk: in any of the layouts that there are, of Windows and elsewhere. What can't
/// be looked at is not there: another place may do.
namespace fixnvpe {

/// A name in lower case, where it is ASCII.
[[nodiscard]] std::string lower_name(const std::filesystem::path& p);

/// Looks through links.
[[nodiscard]] os::FileInfo look_behind(const std::filesystem::path& p);
[[nodiscard]] bool is_folder(const std::filesystem::path& p);
/// The names in a folder.
[[nodiscard]] std::vector<std::filesystem::path> names_in(const std::filesystem::path& folder);

/// 11 for python3.11, Python311, python311.dll, Python311-32 and pythoncore-3.11-64; nothing for any other name.
[[nodiscard]] std::optional<unsigned> minor_version(const std::filesystem::path& name);

/// The folders python3.X, Python3X or pythoncore-3.X-64 in `parent`, the newest first; all of them if `minor` is not
/// known.
[[nodiscard]] std::vector<std::filesystem::path> python_folders(const std::filesystem::path& parent,
                                                                std::optional<unsigned> minor);

/// Folders that are there, each once, whatever its names: lib64 is often a link to lib.
class Folders {
public:
    void add(const std::filesystem::path& folder);
    void add(const std::vector<std::filesystem::path>& folders);
    [[nodiscard]] std::vector<std::filesystem::path> list() && { return std::move(list_); }

private:
    std::vector<std::filesystem::path> list_;
    std::set<os::FileIdentity> known_;
};

/// True for a folder of that name, or Debian's for it.
[[nodiscard]] bool is_site_packages(const std::filesystem::path& folder);
/// The prefix that a folder called site-packages belongs to, which need not have a Python; empty if none is.
[[nodiscard]] std::filesystem::path prefix_of_site(const std::filesystem::path& site);
/// The environments that a folder is or holds, directly or one level below; each once, in the order of their names.
/// @param below false: look no further than the folder itself
[[nodiscard]] std::vector<std::filesystem::path> environments_in(const std::filesystem::path& folder,
                                                                 bool below = true);

/// The site-packages folders of a prefix.
[[nodiscard]] std::vector<std::filesystem::path> site_packages(const std::filesystem::path& prefix,
                                                               std::optional<unsigned> minor = {});

/// The prefix that a python belongs to.
[[nodiscard]] std::filesystem::path prefix_of(const std::filesystem::path& executable);
/// True for the prefix of a virtual environment.
[[nodiscard]] bool is_virtual(const std::filesystem::path& prefix);
/// True for the prefix of an environment: a virtual one, conda's, or a Python beside site-packages.
[[nodiscard]] bool is_environment(const std::filesystem::path& prefix);

/// What the processes of one environment load DLLs from.
struct EnvironmentPlaces {
    std::vector<std::filesystem::path> prefixes;  ///< its own; then that of the base whose packages belong to it
    std::vector<std::filesystem::path> folders;   ///< site-packages; conda's Library/bin; then the base's. None: no
                                                  ///< environment
};

/// Those of a prefix. @param minor of its Python, where that is known
[[nodiscard]] EnvironmentPlaces places_of(const std::filesystem::path& prefix, std::optional<unsigned> minor = {});

}  // namespace fixnvpe
