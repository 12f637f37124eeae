#include "fixnvpe/commands/disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/commands/execute.hpp"
#include "fixnvpe/os/copy.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/patch/examine.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

/// The file, where it will be copied for a backup. What is wrong with it is told when its turn comes.
std::optional<os::FileInfo> to_be_copied(const Target& target, const Request& request) {
    try {
        const Findings findings = examine(query_of(target, request));
        const Decision decision = decide(request.policy, findings.dll_facts(), findings.sidecar_facts());
        const bool copied = decision.act == Act::patch && decision.way == Way::keep_as_backup;
        return copied ? std::optional(findings.dll.info) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

void look_up_disk(const std::vector<Target>& targets, const Request& request, Summary& summary) {
    if (request.policy.command != Command::patch || request.policy.backup != BackupMode::full) {
        return;
    }
    std::map<std::uint64_t, DiskNeed> volumes;
    for (const Target& target : targets) {
        if (os::interrupted()) {
            return;
        }
        if (const auto info = target.missing ? std::nullopt : to_be_copied(target, request)) {
            // The copy lies beside the name: a link may lead to another volume.
            DiskNeed& need = volumes[target.folder ? target.folder->volume : info->identity.volume];
            need.folder = target.path.parent_path();
            need.needed += std::min(info->size, info->allocated);
        }
    }
    for (auto& [volume, need] : volumes) {
        const fs::path folder = need.folder.empty() ? fs::path(".") : need.folder;
        if (os::can_clone(folder)) {
            continue;
        }
        need.available = os::free_space(folder);
        if (need.available < need.needed) {
            throw Error(ErrorCode::disk_full,
                        fmt::format("the backups need {}, and there are {} free", human_size(need.needed),
                                    human_size(need.available)),
                        "free some space, or try --backup undo; nothing was begun")
                .at(folder);
        }
        summary.disk.push_back(std::move(need));
    }
}

}  // namespace fixnvpe
