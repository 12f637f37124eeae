#include "fixnvpe/find/listing.hpp"

#include <algorithm>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

using std::filesystem::path;

/// A file name as the system compares it.
std::u32string folded_name(const path& p) {
    const path name = p.filename();
    std::u32string folded = code_points(std::basic_string_view<path::value_type>(name.native()));
    std::transform(folded.begin(), folded.end(), folded.begin(), os::fold_case);
    return folded;
}

/// Two names that are equal so may still be two to the system.
std::u32string without_case(const path& p) {
    std::u32string name = folded_name(p);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char32_t c) { return c >= U'a' && c <= U'z' ? c - (U'a' - U'A') : c; });
    return name;
}

/// A link may be the backup of a link.
bool is_file(os::FileType type, SidecarKind kind) {
    const bool is_copy = !is_undo_kind(kind) && kind != SidecarKind::temporary;
    return type == os::FileType::regular || (type == os::FileType::link && is_copy);
}

}  // namespace

Listing::Listing(const path& folder, const path& spelling) : entries_(os::list_folder(folder)) {
    for (const os::FolderEntry& entry : entries_) {
        if (const auto own = sidecar_name(entry.name); own && is_file(entry.type, own->kind)) {
            const path dll = spelling / own->dll;
            const bool orphan = os::info_of(dll).type == os::FileType::missing;
            sidecars_[folded_name(dll)].push_back({spelling / entry.name, dll, own->kind, orphan, {}});
        }
    }
}

std::vector<FoundSidecar> Listing::sidecars_of(const path& dll) const {
    const auto found = sidecars_.find(folded_name(dll));
    return found == sidecars_.end() ? std::vector<FoundSidecar>() : found->second;
}

std::vector<SidecarPlace> Listing::numbered_of(const path& dll) const {
    std::vector<SidecarPlace> result;
    for (const FoundSidecar& own : sidecars_of(dll)) {
        if (is_numbered(own.kind)) {
            result.push_back({own.kind, dll.parent_path() / own.path.filename()});
        }
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.path.native() < b.path.native(); });
    return result;
}

path Listing::as_listed(const path& file) const {
    const path name = file.filename();
    const os::FileInfo info = os::info_of(file);
    const auto is_exact = [&](const os::FolderEntry& entry) { return entry.name == name; };
    if (info.type == os::FileType::missing || std::any_of(entries_.begin(), entries_.end(), is_exact)) {
        return file;
    }
    for (const bool only_case : {true, false}) {
        std::vector<path> same;
        for (const os::FolderEntry& entry : entries_) {
            path own = file.parent_path() / entry.name;
            if (entry.type == info.type && (!only_case || without_case(own) == without_case(name)) &&
                os::info_of(own).identity == info.identity) {
                same.push_back(std::move(own));
            }
        }
        if (same.size() == 1) {
            return same.front();
        }
    }
    return file;
}

}  // namespace fixnvpe
