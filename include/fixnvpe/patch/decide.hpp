#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/policy.hpp"
#include "fixnvpe/patch/status.hpp"

/// What becomes of one DLL and of what stands beside it: the one place where that is decided, from plain values alone.
namespace fixnvpe {

/// What the packages that are installed say of a DLL that is not there.
struct Installed {
    bool listed = false;                       ///< one of them lists it: it ought to be there
    std::optional<std::int64_t> folder_since;  ///< where any lists a file of its folder: since when all these have been
                                               ///< there, as os::FileInfo::changed
    friend bool operator==(const Installed&, const Installed&) = default;
};

/// All that decides over a DLL.
struct DllFacts {
    enum class Presence { there, missing, damaged };
    Presence presence = Presence::there;
    bool named = false;    ///< itself, and not only found
    bool is_link = false;  ///< its name is a link: the file behind is never written to
    Installed installed;   ///< missing: what is known of it
    bool has_fatbin = false;
    bool dynamic_base = false;
    bool is_signed = false;
    bool plan_is_empty = true;  ///< under the policy
    Reason refusal;             ///< why it must not be patched
    bool is_split = false;
    bool has_runs = false;  ///< not split, but there is GPU code among its variables, and the policy asks for a split
    bool plan_splits = false;  ///< the plan writes more than single fields: a file between its two states may be none

    [[nodiscard]] bool has_gpu_code() const { return has_fatbin || is_split || has_runs; }
};

/// All that decides over a sidecar, and what it decides.
struct SidecarFacts {
    SidecarKind kind = SidecarKind::full;
    SidecarState state = SidecarState::original;
    bool ours = true;
    bool proven = true;              ///< the bytes behind the headers are the DLL's
    bool compared = true;            ///< and that was seen
    bool equal = true;               ///< copy: in every byte
    bool shown_to_be_other = false;  ///< stale: surely another build
    bool signed_since = false;       ///< the DLL has a certificate table that it lacks
    unsigned bits = 0;               ///< of an original: how many are set that a patch clears
    bool whole = false;              ///< not an undo file, and not cut short
    bool same_headers = false;       ///< as the DLL's, but for what a patch changes, whatever the sizes
    std::int64_t since = 0;          ///< when it was made, as os::FileInfo::changed
};

enum class Act {
    nothing,
    refuse,  ///< an error: it ought to be done, and can't
    patch,
    restore,
    put_back,  ///< the DLL is missing: its backup takes its name again
};

enum class Fate {
    keep,
    use,         ///< restore: the original is put back from it, and it stays
    use_up,      ///< the same, and it goes
    remove,      ///< restore: once the original is back, an undo file has nothing left to undo
    move_aside,  ///< to NAME.bak.N or NAME.fixnvpe-undo.N
};

/// How the DLL is written.
enum class Way {
    none,
    keep_as_backup,  ///< a patched copy takes its name, and it becomes NAME.bak itself
    replace,         ///< a patched copy takes its name, an earlier backup stays
    edit,            ///< in place
    edit_with_undo,  ///< in place, the undo file is written first
    rename,          ///< restore: the backup gets its old name again
    copy_back,       ///< restore: a copy of the backup takes its name
    cut_back,        ///< restore: its own copy, without what was signed since, takes its name
};

struct SidecarDecision {
    Fate fate = Fate::keep;
    Reason reason;
    friend bool operator==(const SidecarDecision&, const SidecarDecision&) = default;
};

struct Decision {
    Status status = Status::error;  ///< of the DLL, before anything is done
    bool needs_patch = false;       ///< true for `unpatched`, and for `refused` where it would else be that
    Act act = Act::nothing;
    Way way = Way::none;
    bool gives_way = false;                 ///< restore: the DLL is broken, and is moved to NAME.bak.N before
    bool undo_first = false;                ///< patch: the edits of the earlier undo file are taken back before
    bool skipped_signed = false;            ///< it is left alone because it is signed
    bool fails = false;                     ///< verify: makes the exit status 1
    Reason reason;                          ///< why it is refused, or fails though it is patched
    std::vector<SidecarDecision> sidecars;  ///< one for each
    friend bool operator==(const Decision&, const Decision&) = default;
};

/// The sidecars whose bytes must be compared with the DLL's before this decision may be carried out: it rests on them,
/// and their headers alone prove nothing. Once they are compared, decide again.
[[nodiscard]] std::vector<std::size_t> to_be_compared(const Policy& policy, const Decision& decision,
                                                      const std::vector<SidecarFacts>& sidecars);

[[nodiscard]] Decision decide(const Policy& policy, const DllFacts& dll, const std::vector<SidecarFacts>& sidecars);

/// Which of them holds what a patch starts from: that of a half-done edit, which is finished first; else the one with
/// the most bits, and of these rather one that lacks nothing that the DLL has got since; else the first.
/// @return its index; nothing if none holds an original
[[nodiscard]] std::optional<std::size_t> earlier_original(const std::vector<SidecarFacts>& sidecars);

/// The status of a DLL that is there, and whether it needs a patch.
struct StatusDecision {
    Status status = Status::no_fatbin;
    bool needs_patch = false;
};
[[nodiscard]] StatusDecision decide_status(const DllFacts& dll, const std::vector<SidecarFacts>& sidecars);

}  // namespace fixnvpe
