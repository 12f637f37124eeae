#include "fixnvpe/patch/restore_file.hpp"

#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/names.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

void put_back(Transaction& transaction, const Sidecar& backup, Way way) {
    switch (way) {
        case Way::edit: transaction.edit(backup.original, backup.modified); break;
        case Way::cut_back: transaction.cut_back(backup); break;
        case Way::copy_back: transaction.copy_back(backup); break;
        default: transaction.rename_back(backup); break;
    }
}

}  // namespace

void restore_file(const Findings& seen, const Decision& decision, const CopyProgress& progress,
                  std::vector<fs::path>& moved) {
    Transaction transaction(seen, progress);
    const std::optional<fs::path> broken = decision.gives_way ? std::optional(transaction.keep_broken()) : std::nullopt;
    std::vector<SidecarPlace> spent;
    const std::vector<std::uint8_t>* original = nullptr;
    for (std::size_t i = 0; i < seen.sidecars.size(); ++i) {
        const Fate fate = decision.sidecars[i].fate;
        if (fate == Fate::use || fate == Fate::use_up) {
            put_back(transaction, seen.sidecars[i], decision.way);
            original = &seen.sidecars[i].original;
            if (broken) {
                moved.push_back(*broken);
            }
        }
        if (is_undo_kind(seen.sidecars[i].kind) && (fate == Fate::use_up || fate == Fate::remove)) {
            spent.push_back({seen.sidecars[i].kind, seen.sidecars[i].path});
        }
    }
    if (!spent.empty() && original != nullptr) {
        transaction.go_on_with(*original);
        for (const SidecarPlace& undo : spent) {
            transaction.remove_spent_undo(undo);
        }
    }
}

void put_back_missing(const fs::path& dll) {
    const os::Lock lock(dll);
    const fs::path backup = backup_path(dll);
    const os::FileInfo info = os::info_of(backup);
    if (info.type != os::FileType::regular && info.type != os::FileType::link) {
        throw Error(ErrorCode::no_backup, "put the original back: there is no backup").at(dll);
    }
    os::rename_new(backup, dll);
    os::sync_folder(dll.parent_path());
}

}  // namespace fixnvpe
