// What belongs on standard error beside the report.

#include "fixnvpe/ui/messages.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/summary.hpp"

namespace fixnvpe::test {
namespace {

/// "LEVEL: the first line" of each.
std::vector<std::string> said(const Summary& summary, bool quiet = false) {
    ReportStyle style;
    style.quiet = quiet;
    style.policy.command = summary.command;
    std::vector<std::string> lines;
    for (const Message& message : messages_of(summary, style)) {
        const char* const level = message.level == Message::Level::info      ? "info: "
                                  : message.level == Message::Level::warning ? "warning: "
                                                                             : "error: ";
        const std::string text = fitted(message, {});
        lines.push_back(level + text.substr(0, text.find('\n')));
    }
    return lines;
}

FileOutcome warned(const char* path, std::vector<Warning> warnings) {
    FileOutcome file = cuda_outcome(path, Status::unpatched, 4096);
    file.warnings = std::move(warnings);
    return file;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("messages: where nothing is the matter, nothing is said") {
    Summary summary;
    summary.files = {cuda_outcome("a.dll", Status::patched, 4096)};
    add_up(summary, false);
    CHECK(said(summary).empty());
    CHECK(said({}).empty());
}

TEST_CASE("messages: a warning that holds for several files is said once, with their number, and not with --quiet") {
    Summary summary;
    summary.files = {warned("a.dll", {Warning::is_signed, Warning::guard_cf_lost}),
                     warned("b.dll", {Warning::is_signed})};
    CHECK(said(summary) == Lines{"warning: warning: 2 files are signed, and patching makes their signatures invalid",
                                 "warning: warning: 1 file loses Control Flow Guard together with ASLR"});
    CHECK(said(summary, true).empty());
    for (const auto& [warning, name] : names_of<Warning>) {
        INFO(name);
        summary.files = {warned("a.dll", {warning})};
        CHECK(said(summary).size() == 1);
    }
}

TEST_CASE("messages: every error is said, with --quiet, too: of files, of clean's files, of targets") {
    Summary summary;
    summary.command = Command::patch;
    FileOutcome refused = cuda_outcome("a.dll", Status::refused, 4096);
    refused.undone = refused.reason = {Why::force_integrity};
    FileOutcome broken = other_outcome("b.dll", Status::error);
    broken.error = Error(ErrorCode::io, "read: failed").at("b.dll");
    CleanOutcome locked = clean_outcome("c.dll.bak", SidecarKind::full, Action::none, Why::usable);
    locked.error = Error(ErrorCode::busy, "remove: busy").at("c.dll.bak");
    summary.files = {refused, broken};
    summary.cleaned = {locked};
    summary.problems = {Error(ErrorCode::no_match, "not found").at("d")};
    add_up(summary, false);
    const Lines errors{
        "error: a.dll: refused: FORCE_INTEGRITY is set: Windows would not load it with an invalid signature",
        "error: b.dll: read: failed", "error: c.dll.bak: remove: busy", "error: d: not found"};
    CHECK(said(summary) == errors);
    CHECK(said(summary, true) == errors);
}

TEST_CASE("messages: backups of DLLs that are gone are one line, and what seemed to be the environment is named") {
    Summary summary;
    summary.orphans = {{"lib/a.dll.bak", true}};
    summary.environment.emplace();
    summary.environment->passed_over = {"CONDA_PREFIX: not there"};
    CHECK(said(summary) ==
          Lines{"info: passed over: CONDA_PREFIX: not there", "info: lib/a.dll.bak: left behind: its DLL is gone"});
    const auto hint = [&] { return messages_of(summary, {})[1].hint; };
    CHECK(hint() == "fixnvpe clean --backups removes it");
    CHECK(said(summary, true).empty());
    summary.orphans = {{"lib/a.dll.bak", false}, {"lib/b.dll.bak", false}};
    CHECK(said(summary)[1] == "info: lib/a.dll.bak: left behind: its DLL is gone, and 1 like it");
    CHECK(hint() == "fixnvpe clean removes them");
    summary.orphans.back().needed = true;
    CHECK(hint() == "fixnvpe clean --backups removes them");
}

TEST_CASE("messages: which other environments may be meant, a line for each") {
    Summary summary;
    summary.command = Command::scan;
    summary.files = {cuda_outcome("a.dll", Status::unpatched, 4096)};
    summary.environment.emplace();
    summary.environment->rivals = {"other", "my env"};
    add_up(summary, false);
    const auto messages = messages_of(summary, {});
    REQUIRE(messages.size() == 1);
    CHECK(fitted(messages[0], {}) ==
          "warning: the current folder has another Python environment\n"
          "  hint: name the one that you mean\n"
          "        --env other\n"
          "        --env \"my env\"");
}

TEST_CASE("messages: after Ctrl-C it is said how much was not begun") {
    Summary summary;
    summary.files = {cuda_outcome("a.dll", Status::patched, 4096)};
    summary.not_begun = 3;
    add_up(summary, true);
    CHECK(said(summary, true) == Lines{"error: interrupted: 3 files not begun, and what was done stays done"});
}

TEST_CASE("messages: a file, what failed, and on a line of its own what to do; nothing in it is a command") {
    const auto one_line = [](const Error& error) { return fitted(message_of(error), {}); };
    CHECK(one_line(Error(ErrorCode::io, "read: failed")) == "read: failed");
    CHECK(one_line(Error(ErrorCode::io, "read: failed").at("lib/a.dll")) == "lib/a.dll: read: failed");
    CHECK(one_line(Error(ErrorCode::io, "read: failed", Hint::run_again).at("a.dll")) ==
          "a.dll: read: failed\n  hint: run it again");
    CHECK(one_line(Error(ErrorCode::usage, "no command", "try this")) == "no command\n  hint: try this");
    CHECK(one_line(Error(ErrorCode::usage, "no command", "")) == "no command");
    CHECK(one_line(Error(ErrorCode::io, "read\x1b[2J: failed", Hint::words, "a\nb").at("a\x07.dll")) ==
          "a\\x07.dll: read\\x1b[2J: failed\n  hint: a\\nb");
}

TEST_CASE("messages: they fit the terminal behind \"fixnvpe: \", and a path or a quoted one is never broken") {
    const std::string path = "C:/Program Files/a long folder/a.dll";  // 36 columns
    const Message error{Message::Level::error, path, "read: Input/output error", "name it: \"C:/Program Files/a.dll\""};
    const std::string hint = "\n  hint: name it: \"C:/Program Files/a.dll\"";
    constexpr unsigned exactly = 9 + 36 + 2 + 24;
    CHECK(fitted(error, {}) == path + ": read: Input/output error" + hint);
    CHECK(fitted(error, exactly) == path + ": read: Input/output error" + hint);
    CHECK(fitted(error, exactly - 1) == path + ":\n         read: Input/output error" + hint);
    CHECK(fitted(error, 30) == path +
                                   ":\n         read: Input/output\n         error\n  hint: name it:\n"
                                   "        \"C:/Program Files/a.dll\"");
    const Message warning{Message::Level::warning, {}, "3 files are signed", "see above"};
    CHECK(fitted(warning, 36) == "warning: 3 files are signed\n  hint: see above");
    CHECK(fitted(warning, 35) == "warning: 3 files are\n         signed\n  hint: see above");
}

}  // namespace fixnvpe::test
