// The words of the command line, before CLI11 reads them.

#include "fixnvpe/ui/arguments.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"
#include "support/catch.hpp"
#include "support/error.hpp"

namespace fixnvpe::test {
namespace {

Grammar grammar() {
    Grammar grammar;
    grammar.commands = {"patch", "verify", "restore", "completion"};
    grammar.takes_files = [](std::string_view command) { return command != "completion"; };
    grammar.takes_value = [](std::string_view name) {
        return std::set<std::string_view>{"--input", "--env", "--color", "--jobs", "-j", "-w"}.contains(name);
    };
    return grammar;
}

std::vector<std::string> words_in(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

/// Words with blanks between them; "@" stands for the mark of a path.
std::string prepared(const std::string& line) {
    std::string result;
    for (const std::string& word : prepared_for_cli11(words_in(line), grammar())) {
        result += (result.empty() ? "" : " ") + word;
    }
    std::replace(result.begin(), result.end(), PATH_MARK, '@');
    return result;
}

bool has_json(const std::string& line) {
    return has_flag(words_in(line), "--json", grammar());
}

/// On Windows, where no name has a quotation mark.
std::string prepared_on_windows(const std::vector<std::string>& words) {
    Grammar windows = grammar();
    windows.quotes_in_names = false;
    try {
        std::string result;
        for (const std::string& word : prepared_for_cli11(words, windows)) {
            result += "[" + word + "]";
        }
        std::replace(result.begin(), result.end(), PATH_MARK, '@');
        return result;
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::usage);
        return describe(error);
    }
}

std::string failure(const std::string& line) {
    try {
        return "no error: " + prepared(line);
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::usage);
        return describe(error);
    }
}

struct Row {
    const char* given;
    const char* expected;
};

template <std::size_t N>
void check_rows(const Row (&rows)[N]) {
    for (const Row& row : rows) {
        INFO(row.given);
        CHECK(prepared(row.given) == row.expected);
    }
}

}  // namespace

TEST_CASE("arguments: the command comes first, wherever it stands, and its files are marked") {
    check_rows({
        {"", ""},
        {"verify", "verify"},
        {"verify a.dll", "verify @a.dll"},
        {"--json verify a.dll", "verify --json @a.dll"},
        {"--json -q verify -v a.dll b.dll", "verify --json -q -v @a.dll @b.dll"},
        {"verify verify", "verify @verify"},
        {"verify patch", "verify @patch"},
        {"--json", "--json"},
        {"completion bash", "completion bash"},
    });
}

TEST_CASE("arguments: an option's value is no command and no file") {
    check_rows({
        {"-j 4 patch a.dll", "patch -j 4 @a.dll"},
        {"--jobs patch verify a.dll", "verify --jobs patch @a.dll"},
        {"patch -nj 4 a.dll", "patch -nj 4 @a.dll"},
        {"patch -nj4 a.dll", "patch -nj4 @a.dll"},
        {"patch -j4 a.dll", "patch -j4 @a.dll"},
        {"patch -jn 4", "patch -jn @4"},  // -j has taken the n
        {"patch -jw 4", "patch -jw @4"},  // -j has taken the w
        {"patch -n 4", "patch -n @4"},
        {"--color always verify a.dll", "verify --color always @a.dll"},
        {"--color=always verify a.dll", "verify --color=always @a.dll"},
        {"verify --color", "verify --color"},
        {"verify --env", "verify --env"},
    });
}

TEST_CASE("arguments: --input without a command is patch, as fixNvPe.py has it") {
    check_rows({
        {"--input a.dll", "patch --input @a.dll"},
        {"--input=a.dll", "patch --input @a.dll"},
        {"--input=", "patch --input @"},
        {"--input verify", "patch --input @verify"},  // a file of this name
        {"--input a.dll b.dll", "patch --input @a.dll @b.dll"},
        {"--input a.dll verify", "verify --input @a.dll"},
        {"verify --input verify", "verify --input @verify"},
        {"--env venv verify", "verify --env @venv"},
        {"--env=venv verify", "verify --env @venv"},
    });
}

TEST_CASE("arguments: words in brackets, ++, - and what follows -- are files like any other") {
    check_rows({
        {"verify [a] [a,b] [] [[x]] ++ -", "verify @[a] @[a,b] @[] @[[x]] @++ @-"},
        {"verify --env [a]", "verify --env @[a]"},
        {"verify --input [a,b]", "verify --input @[a,b]"},
        {"verify -- --json -n -", "verify @--json @-n @-"},
        {"verify -- -- a", "verify @-- @a"},
        {"verify -v -- verify", "verify -v @verify"},
        {"verify --env --", "verify --env @--"},
    });
    CHECK(prepared_for_cli11({"verify", ""}, grammar()) ==
          std::vector<std::string>{"verify", std::string(1, PATH_MARK)});
}

TEST_CASE("arguments: help COMMAND is COMMAND --help, and --version is all that is looked at") {
    check_rows({
        {"help", "--help"},
        {"help patch", "patch --help"},
        {"help patch -v", "patch -v --help"},
        {"patch help", "patch @help"},
        {"patch --help", "patch --help"},
        {"--version", "--version"},
        {"verify --version a.dll", "--version"},
        {"verify --env --version", "verify --env @--version"},
        {"verify -- --version", "verify @--version"},
    });
}

TEST_CASE("arguments: a first word that is no command is told what it may have meant") {
    CHECK(failure("ptach a.dll") == "there is no command \"ptach\"\n  hint: did you mean patch?");
    CHECK(failure("--json vrify") == "there is no command \"vrify\"\n  hint: did you mean verify?");
    CHECK(failure("help ptach") == "there is no command \"ptach\"\n  hint: did you mean patch?");
    CHECK(failure("a.dll verify") ==
          "there is no command \"a.dll\"\n  hint: the commands are patch, verify, restore, "
          "completion; to patch a file: fixnvpe patch FILE");
}

TEST_CASE("arguments: a flag is given, unless it stands for a file or a value") {
    for (const char* line : {"--json", "verify --json", "verify --json a.dll", "--env x verify --json",
                             "--env=x --json", "nonsense --json", "verify -nj 4 --json"}) {
        INFO(line);
        CHECK(has_json(line));
    }
    for (const char* line : {"", "verify", "verify -- --json", "verify --env --json", "--input --json",
                             "verify --jsonx", "verify --json=1", "verify -j --json", "verify -nj --json", "json"}) {
        INFO(line);
        CHECK_FALSE(has_json(line));
    }
}

TEST_CASE("arguments: on Windows a path that swallowed what follows it is an error that says how to write it") {
    const std::string error =
        "there is a quotation mark in C:\\my files\\lib\" -n\n"
        "  hint: Windows takes \\\" for one: write the path without its last backslash: \"C:\\my files\\lib\"";
    const std::string swallowed = "C:\\my files\\lib\" -n";  // of "C:\my files\lib\" -n
    CHECK(prepared_on_windows({"patch", swallowed}) == error);
    CHECK(prepared_on_windows({"--input", swallowed}) == error);
    CHECK(prepared_on_windows({"verify", "--env=" + swallowed}) == error);
    CHECK(prepared_on_windows({"patch", "C:\\my files\\lib\""}) == "[patch][@C:\\my files\\lib\"]");
    CHECK(prepared_on_windows({"patch", "", "C:\\a"}) == "[patch][@][@C:\\a]");
    CHECK(prepared("patch a\"b") == "patch @a\"b");  // elsewhere it is a name
}

TEST_CASE("arguments: measure takes what stands behind -- for a command of its own") {
    const auto taken = [](std::vector<std::string> words) {
        const std::vector<std::string> command = take_command_of_measure(words, grammar());
        std::string text = std::to_string(words.size()) + ":";
        for (const std::string& word : command) {
            text += " " + word;
        }
        return text;
    };
    CHECK(taken({"measure", "--", "python", "--", "-n"}) == "1: python -- -n");
    CHECK(taken({"--json", "measure", "--", "x"}) == "2: x");
    CHECK(taken({"measure", "1234"}) == "2:");
    CHECK(taken({"patch", "--", "measure"}) == "3:");
    CHECK(taken({"--color", "measure", "--", "x"}) == "4:");  // there it is a value
    CHECK(taken({}) == "0:");
}

TEST_CASE("arguments: the nearest word is suggested, if two letters or fewer are wrong") {
    const std::vector<std::string> words{"patch", "verify", "clean", "--dry-run"};
    const std::vector<std::pair<std::string, std::string>> rows{
        {"patch", "patch"},
        {"patc", "patch"},
        {"pat", "patch"},
        {"pa", ""},
        {"ptach", "patch"},
        {"xpatchx", "patch"},
        {"xpatchxx", ""},
        {"patxh", "patch"},
        {"verfiy", "verify"},
        {"clear", "clean"},
        {"--dryrun", "--dry-run"},
        {"--drrun", "--dry-run"},
        {"--dr", ""},
        {"", ""},
        {"Patch", "patch"},
    };
    for (const auto& [word, meant] : rows) {
        INFO(word);
        CHECK(suggestion(word, words) == (meant.empty() ? "" : "did you mean " + meant + "?"));
    }
    CHECK(suggestion("patch", {}).empty());
}

}  // namespace fixnvpe::test
