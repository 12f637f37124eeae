#include "fixnvpe/commands/orphans.hpp"

#include <algorithm>

namespace fixnvpe {

Installed installed_around(const std::filesystem::path& dll, Environments& environments) {
    Installed installed;
    try {
        const Records& records = environments.records_around(dll.parent_path());
        installed.listed = !records.owners_of(dll).empty();
        if (records.complete()) {
            for (const Distribution& owner : records.owners_in(dll.parent_path())) {
                installed.folder_since = std::min(installed.folder_since.value_or(owner.installed), owner.installed);
            }
        }
    } catch (const Error&) {
        // The folder went away meanwhile: whoever looks at the DLL tells why.
    }
    return installed;
}

void add_missing(Targets& targets, Environments& environments) {
    for (const FoundSidecar& sidecar : targets.sidecars) {
        if (sidecar.orphan && sidecar.kind == SidecarKind::full) {
            targets.files.push_back({sidecar.dll, false, false, true, sidecar.folder, {}, sidecar.dll.parent_path()});
        }
    }
    for (Target& target : targets.files) {
        if (target.missing) {
            target.installed = installed_around(target.path, environments);
        }
    }
    std::sort(targets.files.begin(), targets.files.end(),
              [](const Target& a, const Target& b) { return a.path.native() < b.path.native(); });
}

void part_orphans(Summary& summary) {
    std::erase_if(summary.files, [&](const FileOutcome& file) {
        const Why why = file.reason.why;
        const bool gone = why == Why::dll_gone || why == Why::dll_dropped;
        if (gone) {
            summary.orphans.push_back({backup_path(file.path), why == Why::dll_gone});
        }
        return gone || why == Why::not_ours;
    });
}

}  // namespace fixnvpe
