// A summary as text: which files are shown, and that nothing is counted here. The exact screens are in
// testdata/screens.

#include "fixnvpe/ui/report_text.hpp"

#include <algorithm>
#include <string>

#include "support/catch.hpp"
#include "support/summary.hpp"

namespace fixnvpe::test {
namespace {

ReportStyle style_of(const Summary& summary) {
    ReportStyle style;
    style.policy.command = summary.command;
    return style;
}

std::string quiet(const Summary& summary) {
    ReportStyle style = style_of(summary);
    style.quiet = true;
    return report_text(summary, style);
}

std::string verbose(const Summary& summary) {
    ReportStyle style = style_of(summary);
    style.verbose = true;
    return report_text(summary, style);
}

std::string normal(const Summary& summary) {
    return report_text(summary, style_of(summary));
}

/// One that fails, one that is fine, one of no concern, one that can't be read.
Summary verified() {
    Summary summary;
    summary.workers = 2;
    summary.files = {cuda_outcome("a.dll", Status::unpatched, 4096), cuda_outcome("b.dll", Status::patched, 4096),
                     other_outcome("c.dll", Status::not_pe), other_outcome("d.dll", Status::error)};
    summary.files[0].fails = true;
    summary.files[3].error = Error(ErrorCode::io, "read: failed").at("d.dll");
    summary.passed_over = {{"e.dll", SkipReason::link_to_folder}};
    add_up(summary, false);
    return summary;
}

}  // namespace

TEST_CASE("report/text: what is of no concern is shown with -v alone, and with -q only what is a problem") {
    const std::string a = "unpatched      a.dll  (4.0 KiB of commit to save in each process)\n";
    const std::string b = "patched        b.dll\n";
    const std::string d = "error          d.dll\n";
    const std::string sum =
        "4 files: 1 unpatched, 1 patched, 1 not-pe, 1 error\n"
        "to do: fixnvpe patch; each process would commit 4.0 KiB less (12.0 KiB less with 2 "
        "DataLoader workers)\n";
    const Summary summary = verified();
    CHECK(normal(summary) == a + b + d + sum);
    CHECK(quiet(summary) == a + d);
    Summary named = summary;  // what is no PE file, but was to be one
    named.files[2].error = Error(ErrorCode::not_pe, "read headers: not a PE file").at("c.dll");
    CHECK(normal(named) == a + b + "not-pe         c.dll\n" + d + sum);
    CHECK(quiet(named) == a + "not-pe         c.dll\n" + d);
    CHECK(verbose(summary) ==
          a + b + "not-pe         c.dll\n" + d + "passed-over    e.dll  (a link to a folder: not followed)\n" + sum);
}

TEST_CASE("report/text: no files, none to do") {
    for (const auto& [command, last] : {std::pair(Command::verify, "0 files\n"),
                                        {Command::patch, "nothing to patch: 0 files\n"},
                                        {Command::restore, "nothing to restore: 0 files\n"},
                                        {Command::clean, "nothing to remove\n"}}) {
        Summary summary;
        summary.command = command;
        add_up(summary, false);
        CHECK(normal(summary) == last);
        CHECK(quiet(summary).empty());
        summary.problems = {Error(ErrorCode::no_match, "not found")};
        add_up(summary, false);
        CHECK((command == Command::verify || normal(summary).starts_with("nothing ")));
        CHECK(normal(summary).find("nothing to") == std::string::npos);
    }
}

TEST_CASE("report/text: every number in the last lines is the summary's") {
    Summary summary = verified();
    summary.totals.saved = 1024;  // not what the files add up to
    summary.totals.files = 77;
    summary.totals.by_status.fill(5);
    CHECK(
        normal(summary).ends_with("77 files: 5 unpatched, 5 patched, 5 not-needed, 5 no-fatbin, 5 refused, 5 not-pe, "
                                  "5 error\nto do: fixnvpe patch; each process would commit 1.0 KiB less (3.0 KiB less "
                                  "with 2 DataLoader workers)\n"));
    const auto last_line = [&](Command command, Action action) {
        summary.command = command;
        summary.totals.by_action.fill(0);
        summary.totals.by_action[static_cast<std::size_t>(action)] = 7;
        const std::string text = normal(summary);
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    };
    CHECK(last_line(Command::patch, Action::patched) ==
          "7 files patched: each process commits 1.0 KiB less (3.0 KiB less with 2 DataLoader workers)\n");
    CHECK(
        last_line(Command::patch, Action::would_patch) ==
        "7 files would be patched: each process would commit 1.0 KiB less (3.0 KiB less with 2 DataLoader workers)\n");
    CHECK(last_line(Command::patch, Action::would_restore) == "7 files would be restored\n");
    CHECK(last_line(Command::restore, Action::restored) == "7 files restored\n");
    CHECK(last_line(Command::restore, Action::would_restore) == "7 files would be restored\n");
    summary.totals.freed = 2048;
    CHECK(last_line(Command::clean, Action::removed) == "7 files removed, 2.0 KiB freed\n");
    CHECK(last_line(Command::clean, Action::would_remove) == "7 files would be removed, 2.0 KiB freed\n");
    summary.totals.saved = 0;
    CHECK(last_line(Command::patch, Action::patched) == "7 files patched\n");
    CHECK(last_line(Command::patch, Action::none).starts_with("nothing patched: 77 files"));  // one has failed
}

TEST_CASE("report/text: a file's edits are shown before they are made, and after with -v, each as wide as its field") {
    FileOutcome file = cuda_outcome("a.dll", Status::unpatched, 4096);
    file.edits = {{Field::dll_characteristics, 222, 0x160, 0x120}, {Field::check_sum, 216, 0x1, 0xFFFFFFFF}};
    const std::string edits =
        "               DllCharacteristics at offset 0xde: 0x0160 -> 0x0120\n"
        "               CheckSum at offset 0xd8: 0x00000001 -> 0xffffffff\n";
    const auto has_edits = [&](Action action, bool with_v) {
        file.action = action;
        ReportStyle style;
        style.verbose = with_v;
        return line_of(file, style).ends_with(edits);
    };
    CHECK(has_edits(Action::would_patch, false));
    CHECK(has_edits(Action::would_restore, false));
    CHECK(has_edits(Action::patched, true));
    CHECK(has_edits(Action::none, true));
    CHECK_FALSE(has_edits(Action::patched, false));
    CHECK_FALSE(has_edits(Action::none, false));
}

TEST_CASE(
    "report/text: what stands in brackets: reason, gain, a backup that is valid, warnings, notes, in this order") {
    FileOutcome file = cuda_outcome("lib/a.dll", Status::patched, 4096);
    file.action = Action::patched;
    file.commit.saved = 1024;
    file.backup = BackupFacts{SidecarKind::full, "lib/a.dll.bak", BackupState::valid};
    file.warnings = {Warning::is_signed, Warning::same_image_base};
    file.notes = {{NoteCode::moved_aside, "a.dll.bak.1", {}}};
    ReportStyle style;
    style.policy.command = Command::patch;
    CHECK(line_of(file, style) ==
          "patched        lib/a.dll  (1.0 KiB less commit in each process; backup: a.dll.bak; "
          "signed; an older backup was moved to a.dll.bak.1)\n");
    file.backup->state = BackupState::stale;
    CHECK(line_of(file, style).find("backup: ") == std::string::npos);
    FileOutcome refused = cuda_outcome("a.dll", Status::refused, 4096);
    refused.reason = {Why::section_alignment, 512, 4096};
    const std::string why = "SectionAlignment 512 is under 4096: its sections share pages)\n";
    CHECK(line_of(refused, style) == "refused        a.dll  (unpatched: " + why);
    refused.needs_patch = false;
    CHECK(line_of(refused, style) == "refused        a.dll  (" + why);
}

TEST_CASE("report/text: colors only where they are asked for: red for what failed, yellow to do, green done") {
    ReportStyle style;
    const auto color = [&](const FileOutcome& file) {
        style.color = false;
        CHECK(line_of(file, style).find('\x1b') == std::string::npos);
        style.color = true;
        const std::string line = line_of(file, style);
        return line.starts_with("\x1b[") ? line.substr(0, line.find('m') + 1) : "";
    };
    CHECK(color(cuda_outcome("a", Status::unpatched, 1)) == "\x1b[33m");
    CHECK(color(cuda_outcome("a", Status::patched, 1)) == "\x1b[32m");
    CHECK(color(cuda_outcome("a", Status::refused, 1)) == "\x1b[31m");
    CHECK(color(other_outcome("a", Status::error)) == "\x1b[31m");
    CHECK(color(other_outcome("a", Status::no_fatbin)).empty());
    FileOutcome failed = cuda_outcome("a", Status::patched, 1);
    failed.error = Error(ErrorCode::io, "read: failed");
    CHECK(color(failed) == "\x1b[31m");
    CHECK(line_of(failed, style) == "\x1b[31mpatched\x1b[0m        a\n");
}

TEST_CASE("report/text: clean shows what goes, what stays and why, and what is not ours with -v alone") {
    Summary summary;
    summary.command = Command::clean;
    summary.cleaned = {clean_outcome("a.dll.bak", SidecarKind::full, Action::none, Why::usable),
                       clean_outcome("b.dll.bak", SidecarKind::full, Action::none, Why::not_ours),
                       clean_outcome("c.dll.bak.1", SidecarKind::numbered, Action::removed, Why::other_build),
                       clean_outcome("d.dll.fixnvpe-tmp", SidecarKind::temporary, Action::none, Why::in_use)};
    summary.cleaned[2].freed = 8192;
    summary.cleaned[3].error = Error(ErrorCode::busy, "remove: busy");
    add_up(summary, false);
    const std::string a = "kept           a.dll.bak  (restore could use it)\n";
    const std::string c = "removed        c.dll.bak.1  (of another build; 8.0 KiB)\n";
    const std::string d = "patched        d.dll.fixnvpe-tmp  (another fixnvpe works on it right now)\n";
    const std::string sum = "1 file removed, 8.0 KiB freed\n";
    CHECK(normal(summary) == a + c + d + sum);
    CHECK(verbose(summary) == a + "not-ours       b.dll.bak\n" + c + d + sum);
    CHECK(quiet(summary) == d);
}

}  // namespace fixnvpe::test
