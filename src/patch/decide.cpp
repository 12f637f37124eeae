#include "fixnvpe/patch/decide.hpp"

#include <algorithm>

namespace fixnvpe {
namespace {

using Sidecars = std::vector<SidecarFacts>;
constexpr std::size_t NONE = static_cast<std::size_t>(-1);

bool holds_original(const SidecarFacts& s) {
    return s.state == SidecarState::original || s.state == SidecarState::half_done;
}

/// What --require-backup asks for.
bool is_valid_backup(const SidecarFacts& s) {
    return holds_original(s) && !is_numbered(s.kind);
}

bool is_undo(const SidecarFacts& s) {
    return is_undo_kind(s.kind);
}

/// The whole file, and not an undo file or a temporary.
bool is_copy_kind(const SidecarFacts& s) {
    return !is_undo(s) && s.kind != SidecarKind::temporary;
}

template <typename Condition>
std::size_t find(const Sidecars& sidecars, Condition condition) {
    const auto found = std::find_if(sidecars.begin(), sidecars.end(), condition);
    return found == sidecars.end() ? NONE : static_cast<std::size_t>(found - sidecars.begin());
}

bool is_half_done(const SidecarFacts& s) {
    return s.state == SidecarState::half_done;
}

bool is_equal_copy(const SidecarFacts& s) {
    return s.state == SidecarState::copy && s.equal;
}

/// That with the most bits; of these rather one that lacks nothing that the DLL has got since; else the first.
std::size_t find_original(const Sidecars& sidecars) {
    std::size_t best = NONE;
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        const SidecarFacts& s = sidecars[i];
        const auto rank = [](const SidecarFacts& facts) { return std::pair(facts.bits, !facts.signed_since); };
        if (holds_original(s) && (best == NONE || rank(s) > rank(sidecars[best]))) {
            best = i;
        }
    }
    return best;
}

bool has(const Sidecars& sidecars, SidecarKind kind) {
    return find(sidecars, [&](const SidecarFacts& s) { return s.kind == kind; }) != NONE;
}

void refuse(Decision& decision, Reason reason) {
    decision.act = Act::refuse;
    decision.reason = reason;
}

void decide_verify(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    const bool half_done = find(sidecars, is_half_done) != NONE;
    decision.skipped_signed = decision.needs_patch && policy.skip_signed && dll.is_signed && !half_done;
    if (policy.command == Command::scan) {
        return;
    }
    decision.fails = decision.needs_patch && !decision.skipped_signed;
    if (half_done) {
        refuse(decision, {Why::half_done});
        return;
    }
    if (policy.require_backup && decision.status == Status::patched && find(sidecars, is_valid_backup) == NONE) {
        decision.fails = true;
        decision.reason = {Why::no_valid_backup};
    }
}

/// Without an undo file that explains it, a split that a loss of power breaks off half way could not be mended.
Way edit_or_replace(const DllFacts& dll) {
    return dll.plan_splits ? Way::replace : Way::edit;
}

/// Its present state is the original: what stands under the names of its backups is not, and makes room.
void decide_backup_of_original(Decision& decision, const DllFacts& dll, BackupMode mode, const Sidecars& sidecars) {
    switch (mode) {
        case BackupMode::full: decision.way = Way::keep_as_backup; break;
        case BackupMode::undo: decision.way = Way::edit_with_undo; break;
        case BackupMode::none: decision.way = edit_or_replace(dll); break;
    }
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        const SidecarFacts& s = sidecars[i];
        if (s.kind != SidecarKind::full && s.kind != SidecarKind::undo) {
            continue;
        }
        const bool is_none = s.state == SidecarState::stale || s.state == SidecarState::patched_itself ||
                             (s.state == SidecarState::copy && !s.equal);
        // Once the edits of the undo file are taken back, what was equal is so no longer.
        const bool will_be_none = decision.undo_first && s.kind == SidecarKind::full &&
                                  (s.state == SidecarState::copy || s.state == SidecarState::original);
        const bool is_spent = is_undo(s) && (is_equal_copy(s) || decision.undo_first);
        if (is_none || will_be_none) {
            decision.sidecars[i] = {Fate::move_aside, {Why::other_build}};
        } else if (mode == BackupMode::full ? is_spent || is_equal_copy(s) : is_spent && mode == BackupMode::none) {
            // Equal to the file, which becomes its own backup now; or an undo file that has nothing to undo.
            decision.sidecars[i].fate = Fate::remove;
        }
    }
}

void decide_patch(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    if (!decision.needs_patch) {
        return;
    }
    if (decision.status == Status::refused) {
        refuse(decision, dll.refusal);
        return;
    }
    const std::size_t half_done = find(sidecars, is_half_done);
    if (policy.skip_signed && dll.is_signed && half_done == NONE) {  // what was begun is finished
        decision.skipped_signed = true;
        return;
    }
    // A link is a backup that costs nothing.
    const BackupMode asked = dll.is_link && policy.backup == BackupMode::undo ? BackupMode::full : policy.backup;
    const std::size_t earlier = earlier_original(sidecars).value_or(NONE);
    // An undo file's edits are taken back first; but what was signed since is no more what they led to.
    if (earlier != NONE && (!is_undo(sidecars[earlier]) || sidecars[earlier].signed_since)) {
        decision.act = Act::patch;
        decision.way = asked == BackupMode::full ? Way::replace : edit_or_replace(dll);
        return;
    }
    // Another that holds as much stays, and no backup is made.
    const std::size_t other = find(sidecars, [&](const SidecarFacts& s) {
        return half_done != NONE && is_copy_kind(s) && s.state == SidecarState::original && !is_numbered(s.kind) &&
               s.bits >= sidecars[half_done].bits;
    });
    if (other != NONE) {
        decision.act = Act::patch;
        decision.undo_first = true;
        decision.way = asked == BackupMode::full ? Way::replace : edit_or_replace(dll);
        decision.sidecars[earlier].fate = Fate::remove;
        return;
    }
    // It is an original, or will be as soon as the edits of its undo file are taken back.
    decision.undo_first = earlier != NONE;
    const BackupMode mode = decision.undo_first && asked == BackupMode::none && !dll.is_link ? BackupMode::undo : asked;
    const std::size_t unusable = find(sidecars, [](const SidecarFacts& s) {
        return s.state == SidecarState::unusable && (s.kind == SidecarKind::full || s.kind == SidecarKind::undo);
    });
    if (mode != BackupMode::none && unusable != NONE) {
        decision.undo_first = false;
        refuse(decision, {Why::bad_backup, unusable});
        return;
    }
    decision.act = Act::patch;
    decide_backup_of_original(decision, dll, mode, sidecars);
}

void decide_restore(Decision& decision, const Policy& policy, const Sidecars& sidecars) {
    std::size_t chosen = find_original(sidecars);
    if (chosen == NONE && decision.status == Status::patched) {
        const std::size_t bad = find(sidecars, [](const SidecarFacts& s) {
            return s.state == SidecarState::unusable || s.state == SidecarState::stale;
        });
        refuse(decision, bad == NONE ? Reason{Why::no_backup} : Reason{Why::bad_backup, bad});
        return;
    }
    if (chosen == NONE) {
        // It is restored already. What is left of its backup goes, unless it is to be kept.
        chosen = policy.keep_backup ? NONE : find(sidecars, [](const SidecarFacts& s) {
            return is_equal_copy(s) && (s.kind == SidecarKind::full || s.kind == SidecarKind::undo);
        });
    }
    if (chosen == NONE) {
        return;
    }
    decision.act = Act::restore;
    const bool undoes = is_undo(sidecars[chosen]);
    decision.way = undoes && sidecars[chosen].signed_since ? Way::cut_back
                   : undoes                                ? Way::edit
                   : policy.keep_backup                    ? Way::copy_back
                                                           : Way::rename;
    for (std::size_t i = 0; i < sidecars.size() && !policy.keep_backup; ++i) {
        const bool spent =
            is_undo(sidecars[i]) && (holds_original(sidecars[i]) || sidecars[i].state == SidecarState::copy);
        decision.sidecars[i].fate = spent ? Fate::remove : Fate::keep;
    }
    decision.sidecars[chosen].fate = policy.keep_backup ? Fate::use : Fate::use_up;
}

/// The DLL went with its package, and all packages that have files beside it came later: none will ever ask for it.
bool was_dropped(const SidecarFacts& sidecar, const Installed& installed) {
    return !installed.listed && installed.folder_since && sidecar.since < *installed.folder_since;
}

SidecarDecision clean_backup(const SidecarFacts& sidecar, const DllFacts& dll, bool usable_too) {
    const auto only_if_asked = [&](Why why) { return SidecarDecision{usable_too ? Fate::remove : Fate::keep, {why}}; };
    if (!sidecar.ours) {
        return {Fate::keep, {Why::not_ours}};
    }
    switch (dll.presence) {
        case DllFacts::Presence::missing:
            return was_dropped(sidecar, dll.installed) ? SidecarDecision{Fate::remove, {Why::dll_dropped}}
                                                       : only_if_asked(Why::dll_gone);
        case DllFacts::Presence::damaged: return only_if_asked(Why::dll_damaged);
        case DllFacts::Presence::there: break;
    }
    const bool whole = dll.refusal.why != Why::raw_data_past_end;
    switch (sidecar.state) {
        case SidecarState::original: return only_if_asked(Why::usable);
        case SidecarState::half_done: return {Fate::keep, {Why::half_done}};
        case SidecarState::copy:
            return sidecar.equal ? SidecarDecision{Fate::remove, {is_undo(sidecar) ? Why::nothing_to_undo : Why::equal}}
                                 : only_if_asked(Why::usable);
        case SidecarState::patched_itself: return only_if_asked(Why::patched_itself);
        case SidecarState::stale:
            return whole && sidecar.shown_to_be_other
                       ? SidecarDecision{Fate::remove, {Why::other_build}}
                       : only_if_asked(whole ? Why::maybe_other_build : Why::dll_damaged);
        default: return only_if_asked(Why::bad_undo);
    }
}

void decide_clean(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    const bool missing = dll.presence == DllFacts::Presence::missing;
    const bool left_by_crash = missing && has(sidecars, SidecarKind::temporary) && has(sidecars, SidecarKind::full);
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        SidecarDecision& own = decision.sidecars[i];
        if (left_by_crash) {
            own = {Fate::keep, {sidecars[i].ours ? Why::dll_left_by_crash : Why::not_ours}};
        } else if (sidecars[i].kind != SidecarKind::temporary) {
            own = clean_backup(sidecars[i], dll, policy.clean_usable);
        } else if (sidecars[i].state == SidecarState::locked) {
            own = {Fate::keep, {Why::in_use}};
        } else {
            own = {Fate::remove, {Why::left_by_crash}};
        }
    }
}

/// A DLL that was uninstalled must stay so. It ought to be there if it is named, if a package lists it, or if a crash's
/// temporary tells what happened.
void decide_missing(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    const std::size_t backup =
        find(sidecars, [](const SidecarFacts& s) { return s.kind == SidecarKind::full && s.ours; });
    const bool crashed = has(sidecars, SidecarKind::temporary);
    const bool expected = dll.named || dll.installed.listed || crashed;
    if (!expected) {
        decision.reason = backup == NONE ? Reason{Why::not_ours} : clean_backup(sidecars[backup], dll, false).reason;
    } else if (backup == NONE) {
        refuse(decision, {Why::missing_for_good});
    } else if (policy.command == Command::restore || (policy.command == Command::patch && crashed)) {
        decision.act = Act::put_back;
    } else {
        refuse(decision, {Why::missing});
    }
}

/// Cut short, or no PE file any more.
bool is_broken(const DllFacts& dll) {
    return dll.presence == DllFacts::Presence::damaged || dll.refusal.why == Why::raw_data_past_end;
}

/// What may take the place of a DLL that is broken.
std::size_t find_whole(const Sidecars& sidecars) {
    const auto whole = [](const SidecarFacts& s) { return s.whole && s.ours && !is_numbered(s.kind); };
    const std::size_t same = find(sidecars, [&](const SidecarFacts& s) { return whole(s) && s.same_headers; });
    return same != NONE ? same : find(sidecars, whole);
}

/// A backup is not put in the place of another build of which a part is there, nor of anything unless that was named
/// or can be recognised.
void decide_broken(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars,
                   std::size_t whole) {
    decision.status = Status::error;
    decision.needs_patch = false;
    decision.reason = {};
    const bool same = sidecars[whole].same_headers;
    if (dll.presence == DllFacts::Presence::there && !same) {
        refuse(decision, {Why::broken_upgrade});
    } else if (policy.command == Command::restore && (same || dll.named)) {
        decision.act = Act::restore;
        decision.gives_way = true;
        decision.way = policy.keep_backup ? Way::copy_back : Way::rename;
        decision.sidecars[whole].fate = policy.keep_backup ? Fate::use : Fate::use_up;
    } else {
        refuse(decision, {Why::broken, whole});
    }
}

}  // namespace

std::optional<std::size_t> earlier_original(const Sidecars& sidecars) {
    const std::size_t half_done = find(sidecars, is_half_done);
    const std::size_t earlier = half_done != NONE ? half_done : find_original(sidecars);
    return earlier == NONE ? std::nullopt : std::optional(earlier);
}

StatusDecision decide_status(const DllFacts& dll, const Sidecars& sidecars) {
    if (!dll.has_gpu_code()) {
        return {Status::no_fatbin, false};
    }
    const bool half_done = find(sidecars, is_half_done) != NONE;
    const bool was_patched =
        dll.is_split || (dll.has_fatbin && !dll.dynamic_base) || find(sidecars, holds_original) != NONE;
    const bool needs_patch = !dll.plan_is_empty || half_done;
    if (dll.refusal.why != Why::nothing) {
        return {Status::refused, needs_patch};
    }
    return {needs_patch ? Status::unpatched : was_patched ? Status::patched : Status::not_needed, needs_patch};
}

std::vector<std::size_t> to_be_compared(const Policy& policy, const Decision& decision, const Sidecars& sidecars) {
    std::vector<std::size_t> result;
    const bool acts = decision.act == Act::patch || decision.act == Act::restore || policy.command == Command::clean;
    for (std::size_t i = 0; i < sidecars.size() && acts; ++i) {
        const SidecarFacts& s = sidecars[i];
        // Of a copy every byte must be seen before one of the two goes; of an original, where CheckSum proves nothing.
        const bool needed =
            s.state == SidecarState::copy || (s.state == SidecarState::original && policy.command != Command::clean &&
                                              (!s.proven || s.kind == SidecarKind::numbered));
        const bool needed_of_undo = s.state == SidecarState::original && policy.command != Command::clean;
        if ((is_undo(s) ? needed_of_undo : is_copy_kind(s) && needed) && !s.compared) {
            result.push_back(i);
        }
    }
    return result;
}

Decision decide(const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    Decision decision;
    decision.sidecars.resize(sidecars.size());
    if (dll.presence == DllFacts::Presence::there) {
        const StatusDecision state = decide_status(dll, sidecars);
        decision.status = state.status;
        decision.needs_patch = state.needs_patch;
        decision.reason = state.status == Status::refused ? dll.refusal : Reason{};
    }
    if (policy.command == Command::clean) {
        decide_clean(decision, policy, dll, sidecars);
        return decision;
    }
    if (dll.presence == DllFacts::Presence::missing) {
        decide_missing(decision, policy, dll, sidecars);
        return decision;
    }
    if (const std::size_t whole = find_whole(sidecars); is_broken(dll) && whole != NONE) {
        decide_broken(decision, policy, dll, sidecars, whole);
        return decision;
    }
    if (dll.presence == DllFacts::Presence::damaged) {
        refuse(decision, {Why::dll_damaged});
        return decision;
    }
    switch (policy.command) {
        case Command::patch: decide_patch(decision, policy, dll, sidecars); break;
        case Command::restore: decide_restore(decision, policy, sidecars); break;
        case Command::verify:
        case Command::scan: decide_verify(decision, policy, dll, sidecars); break;
        case Command::clean: break;
    }
    return decision;
}

}  // namespace fixnvpe
