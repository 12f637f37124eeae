// --json: every key, its type, and that it says what the text says.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

const std::vector<std::string> STATUSES{"unpatched", "patched", "not-needed", "no-fatbin",
                                        "refused",   "not-pe",  "error"};
const Keys ACTIONS{"none", "patched", "would-patch", "restored", "would-restore", "removed", "would-remove"};
const Keys WARNINGS{"signed", "guard-cf-lost", "check-sum-impossible", "same-image-base"};
const Keys CODES{"no-match",
                 "not-found",
                 "missing",
                 "access-denied",
                 "not-regular-file",
                 "link",
                 "not-pe",
                 "truncated",
                 "malformed",
                 "readers-disagree",
                 "refused",
                 "busy",
                 "changed",
                 "disk-full",
                 "no-backup",
                 "stale-backup",
                 "bad-undo",
                 "verify-failed",
                 "io",
                 "interrupted",
                 "internal",
                 "usage"};

Keys keys_of(const Json& object) {
    Keys keys;
    for (const auto& [key, value] : object.items()) {
        keys.insert(key);
    }
    return keys;
}

/// A JSON whole number that is not negative; no text, no 1.0.
void check_number(const Json& object, const char* key) {
    INFO(key << " in " << object.dump());
    CHECK(object.at(key).is_number_unsigned());
}

void check_commit(const Json& commit) {
    CHECK(keys_of(commit) == Keys{"now", "after", "saved"});
    for (const char* key : {"now", "after", "saved"}) {
        check_number(commit, key);
    }
    CHECK(commit.at("now").get<std::uint64_t>() - commit.at("after").get<std::uint64_t>() == commit.at("saved"));
}

void check_error(const Json& error) {
    Keys keys = keys_of(error);
    keys.erase("hint");
    keys.erase("number");
    CHECK(keys == Keys{"code", "message"});
    CHECK((!error.contains("number") || error.at("number") > 0));
    CHECK(CODES.contains(error.at("code").get<std::string>()));
    CHECK_FALSE(error.at("message").get<std::string>().empty());
    CHECK((!error.contains("hint") || !error.at("hint").get<std::string>().empty()));
}

void check_file(const Json& file) {
    INFO(file.dump(2));
    Keys keys = keys_of(file);
    keys.erase("reason");
    CHECK(keys.erase("reason_code") == (file.contains("reason") ? 1U : 0U));
    keys.erase("error");
    keys.erase("split");
    CHECK(keys == Keys{"path", "status", "action", "package", "machine", "size", "image_base", "dynamic_base",
                       "high_entropy_va", "guard_cf", "signed", "fatbin", "data", "commit", "edits", "backup",
                       "warnings", "notes", "note_codes"});
    CHECK_FALSE(file.at("path").get<std::string>().empty());
    CHECK(std::count(STATUSES.begin(), STATUSES.end(), file.at("status").get<std::string>()) == 1);
    CHECK(ACTIONS.contains(file.at("action").get<std::string>()));
    CHECK((!file.contains("reason") || !file.at("reason").get<std::string>().empty()));
    const bool read = file.at("status") != "not-pe" && file.at("status") != "error";
    for (const char* key :
         {"machine", "size", "image_base", "dynamic_base", "high_entropy_va", "guard_cf", "signed", "commit"}) {
        INFO(key);
        CHECK(file.at(key).is_null() == !read);  // what is not known is null, and every key is there
    }
    if (read) {
        CHECK(file.at("machine").is_string());
        check_number(file, "size");
        check_number(file, "image_base");
        for (const char* key : {"dynamic_base", "high_entropy_va", "guard_cf", "signed"}) {
            CHECK(file.at(key).is_boolean());
        }
        check_commit(file.at("commit"));
    }
    CHECK(file.at("fatbin").is_array());
    for (const Json& fatbin : file.at("fatbin")) {
        CHECK(keys_of(fatbin) == Keys{"name", "virtual_size", "writable"});
        CHECK((fatbin.at("name") == ".nv_fatb" || fatbin.at("name") == "__nv_rel"));
        check_number(fatbin, "virtual_size");
        CHECK(fatbin.at("writable").is_boolean());
    }
    CHECK(file.at("edits").is_array());
    for (const Json& edit : file.at("edits")) {
        CHECK(keys_of(edit) == Keys{"field", "offset", "before", "after"});
        CHECK(Keys{"CheckSum", "DllCharacteristics", "Characteristics"}.contains(edit.at("field").get<std::string>()));
        for (const char* key : {"offset", "before", "after"}) {
            check_number(edit, key);
        }
        CHECK(edit.at("before") != edit.at("after"));
    }
    if (const Json& backup = file.at("backup"); !backup.is_null()) {
        CHECK(keys_of(backup) == Keys{"kind", "path", "state"});
        CHECK(Keys{"full", "undo", "legacy"}.contains(backup.at("kind").get<std::string>()));
        CHECK(Keys{"valid", "stale", "unusable"}.contains(backup.at("state").get<std::string>()));
        CHECK_FALSE(backup.at("path").get<std::string>().empty());
    }
    CHECK(file.at("warnings").is_array());
    for (const Json& warning : file.at("warnings")) {
        CHECK(WARNINGS.contains(warning.get<std::string>()));
    }
    CHECK(file.at("notes").is_array());
    for (const Json& note : file.at("notes")) {
        CHECK(note.is_string());
    }
    CHECK(file.contains("error") == (file.at("status") == "error" || file.contains("error")));
    if (file.contains("error")) {
        check_error(file.at("error"));
    }
}

/// Fails unless the document has exactly the keys of schema 1, each of its type, and adds up.
void check_schema(const Json& json, const std::string& command) {
    Keys keys = keys_of(json);
    CHECK(keys == Keys{"schema", "tool", "version", "command", "environment", "files", "passed_over", "orphans",
                       "scopes", "disk", "summary", "exit_status"});
    CHECK(json.at("schema").is_number_unsigned());
    CHECK(json.at("schema") == 1);
    CHECK(json.at("tool") == "fixnvpe");
    CHECK(json.at("version") == FIXNVPE_VERSION);
    CHECK(json.at("command") == command);
    check_number(json, "exit_status");
    REQUIRE(json.at("files").is_array());
    std::map<std::string, std::uint64_t> counts;
    std::map<Json, std::map<std::string, std::uint64_t>> commit;  // of the files of each machine
    for (const Json& file : json.at("files")) {
        check_file(file);
        const bool is_file = !file.contains("error") || file.at("error").at("code") != "no-match";
        counts[file.at("status").get<std::string>()] += is_file ? 1 : 0;
        if (!file.at("commit").is_null()) {
            for (const char* key : {"now", "after", "saved"}) {
                commit[file.at("machine")][key] += file.at("commit").at(key).get<std::uint64_t>();
            }
        }
    }
    const Json& summary = json.at("summary");
    Keys expected(STATUSES.begin(), STATUSES.end());
    expected.insert({"commit", "saved", "freed", "excluded", "workers", "not_begun"});
    CHECK(keys_of(summary) == expected);
    for (const std::string& status : STATUSES) {
        check_number(summary, status.c_str());
        if (status != "not-pe") {  // those that were only found are counted, and not listed
            INFO(status);
            CHECK(summary.at(status) == counts[status]);
        }
    }
    check_commit(summary.at("commit"));
    CHECK((commit.empty() || std::any_of(commit.begin(), commit.end(), [&](const auto& of_machine) {
               return summary.at("commit") == Json(of_machine.second);
           })));
    check_number(summary, "saved");
    check_number(summary, "freed");
    check_number(summary, "not_begun");
    CHECK(summary.at("workers").is_null());
}

const Json& file_named(const Json& json, const std::string& name) {
    for (const Json& file : json.at("files")) {
        const std::string path = with_slashes(file.at("path").get<std::string>());
        if (path == name || path == "./" + name) {
            return file;
        }
    }
    throw std::runtime_error("no file " + name + " in " + json.dump(2));
}

/// One of everything.
void fill(const Session& session) {
    for (const auto& file : std::filesystem::directory_iterator(std::string(FIXNVPE_TESTDATA_DIR) + "/pe")) {
        session.fixture(file.path().filename().string());
    }
    session.fixture("x64-odd-size.dll", "x86-writable.dll.bak");
    session.text("arm64-writable.dll.fixnvpe-undo", "hello");
    session.writable("x64-patched.dll_bak");
#if !defined(_WIN32)
    if (!program().windows) {
        session.writable("not-utf8-\xff\xfe.dll");
        session.writable("control-\x1b[31m\n.dll");
    }
#endif
    session.writable("\xe5\xba\x93.dll");
}

}  // namespace

TEST_CASE("json: each command prints one document of schema 1, whatever is among the files") {
    const Session session;
    fill(session);
    check_schema(session.json({"verify", "."}), "verify");
    check_schema(session.json({"verify", "-v", "."}), "verify");
    check_schema(session.json({"verify", "--aslr", "clear", "--require-backup", "."}), "verify");
    check_schema(session.json({"patch", "--dry-run", "."}), "patch");
    check_schema(session.json({"patch", "."}), "patch");
    check_schema(session.json({"patch", "."}), "patch");
    check_schema(session.json({"restore", "-n", "."}), "restore");
    check_schema(session.json({"restore", "."}), "restore");
    check_schema(session.json({"verify", "nosuch.dll", "x64-patched.dll", "*.xyz"}), "verify");
    check_schema(session.json({"verify", "-q", "."}), "verify");
}

TEST_CASE("json: the values are those of the file") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    const Json json = session.json({"patch", "a.dll"});
    check_schema(json, "patch");
    CHECK(json.at("exit_status") == 0);
    const Json& a = json.at("files").at(0);
    CHECK(a.at("path") == "a.dll");
    CHECK(a.at("status") == "patched");
    CHECK(a.at("action") == "patched");
    CHECK(a.at("machine") == "x64");
    CHECK(a.at("size") == std::filesystem::file_size(session / "a.dll"));
    CHECK(a.at("image_base") == 0x180000000);
    CHECK(a.at("dynamic_base") == false);
    CHECK(a.at("high_entropy_va") == true);
    CHECK(a.at("guard_cf") == false);
    CHECK(a.at("signed") == true);
    CHECK(a.at("fatbin") == Json::array({{{"name", ".nv_fatb"}, {"virtual_size", 528}, {"writable", false}}}));
    CHECK(a.at("commit") == Json{{"now", 16384}, {"after", 12288}, {"saved", 4096}});
    REQUIRE(a.at("edits").size() == 3);
    CHECK(a.at("edits").at(1) ==
          Json{{"field", "DllCharacteristics"}, {"offset", 0xDE}, {"before", 0x160}, {"after", 0x120}});
    CHECK(a.at("edits").at(2) ==
          Json{{"field", "Characteristics"}, {"offset", 0x224}, {"before", 0xC0000040U}, {"after", 0x40000040}});
    CHECK(a.at("backup") == Json{{"kind", "full"}, {"path", "a.dll.bak"}, {"state", "valid"}});
    CHECK(a.at("warnings") == Json::array({"signed"}));
    CHECK_FALSE(a.contains("error"));
}

TEST_CASE("json: errors, refusals and targets that match nothing are files with an error") {
    const Session session;
    fill(session);
    const Json json = session.json({"patch", ".", "nosuch.dll"});
    CHECK(json.at("exit_status") == 2);
    const Json& cut = file_named(json, "x64-truncated-headers.dll");
    CHECK(cut.at("status") == "error");
    CHECK(cut.at("error") ==
          Json{{"code", "truncated"},
               {"message", "read headers: the section table ends at byte 632, but the file has only 600 bytes"},
               {"hint", "the file is cut short: install it again"}});
    const Json& refused = file_named(json, "x64-force-integrity.dll");
    CHECK(refused.at("status") == "refused");
    CHECK(refused.at("reason") == "FORCE_INTEGRITY is set: Windows would not load it with an invalid signature");
    CHECK(refused.at("error").at("code") == "refused");
    const Json& damaged = file_named(json, "arm64-writable.dll");
    CHECK(damaged.at("status") == "unpatched");
    CHECK(damaged.at("error").at("code") == "bad-undo");
    CHECK(damaged.at("backup").at("state") == "unusable");
    const Json& nosuch = file_named(json, "nosuch.dll");
    CHECK(nosuch.at("status") == "error");
    CHECK(nosuch.at("error") ==
          Json{{"code", "no-match"}, {"message", "not found"}, {"hint", "the current folder has no nosuch.dll"}});
}

TEST_CASE("json: backups say their kind and state") {
    const Session session;
    fill(session);
    const Json json = session.json({"verify", "."});
    CHECK(file_named(json, "x86-writable.dll").at("backup").at("kind") == "full");
    CHECK(file_named(json, "x86-writable.dll").at("backup").at("state") == "stale");
    CHECK(file_named(json, "arm64-writable.dll").at("backup").at("kind") == "undo");
    CHECK(file_named(json, "x64-patched.dll").at("backup").at("kind") == "legacy");
    CHECK(file_named(json, "x64-writable.dll").at("backup").is_null());
}

TEST_CASE("json: text and JSON say the same of each file") {
    const std::vector<std::vector<std::string>> commands{
        {"verify", "-v"}, {"verify", "-v", "--aslr", "clear"}, {"patch", "-v", "-n"}, {"restore", "-v", "-n"}};
    const Session session;
    fill(session);
    REQUIRE(session.fixnvpe({"patch", "x64-writable.pyd", "x64-signed.dll"}).exit_status == 0);
    for (std::vector<std::string> words : commands) {
        INFO(words.front());
        words.emplace_back(".");
        const Json json = session.json(words);
        const Output text = session.fixnvpe(words);
        CHECK(text.exit_status == json.at("exit_status"));
        // Each file's line, and the lines of its edits, from the JSON's values.
        for (const Json& file : json.at("files")) {
            const std::string action = file.at("action").get<std::string>();
            const std::string head = action == "none" ? file.at("status").get<std::string>() : action;
            const std::string name = printable(file.at("path").get<std::string>().substr(2));
            INFO(file.dump(2) << "\nin\n" << text.out);
            std::string literal = std::regex_replace(name, std::regex(R"([^A-Za-z0-9])"), R"(\$&)");
            literal = std::regex_replace(literal, std::regex("\\\\\xEF\\\\\xBF\\\\\xBD"),
                                         "....");  // \xff: JSON has no such byte
            const std::regex row("(^|\n)  " + head + " ([^\n]* )?" + literal + "(  [^\n]*)?\n");
            std::smatch found;
            REQUIRE(std::regex_search(text.out, found, row));
            std::string line = found[3];
            auto at = static_cast<std::size_t>(found.position() + found.length());
            for (const Json& note : file.at("notes")) {
                if (!file.contains("error")) {
                    CHECK_THAT(line, contains(note.get<std::string>()));
                }
            }
            if (file.contains("reason")) {
                CHECK_THAT(file.contains("error") ? text.err : line, contains(file.at("reason").get<std::string>()));
            }
            for (const Json& edit : file.at("edits")) {
                line = text.out.substr(at, text.out.find('\n', at) - at);
                at = text.out.find('\n', at) + 1;
                CHECK_THAT(line, contains(fmt::format("{} at offset {:#x}: ", edit.at("field").get<std::string>(),
                                                      edit.at("offset").get<std::uint32_t>())));
                const int digits = edit.at("field") == "DllCharacteristics" ? 6 : 10;
                CHECK_THAT(line, contains(fmt::format(": {:#0{}x} -> {:#0{}x}", edit.at("before").get<std::uint32_t>(),
                                                      digits, edit.at("after").get<std::uint32_t>(), digits)));
            }
            if (file.contains("error") && head != "not-pe") {
                CHECK_THAT(text.err, contains(file.at("error").at("message").get<std::string>()));
            }
        }
        std::string counts;
        std::uint64_t total = 0;
        for (const std::string& status : STATUSES) {
            const auto n = json.at("summary").at(status).get<std::uint64_t>();
            total += n;
            counts += n == 0 ? "" : (counts.empty() ? "" : ", ") + std::to_string(n) + " " + status;
            counts += n > 1 && status == "error" ? "s" : "";
        }
        if (words.front() == "verify") {
            CHECK_THAT(text.out, contains("\n" + std::to_string(total) + " files: " + counts + "\n"));
        }
    }
}

#if !defined(_WIN32)
TEST_CASE("json: a name that is not UTF-8 makes no invalid document", "[posix]") {
    const Session session;
    session.writable(
        "a\xff\xfe"
        "b.dll");
    session.writable("c\x1b[31m\n\".dll");
    const ProcessResult result = session.run({.words = program().with({"verify", "--json", "."})});
    CHECK(result.exit_status == 1);
    const Json json = Json::parse(result.out);  // throws if it is not valid UTF-8
    check_schema(json, "verify");
    CHECK(json.at("files").at(0).at("path") ==
          "./a\xEF\xBF\xBD\xEF\xBF\xBD"
          "b.dll");
    CHECK(json.at("files").at(1).at("path") == "./c\x1b[31m\n\".dll");
    CHECK(result.out.find('\x1b') == std::string::npos);
    check_schema(session.json({"patch", "--backup", "undo", "."}), "patch");
    check_schema(session.json({"restore", "."}), "restore");
}
#endif

}  // namespace fixnvpe::test
