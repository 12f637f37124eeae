#include "fixnvpe/commands/clean.hpp"

#include <optional>
#include <string>

#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/patch/apply.hpp"
#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/dll.hpp"

namespace fixnvpe {
namespace {

enum class Verdict {
    not_ours,  ///< somebody else's file that happens to have such a name
    keep,
    remove,      ///< no longer needed
    remove_all,  ///< still of use: goes only with --all
};

struct Decision {
    Verdict verdict = Verdict::keep;
    std::string why;
};

std::optional<PeFile> try_to_read(const std::filesystem::path& path) {
    try {
        return read_pe_file(path);
    } catch (const Error&) {
        return std::nullopt;
    }
}

Decision judge_copy(const OwnFile& own, const std::optional<PeFile>& dll) {
    const std::optional<PeFile> copy = try_to_read(own.path);
    if (!copy || !copy->image.has_fatbin()) {
        return {Verdict::not_ours, {}};
    }
    if (!dll) {
        const bool missing = os::info_of(own.dll).type == os::FileType::missing;
        if (missing && os::info_of(temporary_path(own.dll)).type != os::FileType::missing) {
            return {Verdict::keep, "a crash left it without its DLL: patch or restore puts it back"};
        }
        return {Verdict::remove_all, missing ? "its DLL is gone: it may be the only copy"
                                             : "its DLL is damaged: it may be the only whole copy"};
    }
    const BackupKind kind = own.kind == OwnFileKind::legacy_backup ? BackupKind::legacy : BackupKind::full;
    const auto backup = examine_backup(kind, own.path, own.dll, *dll);
    if (backup && backup->state == BackupState::valid) {
        return {Verdict::remove_all, "restore could use it"};
    }
    return {Verdict::remove, "of another build"};
}

Decision judge_undo(const OwnFile& own, const std::optional<PeFile>& dll) {
    if (!dll) {
        return os::info_of(own.dll).type == os::FileType::missing
                   ? Decision{Verdict::remove, "its DLL is gone"}
                   : Decision{Verdict::remove_all, "its DLL is damaged"};
    }
    const auto undo = examine_backup(BackupKind::undo, own.path, own.dll, *dll);
    if (!undo) {
        return {Verdict::keep, {}};
    }
    switch (undo->state) {
        case BackupState::stale: return {Verdict::remove, "of another build"};
        case BackupState::unusable: return {Verdict::remove_all, "it can't be used: " + undo->reason->message()};
        case BackupState::valid: break;
    }
    if (undo->half_done) {
        return {Verdict::keep, "an edit was broken off half way: patch or restore it first"};
    }
    return shows_a_patch(*undo, *dll) ? Decision{Verdict::remove_all, "restore could use it"}
                                      : Decision{Verdict::remove, "nothing to undo"};
}

Decision judge_temporary(const OwnFile& own) {
    if (os::is_locked(own.dll)) {
        throw Error(ErrorCode::busy, "remove: another fixnvpe works on this file", Hint::wait);
    }
    if (os::info_of(own.dll).type == os::FileType::missing &&
        os::info_of(backup_path(own.dll)).type != os::FileType::missing) {
        return {Verdict::keep, "a crash left it without its DLL: patch or restore puts it back"};
    }
    return {Verdict::remove, "left by a crash"};
}

Decision judge(const OwnFile& own, const std::optional<PeFile>& dll) {
    switch (own.kind) {
        case OwnFileKind::backup:
        case OwnFileKind::numbered_backup:
        case OwnFileKind::legacy_backup: return judge_copy(own, dll);
        case OwnFileKind::undo: return judge_undo(own, dll);
        case OwnFileKind::temporary: return judge_temporary(own);
    }
    return {};
}

}  // namespace

void clean(Outcome& outcome, const OwnFile& own, const Request& request) {
    const os::FileInfo info = os::info_of(own.path);
    const std::optional<PeFile> dll = try_to_read(own.dll);
    const Decision decision = judge(own, dll);
    outcome.status = dll ? assess(dll->image, dll->info.size, request.aslr, false).status : Status::not_pe;
    if (decision.verdict == Verdict::not_ours) {
        outcome.passed_over = true;
        return;
    }
    outcome.reason = decision.why;
    const bool removes = decision.verdict == Verdict::remove ||
                         (decision.verdict == Verdict::remove_all && request.clean_all);
    if (!removes) {
        return;
    }
    outcome.freed = info.hard_links > 1 ? 0 : info.allocated;
    if (request.dry_run) {
        outcome.action = Action::would_remove;
        return;
    }
    if (own.kind == OwnFileKind::temporary) {
        remove_leftover_temporary(own.dll);
    } else {
        remove_own_file(own.dll, own.path, info);
    }
    outcome.action = Action::removed;
}

}  // namespace fixnvpe
