#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/patch/decide.hpp"

namespace fixnvpe::test {

/// What the headers of a file alone decide.
struct Decided {
    Status status = Status::no_fatbin;
    bool needs_patch = false;
    Reason refusal;
    std::vector<Warning> warnings;
};

/// @param was_patched a backup beside it shows that
inline Decided decided(const PeImage& image, std::uint64_t file_size, AslrPolicy policy, bool was_patched = false) {
    const Plan plan = make_plan(image, file_size, policy);
    DllFacts facts;
    facts.has_fatbin = image.has_fatbin();
    facts.dynamic_base = image.dynamic_base();
    facts.plan_is_empty = plan.edits.empty();
    facts.refusal = facts.has_fatbin ? refusal_of(image, file_size) : Reason{};
    std::vector<SidecarFacts> sidecars;
    if (was_patched) {
        sidecars.push_back({SidecarKind::full, SidecarState::original, true});
    }
    const StatusDecision decision = decide_status(facts, sidecars);
    return {decision.status, decision.needs_patch, facts.refusal, warnings_of(image, file_size, plan)};
}

}  // namespace fixnvpe::test
