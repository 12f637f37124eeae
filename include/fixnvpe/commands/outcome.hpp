#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/find/python_env.hpp"
#include "fixnvpe/find/record.hpp"
#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/status.hpp"
#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/pe/split.hpp"

/// What became of a request: all that the output says of it, and nothing more. Words are ui's.
namespace fixnvpe {

/// What the command did to a file.
enum class Action { none, patched, would_patch, restored, would_restore, removed, would_remove };

template <>
inline constexpr auto names_of<Action> = names<Action>({
    {Action::none, "none"},
    {Action::patched, "patched"},
    {Action::would_patch, "would-patch"},
    {Action::restored, "restored"},
    {Action::would_restore, "would-restore"},
    {Action::removed, "removed"},
    {Action::would_remove, "would-remove"},
});

/// The program's exit status.
enum class ExitStatus {
    ok = 0,           ///< done, or nothing to do
    needs_patch = 1,  ///< verify found a file that needs patching
    error = 2,        ///< usage, no match, or at least one file failed or was refused
    interrupted = 130,
};

/// What else was seen or done.
enum class NoteCode {
    half_done,        ///< an edit was broken off half way
    finished,         ///< … and is finished now
    taken_back,       ///< … and is taken back now
    stale_backup,     ///< file: of another build
    patched_backup,   ///< file: patched itself, and so no original
    unusable_backup,  ///< file, and error: why
    moved_aside,      ///< file: the new name of a stale backup
    temporary_left,   ///< by a crash
    temporary_removed,
    in_work,  ///< another fixnvpe holds the lock
    skipped_signed,
    broken_aside,         ///< file: the new name of the broken file that it took the place of
    put_back,             ///< the file was missing, and its backup has its name again
    relocations_unknown,  ///< error: why they can't be counted
    still_loaded,         ///< the file as it was; by: who has it
};

template <>
inline constexpr auto names_of<NoteCode> = names<NoteCode>({
    {NoteCode::half_done, "half-done"},
    {NoteCode::finished, "finished"},
    {NoteCode::taken_back, "taken-back"},
    {NoteCode::stale_backup, "stale-backup"},
    {NoteCode::patched_backup, "patched-backup"},
    {NoteCode::unusable_backup, "unusable-backup"},
    {NoteCode::moved_aside, "moved-aside"},
    {NoteCode::temporary_left, "temporary-left"},
    {NoteCode::temporary_removed, "temporary-removed"},
    {NoteCode::in_work, "in-work"},
    {NoteCode::skipped_signed, "skipped-signed"},
    {NoteCode::broken_aside, "broken-aside"},
    {NoteCode::put_back, "put-back"},
    {NoteCode::relocations_unknown, "relocations-unknown"},
    {NoteCode::still_loaded, "still-loaded"},
});

struct Note {
    NoteCode code = NoteCode::half_done;
    std::filesystem::path file;  ///< without its folder
    std::optional<Error> error;
    std::string by = {};  ///< programs; empty: not known
};

/// One fatbin section.
struct Fatbin {
    std::string name;
    std::uint32_t virtual_size = 0;  ///< bytes
    bool writable = false;
};

/// A writable section that is no fatbin section: what patching leaves.
struct WritableData {
    std::string name;         ///< any bytes
    std::uint64_t bytes = 0;  ///< of commit, in each process
};

/// GPU code among the variables of a DLL.
struct SplitFacts {
    std::vector<Pages> pages;                     ///< that a split frees
    std::uint64_t freed = 0;                      ///< bytes of commit, in each process
    std::uint64_t left = 0;                       ///< bytes of GPU code that it can't free
    WhyNotSplit why_left = WhyNotSplit::nothing;  ///< of the most of them
};

/// What the headers of a DLL say, as far as it is printed.
struct HeaderFacts {
    std::uint64_t size = 0;  ///< of the file, in bytes
    std::uint16_t machine = 0;
    std::uint64_t image_base = 0;
    bool dynamic_base = false;
    bool high_entropy_va = false;
    bool guard_cf = false;
    bool is_signed = false;
    std::vector<Fatbin> fatbins;
    std::vector<WritableData> data = {};
};

/// What the JSON calls the state of a backup.
enum class BackupState { valid, copy, patched_itself, stale, whole, unusable };

template <>
inline constexpr auto names_of<BackupState> = names<BackupState>({
    {BackupState::valid, "valid"},
    {BackupState::copy, "copy"},
    {BackupState::patched_itself, "patched-itself"},
    {BackupState::stale, "stale"},
    {BackupState::whole, "whole"},
    {BackupState::unusable, "unusable"},
});

struct BackupFacts {
    SidecarKind kind = SidecarKind::full;
    std::filesystem::path path;
    BackupState state = BackupState::valid;
};

/// What became of one DLL.
struct FileOutcome {
    std::filesystem::path path;
    bool named = false;             ///< named on the command line, and not only found
    std::size_t scope = 0;          ///< of summary.scopes
    std::string package;            ///< that it belongs to, with its version; empty: not known
    Status status = Status::error;  ///< after the command
    Action action = Action::none;
    bool needs_patch = false;
    bool fails = false;                      ///< verify: makes the exit status 1
    Reason reason;                           ///< why its status is `refused`, or it fails though it is patched
    Reason undone;                           ///< why what ought to be done was not even begun: an error
    std::optional<HeaderFacts> headers;      ///< after the command; empty where they could not be read
    CommitCharge commit;                     ///< before the command; saved: by what this request would do
    std::vector<Edit> edits;                 ///< made, or to be made
    std::optional<SplitFacts> split;         ///< where GPU code was looked for among its variables, and found
    bool splits = false;                     ///< it is, or would be, split by this request
    std::optional<BackupFacts> backup;       ///< after the command: a valid one, else the first that is there
    std::optional<Error> cause;              ///< why the file is broken, where undone says that it is
    std::optional<std::uint64_t> relocated;  ///< scan: bytes of the pages that hold relocations, where they matter
    std::vector<Warning> warnings;
    std::vector<Note> notes;
    std::optional<Error> error;

    [[nodiscard]] bool failed() const { return undone.why != Why::nothing || error.has_value(); }
    [[nodiscard]] bool patched() const { return action == Action::patched || action == Action::would_patch; }
};

/// clean: what became of one file of ours.
struct CleanOutcome {
    std::filesystem::path path;
    SidecarKind kind = SidecarKind::full;
    std::string package;                ///< that the DLL belongs to
    Status dll_status = Status::error;  ///< of the DLL that it stands beside; not_pe: missing, or can't be read
    Action action = Action::none;
    Reason reason;               ///< why it goes or stays
    std::optional<Error> cause;  ///< bad_undo: what is wrong with it
    std::uint64_t freed = 0;     ///< bytes on disk
    std::optional<Error> error;

    [[nodiscard]] bool is_ours() const { return reason.why != Why::not_ours; }
};

/// A backup that was found, and whose DLL is gone for good.
struct Orphan {
    std::filesystem::path path;
    bool needed = true;  ///< as far as can be told: clean keeps it, unless it is asked for all backups
};

/// What all files of a request add up to. Text and JSON are printed from it.
struct Totals {
    std::array<std::size_t, names_of<Status>.size()> by_status{};  ///< in the order of names_of<Status>
    std::array<std::size_t, names_of<Action>.size()> by_action{};  ///< in the order of names_of<Action>
    std::size_t files = 0;                                         ///< a target that matches nothing is none
    std::size_t failed = 0;
    std::size_t excluded = 0;  ///< passed over, as --exclude asks
    CommitCharge commit;       ///< of one process that loads all it can: files of one scope and one machine
    std::uint64_t saved = 0;   ///< of that, by what was or would be patched; verify: by what still needs it
    std::uint64_t freed = 0;   ///< clean: bytes on disk

    [[nodiscard]] std::size_t count(Status status) const;
    [[nodiscard]] std::size_t count(Action action) const;
    /// No file has GPU code in a section of its own.
    [[nodiscard]] bool without_cuda() const { return count(Status::no_fatbin) + count(Status::not_pe) == files; }
};

/// Files that one process can load: those of an environment, or of a folder that was given and lies in none.
struct Scope {
    std::filesystem::path place;  ///< without links
    bool environment = false;
    Totals totals;
};

/// What the backups of a patch take on one file system.
struct DiskNeed {
    std::filesystem::path folder;  ///< one that lies there
    std::uint64_t needed = 0;      ///< bytes
    std::uint64_t available = 0;   ///< bytes
};

/// The one value that all output is made from.
struct Summary {
    Command command = Command::verify;
    std::optional<unsigned> workers;               ///< of the request
    std::optional<PythonEnvironment> environment;  ///< the one that was chosen; empty with targets
    std::vector<FileOutcome> files;                ///< sorted by path
    std::vector<CleanOutcome> cleaned;             ///< sorted by path
    std::vector<Error> problems;                   ///< targets that match nothing, folders that can't be read
    std::vector<Orphan> orphans;                   ///< sorted by path; clean has them in `cleaned`
    std::vector<Skipped> passed_over;              ///< names that are no files
    std::vector<Scope> scopes;                     ///< in the order of their first files
    std::vector<std::filesystem::path>
        elsewhere;               ///< environments nearby with CUDA code, where the chosen one has none
    std::vector<DiskNeed> disk;  ///< patch --backup full: looked up before the first copy
    std::size_t not_begun = 0;   ///< files that Ctrl-C came before
    Totals totals;
    ExitStatus exit_status = ExitStatus::ok;
};

/// Adds everything up, and sets the exit status.
void add_up(Summary& summary, bool interrupted);

}  // namespace fixnvpe
