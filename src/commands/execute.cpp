#include "fixnvpe/commands/execute.hpp"

#include <algorithm>
#include <new>

#include "fixnvpe/commands/scan.hpp"
#include "fixnvpe/os/users.hpp"
#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/patch_file.hpp"
#include "fixnvpe/patch/restore_file.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

HeaderFacts facts_of(const Dll& dll) {
    const PeImage& image = dll.image;
    HeaderFacts facts{dll.info.size,
                      image.machine,
                      image.image_base,
                      image.dynamic_base(),
                      image.high_entropy_va(),
                      image.guard_cf(),
                      image.is_signed(dll.info.size),
                      {}};
    for (const Section& section : image.sections) {
        if (section.is_fatbin()) {
            facts.fatbins.push_back({section.name, section.virtual_size, section.writable()});
        } else if (const std::uint64_t bytes = commit_charge(section); bytes != 0) {
            facts.data.push_back({section.name, bytes});
        }
    }
    return facts;
}

BackupState state_of(const Sidecar& backup) {
    switch (backup.state) {
        case SidecarState::original:
        case SidecarState::half_done: return BackupState::valid;
        case SidecarState::copy: return BackupState::copy;
        case SidecarState::patched_itself: return BackupState::patched_itself;
        case SidecarState::stale: return BackupState::stale;
        default: return BackupState::unusable;
    }
}

std::optional<BackupFacts> backup_to_show(const std::vector<Sidecar>& sidecars) {
    const auto is_backup = [](const Sidecar& s) { return s.kind != SidecarKind::temporary && !is_numbered(s.kind); };
    const Sidecar* shown =
        first_that(sidecars, [](const Sidecar& s) { return s.holds_original() || s.state == SidecarState::copy; });
    shown = shown != nullptr ? shown : first_that(sidecars, is_backup);
    if (shown == nullptr) {
        return std::nullopt;
    }
    return BackupFacts{shown->kind, shown->path, state_of(*shown)};
}

std::optional<SplitFacts> split_facts(const std::optional<Survey>& survey) {
    if (!survey || survey->found.empty()) {
        return std::nullopt;
    }
    return SplitFacts{survey->split.pages, survey->split.bytes(), survey->bytes_left(), survey->why_left()};
}

bool has_half_done(const Findings& findings) {
    return first_that(findings.sidecars, [](const Sidecar& s) { return s.state == SidecarState::half_done; }) !=
           nullptr;
}

class Work {
public:
    Work(FileOutcome& outcome, const Target& target, const Request& request, const CopyProgress& progress)
        : outcome_(outcome), request_(request), progress_(progress), query_(query_of(target, request)) {}

    void begin() {
        look();
        if (decision_.act == Act::put_back) {
            put_back();
            return;
        }
        outcome_.commit = commit_charge(findings_.dll.image);
        outcome_.commit.saved += findings_.plan.split.bytes();
        outcome_.commit.after -= findings_.plan.split.bytes();
        outcome_.split = split_facts(findings_.survey);
        outcome_.splits = !findings_.plan.split.pages.empty();
        if (outcome_.status == Status::refused || outcome_.status == Status::error) {
            outcome_.commit.after = outcome_.commit.now;
            outcome_.commit.saved = 0;
        }
        note_findings();
        warn();
        if (only_looks() && outcome_.status != Status::error) {
            outcome_.edits = findings_.plan.edits;
        }
        switch (decision_.act) {
            case Act::nothing: do_nothing(); break;
            case Act::refuse: refuse(); break;
            case Act::patch: patch(); break;
            case Act::restore: restore(); break;
            case Act::put_back: break;
        }
    }

    /// Something went wrong: is the file still what it was?
    void look_after_error() {
        if (wrote_) {
            outcome_.notes.clear();
            tell_moves();
            look();
            note_findings();
        }
    }

private:
    void look() {
        findings_ = examine(query_);
        decide_and_compare(findings_, decision_, request_.policy, progress_);
        outcome_.status = decision_.status;
        outcome_.needs_patch = decision_.needs_patch;
        outcome_.fails = decision_.fails;
        outcome_.reason =
            decision_.act == Act::refuse && decision_.status != Status::refused ? Reason{} : decision_.reason;
        outcome_.backup = backup_to_show(findings_.sidecars);
        if (findings_.presence == DllFacts::Presence::there) {
            outcome_.headers = facts_of(findings_.dll);
        }
    }

    void note(NoteCode code, const std::filesystem::path& file = {}, std::optional<Error> error = {}) {
        outcome_.notes.push_back({code, file.filename(), std::move(error)});
    }

    /// What is the matter with a file's surroundings.
    void note_findings() {
        if (decision_.status == Status::error) {
            return;  // the decision says it all
        }
        for (const Sidecar& sidecar : findings_.sidecars) {
            if (is_numbered(sidecar.kind)) {
                continue;  // nobody asks for one, unless it is used
            }
            switch (sidecar.state) {
                case SidecarState::half_done:
                    if (decision_.reason.why != Why::half_done) {
                        note(NoteCode::half_done);
                    }
                    break;
                case SidecarState::patched_itself: note(NoteCode::patched_backup, sidecar.path); break;
                case SidecarState::stale: note(NoteCode::stale_backup, sidecar.path); break;
                case SidecarState::unusable: note(NoteCode::unusable_backup, sidecar.path, sidecar.error); break;
                case SidecarState::free: note(NoteCode::temporary_left); break;
                case SidecarState::locked: note(NoteCode::in_work, {}, sidecar.error); break;
                default: break;
            }
        }
        if (decision_.skipped_signed) {
            note(NoteCode::skipped_signed);
        }
    }

    void tell_moves() {
        for (const std::filesystem::path& file : moved_) {
            note(NoteCode::moved_aside, file);
        }
    }

    /// Of what would come of patching it.
    void warn() {
        if (decision_.act == Act::patch || (only_looks() && decision_.needs_patch && !decision_.skipped_signed)) {
            outcome_.warnings = warnings_of(findings_.dll.image, findings_.dll.info.size, findings_.plan);
        }
    }

    [[nodiscard]] bool only_looks() const {
        return request_.policy.command == Command::verify || request_.policy.command == Command::scan;
    }

    void do_nothing() {
        if (request_.policy.command == Command::scan) {
            count_relocations(outcome_, findings_);
        } else if (!only_looks()) {
            tidy_up();
        }
    }

    /// There is nothing to do for the file itself, but a crash may have left a temporary.
    void tidy_up() {
        const bool left = of_kind(findings_.sidecars, SidecarKind::temporary) != nullptr;
        if (left && !request_.dry_run && !decision_.skipped_signed && remove_leftover_temporary(query_.path)) {
            outcome_.notes.clear();
            note(NoteCode::temporary_removed);
        }
    }

    void refuse() {
        if (decision_.reason.why == Why::bad_backup) {
            throw Error(*findings_.sidecars[decision_.reason.value].error);
        }
        outcome_.undone = decision_.reason;
        outcome_.cause = findings_.why_damaged;
        if (outcome_.undone.why == Why::broken || outcome_.undone.why == Why::broken_upgrade) {
            outcome_.reason = findings_.dll_facts().refusal;
        }
        if (outcome_.undone.why == Why::broken) {
            const Sidecar& whole = findings_.sidecars[outcome_.undone.value];
            outcome_.backup = {whole.kind, whole.path, BackupState::whole};
        }
    }

    void patch() {
        outcome_.edits = findings_.plan.edits;
        if (request_.dry_run) {
            outcome_.action = Action::would_patch;
            return;
        }
        const bool finishes = has_half_done(findings_);
        wrote_ = true;
        patch_file(findings_, decision_, progress_, moved_);
        outcome_.action = Action::patched;
        outcome_.notes.clear();
        tell_moves();
        if (finishes) {
            note(NoteCode::finished);
        }
        look();
        tell_users();
    }

    /// The file that programs have loaded has become the backup.
    void tell_users() {
        if (!outcome_.backup || outcome_.backup->kind != SidecarKind::full) {
            return;
        }
        if (const auto by = os::loaded_by(outcome_.backup->path)) {
            outcome_.notes.push_back({NoteCode::still_loaded, outcome_.path.filename(), {}, *by});
        }
    }

    void restore() {
        for (std::size_t i = 0; i < findings_.sidecars.size(); ++i) {
            const Fate fate = decision_.sidecars[i].fate;
            if ((fate == Fate::use || fate == Fate::use_up) && !decision_.gives_way) {
                const PeImage original = read_pe(findings_.sidecars[i].original, findings_.dll.info.size);
                outcome_.edits = edits_between(findings_.dll.image, original);
            }
        }
        if (request_.dry_run) {
            outcome_.action = Action::would_restore;
            return;
        }
        const bool takes_back = has_half_done(findings_);
        wrote_ = true;
        const bool was_broken = decision_.gives_way;
        restore_file(findings_, decision_, progress_, moved_);
        outcome_.action = Action::restored;
        look();
        if (decision_.act == Act::restore) {
            // Beside a half-done edit it could not be told that a backup is equal to what it led back to.
            restore_file(findings_, decision_, progress_, moved_);
            look();
        }
        outcome_.notes.clear();  // what was the matter is so no longer
        note_findings();
        if (takes_back) {
            note(NoteCode::taken_back);
        }
        if (was_broken) {
            note(NoteCode::broken_aside, moved_.front());
        }
    }

    /// A crash between two renames left NAME.bak without NAME.
    void put_back() {
        if (request_.dry_run) {
            outcome_.action = Action::would_restore;
            return;
        }
        put_back_missing(query_.path);
        outcome_.action = Action::restored;
        query_.lenient = false;
        if (request_.policy.command == Command::patch) {
            begin();
        } else {
            look();
        }
        note(NoteCode::put_back);
    }

    FileOutcome& outcome_;
    const Request& request_;
    const CopyProgress& progress_;
    Query query_;
    Findings findings_;
    Decision decision_;
    bool wrote_ = false;
    std::vector<std::filesystem::path> moved_;  ///< what patch moved aside
};

/// Does `work`. @return what it threw
template <typename Step>
std::optional<Error> attempt(const std::filesystem::path& path, Step step) {
    try {
        step();
        return std::nullopt;
    } catch (const Error& error) {
        return error.path().empty() ? Error(error).at(path) : error;
    } catch (const std::bad_alloc&) {
        return Error(ErrorCode::io, "work: not enough memory").at(path);
    } catch (const std::exception& error) {
        return Error(ErrorCode::internal, std::string("internal error: ") + error.what(), Hint::report).at(path);
    }
}

}  // namespace

Query query_of(const Target& target, const Request& request) {
    Query query;
    query.path = target.path;
    query.folder = target.folder;
    query.aslr = request.policy.aslr;
    query.data = request.policy.data;
    query.surveys = request.policy.command == Command::scan;
    query.deep = request.policy.command == Command::patch || request.policy.command == Command::restore;
    query.is_link = target.link;
    query.lenient = target.missing;
    query.named = target.named;
    query.installed = target.installed;
    query.candidates = sidecars_of(target.path);
    if (request.policy.command == Command::restore) {
        query.candidates.insert(query.candidates.end(), target.numbered.begin(), target.numbered.end());
    }
    return query;
}

FileOutcome work_on(const Target& target, const Request& request, const CopyProgress& progress) {
    FileOutcome outcome;
    outcome.path = target.path;
    outcome.named = target.named;
    Work work(outcome, target, request, progress);
    outcome.error = attempt(target.path, [&] { work.begin(); });
    if (outcome.error) {
        static_cast<void>(attempt(target.path, [&] { work.look_after_error(); }));
    }
    if (outcome.error && !outcome.headers && !target.named && !target.missing &&
        outcome.error->code() == ErrorCode::malformed && is_none_of_ours(target.path)) {
        outcome.status = Status::no_fatbin;
        outcome.error.reset();
    }
    if (outcome.error && !outcome.headers) {
        outcome.status = outcome.error->code() == ErrorCode::not_pe ? Status::not_pe : Status::error;
    }
    if (outcome.status == Status::not_pe && !outcome.named) {
        outcome.error.reset();
    }
    return outcome;
}

}  // namespace fixnvpe
