#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/find/glob.hpp"
#include "fixnvpe/find/listing.hpp"
#include "fixnvpe/patch/decide.hpp"

namespace fixnvpe {

/// How this system cuts and compares paths.
inline constexpr GlobRules GLOB_RULES{std::filesystem::path::preferred_separator == '\\' ? U"\\/" : U"/",
                                      &os::fold_case};

/// One DLL to work on.
struct Target {
    std::filesystem::path path;  ///< with its own name, in the folder as the user spells that; a named link's file
    bool named = false;          ///< it was named itself, and not only found in a folder or by a glob
    bool link = false;           ///< a link to a regular file, found in a folder or by a glob: not to be written to
    bool missing = false;        ///< not there, but its backup is: a crash between two renames
    std::optional<os::FileIdentity> folder = {};  ///< where it was found
    std::vector<SidecarPlace> numbered = {};      ///< NAME.bak.N and NAME.fixnvpe-undo.N beside it, sorted
    std::filesystem::path given = {};             ///< the folder that the search began in; of a named file, its own
    Installed installed = {};                     ///< where it is missing; whoever knows the records sets it
};

enum class SkipReason { link_to_folder, link_to_nothing, not_regular_file, left_by_pip, excluded };

template <>
inline constexpr auto names_of<SkipReason> = names<SkipReason>({
    {SkipReason::link_to_folder, "link-to-folder"},
    {SkipReason::link_to_nothing, "link-to-nothing"},
    {SkipReason::not_regular_file, "not-regular-file"},
    {SkipReason::left_by_pip, "left-by-pip"},
    {SkipReason::excluded, "excluded"},
});

/// A name that is not looked into.
struct Skipped {
    std::filesystem::path path;
    SkipReason reason = SkipReason::not_regular_file;
};

/// What the targets on the command line lead to.
struct Targets {
    std::vector<Target> files;           ///< each name once, sorted by path
    std::vector<FoundSidecar> sidecars;  ///< each name once, sorted by path; which ones, see Want
    std::vector<Skipped> skipped;        ///< links to folders, and what is no file though it is named like a DLL
    std::vector<Error> problems;         ///< targets that lead nowhere, folders that can't be read; the rest is done
};

/// What the caller is after.
enum class Want {
    dlls,      ///< sidecars: found orphans whose DLL is no target: it was removed, and must stay so
    sidecars,  ///< sidecars: all that are found, or stand beside a named DLL; a target may match these alone
};

/// Finds the files that the targets stand for. A target is
/// - a file;
/// - a folder, walked to the bottom for what has a DLL's extension (has_dll_extension), without what pip left behind
///   in site-packages (~orch);
/// - a glob (glob.hpp): its leading part that exists as it is written is taken literally; a file that it
///   matches is taken whatever its extension, and a folder that it matches is walked.
///
/// Links to folders are followed where they are named, and not where they are found. The names of our own
/// files are passed over; to name one is an error. A file is known by its folder and the name that the folder
/// lists it by, so however a target is spelled it is there once, while two hard links are two files.
///
/// A DLL that is not there is a target nevertheless (`missing`) if it was named and its NAME.bak is there, or
/// if both NAME.bak and NAME.fixnvpe-tmp were found.
/// After Ctrl-C it stops looking.
/// @param texts as given on the command line: UTF-8 on Windows, bytes elsewhere
[[nodiscard]] Targets find_targets(const std::vector<std::string>& texts, Want want = Want::dlls);

}  // namespace fixnvpe
