// A summary as JSON: the whole document, of the same values as the text.

#include "fixnvpe/ui/report_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/summary.hpp"

namespace fixnvpe::test {
namespace {

using Json = nlohmann::json;

std::string text_of(const Summary& summary, ReportStyle style = {}) {
    style.policy.command = summary.command;
    std::string text;
    report_json(summary, style, [&](std::string_view piece) { text += piece; });
    return text;
}

Json document(const Summary& summary, ReportStyle style = {}) {
    return Json::parse(text_of(summary, style));  // throws if anything follows
}

Json object_of(const FileOutcome& file, Command command = Command::patch) {
    Summary summary;
    summary.command = command;
    summary.files = {file};
    add_up(summary, false);
    return document(summary).at("files").at(0);
}

/// Every key that a file's object always has.
Json bare(const char* path, const char* status) {
    return {{"path", path},
            {"status", status},
            {"action", "none"},
            {"package", nullptr},
            {"machine", nullptr},
            {"size", nullptr},
            {"image_base", nullptr},
            {"dynamic_base", nullptr},
            {"high_entropy_va", nullptr},
            {"guard_cf", nullptr},
            {"signed", nullptr},
            {"fatbin", Json::array()},
            {"data", Json::array()},
            {"commit", nullptr},
            {"edits", Json::array()},
            {"backup", nullptr},
            {"warnings", Json::array()},
            {"notes", Json::array()},
            {"note_codes", Json::array()}};
}

std::vector<std::string> paths_in(const Json& json) {
    std::vector<std::string> paths;
    for (const Json& file : json.at("files")) {
        paths.push_back(file.at("path"));
    }
    return paths;
}

}  // namespace

TEST_CASE("report/json: the whole document of a request that found nothing") {
    Summary summary;
    summary.workers = 8;
    summary.command = Command::restore;
    add_up(summary, false);
    CHECK(document(summary) == Json{{"schema", 1},
                                    {"tool", "fixnvpe"},
                                    {"version", FIXNVPE_VERSION},
                                    {"command", "restore"},
                                    {"environment", nullptr},
                                    {"files", Json::array()},
                                    {"passed_over", Json::array()},
                                    {"orphans", Json::array()},
                                    {"scopes", Json::array()},
                                    {"disk", Json::array()},
                                    {"summary",
                                     {{"unpatched", 0},
                                      {"patched", 0},
                                      {"not-needed", 0},
                                      {"no-fatbin", 0},
                                      {"refused", 0},
                                      {"not-pe", 0},
                                      {"error", 0},
                                      {"commit", {{"now", 0}, {"after", 0}, {"saved", 0}}},
                                      {"saved", 0},
                                      {"freed", 0},
                                      {"excluded", 0},
                                      {"workers", 8},
                                      {"not_begun", 0}}},
                                    {"exit_status", 0}});
}

TEST_CASE("report/json: a file with all there is to say of it") {
    FileOutcome file = cuda_outcome("lib/a.dll", Status::patched, 4096);
    file.action = Action::patched;
    file.commit = {4096, 96, 4000};
    file.package = "torch 1.12.1+cu113";
    file.headers->data = {{".da\xFFta", 8192}};
    file.edits = {{Field::section_characteristics, 548, 0xC0000040, 0x40000040}};
    file.backup = BackupFacts{SidecarKind::undo, "lib/a.dll.fixnvpe-undo", BackupState::stale};
    file.relocated = 8192;
    file.warnings = {Warning::is_signed};
    file.notes = {{NoteCode::stale_backup, "a.dll.fixnvpe-undo", {}}};
    file.reason = {Why::no_valid_backup};
    CHECK(object_of(file) ==
          Json{{"path", "lib/a.dll"},
               {"status", "patched"},
               {"action", "patched"},
               {"package", "torch 1.12.1+cu113"},
               {"reason", "no valid backup"},
               {"reason_code", "no-valid-backup"},
               {"machine", "x64"},
               {"size", 5120},
               {"image_base", 0x180000000},
               {"dynamic_base", false},
               {"high_entropy_va", true},
               {"guard_cf", false},
               {"signed", false},
               {"fatbin", Json::array({{{"name", ".nv_fatb"}, {"virtual_size", 4096}, {"writable", false}}})},
               {"data", Json::array({{{"name", ".da\\xffta"}, {"bytes", 8192}}})},
               {"commit", {{"now", 4096}, {"after", 96}, {"saved", 4000}}},
               {"edits",
                Json::array(
                    {{{"field", "Characteristics"}, {"offset", 548}, {"before", 0xC0000040}, {"after", 0x40000040}}})},
               {"backup", {{"kind", "undo"}, {"path", "lib/a.dll.fixnvpe-undo"}, {"state", "stale"}}},
               {"relocated_bytes", 8192},
               {"warnings", {"signed"}},
               {"notes", {"a.dll.fixnvpe-undo belongs to another build"}},
               {"note_codes", {"stale-backup"}}});
}

TEST_CASE("report/json: of a file that can't be read every key is there, and what is not known is null") {
    FileOutcome file = other_outcome("a.dll", Status::error);
    Json expected = bare("a.dll", "error");
    CHECK(object_of(file) == expected);
    file.error =
        Error(ErrorCode::disk_full, "write: no space\x1b", Hint::free_space).at("a.dll.fixnvpe-tmp").with_number(28);
    expected["error"] = {{"code", "disk-full"},
                         {"message", "write: no space\\x1b"},
                         {"number", 28},
                         {"hint", "free some space, or try --backup undo"}};
    CHECK(object_of(file) == expected);
    expected["error"]["hint"] = "free some space";
    CHECK(object_of(file, Command::restore) == expected);
    file.error.reset();
    file.undone = {Why::no_backup};
    CHECK(object_of(file)["error"]["code"] == "no-backup");
    CHECK(object_of(file)["error"]["message"] == "patch: it is patched, but there is no backup");
}

TEST_CASE(
    "report/json: files, clean's files and targets that lead nowhere are one list, passed-over and orphans their own") {
    Summary summary;
    summary.command = Command::clean;
    summary.workers = 3;
    summary.files = {other_outcome("a.dll", Status::no_fatbin)};
    CleanOutcome removed = clean_outcome("b.dll.bak.1", SidecarKind::numbered, Action::removed, Why::other_build);
    removed.freed = 8192;
    CleanOutcome kept = clean_outcome("c.dll.fixnvpe-undo", SidecarKind::undo, Action::none, Why::bad_undo);
    kept.cause = Error(ErrorCode::bad_undo, "read: bad");
    summary.cleaned = {removed, kept};
    summary.problems = {Error(ErrorCode::no_match, "not found").at("d")};
    summary.passed_over = {{"e", SkipReason::link_to_nothing}};
    summary.orphans = {{"f.dll.bak", true}};
    summary.not_begun = 5;
    add_up(summary, true);

    const Json json = document(summary);
    Json b = bare("b.dll.bak.1", "patched");
    b.update({{"action", "removed"},
              {"kind", "numbered"},
              {"freed", 8192},
              {"reason", "of another build"},
              {"reason_code", "other-build"}});
    Json c = bare("c.dll.fixnvpe-undo", "patched");
    c.update({{"kind", "undo"}, {"freed", 0}, {"reason", "it can't be used: read: bad"}, {"reason_code", "bad-undo"}});
    Json d = bare("d", "error");
    d["error"] = {{"code", "no-match"}, {"message", "not found"}};
    CHECK(json["files"] == Json::array({bare("a.dll", "no-fatbin"), b, c, d}));
    CHECK(json["passed_over"] ==
          Json::array({{{"path", "e"}, {"reason", "a link to no file"}, {"reason_code", "link-to-nothing"}}}));
    CHECK(json["orphans"] == Json::array({"f.dll.bak"}));
    CHECK(json["summary"]["freed"] == 8192);
    CHECK(json["summary"]["not_begun"] == 5);
    CHECK(json["summary"]["error"] == 0);  // "d" is no file
    CHECK(json["summary"]["patched"] == 2);
    CHECK(json["exit_status"] == 130);
}

TEST_CASE("report/json: every number of the summary is that of the totals") {
    Summary summary;
    summary.files = {cuda_outcome("a.dll", Status::unpatched, 4096)};
    add_up(summary, false);
    summary.totals.by_status = {1, 2, 3, 4, 5, 6, 7};  // not what the file adds up to
    summary.totals.commit = {10, 11, 12};
    summary.totals.saved = 13;
    summary.totals.freed = 14;
    summary.totals.excluded = 15;
    summary.exit_status = ExitStatus::needs_patch;
    const Json json = document(summary);
    CHECK(json["summary"] == Json{{"unpatched", 1},
                                  {"patched", 2},
                                  {"not-needed", 3},
                                  {"no-fatbin", 4},
                                  {"refused", 5},
                                  {"not-pe", 6},
                                  {"error", 7},
                                  {"commit", {{"now", 10}, {"after", 11}, {"saved", 12}}},
                                  {"saved", 13},
                                  {"freed", 14},
                                  {"excluded", 15},
                                  {"workers", nullptr},
                                  {"not_begun", 0}});
    CHECK(json["exit_status"] == 1);
}

TEST_CASE("report/json: what is of no concern is listed with -v alone, and -q is for people") {
    Summary summary;
    summary.files = {cuda_outcome("a.dll", Status::patched, 4096), other_outcome("b.dll", Status::not_pe)};
    summary.cleaned = {clean_outcome("c.dll.bak", SidecarKind::full, Action::none, Why::not_ours)};
    add_up(summary, false);
    ReportStyle style;
    CHECK(paths_in(document(summary, style)) == std::vector<std::string>{"a.dll"});
    style.quiet = true;
    CHECK(paths_in(document(summary, style)) == std::vector<std::string>{"a.dll"});
    style.quiet = false;
    style.verbose = true;
    CHECK(paths_in(document(summary, style)) == std::vector<std::string>{"a.dll", "b.dll", "c.dll.bak"});
}

TEST_CASE("report/json: the environment is an object") {
    Summary summary;
    summary.environment.emplace();
    summary.environment->prefix = "venv";
    summary.environment->chosen_by = "--env";
    summary.environment->passed_over = {"CONDA_PREFIX: not there"};
    summary.elsewhere = {"other"};
    Json expected{{"prefix", "venv"},
                  {"chosen_by", "--env"},
                  {"torch", nullptr},
                  {"passed_over", {"CONDA_PREFIX: not there"}},
                  {"nearby_with_cuda", {"other"}}};
    CHECK(document(summary)["environment"] == expected);
    summary.environment->torch = Torch{"1.12.1+cu113", "venv/torch/lib", true};
    expected["torch"] = {{"version", "1.12.1+cu113"}, {"lib", "venv/torch/lib"}, {"cuda", true}};
    CHECK(document(summary)["environment"] == expected);
}

TEST_CASE("report/json: odd names and words stay valid JSON in valid UTF-8, indented as one document") {
    Summary summary;
    std::vector<std::filesystem::path> names{u8"模型/é \"quoted\" \\.dll", "a\nb\t.dll", u8"\u202E\U0001F600.dll", ""};
    if constexpr (sizeof(std::filesystem::path::value_type) == 1) {
        names.emplace_back("a\xFF\xC3.dll");
    }
    for (const std::filesystem::path& name : names) {
        summary.files.push_back(other_outcome(name, Status::error));
        summary.files.back().error = Error(ErrorCode::io, "read: \xFF\"\n").at(name);
        summary.passed_over.push_back({name, SkipReason::not_regular_file});
        summary.orphans.push_back({name, true});
    }
    add_up(summary, false);
    const std::string text = text_of(summary);
    const Json json = Json::parse(text);
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(json["files"][i]["path"] == to_utf8(names[i]));
        CHECK(json["files"][i]["error"]["message"] == "read: \\xff\"\\n");
        CHECK(json["passed_over"][i]["path"] == to_utf8(names[i]));
        CHECK(json["orphans"][i] == to_utf8(names[i]));
    }
    // As one who dumps it whole would print it.
    CHECK(text == nlohmann::ordered_json::parse(text).dump(2) + "\n");
    CHECK(text_of({}) == nlohmann::ordered_json::parse(text_of({})).dump(2) + "\n");
}

TEST_CASE("report/json: it is written piece by piece, none longer than a file's object") {
    Summary summary;
    for (int i = 0; i < 1000; ++i) {
        summary.files.push_back(cuda_outcome("a.dll", Status::unpatched, 4096));
    }
    add_up(summary, false);
    std::size_t longest = 0;
    report_json(summary, {}, [&](std::string_view piece) { longest = std::max(longest, piece.size()); });
    CHECK(longest < 2048);
}

TEST_CASE("report/json: where the whole request failed there is a document all the same") {
    const Error error = Error(ErrorCode::no_match, "no Python environment", "name one").at("venv");
    CHECK(Json::parse(json_of_failure(to_string(Command::scan), error, ExitStatus::error)) ==
          Json{{"schema", 1},
               {"tool", "fixnvpe"},
               {"version", FIXNVPE_VERSION},
               {"command", "scan"},
               {"environment", nullptr},
               {"files", Json::array()},
               {"error",
                {{"code", "no-match"}, {"message", "no Python environment"}, {"hint", "name one"}, {"path", "venv"}}},
               {"exit_status", 2}});
    const Json usage = Json::parse(json_of_failure({}, Error(ErrorCode::usage, "no command"), ExitStatus::interrupted));
    CHECK(usage["command"] == nullptr);
    CHECK(usage["error"] == Json{{"code", "usage"}, {"message", "no command"}, {"path", nullptr}});
    CHECK(usage["exit_status"] == 130);
}

}  // namespace fixnvpe::test
