#include "fixnvpe/find/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/find/glob.hpp"
#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/os/names.hpp"
#include "fixnvpe/os/process.hpp"

namespace fixnvpe {
namespace {

using std::filesystem::path;

/// The current folder, too, has a name when the system is asked.
path spelled(const path& folder) {
    return folder.empty() ? path(".") : folder;
}

/// What a link found on the way leads to.
os::FileType type_behind(const path& link) {
    try {
        return os::info_behind(link).type;
    } catch (const Error&) {
        return os::FileType::missing;
    }
}

/// What stands under a name. That of a glob may be too long, or have characters that no name has.
os::FileType type_of(const path& target, bool magic) {
    try {
        return os::info_of(target).type;
    } catch (const Error&) {
        if (magic) {
            return os::FileType::missing;
        }
        throw;
    }
}

/// A target that is not there as it is written.
struct Absent {
    path folder;  ///< the longest leading part that is there
    path name;    ///< what is not there in it
    path rest;    ///< all that follows the folder
};

Absent find_absent(const path& target, bool magic) {
    const os::Rooted rooted = os::split_root(target);
    Absent result{rooted.root, {}, {}};
    for (const path& name : rooted.rest) {
        if (result.rest.empty() && type_of(result.folder / name, magic) != os::FileType::missing) {
            result.folder /= name;
        } else {
            result.name = result.rest.empty() ? name : result.name;
            result.rest /= name;
        }
    }
    return result;
}

/// Whatever a link leads to.
bool may_be_backup(os::FileType type) {
    return type == os::FileType::regular || type == os::FileType::link;
}

/// pip calls a package that it is about to remove ~ackage. If a process has its DLLs loaded, they stay.
bool is_left_by_pip(const path& folder, const path& name) {
    return name.native().front() == '~' && is_site_packages(folder);
}

/// One name in one folder, however the user spells them.
using Key = std::pair<os::FileIdentity, path::string_type>;

class Search {
public:
    explicit Search(Want want) : want_(want) {}

    void add(const path& target) {
        matched_ = false;
        only_sidecars_ = false;
        attempt(target, [&] { look_up(target); });
    }

    Targets result() && {
        for (auto& [key, file] : files_) {
            targets_.files.push_back(std::move(file));
        }
        for (auto& [key, own] : sidecars_) {
            const bool removed = own.orphan && !files_.contains(key_of(key.first, own.dll));
            if (removed || want_ == Want::sidecars) {
                targets_.sidecars.push_back(std::move(own));
            }
        }
        const auto by_path = [](const auto& a, const auto& b) { return a.path.native() < b.path.native(); };
        std::sort(targets_.files.begin(), targets_.files.end(), by_path);
        std::sort(targets_.sidecars.begin(), targets_.sidecars.end(), by_path);
        return std::move(targets_);
    }

private:
    /// A folder to be listed.
    struct Place {
        path folder;
        Glob::States states;
        bool whole = false;  ///< the pattern matched it, or a folder above: all DLLs in it are wanted
        path given;          ///< where the search began
        std::optional<os::FileIdentity> found_in = {};  ///< the folder above; none for the one that was named
    };

    template <class Step>
    void attempt(const path& what, Step step) {
        try {
            step();
        } catch (Error& error) {
            targets_.problems.push_back(error.path().empty() ? std::move(error).at(what) : std::move(error));
        }
    }

    void look_up(const path& target) {
        if (target.empty()) {
            throw Error(ErrorCode::usage, "an empty TARGET");
        }
        const path names = os::split_root(target).rest;
        const bool magic = std::any_of(names.begin(), names.end(), [](const path& n) { return has_magic(points(n)); });
        os::FileType type = type_of(target, magic);
        const bool link = type == os::FileType::link;
        if (link) {
            type = os::info_behind(target).type;
        }
        if (type == os::FileType::folder) {
            search(target, Glob(U"", GLOB_RULES), "no .dll, .pyd, .node, .exe, .mexw64 or .so file in this folder", {});
        } else if (type == os::FileType::missing && magic && !may_be_backup(type_of(backup_path(target), magic))) {
            const Absent absent = find_absent(target, magic);
            search(absent.folder, Glob(points(absent.rest), GLOB_RULES), "no file matches", why_absent(absent));
        } else {
            name(target, type, link);
        }
    }

    /// The user named this file.
    /// @param type of what it leads to
    void name(const path& file, os::FileType type, bool link) {
        const path folder = spelled(file.parent_path());
        const os::FileIdentity identity = os::info_behind(folder).identity;
        const Listing& listing = listing_of(folder, identity, file.parent_path());
        const bool missing = type == os::FileType::missing;
        const bool has_backup = missing && may_be_backup(os::info_of(backup_path(file)).type);
        const path dll =
            has_backup ? dll_of(listing.as_listed(backup_path(file))).value_or(file) : listing.as_listed(file);
        if (const auto own = sidecar_name(dll)) {
            throw Error(ErrorCode::usage, "this is one of fixnvpe's own files",
                        fmt::format("name the DLL itself: {}", printable_path(own->dll)));
        }
        if (type == os::FileType::other) {
            throw Error(ErrorCode::not_regular_file, "not a regular file");
        }
        if (want_ == Want::sidecars) {
            take(identity, listing.sidecars_of(dll));
        }
        if (!missing || has_backup) {
            take(identity, {dll, true, link, missing, identity, listing.numbered_of(dll), folder});
        } else if (!matched_) {
            must_be_absent(file);
            throw Error(ErrorCode::no_match, "not found", why_absent(find_absent(file, false)));
        }
    }

    /// Of the folder of a named file, which need not be there. One that may be looked into, but not listed, has names
    /// nevertheless.
    const Listing& listing_of(const path& folder, const os::FileIdentity& identity, const path& spelling) {
        auto listed = listings_.find(identity);
        if (listed == listings_.end()) {
            Listing listing;
            try {
                listing = Listing(folder, spelling);
            } catch (const Error&) {
                if (want_ == Want::sidecars && os::info_of(folder).type != os::FileType::missing) {
                    throw;
                }
            }
            listed = listings_.emplace(identity, std::move(listing)).first;
        }
        return listed->second;
    }

    /// Goes through a folder and all those below that the pattern leads to.
    /// @param nothing what to say if there is none
    void search(const path& folder, const Glob& glob, const char* nothing, const std::string& hint) {
        const std::size_t problems = targets_.problems.size();
        std::vector<Place> places{{folder, glob.start(), glob.matches_folder(glob.start()), folder, {}}};
        while (!places.empty() && !os::interrupted()) {
            const Place place = std::move(places.back());
            places.pop_back();
            attempt(spelled(place.folder), [&] { list(place, glob, places); });
        }
        if (!matched_ && targets_.problems.size() == problems && !os::interrupted()) {
            throw Error(ErrorCode::no_match, nothing,
                        only_sidecars_ ? "only fixnvpe's own files are there, and they are never a target" : hint);
        }
    }

    void list(const Place& place, const Glob& glob, std::vector<Place>& places) {
        const os::FileIdentity identity = identity_of(place);
        const auto wanted = [&](const path& file) {
            return (place.whole && has_dll_extension(file)) ||
                   (!place.states.empty() && glob.matches_file(place.states, points(file)));
        };
        const Listing listing(spelled(place.folder), place.folder);
        for (const os::FolderEntry& entry : listing.entries()) {
            // Nearly all files of an environment: not even a path is made for them.
            if (entry.type == os::FileType::regular && !wanted(entry.name)) {
                continue;
            }
            const path file = place.folder / entry.name;
            const bool link = entry.type == os::FileType::link;
            const os::FileType type = link ? type_behind(file) : entry.type;
            if (type == os::FileType::folder) {
                Glob::States states = glob.enter(place.states, points(entry.name));
                const bool whole = place.whole || glob.matches_folder(states);
                if ((whole || !states.empty()) && link) {
                    targets_.skipped.push_back({file, SkipReason::link_to_folder});
                } else if ((whole || !states.empty()) && is_left_by_pip(place.folder, entry.name)) {
                    targets_.skipped.push_back({file, SkipReason::left_by_pip});
                } else if (whole || !states.empty()) {
                    places.push_back({file, std::move(states), whole, place.given, identity});
                }
            } else if (!wanted(entry.name)) {
                continue;
            } else if (is_sidecar(entry.name)) {
                only_sidecars_ = true;
            } else if (type == os::FileType::regular) {
                take(identity, {file, false, link, false, identity, listing.numbered_of(file), place.given});
            } else {
                targets_.skipped.push_back({file, link ? SkipReason::link_to_nothing : SkipReason::not_regular_file});
            }
        }
        for (const auto& [name, files] : listing.sidecars()) {
            const path& dll = files.front().dll;
            // By another extension it may well be someone else's file: NOTES.txt.bak.
            if (!has_dll_extension(dll) || !wanted(dll.filename())) {
                continue;
            }
            only_sidecars_ = true;
            take(identity, files);
            const auto is_there = [&, &files = files](SidecarKind kind) {
                return std::any_of(files.begin(), files.end(),
                                   [&](const FoundSidecar& own) { return own.kind == kind; });
            };
            if (files.front().orphan && is_there(SidecarKind::full) && is_there(SidecarKind::temporary)) {
                take(identity, {dll, false, false, true, identity, {}, place.given});
            }
        }
    }

    /// Of a folder that is to be listed. One that was found may have given way to a link since, or lie behind one.
    static os::FileIdentity identity_of(const Place& place) {
        const path folder = spelled(place.folder);
        if (!place.found_in) {
            return os::info_behind(folder).identity;
        }
        const os::FileInfo info = os::info_of(folder);
        if (info.type == os::FileType::missing) {
            return info.identity;  // to list it will tell why
        }
        if (info.type != os::FileType::folder ||
            os::info_behind(spelled(place.folder.parent_path())).identity != *place.found_in) {
            throw Error(ErrorCode::changed, "list: another program replaced the folder meanwhile", Hint::run_again);
        }
        return info.identity;
    }

    static Key key_of(const os::FileIdentity& folder, const path& file) { return {folder, file.filename().native()}; }

    void take(const os::FileIdentity& folder, const Target& target) {
        matched_ = true;
        Target& file = files_.try_emplace(key_of(folder, target.path), target).first->second;
        file.named = file.named || target.named;
        file.missing = file.missing || target.missing;
    }

    void take(const os::FileIdentity& folder, const std::vector<FoundSidecar>& files) {
        matched_ = matched_ || want_ == Want::sidecars;
        for (const FoundSidecar& own : files) {
            sidecars_.try_emplace(key_of(folder, own.path), own).first->second.folder = folder;
        }
    }

    /// A name that no file can have is not there either, but the system knows better why.
    static void must_be_absent(const path& file) {
        try {
            static_cast<void>(os::File::open_to_read(file));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::not_found) {
                throw;
            }
        }
    }

    static std::string why_absent(const Absent& absent) {
        const std::string folder = absent.folder.empty() ? "the current folder" : printable_path(absent.folder);
        if (type_behind(spelled(absent.folder)) != os::FileType::folder) {
            return fmt::format("{} is no folder", folder);
        }
        return fmt::format("{} has no {}", folder, printable_path(absent.name));
    }

    Want want_;
    Targets targets_;
    std::map<Key, Target> files_;
    std::map<Key, FoundSidecar> sidecars_;
    std::map<os::FileIdentity, Listing> listings_;  ///< of the folders of named files
    bool matched_ = false;                          ///< of the present target: something was taken
    bool only_sidecars_ = false;                    ///< our own files were passed over
};

}  // namespace

namespace {

/// Words that were one path before the shell cut it at its blanks: that path, if it is there.
std::optional<std::string> uncut(const std::vector<std::string>& texts) {
    std::string path;
    for (const std::string& text : texts) {
        path += (path.empty() ? "" : " ") + text;
        if (path.size() > text.size() && type_of(os::to_path(path), true) != os::FileType::missing) {
            return path;
        }
    }
    return std::nullopt;
}

}  // namespace

Targets find_targets(const std::vector<std::string>& texts, Want want) {
    Search search(want);
    for (const std::string& text : texts) {
        search.add(os::to_path(text));
    }
    Targets targets = std::move(search).result();
    for (std::size_t i = 0; i + 1 < texts.size() && !targets.problems.empty(); ++i) {
        const path first = os::to_path(texts[i]);
        const auto cut = std::find_if(targets.problems.begin(), targets.problems.end(), [&](const Error& problem) {
            return problem.code() == ErrorCode::no_match && problem.path() == first;
        });
        const auto whole = cut == targets.problems.end()
                               ? std::nullopt
                               : uncut({texts.begin() + static_cast<std::ptrdiff_t>(i), texts.end()});
        if (whole) {
            *cut = Error(cut->code(), cut->message(),
                         fmt::format("put a path with blanks in quotes: \"{}\"", printable(*whole)))
                       .at(first);
        }
    }
    return targets;
}

}  // namespace fixnvpe
