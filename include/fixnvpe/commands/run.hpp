#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/patch/apply.hpp"
#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/base/error.hpp"
#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/patch/status.hpp"

namespace fixnvpe {

enum class Command { patch, verify, restore, scan, clean };

[[nodiscard]] std::string_view to_string(Command command);

/// What the command did to a file.
enum class Action { none, patched, would_patch, restored, would_restore, removed, would_remove };

/// The action as it stands in the output, such as "would-patch".
[[nodiscard]] std::string_view to_string(Action action);

/// The program's exit status.
enum class ExitStatus {
    ok = 0,           ///< done, or nothing to do
    needs_patch = 1,  ///< verify found a file that needs patching
    error = 2,        ///< usage, no match, or at least one file failed or was refused
    interrupted = 130,
};

/// What the user asks for.
struct Request {
    Command command = Command::verify;
    std::vector<std::string> targets;  ///< files, folders and globs, as given; none: the Python environment's
    std::optional<std::string> env;    ///< without targets: the environment to take, not the active one
    bool all_packages = false;         ///< without targets: all of its site-packages, not only torch/lib
    AslrPolicy aslr = AslrPolicy::automatic;
    BackupMode backup = BackupMode::full;
    bool dry_run = false;         ///< patch, restore, clean: write nothing
    bool skip_signed = false;     ///< patch, verify: signed files are left as they are
    bool keep_backup = false;     ///< restore
    bool require_backup = false;  ///< verify: a patched file needs a valid backup
    bool clean_all = false;       ///< clean: also backups that restore could use
    unsigned jobs = 4;            ///< patch: files worked on at once; of 1, 2 and 4 the fastest
};

/// What became of one file: all that the output says of it.
struct Outcome {
    std::filesystem::path path;
    bool named = false;  ///< named on the command line, and not only found
    Status status = Status::error;
    Action action = Action::none;
    bool needs_patch = false;
    bool fails = false;                ///< verify: makes the exit status 1
    bool passed_over = false;          ///< clean: it only has a name like ours
    std::string reason;                ///< why it is refused, or fails though it is patched, or is (not) removed
    std::uint64_t size = 0;            ///< bytes
    std::optional<PeImage> image;      ///< after the command; empty where it could not be read
    CommitCharge commit;               ///< before the command
    std::vector<Edit> edits;           ///< made, or to be made
    std::optional<Backup> backup;      ///< after the command: a valid one, else the first that is there
    std::uint64_t freed = 0;           ///< clean: bytes on disk
    /// scan: bytes of the pages that hold relocations; empty where they were not counted
    std::optional<std::uint64_t> relocated;
    std::vector<Warning> warnings;
    std::vector<std::string> notes;    ///< what else was done or seen, in words
    std::optional<Error> error;
};

struct Result {
    Command command = Command::verify;
    std::string environment;           ///< the Python environment that was chosen; empty with targets
    std::vector<Outcome> files;        ///< sorted by path
    std::vector<Error> problems;       ///< targets that match nothing, folders that can't be read
    std::vector<std::filesystem::path> orphans;  ///< backups whose DLL is gone
    std::vector<std::string> passed_over;        ///< names that are no files, with the reason
    std::size_t not_begun = 0;                   ///< files that Ctrl-C came before
    ExitStatus exit_status = ExitStatus::ok;
};

/// Called from several threads at once during long copies: the file, its bytes done and in all.
using Progress = std::function<void(const std::filesystem::path& path, std::uint64_t done, std::uint64_t total)>;

/// Carries out a request. A file's failure is its outcome, and the others are worked on all the same. After
/// Ctrl-C the files not yet begun are not in the result, but counted.
[[nodiscard]] Result run(const Request& request, const Progress& progress);

}  // namespace fixnvpe
