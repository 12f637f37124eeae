#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/pe/survey.hpp"

namespace fixnvpe {

/// What to look at.
struct Query {
    std::filesystem::path path;
    std::optional<os::FileIdentity> folder = {};  ///< that it was found in; it must be there still, and no other
    AslrPolicy aslr = AslrPolicy::automatic;
    bool named = false;                    ///< itself, and not only found
    bool is_link = false;                  ///< its name is a link to it
    Installed installed;                   ///< of a DLL that is missing
    bool lenient = false;                  ///< a DLL that is missing or can't be read is no error
    std::vector<SidecarPlace> candidates;  ///< sidecars to look at
    DataPolicy data = DataPolicy::keep;
    bool surveys = false;  ///< also looks for GPU code among the DLL's variables, whatever is asked
    bool deep = false;     ///< also looks for it in backups whose headers tell of none
};

/// What one look at a DLL and at what stands beside it found: all that a decision rests on.
struct Findings {
    Query query;
    DllFacts::Presence presence = DllFacts::Presence::there;
    Dll dll;                           ///< where it is not there: its path, and what stands under it
    std::optional<Error> why_damaged;  ///< where it is that
    std::vector<Sidecar> sidecars;
    std::optional<Survey> survey;  ///< of a DLL that is there and not split, where it was asked for
    Plan plan;                     ///< empty where there is nothing to do

    /// GPU code was found among its variables, and the policy asks for a split.
    [[nodiscard]] bool splits() const;
    /// The header bytes with the plan carried out.
    [[nodiscard]] std::vector<std::uint8_t> planned_headers() const;
    [[nodiscard]] DllFacts dll_facts() const;
    [[nodiscard]] std::vector<SidecarFacts> sidecar_facts() const;
};

/// The one read of a DLL and its sidecars. @throws Error as read_dll and examine_sidecar
[[nodiscard]] Findings examine(Query query);

/// Decides, and compares the bytes of what the decision rests on, until it rests on nothing that was not seen.
/// @param progress called during comparisons; may throw to stop
void decide_and_compare(Findings& findings, Decision& decision, const Policy& policy,
                        const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);

/// True if both looks saw the same files, untouched, and nothing in another state. A temporary, which may be our own
/// lock, does not count.
[[nodiscard]] bool same(const Findings& a, const Findings& b);

/// True for the very file that was seen, untouched since.
[[nodiscard]] bool same_file(const os::FileInfo& a, const os::FileInfo& b);

/// Between the look and the write another program changed this file.
[[nodiscard]] Error changed_meanwhile(const std::filesystem::path& path);

/// The earlier original among its sidecars; null if there is none.
[[nodiscard]] const Sidecar* earlier_original(const Findings& findings);

/// Of a file whose headers are malformed: it has no backup, and the name of no section that holds GPU code stands in
/// them, so it is no business of ours.
[[nodiscard]] bool is_none_of_ours(const std::filesystem::path& path);

/// The same look once more, without a plan. @throws Error changed if it does not see the same
[[nodiscard]] Findings examine_again(const Findings& seen);

}  // namespace fixnvpe
