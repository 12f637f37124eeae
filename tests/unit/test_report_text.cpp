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

std::string at_width(const Summary& summary, unsigned width) {
    ReportStyle style = style_of(summary);
    style.width = width;
    return report_text(summary, style);
}

FileOutcome patched(FileOutcome file, const char* backup, SidecarKind kind = SidecarKind::full) {
    file.action = Action::patched;
    file.status = Status::patched;
    if (backup != nullptr) {
        file.backup = BackupFacts{kind, file.path.parent_path() / backup, BackupState::valid};
    }
    return file;
}

Summary summary_of(Command command, std::vector<FileOutcome> files) {
    Summary summary;
    summary.command = command;
    summary.files = std::move(files);
    add_up(summary, false);
    return summary;
}

/// The lines from the first that begins with this on.
std::string from(const std::string& text, const std::string& begin) {
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? "" : text.substr(at);
}

/// What a file's line says of it behind its name.
std::string facts_of(Command command, const FileOutcome& file) {
    const std::string text = normal(summary_of(command, {file}));
    const std::string name = file.path.filename().string();
    const std::size_t at = text.find(name) + name.size();
    return text.substr(at, text.find('\n') - at);
}

/// One that fails, one that is fine, some of no concern, one that can't be read.
Summary verified() {
    Summary summary;
    summary.files = {cuda_outcome("a.dll", Status::unpatched, 4096), cuda_outcome("b.dll", Status::patched, 4096),
                     other_outcome("c.dll", Status::not_pe), other_outcome("d.dll", Status::error),
                     other_outcome("n.dll", Status::no_fatbin)};
    summary.files[0].fails = true;
    summary.files[3].error = Error(ErrorCode::io, "read: failed").at("d.dll");
    summary.passed_over = {{"e.dll", SkipReason::link_to_folder}};
    add_up(summary, false);
    return summary;
}

}  // namespace

TEST_CASE("report/text: what is of no concern is counted, and shown with -v alone; with -q only what is a problem") {
    const std::string a = "  unpatched  4.0 KiB  a.dll\n";
    const std::string b = "  patched             b.dll\n";
    const std::string c = "  not-pe              c.dll\n";
    const std::string d = "  error               d.dll\n";
    const std::string counted = "5 files: 1 unpatched, 1 patched, 1 no-fatbin (-v lists it), 1 not-pe, 1 error\n";
    const std::string sum =
        "to do: fixnvpe patch\n"
        "each process would commit up to 4.0 KiB less (4.0 KiB -> 0 B)\n";
    const Summary summary = verified();
    CHECK(normal(summary) == a + b + d + counted + sum);
    CHECK(quiet(summary) == a + d);
    Summary named = summary;  // what is no PE file, but was to be one
    named.files[2].error = Error(ErrorCode::not_pe, "read headers: not a PE file").at("c.dll");
    CHECK(normal(named) == a + b + c + d + counted + sum);
    CHECK(quiet(named) == a + c + d);
    CHECK(verbose(summary) ==
          "  unpatched    4.0 KiB  a.dll\n"
          "  patched               b.dll\n"
          "  not-pe                c.dll\n"
          "  error                 d.dll\n"
          "  no-fatbin             n.dll\n"
          "  passed-over           e.dll  a link to a folder: not followed\n"
          "5 files: 1 unpatched, 1 patched, 1 no-fatbin, 1 not-pe, 1 error\n" +
              sum);
}

TEST_CASE("report/text: a file without .nv_fatb is listed where something is to be said of it") {
    FileOutcome file = other_outcome("a.dll", Status::no_fatbin);
    const auto lists = [](const FileOutcome& outcome) {
        return normal(summary_of(Command::patch, {outcome})).find("  no-fatbin  a.dll") != std::string::npos;
    };
    CHECK_FALSE(lists(file));
    file.notes = {{NoteCode::temporary_left, {}, {}}};
    CHECK(lists(file));
    file.notes.clear();
    file.error = Error(ErrorCode::busy, "lock: busy").at("a.dll");
    CHECK(lists(file));
}

TEST_CASE("report/text: no files, none to do, and a target that leads nowhere") {
    for (const auto& [command, last] : {std::pair(Command::verify, "nothing to patch: no DLLs here\n"),
                                        {Command::patch, "nothing to patch: no DLLs here\n"},
                                        {Command::restore, "nothing to restore: no DLLs here\n"},
                                        {Command::scan, "no DLLs here\n"},
                                        {Command::clean, "nothing to remove\n"}}) {
        Summary summary = summary_of(command, {});
        INFO(to_string(command));
        CHECK(normal(summary) == last);
        CHECK(quiet(summary).empty());
        summary.problems = {Error(ErrorCode::no_match, "not found")};
        add_up(summary, false);
        CHECK(normal(summary).empty());
    }
    CHECK(normal(summary_of(Command::patch, {other_outcome("a.dll", Status::no_fatbin)})) ==
          "1 file: 1 no-fatbin (-v lists it)\nnothing to patch: no CUDA code in these DLLs\n");
    CHECK(normal(summary_of(Command::verify, {other_outcome("a.dll", Status::no_fatbin)})) ==
          "1 file: 1 no-fatbin (-v lists it)\nnothing to patch: no CUDA code in these DLLs\n");
    CHECK(normal(summary_of(Command::patch, {cuda_outcome("a.dll", Status::not_needed, 1)}))
              .ends_with("1 file: 1 not-needed\nnothing to patch\n"));
    FileOutcome failed = cuda_outcome("a.dll", Status::unpatched, 1);
    failed.error = Error(ErrorCode::busy, "lock: busy");
    CHECK(normal(summary_of(Command::patch, {failed})).ends_with("nothing patched\n"));
    CHECK(normal(summary_of(Command::restore, {failed})).ends_with("nothing restored\n"));
}

TEST_CASE("report/text: every number in the last lines is the summary's") {
    Summary summary = verified();
    summary.workers = 2;
    summary.totals.saved = 1024;  // not what the files add up to
    summary.totals.commit.now = 3072;
    summary.totals.files = 77;
    summary.totals.by_status.fill(5);
    const std::string counted =
        "77 files: 5 unpatched, 5 patched, 5 not-needed, 5 no-fatbin (-v lists them), 5 refused, 5 not-pe, 5 errors\n";
    const std::string gain = "each process would commit up to 1.0 KiB less (3.0 KiB -> 2.0 KiB)\n";
    const std::string workers = "(3.0 KiB less with 2 DataLoader workers)\n";
    CHECK(normal(summary).ends_with(counted + "to do: fixnvpe patch\n" + gain + workers));
    const auto last_lines = [&](Command command, Action action) {
        summary.command = command;
        summary.totals.by_action.fill(0);
        summary.totals.by_action[static_cast<std::size_t>(action)] = 7;
        return from(normal(summary), "7 files ");
    };
    CHECK(last_lines(Command::patch, Action::patched) ==
          "7 files patched: each process commits up to 1.0 KiB less (3.0 KiB -> 2.0 KiB)\n" + workers +
              "no backup is kept\n");
    CHECK(last_lines(Command::patch, Action::would_patch) == "7 files would be patched: " + gain + workers);
    CHECK(last_lines(Command::patch, Action::would_restore) == "7 files would be restored\n");
    CHECK(last_lines(Command::restore, Action::restored) == "7 files restored\n");
    CHECK(last_lines(Command::restore, Action::would_restore) == "7 files would be restored\n");
    summary.totals.freed = 2048;
    CHECK(last_lines(Command::clean, Action::removed) == "7 files removed, 2.0 KiB freed\n");
    CHECK(last_lines(Command::clean, Action::would_remove) == "7 files would be removed, 2.0 KiB freed\n");
    summary.totals.saved = 0;
    CHECK(last_lines(Command::patch, Action::patched) == "7 files patched\nno backup is kept\n");
}

TEST_CASE("report/text: of workers nothing is said but to those who gave a number, and one is one") {
    Summary summary = summary_of(Command::verify, {cuda_outcome("a.dll", Status::unpatched, 4096)});
    summary.files[0].fails = true;
    add_up(summary, false);
    CHECK(normal(summary).find("worker") == std::string::npos);
    for (const auto& [workers, line] : {std::pair(0U, "(4.0 KiB less with 0 DataLoader workers)\n"),
                                        {1U, "(8.0 KiB less with 1 DataLoader worker)\n"},
                                        {8U, "(36.0 KiB less with 8 DataLoader workers)\n"}}) {
        summary.workers = workers;
        CHECK(normal(summary).ends_with(line));
    }
}

TEST_CASE("report/text: what there is to gain in several environments together is called that") {
    std::vector<FileOutcome> files{cuda_outcome("a/a.dll", Status::unpatched, 4096),
                                   cuda_outcome("b/a.dll", Status::unpatched, 8192)};
    files[0].fails = files[1].fails = true;
    files[1].scope = 1;
    Summary summary = summary_of(Command::verify, files);
    summary.scopes.resize(3);
    summary.scopes[0].totals.saved = 4096;
    summary.scopes[1].totals.saved = 8192;
    summary.scopes[0].environment = summary.scopes[1].environment = summary.scopes[2].environment = true;
    const std::string each = "each process would commit up to 8.0 KiB less (8.0 KiB -> 0 B)\n";
    CHECK(normal(summary).ends_with(each + "(12.0 KiB less in 2 environments together)\n"));
    summary.scopes[2].environment = false;
    CHECK(normal(summary).ends_with(each + "(12.0 KiB less in 2 places together)\n"));
    summary.scopes[0].totals.saved = 0;
    CHECK(normal(summary).ends_with(each));
}

TEST_CASE("report/text: with -q what was changed is said in one line") {
    Summary summary =
        summary_of(Command::patch, {patched(cuda_outcome("a.dll", Status::unpatched, 4096), "a.dll.bak")});
    summary.workers = 3;
    CHECK(quiet(summary) == "1 file patched: each process commits up to 4.0 KiB less (4.0 KiB -> 0 B)\n");
    summary.files[0].action = Action::restored;
    summary.command = Command::restore;
    add_up(summary, false);
    CHECK(quiet(summary) == "1 file restored\n");
    Summary cleaned;
    cleaned.command = Command::clean;
    cleaned.cleaned = {clean_outcome("a.dll.bak", SidecarKind::full, Action::removed, Why::equal)};
    add_up(cleaned, false);
    CHECK(quiet(cleaned) == "1 file removed, 0 B freed\n");
}

TEST_CASE("report/text: by package and folder, the largest gain first, numbers and names in columns") {
    std::vector<FileOutcome> files;
    for (const auto& [path, bytes] : {std::pair("lib/b.dll", 4096U),
                                      {"lib/long-name.dll", 1U << 20},
                                      {"torch/lib/a.dll", 3U << 20},
                                      {"torch/lib/n.dll", 0U}}) {
        files.push_back(cuda_outcome(path, bytes != 0 ? Status::unpatched : Status::not_needed, bytes));
        files.back().fails = bytes != 0;
    }
    files[1].warnings = {Warning::is_signed, Warning::guard_cf_lost};
    files[2].package = files[3].package = "torch 1.12.1+cu113\x1b";
    const Summary summary = summary_of(Command::verify, files);
    CHECK(at_width(summary, 80) ==
          "torch 1.12.1+cu113\\x1b, torch/lib\n"
          "  unpatched   3.0 MiB  a.dll\n"
          "  not-needed           n.dll\n"
          "lib\n"
          "  unpatched   1.0 MiB  long-name.dll  signed, loses CFG\n"
          "  unpatched   4.0 KiB  b.dll\n"
          "4 files: 3 unpatched, 1 not-needed\n"
          "to do: fixnvpe patch\n"
          "each process would commit up to 4.0 MiB less (4.0 MiB -> 0 B)\n");
}

TEST_CASE("report/text: the environment comes first") {
    Summary summary = summary_of(Command::restore, {});
    summary.environment.emplace();
    summary.environment->prefix = "venv";
    summary.environment->chosen_by = "VIRTUAL_ENV";
    CHECK(normal(summary) == "venv (VIRTUAL_ENV)\nnothing to restore: no DLLs here\n");
    CHECK(quiet(summary).empty());
    summary.command = Command::scan;
    CHECK(normal(summary) == "venv (VIRTUAL_ENV)\nno DLLs here\n");
}

TEST_CASE("report/text: edits are shown with -v, each value as wide as its field") {
    FileOutcome file = cuda_outcome("a.dll", Status::unpatched, 4096);
    file.edits = {{Field::dll_characteristics, 222, 0x160, 0x120}, {Field::check_sum, 216, 0x1, 0xFFFFFFFF}};
    const std::string edits =
        "    DllCharacteristics at offset 0xde: 0x0160 -> 0x0120\n"
        "    CheckSum at offset 0xd8: 0x00000001 -> 0xffffffff\n";
    const auto has_edits = [&](Action action, bool with_v) {
        file.action = action;
        const Summary summary = summary_of(Command::patch, {file});
        return (with_v ? verbose(summary) : normal(summary)).find(edits) != std::string::npos;
    };
    for (const Action action : {Action::none, Action::would_patch, Action::would_restore, Action::patched}) {
        CHECK(has_edits(action, true));
        CHECK_FALSE(has_edits(action, false));
    }
}

TEST_CASE("report/text: behind a name: reason, warnings, notes, in this order; what is an error is said as one") {
    FileOutcome file = cuda_outcome("lib/a.dll", Status::unpatched, 4096);
    file.warnings = {Warning::is_signed, Warning::same_image_base};
    file.notes = {{NoteCode::moved_aside, "a.dll.bak.1", {}}};
    CHECK(from(normal(summary_of(Command::patch, {file})), "  unpatched")
              .starts_with("  unpatched  4.0 KiB  a.dll  signed, an older backup was moved to a.dll.bak.1\n"));
    FileOutcome refused = cuda_outcome("a.dll", Status::refused, 4096);
    refused.reason = {Why::section_alignment, 512, 4096};
    const std::string why = "SectionAlignment 512 is under 4096: its sections share pages";
    CHECK(facts_of(Command::verify, refused) == "  unpatched: " + why);
    refused.needs_patch = false;
    CHECK(facts_of(Command::verify, refused) == "  " + why);
    refused.undone = refused.reason;
    CHECK(facts_of(Command::patch, refused).empty());
}

TEST_CASE("report/text: why a file is unpatched that saves nothing is what the plan would change, and nothing else") {
    FileOutcome file = cuda_outcome("a.dll", Status::unpatched, 4096);
    file.commit.saved = 0;
    CHECK(facts_of(Command::verify, file).empty());
    file.edits = {{Field::section_characteristics, 548, 0xC0000040, 0x40000040}};
    CHECK(facts_of(Command::verify, file) == "  .nv_fatb is writable");
    file.edits.push_back({Field::dll_characteristics, 222, 0x160, 0x120});
    CHECK(facts_of(Command::verify, file) == "  DYNAMIC_BASE is set");
    file.commit.saved = 4096;
    CHECK(facts_of(Command::verify, file).empty());
    file.commit.saved = 0;
    file.action = Action::restored;
    CHECK(facts_of(Command::restore, file).empty());
}

TEST_CASE("report/text: what patch has kept is named") {
    const FileOutcome a = cuda_outcome("lib/a.dll", Status::unpatched, 4096);
    const FileOutcome b = cuda_outcome("lib/b.dll", Status::unpatched, 4096);
    const auto kept = [](std::vector<FileOutcome> files) {
        const std::string text = normal(summary_of(Command::patch, std::move(files)));
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    };
    CHECK(kept({patched(a, "a.dll.bak")}) == "the original is kept as a.dll.bak\n");
    CHECK(kept({patched(a, "a.dll.bak"), patched(b, "b.dll.bak")}) == "the originals are kept as NAME.bak\n");
    CHECK(kept({patched(a, "a.dll.bak"), patched(b, "b.dll_bak", SidecarKind::legacy)}) ==
          "the originals are kept as NAME.bak or NAME_bak\n");
    CHECK(kept({patched(a, "a.dll.fixnvpe-undo", SidecarKind::undo)}) ==
          "what restore needs is kept as a.dll.fixnvpe-undo\n");
    CHECK(kept({patched(a, "a.dll.bak"), patched(b, nullptr)}) ==
          "the originals are kept as NAME.bak; 1 file without a backup\n");
    CHECK(kept({patched(a, nullptr), b}) == "no backup is kept\n");
    FileOutcome stale = patched(a, "a.dll.bak");
    stale.backup->state = BackupState::stale;
    CHECK(kept({stale}) == "no backup is kept\n");
}

TEST_CASE("report/text: what --exclude passed over is counted") {
    const auto counted = [](std::vector<FileOutcome> files, std::size_t excluded) {
        Summary summary = summary_of(Command::verify, std::move(files));
        for (std::size_t i = 0; i < excluded; ++i) {
            summary.passed_over.push_back({"x.dll", SkipReason::excluded});
        }
        summary.passed_over.push_back({"y.dll", SkipReason::link_to_folder});
        add_up(summary, false);
        return counted_statuses(summary.totals, style_of(summary));
    };
    const FileOutcome a = cuda_outcome("a.dll", Status::patched, 4096);
    CHECK(counted({a}, 0) == "1 file: 1 patched");
    CHECK(counted({a}, 2) == "1 file: 1 patched; 2 passed over by --exclude");
    CHECK(counted({}, 1) == "0 files; 1 passed over by --exclude");
}

TEST_CASE("report/text: what the backups take of the disk is said from 1 MiB on") {
    const FileOutcome a = cuda_outcome("a.dll", Status::unpatched, 4096);
    FileOutcome would = a;
    would.action = Action::would_patch;
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    const auto disk = [](std::uint64_t needed) {
        return std::vector<DiskNeed>{{"x", needed / 2, 1}, {"y", needed - needed / 2, 1}};
    };
    CHECK(disk_needed(disk(mib)) == "1.0 MiB of disk");
    CHECK(disk_needed(disk(mib - 1)).empty());
    const auto last = [&](const FileOutcome& file, std::uint64_t needed) {
        Summary summary = summary_of(Command::patch, {file});
        summary.disk = disk(needed);
        const std::string text = normal(summary);
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    };
    CHECK(last(patched(a, "a.dll.bak"), mib) == "the original is kept as a.dll.bak\n");  // it was said before
    CHECK(last(would, 3 * mib) == "the backups would take 3.0 MiB of disk\n");
    CHECK(last(would, 0).starts_with("1 file would be patched"));
}

TEST_CASE("report/text: colors only where they are asked for: red for what failed, yellow to do, green done") {
    const auto color = [&](const FileOutcome& file) {
        const Summary summary = summary_of(Command::verify, {file});
        CHECK(normal(summary).find('\x1b') == std::string::npos);
        ReportStyle style = style_of(summary);
        style.color = true;
        const std::string line = report_text(summary, style);
        return line.starts_with("  \x1b[") ? line.substr(2, line.find('m') - 1) : "";
    };
    CHECK(color(cuda_outcome("a", Status::unpatched, 1)) == "\x1b[33m");
    CHECK(color(cuda_outcome("a", Status::patched, 1)) == "\x1b[32m");
    CHECK(color(cuda_outcome("a", Status::refused, 1)) == "\x1b[31m");
    CHECK(color(other_outcome("a", Status::error)) == "\x1b[31m");
    CHECK(color(cuda_outcome("a", Status::not_needed, 1)).empty());
    FileOutcome failed = cuda_outcome("a", Status::patched, 1);
    failed.error = Error(ErrorCode::io, "read: failed");
    CHECK(color(failed) == "\x1b[31m");
}

TEST_CASE("report/text: clean shows what goes, what stays and why, and what is not ours with -v alone") {
    Summary summary;
    summary.command = Command::clean;
    summary.cleaned = {clean_outcome("lib/a.dll.bak", SidecarKind::full, Action::none, Why::usable),
                       clean_outcome("lib/b.dll.bak", SidecarKind::full, Action::none, Why::not_ours),
                       clean_outcome("lib/c.dll.bak.1", SidecarKind::numbered, Action::removed, Why::other_build),
                       clean_outcome("lib/d.dll.fixnvpe-tmp", SidecarKind::temporary, Action::none, Why::in_use)};
    summary.cleaned[2].freed = 8192;
    summary.cleaned[3].error = Error(ErrorCode::busy, "remove: busy");
    add_up(summary, false);
    CHECK(normal(summary) ==
          "lib\n"
          "  kept              a.dll.bak          restore could use it\n"
          "  removed  8.0 KiB  c.dll.bak.1        of another build\n"
          "  patched           d.dll.fixnvpe-tmp  another fixnvpe works on it right now\n"
          "1 file removed, 8.0 KiB freed\n");
    CHECK(verbose(summary).find("  not-ours           b.dll.bak\n") != std::string::npos);
    CHECK(quiet(summary) ==
          "lib\n  patched  d.dll.fixnvpe-tmp  another fixnvpe works on it right now\n"
          "1 file removed, 8.0 KiB freed\n");
}

}  // namespace fixnvpe::test
