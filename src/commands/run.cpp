#include "fixnvpe/commands/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <thread>
#include <utility>

#include "fixnvpe/commands/clean.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/patch/dll.hpp"
#include "fixnvpe/find/python_env.hpp"
#include "fixnvpe/pe/relocations.hpp"
#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

/// A file, what stands beside it, and what follows from both.
struct Examined {
    PeFile file;
    std::vector<Backup> backups;
    Assessment assessment;
    Patch patch;
};

Examined examine(const fs::path& path, AslrPolicy policy) {
    Examined e;
    e.file = read_pe_file(path);
    e.backups = find_backups(path, e.file);
    e.patch = plan_patch(e.file, e.backups, policy);
    const bool patched_before = std::any_of(e.backups.begin(), e.backups.end(),
                                            [&](const Backup& b) { return shows_a_patch(b, e.file); });
    e.assessment = assess(e.file.image, e.file.info.size, policy, patched_before);
    if (!e.patch.edits.empty() && !e.assessment.needs_patch) {
        // Only the undo file shows that an edit was broken off half way.
        e.assessment.needs_patch = true;
        if (e.assessment.status != Status::refused) {
            e.assessment.status = Status::unpatched;
        }
    }
    return e;
}

std::optional<Backup> backup_to_show(const std::vector<Backup>& backups) {
    if (const Backup* valid = first_in_state(backups, BackupState::valid)) {
        return *valid;
    }
    return backups.empty() ? std::nullopt : std::optional(backups.front());
}

void describe(Outcome& outcome, const Examined& e) {
    outcome.status = e.assessment.status;
    outcome.needs_patch = e.assessment.needs_patch;
    outcome.reason = e.assessment.reason;
    outcome.size = e.file.info.size;
    outcome.image = e.file.image;
    outcome.backup = backup_to_show(e.backups);
}

/// What is the matter with a file's surroundings, and what will become of it.
void note_findings(Outcome& outcome, const Examined& e) {
    for (const Backup& backup : e.backups) {
        if (backup.half_done) {
            outcome.notes.emplace_back("an edit was broken off half way: patch finishes it, restore takes it back");
        } else if (backup.state == BackupState::stale) {
            outcome.notes.push_back(fmt::format("{} belongs to another build", printable_path(backup.file.filename())));
        } else if (backup.state == BackupState::unusable) {
            outcome.notes.push_back(fmt::format("{} can't be used: {}", printable_path(backup.file.filename()),
                                                backup.reason ? backup.reason->message() : std::string()));
        }
    }
    if (e.file.image.has_fatbin() && os::info_of(temporary_path(outcome.path)).type != os::FileType::missing) {
        outcome.notes.emplace_back(os::is_locked(outcome.path) ? "another fixnvpe works on it right now"
                                                                : "a temporary was left by a crash: patch removes it");
    }
}

/// There is nothing to do for this file itself.
void tidy_up(Outcome& outcome, const Request& request, const Examined& e) {
    if (!request.dry_run && e.file.image.has_fatbin() && remove_leftover_temporary(outcome.path)) {
        outcome.notes.assign({"a temporary that a crash had left was removed"});
    }
}

bool skipped_as_signed(const Request& request, const Examined& e) {
    return request.skip_signed && e.file.image.is_signed();
}

void verify(Outcome& outcome, const Request& request) {
    const Examined e = examine(outcome.path, request.aslr);
    describe(outcome, e);
    outcome.commit = commit_charge(e.file.image);
    outcome.edits = e.patch.edits;
    outcome.warnings = e.assessment.warnings;
    note_findings(outcome, e);
    if (e.assessment.needs_patch && skipped_as_signed(request, e)) {
        outcome.notes.emplace_back("signed: skipped");
        outcome.warnings.clear();  // of what would come of patching it
    } else {
        outcome.fails = e.assessment.needs_patch;
    }
    if (request.require_backup && outcome.status == Status::patched &&
        first_in_state(e.backups, BackupState::valid) == nullptr) {
        outcome.fails = true;
        outcome.reason = "no valid backup";
    }
}

/// The one place that reads more of a file than its headers.
std::uint64_t count_relocated_bytes(const fs::path& path, const PeImage& image) {
    const RelocationTable table = relocation_table(image);
    std::vector<std::uint8_t> bytes(table.size);
    bytes.resize(os::File::open_to_read(path).read_at(table.offset, bytes));
    return relocated_bytes(bytes);
}

void scan(Outcome& outcome, const Request& request) {
    verify(outcome, request);
    outcome.fails = false;
    const bool will_lose_aslr = std::any_of(outcome.edits.begin(), outcome.edits.end(), [](const Edit& edit) {
        return edit.field == Field::dll_characteristics;
    });
    const bool has_lost_it = outcome.image->has_fatbin() && !outcome.image->dynamic_base();
    if (outcome.status != Status::refused && (will_lose_aslr || has_lost_it)) {
        try {
            outcome.relocated = count_relocated_bytes(outcome.path, *outcome.image);
        } catch (const Error& error) {
            outcome.notes.push_back("its relocations can't be counted: " + error.message());
        }
    }
}

void patch(Outcome& outcome, const Request& request, bool link, const CopyProgress& progress) {
    const Examined e = examine(outcome.path, request.aslr);
    describe(outcome, e);
    outcome.commit = commit_charge(e.file.image);
    note_findings(outcome, e);
    if (!e.assessment.needs_patch) {
        tidy_up(outcome, request, e);
        return;
    }
    if (e.assessment.status == Status::refused) {
        outcome.error = Error(ErrorCode::refused, "refused: " + e.assessment.reason).at(outcome.path);
        return;
    }
    if (skipped_as_signed(request, e)) {
        outcome.notes.emplace_back("signed: skipped");
        return;
    }
    if (link) {
        throw Error(ErrorCode::link, "patch: it is a link to another file", "name that file itself to patch it");
    }
    outcome.warnings = e.assessment.warnings;
    require_usable_backups(e.file, e.backups, request.backup);
    outcome.edits = e.patch.edits;
    if (request.dry_run) {
        outcome.action = Action::would_patch;
        return;
    }
    outcome.notes = patch_file(outcome.path, e.file, e.backups, e.patch, request.backup, progress);
    if (std::any_of(e.backups.begin(), e.backups.end(), [](const Backup& b) { return b.half_done; })) {
        outcome.notes.emplace_back("an edit that had been broken off half way was finished");
    }
    outcome.action = Action::patched;
    describe(outcome, examine(outcome.path, request.aslr));
}

void restore(Outcome& outcome, const Request& request, bool link, const CopyProgress& progress) {
    const Examined e = examine(outcome.path, request.aslr);
    describe(outcome, e);
    outcome.commit = commit_charge(e.file.image);
    note_findings(outcome, e);
    const Backup* valid = first_in_state(e.backups, BackupState::valid);
    if (valid == nullptr) {
        if (!e.backups.empty()) {
            throw Error(*e.backups.front().reason);
        }
        if (outcome.status == Status::patched) {
            throw Error(ErrorCode::no_backup, "restore: it is patched, but there is no backup",
                        Hint::install_again);
        }
        tidy_up(outcome, request, e);
        return;
    }
    if (link) {
        throw Error(ErrorCode::link, "restore: it is a link to another file", "name that file itself to restore it");
    }
    outcome.edits = header_difference(e.file, valid->original);
    if (outcome.edits.empty() && request.keep_backup) {
        tidy_up(outcome, request, e);
        return;
    }
    if (request.dry_run) {
        outcome.action = Action::would_restore;
        return;
    }
    restore_file(outcome.path, e.file, e.backups, request.keep_backup, progress);
    outcome.action = Action::restored;
    const Examined after = examine(outcome.path, request.aslr);
    describe(outcome, after);
    outcome.notes.clear();  // what was the matter is so no longer
    note_findings(outcome, after);
    if (valid->half_done) {
        outcome.notes.emplace_back("an edit that had been broken off half way was taken back");
    }
}

/// A crash between two renames left NAME.bak without NAME.
void mend_missing(Outcome& outcome, const Request& request) {
    const bool only_looks = request.command == Command::verify || request.command == Command::scan;
    if (only_looks || request.dry_run) {
        throw Error(ErrorCode::missing, "look up: the file is missing, but its backup is there",
                    Hint::patch_or_restore);
    }
    put_back_missing(outcome.path);
    outcome.action = Action::restored;
}

/// Does `work` to an outcome; whatever it throws becomes the outcome's error.
template <typename Work>
void guard(Outcome& outcome, Work work) {
    try {
        work();
    } catch (const Error& error) {
        outcome.error = error.path().empty() ? Error(error).at(outcome.path) : error;
        if (!outcome.image) {
            outcome.status = error.code() == ErrorCode::not_pe ? Status::not_pe : Status::error;
        }
    } catch (const std::bad_alloc&) {
        outcome.error = Error(ErrorCode::io, "work: not enough memory").at(outcome.path);
    } catch (const std::exception& error) {
        outcome.error = Error(ErrorCode::internal, fmt::format("internal error: {}", error.what()),
                              Hint::report)
                            .at(outcome.path);
    }
}

Outcome work_on(const Target& target, const Request& request, const CopyProgress& progress) {
    Outcome outcome;
    outcome.path = target.path;
    outcome.named = target.named;
    guard(outcome, [&] {
        if (target.missing) {
            mend_missing(outcome, request);
        }
        switch (request.command) {
            case Command::verify: verify(outcome, request); break;
            case Command::scan: scan(outcome, request); break;
            case Command::patch: patch(outcome, request, target.link, progress); break;
            case Command::restore:
                if (target.missing) {
                    describe(outcome, examine(outcome.path, request.aslr));
                } else {
                    restore(outcome, request, target.link, progress);
                }
                break;
            case Command::clean: break;  // works on own files, not on DLLs
        }
        if (target.missing) {
            outcome.notes.emplace_back("the file was missing and its backup was put back first");
        }
    });
    if (outcome.status == Status::not_pe && !outcome.named) {
        outcome.error.reset();
    }
    return outcome;
}

Outcome work_on(const OwnFile& own, const Request& request, const CopyProgress& /*progress*/) {
    Outcome outcome;
    outcome.path = own.path;
    guard(outcome, [&] { clean(outcome, own, request); });
    return outcome;
}

/// Patched files that share a preferred base collide in each process without ASLR.
void warn_of_shared_bases(std::vector<Outcome>& outcomes) {
    const auto counts = [](const Outcome& o) {
        return o.image && o.image->has_fatbin() && !o.image->dynamic_base() && o.status == Status::patched;
    };
    std::map<std::pair<std::uint16_t, std::uint64_t>, unsigned> bases;
    for (const Outcome& o : outcomes) {
        if (counts(o)) {
            ++bases[{o.image->machine, o.image->image_base}];
        }
    }
    for (Outcome& o : outcomes) {
        if (counts(o) && bases[{o.image->machine, o.image->image_base}] > 1) {
            o.warnings.push_back(Warning::same_image_base);
        }
    }
}

/// Did Ctrl-C leave anything undone?
bool was_interrupted(const Result& result) {
    const auto stopped = [](const Outcome& o) { return o.error && o.error->code() == ErrorCode::interrupted; };
    return os::interrupted() && (result.not_begun > 0 || result.files.empty() ||
                                 std::any_of(result.files.begin(), result.files.end(), stopped));
}

ExitStatus exit_status(const Result& result) {
    if (was_interrupted(result)) {
        return ExitStatus::interrupted;
    }
    const auto failed = [](const Outcome& o) { return o.error.has_value(); };
    if (!result.problems.empty() || std::any_of(result.files.begin(), result.files.end(), failed)) {
        return ExitStatus::error;
    }
    const bool needs_patch =
        std::any_of(result.files.begin(), result.files.end(), [](const Outcome& o) { return o.fails; });
    return needs_patch ? ExitStatus::needs_patch : ExitStatus::ok;
}

/// Works on all targets, as many at once as asked for; the results keep the targets' order.
template <typename Item>
void work_on_all(const std::vector<Item>& targets, const Request& request, const Progress& progress, Result& result) {
    std::vector<std::optional<Outcome>> slots(targets.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < targets.size() && !os::interrupted(); i = next++) {
            slots[i] = work_on(targets[i], request, [&, i](std::uint64_t done, std::uint64_t total) {
                if (os::interrupted()) {
                    throw Error(ErrorCode::interrupted, "copy: interrupted", Hint::unchanged);
                }
                progress(targets[i].path, done, total);
            });
        }
    };
    {
        // Only copies are worth a thread: starting one takes longer than reading the headers of some files.
        const unsigned jobs = request.command == Command::patch ? std::max(request.jobs, 1U) : 1;
        const std::size_t threads = std::min<std::size_t>(jobs, targets.size());
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < threads; ++i) {
            helpers.emplace_back(work);
        }
        work();
    }
    for (std::optional<Outcome>& slot : slots) {
        if (slot) {
            result.files.push_back(std::move(*slot));
        } else {
            ++result.not_begun;
        }
    }
}

/// What to work on where no target is named.
std::vector<std::string> targets_of_environment(const Request& request, Result& result) {
    EnvironmentQuery query;
    if (request.env) {
        query.env_option = os::to_path(*request.env);
    }
    const PythonEnvironment environment = find_python_environment(query);
    result.environment = describe(environment);
    if (!environment.passed_over.empty()) {
        result.environment += fmt::format("; passed over: {}", fmt::join(environment.passed_over, "; "));
    }
    std::vector<std::string> targets;
    if (request.all_packages) {
        for (const fs::path& folder : environment.folders) {
            targets.push_back(os::from_path(folder));
        }
    } else {
        targets.push_back(os::from_path(require_torch(environment).lib));
    }
    return targets;
}

}  // namespace

std::string_view to_string(Command command) {
    switch (command) {
        case Command::patch: return "patch";
        case Command::verify: return "verify";
        case Command::restore: return "restore";
        case Command::scan: return "scan";
        case Command::clean: return "clean";
    }
    return "";
}

std::string_view to_string(Action action) {
    switch (action) {
        case Action::none: return "none";
        case Action::patched: return "patched";
        case Action::would_patch: return "would-patch";
        case Action::restored: return "restored";
        case Action::would_restore: return "would-restore";
        case Action::removed: return "removed";
        case Action::would_remove: return "would-remove";
    }
    return "";
}

Result run(const Request& request, const Progress& progress) {
    Result result;
    result.command = request.command;
    const bool cleans = request.command == Command::clean;
    const std::vector<std::string> names =
        request.targets.empty() ? targets_of_environment(request, result) : request.targets;
    Targets targets = find_targets(names, cleans ? Want::own_files : Want::dlls);
    if (request.targets.empty() && !targets.files.empty()) {
        // One of several site-packages folders may well hold no DLL.
        std::erase_if(targets.problems, [](const Error& e) { return e.code() == ErrorCode::no_match; });
    }
    result.problems = std::move(targets.problems);
    for (const Skipped& skipped : targets.skipped) {
        result.passed_over.push_back(fmt::format("{}  ({})", printable_path(skipped.path), skipped.reason));
    }
    if (cleans) {
        // Whatever else is removed beside a DLL takes a leftover temporary along: it has its turn first.
        std::stable_partition(targets.own_files.begin(), targets.own_files.end(),
                              [](const OwnFile& own) { return own.kind == OwnFileKind::temporary; });
        work_on_all(targets.own_files, request, progress, result);
    } else {
        work_on_all(targets.files, request, progress, result);
        for (const OwnFile& own : targets.own_files) {
            if (own.orphan && own.kind == OwnFileKind::backup) {
                result.orphans.push_back(own.path);
            }
        }
        if (request.command != Command::restore) {
            warn_of_shared_bases(result.files);
        }
    }
    result.exit_status = exit_status(result);
    return result;
}

}  // namespace fixnvpe
