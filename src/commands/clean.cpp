#include "fixnvpe/commands/clean.hpp"

#include <algorithm>
#include <optional>

#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {
namespace {

std::vector<CleanOutcome> describe(const Findings& findings, const Decision& decision) {
    std::vector<CleanOutcome> outcomes(findings.sidecars.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        outcomes[i].path = findings.sidecars[i].path;
        outcomes[i].kind = findings.sidecars[i].kind;
        outcomes[i].dll_status = findings.presence == DllFacts::Presence::there ? decision.status : Status::not_pe;
        outcomes[i].reason = decision.sidecars[i].reason;
        if (outcomes[i].reason.why == Why::bad_undo) {
            outcomes[i].cause = findings.sidecars[i].error;
        }
        if (outcomes[i].reason.why == Why::in_use) {
            outcomes[i].error = findings.sidecars[i].error;
        }
    }
    return outcomes;
}

void mark(CleanOutcome& outcome, Action action, const Sidecar& sidecar) {
    outcome.action = action;
    outcome.freed = sidecar.info.hard_links > 1 ? 0 : sidecar.info.allocated;
}

/// Removes one file. A temporary goes when its lock is taken.
void remove(CleanOutcome& outcome, std::optional<Transaction>& transaction, const Findings& findings,
            const Sidecar& sidecar) {
    try {
        if (!transaction) {
            transaction.emplace(findings, CopyProgress());
        }
        if (sidecar.kind != SidecarKind::temporary) {
            transaction->remove(sidecar);
        }
        mark(outcome, Action::removed, sidecar);
    } catch (const Error& error) {
        outcome.error = error.path().empty() ? Error(error).at(sidecar.path) : error;
    }
}

std::vector<CleanOutcome> clean_group(const SidecarGroup& group, const Request& request, const CopyProgress& progress) {
    Query query;
    query.path = group.dll;
    query.folder = group.folder;
    query.aslr = request.policy.aslr;
    query.lenient = true;
    query.deep = true;
    query.installed = group.installed;
    query.candidates = group.sidecars;
    Findings findings = examine(query);
    Decision decision;
    decide_and_compare(findings, decision, request.policy, progress);
    std::vector<CleanOutcome> outcomes = describe(findings, decision);
    std::optional<Transaction> transaction;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (decision.sidecars[i].fate != Fate::remove) {
            continue;
        }
        if (request.dry_run) {
            mark(outcomes[i], Action::would_remove, findings.sidecars[i]);
        } else {
            remove(outcomes[i], transaction, findings, findings.sidecars[i]);
        }
    }
    return outcomes;
}

}  // namespace

std::vector<CleanOutcome> clean(const SidecarGroup& group, const Request& request, const CopyProgress& progress) {
    try {
        return clean_group(group, request, progress);
    } catch (const Error& error) {
        std::vector<CleanOutcome> outcomes;
        for (const SidecarPlace& place : group.sidecars) {
            CleanOutcome outcome;
            outcome.path = place.path;
            outcome.kind = place.kind;
            outcome.error = error.path().empty() ? Error(error).at(place.path) : error;
            outcomes.push_back(std::move(outcome));
        }
        return outcomes;
    }
}

}  // namespace fixnvpe
