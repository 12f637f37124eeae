#include "fixnvpe/patch/decide.hpp"

#include <algorithm>

namespace fixnvpe {
namespace {

using Sidecars = std::vector<SidecarFacts>;
constexpr std::size_t NONE = static_cast<std::size_t>(-1);

bool shows_a_patch(const SidecarFacts& s) {
    return s.state == SidecarState::original || s.state == SidecarState::half_done;
}

bool is_valid(const SidecarFacts& s) {
    return shows_a_patch(s) || s.state == SidecarState::copy;
}

bool is_backup(const SidecarFacts& s) {
    return s.kind != SidecarKind::temporary;
}

template <typename Condition>
std::size_t find(const Sidecars& sidecars, Condition condition) {
    const auto found = std::find_if(sidecars.begin(), sidecars.end(), condition);
    return found == sidecars.end() ? NONE : static_cast<std::size_t>(found - sidecars.begin());
}

bool has(const Sidecars& sidecars, SidecarKind kind) {
    return find(sidecars, [&](const SidecarFacts& s) { return s.kind == kind; }) != NONE;
}

void refuse(Decision& decision, Reason reason) {
    decision.act = Act::refuse;
    decision.reason = reason;
}

void decide_verify(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    decision.skipped_signed = decision.needs_patch && policy.skip_signed && dll.is_signed;
    if (policy.command == Command::scan) {
        return;
    }
    decision.fails = decision.needs_patch && !decision.skipped_signed;
    if (policy.require_backup && decision.status == Status::patched && find(sidecars, is_valid) == NONE) {
        decision.fails = true;
        decision.reason = {Why::no_valid_backup};
    }
}

/// Its present state is the original, as far as any backup tells.
void decide_backup_of_original(Decision& decision, BackupMode mode, const Sidecars& sidecars) {
    switch (mode) {
        case BackupMode::full: decision.way = Way::keep_as_backup; break;
        case BackupMode::undo: decision.way = Way::edit_with_undo; break;
        case BackupMode::none: decision.way = Way::edit; break;
    }
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        const bool is_full = sidecars[i].kind == SidecarKind::full;
        if (is_full && sidecars[i].state == SidecarState::stale) {
            decision.sidecars[i] = {Fate::move_aside, {Why::other_build}};
        } else if (decision.way == Way::keep_as_backup && is_full) {
            decision.sidecars[i] = {Fate::remove, {}};  // a copy of the file, which becomes its own backup now
        } else if (decision.way == Way::keep_as_backup && sidecars[i].kind == SidecarKind::undo) {
            decision.sidecars[i] = {Fate::remove, {}};  // none of its edits is carried out, or it is another build's
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
    if (policy.skip_signed && dll.is_signed) {
        decision.skipped_signed = true;
        return;
    }
    if (dll.is_link) {
        refuse(decision, {Why::is_link});
        return;
    }
    const std::size_t earlier = find(sidecars, shows_a_patch);
    if (earlier != NONE && sidecars[earlier].kind != SidecarKind::undo) {
        decision.act = Act::patch;
        decision.way = policy.backup == BackupMode::full ? Way::replace : Way::edit;
        return;
    }
    // It is an original, or will be as soon as the edits of its undo file are taken back.
    decision.undo_first = earlier != NONE;
    const BackupMode mode =
        decision.undo_first && policy.backup == BackupMode::none ? BackupMode::undo : policy.backup;
    const std::size_t unusable = find(sidecars, [](const SidecarFacts& s) {
        return s.state == SidecarState::unusable && (s.kind == SidecarKind::full || s.kind == SidecarKind::undo);
    });
    if (mode != BackupMode::none && unusable != NONE) {
        decision.undo_first = false;
        refuse(decision, {Why::bad_backup, unusable});
        return;
    }
    decision.act = Act::patch;
    decide_backup_of_original(decision, mode, sidecars);
}

void decide_restore(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    const std::size_t chosen = find(sidecars, is_valid);
    if (chosen == NONE) {
        if (const std::size_t bad = find(sidecars, is_backup); bad != NONE) {
            refuse(decision, {Why::bad_backup, bad});
        } else if (decision.status == Status::patched) {
            refuse(decision, {Why::no_backup});
        }
        return;
    }
    if (dll.is_link) {
        refuse(decision, {Why::is_link});
        return;
    }
    if (sidecars[chosen].state == SidecarState::copy && policy.keep_backup) {
        return;
    }
    decision.act = Act::restore;
    decision.way = sidecars[chosen].kind == SidecarKind::undo ? Way::edit
                   : policy.keep_backup                       ? Way::copy_back
                                                              : Way::rename;
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        const bool spent = sidecars[i].kind == SidecarKind::undo && is_valid(sidecars[i]) && !policy.keep_backup;
        decision.sidecars[i].fate = spent ? Fate::remove : Fate::keep;
    }
    decision.sidecars[chosen].fate = policy.keep_backup ? Fate::use : Fate::use_up;
}

SidecarDecision clean_copy(const SidecarFacts& sidecar, const DllFacts& dll, bool left_by_crash, bool usable_too) {
    const auto only_if_asked = [&](Why why) {
        return SidecarDecision{usable_too ? Fate::remove : Fate::keep, {why}};
    };
    if (!sidecar.ours) {
        return {Fate::keep, {Why::not_ours}};
    }
    switch (dll.presence) {
        case DllFacts::Presence::missing:
            return left_by_crash ? SidecarDecision{Fate::keep, {Why::dll_left_by_crash}} : only_if_asked(Why::dll_gone);
        case DllFacts::Presence::damaged: return only_if_asked(Why::dll_damaged);
        case DllFacts::Presence::there: break;
    }
    return is_valid(sidecar) ? only_if_asked(Why::usable) : SidecarDecision{Fate::remove, {Why::other_build}};
}

SidecarDecision clean_undo(const SidecarFacts& sidecar, const DllFacts& dll, bool usable_too) {
    const Fate if_asked = usable_too ? Fate::remove : Fate::keep;
    switch (dll.presence) {
        case DllFacts::Presence::missing: return {Fate::remove, {Why::dll_gone}};
        case DllFacts::Presence::damaged: return {if_asked, {Why::dll_damaged}};
        case DllFacts::Presence::there: break;
    }
    switch (sidecar.state) {
        case SidecarState::original: return {if_asked, {Why::usable}};
        case SidecarState::half_done: return {Fate::keep, {Why::half_done}};
        case SidecarState::copy: return {Fate::remove, {Why::nothing_to_undo}};
        case SidecarState::stale: return {Fate::remove, {Why::other_build}};
        default: return {if_asked, {Why::bad_undo}};
    }
}

void decide_clean(Decision& decision, const Policy& policy, const DllFacts& dll, const Sidecars& sidecars) {
    const bool missing = dll.presence == DllFacts::Presence::missing;
    const bool left_by_crash =
        missing && has(sidecars, SidecarKind::temporary) && has(sidecars, SidecarKind::full);
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        SidecarDecision& own = decision.sidecars[i];
        if (left_by_crash) {
            own = {Fate::keep, {sidecars[i].ours ? Why::dll_left_by_crash : Why::not_ours}};
        } else if (sidecars[i].kind == SidecarKind::undo) {
            own = clean_undo(sidecars[i], dll, policy.clean_usable);
        } else if (sidecars[i].kind != SidecarKind::temporary) {
            own = clean_copy(sidecars[i], dll, left_by_crash, policy.clean_usable);
        } else if (sidecars[i].state == SidecarState::locked) {
            own = {Fate::keep, {Why::in_use}};
        } else {
            own = {Fate::remove, {Why::left_by_crash}};
        }
    }
}

}  // namespace

StatusDecision decide_status(const DllFacts& dll, const Sidecars& sidecars) {
    if (!dll.has_fatbin) {
        return {Status::no_fatbin, false};
    }
    const bool half_done =
        find(sidecars, [](const SidecarFacts& s) { return s.state == SidecarState::half_done; }) != NONE;
    const bool was_patched = !dll.dynamic_base || find(sidecars, shows_a_patch) != NONE;
    const bool needs_patch = !dll.plan_is_empty || half_done;
    if (dll.refusal.why != Why::nothing) {
        return {Status::refused, needs_patch};
    }
    return {needs_patch ? Status::unpatched : was_patched ? Status::patched : Status::not_needed, needs_patch};
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
        const bool only_looks = policy.command == Command::verify || policy.command == Command::scan;
        only_looks ? refuse(decision, {Why::missing}) : void(decision.act = Act::put_back);
        return decision;
    }
    if (dll.presence == DllFacts::Presence::damaged) {
        refuse(decision, {Why::dll_damaged});
        return decision;
    }
    switch (policy.command) {
        case Command::patch: decide_patch(decision, policy, dll, sidecars); break;
        case Command::restore: decide_restore(decision, policy, dll, sidecars); break;
        case Command::verify:
        case Command::scan: decide_verify(decision, policy, dll, sidecars); break;
        case Command::clean: break;
    }
    return decision;
}

}  // namespace fixnvpe
