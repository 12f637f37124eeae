// What the outcomes of all files add up to.

#include "fixnvpe/commands/outcome.hpp"

#include <numeric>

#include "support/catch.hpp"
#include "support/print.hpp"

namespace fixnvpe::test {
namespace {

/// now: saved and 100 bytes more.
FileOutcome file(Status status, Action action = Action::none, std::uint64_t saved = 0) {
    FileOutcome outcome;
    outcome.status = status;
    outcome.action = action;
    outcome.commit = {saved + 100, 100, saved};
    return outcome;
}

FileOutcome failing(FileOutcome outcome) {
    outcome.fails = true;
    return outcome;
}

FileOutcome with_error(FileOutcome outcome, ErrorCode code = ErrorCode::io) {
    outcome.error = Error(code, "read: failed");
    return outcome;
}

FileOutcome undone(FileOutcome outcome) {
    outcome.undone = {Why::no_backup};
    return outcome;
}

Summary added_up(Command command, std::vector<FileOutcome> files, bool interrupted = false) {
    Summary summary;
    summary.command = command;
    summary.files = std::move(files);
    add_up(summary, interrupted);
    return summary;
}

}  // namespace

TEST_CASE("outcome: every file is counted by its status and by what was done to it") {
    Summary summary =
        added_up(Command::patch, {file(Status::patched, Action::patched, 1), file(Status::patched),
                                  file(Status::no_fatbin), with_error(file(Status::error)),
                                  undone(file(Status::refused)), file(Status::unpatched, Action::would_patch, 2)});
    const Totals& totals = summary.totals;
    CHECK(totals.files == 6);
    CHECK(totals.count(Status::patched) == 2);
    CHECK(totals.count(Status::no_fatbin) == 1);
    CHECK(totals.count(Status::error) == 1);
    CHECK(totals.count(Status::refused) == 1);
    CHECK(totals.count(Status::unpatched) == 1);
    CHECK(totals.count(Status::not_needed) == 0);
    CHECK(totals.count(Action::patched) == 1);
    CHECK(totals.count(Action::would_patch) == 1);
    CHECK(totals.count(Action::none) == 4);
    CHECK(totals.failed == 2);
    CHECK(totals.commit.now == 603);
    CHECK(totals.commit.after == 600);
    CHECK(totals.commit.saved == 3);
    const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); };
    CHECK(sum(totals.by_status) == 6);
    CHECK(sum(totals.by_action) == 6);
}

TEST_CASE("outcome: a problem is an error and no file, and a second time nothing is added twice") {
    Summary summary = added_up(Command::verify, {file(Status::patched)});
    CHECK(summary.exit_status == ExitStatus::ok);
    summary.problems = {Error(ErrorCode::no_match, "no file matches"), Error(ErrorCode::access_denied, "list: no")};
    add_up(summary, false);
    add_up(summary, false);
    CHECK(summary.totals.files == 1);
    CHECK(summary.totals.failed == 2);
    CHECK(summary.totals.count(Status::error) == 0);
    CHECK(summary.exit_status == ExitStatus::error);
}

TEST_CASE("outcome: what is saved is what the command speaks of") {
    const std::vector<FileOutcome> files{
        failing(file(Status::unpatched, Action::none, 1)),  // verify asks for it
        file(Status::unpatched, Action::none, 2),           // skipped: signed
        failing(file(Status::refused, Action::none, 4)),   file(Status::patched, Action::patched, 8),
        file(Status::unpatched, Action::would_patch, 16),  file(Status::unpatched, Action::restored, 32),
        failing(file(Status::patched, Action::none, 64)),  // only its backup is missing
    };
    CHECK(added_up(Command::verify, files).totals.saved == 1);
    CHECK(added_up(Command::patch, files).totals.saved == 8 + 16);
    CHECK(added_up(Command::scan, files).totals.saved == 127);
    CHECK(added_up(Command::restore, files).totals.saved == 0);
    CHECK(added_up(Command::clean, files).totals.saved == 0);
    for (const auto& [command, name] : names_of<Command>) {
        CHECK(added_up(command, files).totals.commit.saved == 127);
    }
}

TEST_CASE("outcome: no process loads files of two machines: the one with more to gain is spoken of") {
    const auto of_machine = [](std::uint16_t machine, std::uint64_t saved) {
        FileOutcome outcome = file(Status::unpatched, Action::none, saved);
        outcome.headers.emplace();
        outcome.headers->machine = machine;
        return outcome;
    };
    const std::vector<FileOutcome> files{of_machine(0x14C, 5), of_machine(0x8664, 4), of_machine(0x14C, 2),
                                         of_machine(0x8664, 4)};
    const Totals totals = added_up(Command::scan, files).totals;
    CHECK(totals.saved == 8);
    CHECK(totals.commit.now == 208);
    CHECK(totals.commit.after == 200);
    CHECK(totals.commit.saved == 8);
    std::vector<FileOutcome> apart = files;
    apart[1].scope = 1;  // nor of two environments
    CHECK(added_up(Command::scan, apart).totals.saved == 7);
    const Totals restored = added_up(Command::restore, {of_machine(1, 1), of_machine(2, 3)}).totals;
    CHECK(restored.saved == 0);
    CHECK(restored.commit.now == 103);
}

TEST_CASE("outcome: without CUDA code is what has no file but those without .nv_fatb and those that are no PE files") {
    CHECK(added_up(Command::verify, {}).totals.without_cuda());
    CHECK(added_up(Command::verify, {file(Status::no_fatbin), file(Status::not_pe)}).totals.without_cuda());
    for (const Status status :
         {Status::unpatched, Status::patched, Status::not_needed, Status::refused, Status::error}) {
        CHECK_FALSE(added_up(Command::verify, {file(Status::no_fatbin), file(status)}).totals.without_cuda());
    }
}

TEST_CASE("outcome: clean's files are counted with what they free, and fail with their errors") {
    Summary summary;
    summary.command = Command::clean;
    CleanOutcome removed;
    removed.dll_status = Status::patched;
    removed.action = Action::removed;
    removed.freed = 4096;
    CleanOutcome kept;
    kept.dll_status = Status::not_pe;
    CleanOutcome would = removed;
    would.action = Action::would_remove;
    would.freed = 512;
    summary.cleaned = {removed, kept, would};
    add_up(summary, false);
    CHECK(summary.totals.files == 3);
    CHECK(summary.totals.count(Action::removed) == 1);
    CHECK(summary.totals.count(Action::would_remove) == 1);
    CHECK(summary.totals.count(Action::none) == 1);
    CHECK(summary.totals.count(Status::patched) == 2);
    CHECK(summary.totals.count(Status::not_pe) == 1);
    CHECK(summary.totals.freed == 4608);
    CHECK(summary.totals.failed == 0);
    CHECK(summary.exit_status == ExitStatus::ok);
    summary.cleaned[1].error = Error(ErrorCode::busy, "remove: busy");
    add_up(summary, false);
    CHECK(summary.totals.failed == 1);
    CHECK(summary.exit_status == ExitStatus::error);
}

TEST_CASE(
    "outcome: the exit status: an error before what needs a patch, and Ctrl-C only where it left something undone") {
    const FileOutcome fine = file(Status::patched);
    const FileOutcome fails = failing(file(Status::unpatched, Action::none, 1));
    const FileOutcome broken = with_error(file(Status::error));
    const FileOutcome refused = undone(fails);
    const FileOutcome stopped = with_error(file(Status::unpatched), ErrorCode::interrupted);
    const auto status = [](std::vector<FileOutcome> files, bool interrupted, std::size_t not_begun = 0) {
        Summary summary;
        summary.files = std::move(files);
        summary.not_begun = not_begun;
        add_up(summary, interrupted);
        return static_cast<int>(summary.exit_status);
    };
    CHECK(status({}, false) == 0);
    CHECK(status({fine}, false) == 0);
    CHECK(status({fine, fails}, false) == 1);
    CHECK(status({fails, broken}, false) == 2);
    CHECK(status({refused}, false) == 2);
    CHECK(status({stopped}, false) == 2);

    CHECK(status({fine}, true) == 0);  // it came too late
    CHECK(status({fails}, true) == 1);
    CHECK(status({broken}, true) == 2);
    CHECK(status({stopped}, true) == 130);
    CHECK(status({fine}, true, 1) == 130);
    CHECK(status({broken}, true, 1) == 130);
    CHECK(status({}, true) == 130);
}

}  // namespace fixnvpe::test
