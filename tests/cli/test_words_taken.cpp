// A word names a file, whatever it looks like to a shell, to CLI11 or as a glob: exactly that file is patched.

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

using Words = std::vector<std::string>;
using Names = std::set<std::string>;

const Words NASTY{
    // What CLI11 takes for a list, for its end or for an option.
    "[a]", "[a,b]", "[]", "[", "]", "[a", "a]", "[[a]]", "[backup]", "[x.dll]", "[a.dll,b.dll]", "['a']", "{x}",
    "{a,b}", "++", "+", "--", "-", "---", "-a", "--a", "--a=b", "-a b", "=", "a=b", "a,b", ",", "a;b", "%%", "@a",
    // What is one of our words.
    "patch", "verify", "restore", "clean", "completion", "help", "-n", "-q", "-j4", "--json", "--dry-run", "--input",
    "--input=a", "--env", "--backup", "--help", "--version",
    // What a shell or a glob takes for another name.
    "a b", " a", "a ", "a  b", "\"a", "a\"", "\"a\"", "'a", "a'", "'a'", "`a`", "a*", "*", "a?", "?", "**", "a**b",
    "[!a]", "[a-c]", "~", "~a", "%x%", "$x", "${x}", "$(a)", "!a", "#a", "a#b", "&a", "a&b", "a|b", "a>b", "<a", "(a)",
    "^a", "a^b",
    // What is special to a system or a terminal.
    "\\", "\\a", "a\\b", "\\n", "a\nb", "\n", "a\tb", "a\rb", "\x01",
    "\x01"
    "a",
    "\x1b[2J", "\x7f", "\xff", "a\xff", "\xe5\xba\x93", "...", "a.", ".a", "-.dll", "a.dll", "a.dll.txt",
    // Names of our own files.
    "a.bak", "a.dll.bak.1", "a_bak"};

bool windows_allows(const std::string& name) {
    const auto is_bad = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '\x7f' || c == '\xff' ||
               std::string("<>:\"/\\|?*").find(c) != std::string::npos;
    };
    return std::none_of(name.begin(), name.end(), is_bad) && name.back() != '.' && name.back() != ' ' &&
           name.front() != ' ';
}

bool is_own_file(const std::string& name) {
    return name.ends_with("bak") || name.ends_with("bak.1");
}

/// All names that it could be mistaken for.
Names decoys_of(const std::string& name) {
    Names decoys{"a", "b", "x", "backup"};
    std::string part;
    std::string letters;
    for (const char c : name + " ") {
        const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
        letters += letter ? std::string(1, c) : "";
        part = letter ? part + c : (decoys.insert(part), "");
    }
    decoys.insert({letters, name.substr(1), name.substr(0, name.size() - 1)});
    decoys.insert(name.size() > 2 ? name.substr(1, name.size() - 2) : "");
    for (const char any : {'*', '?'}) {
        std::string matched = name;
        std::replace(matched.begin(), matched.end(), any, 'b');
        decoys.insert(matched);
    }
    std::erase_if(decoys, [&](const std::string& decoy) {
        const bool no_name = decoy.empty() || decoy == "." || decoy == ".." || decoy == name;
        return no_name || is_own_file(decoy) || (program().windows && !windows_allows(decoy));
    });
    return decoys;
}

/// Files to be patched or spared, and an environment that would be patched if there were no TARGET.
class Place {
public:
    Place(const Names& names, const std::string& below) {
        for (const std::string& name : names) {
            files_.insert(name + below);
        }
        files_.insert({"venv/Lib/site-packages/torch/lib/torch_cuda.dll", "home/x.dll"});
        for (const std::string& file : files_) {
            session_.writable(file);
        }
    }

    Output run(const Words& words) const {
        return session_.fixnvpe(words, {{"VIRTUAL_ENV", "venv"}, {"HOME", (session_ / "home").string()}, {"x", "a"}});
    }

    /// What was patched since it was last asked.
    Names changed() const {
        Names result;
        for (const std::string& file : files_) {
            if (read_file(session_ / file) != original_) {
                result.insert(file);
                write_file(session_ / file, original_);
            }
        }
        return result;
    }

    bool has_no_other_files() const { return session_.snapshot().size() == files_.size(); }

private:
    Session session_;
    Names files_;
    std::string original_ = read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-writable.dll");
};

struct Way {
    const char* what;
    Words words;
};

std::vector<Way> ways_to_say(const std::string& name) {
    const auto patch = [](const Words& words) {
        Words result{"patch", "--backup", "none"};
        result.insert(result.end(), words.begin(), words.end());
        return result;
    };
    return {{"alone", patch({name})},
            {"behind --", patch({"--", name})},
            {"by --input", patch({"--input", name})},
            {"by --input=", patch({"--input=" + name})},
            {"with ./", patch({"./" + name})},
            {"by --input without a command", {"--backup", "none", "--input", name}}};
}

/// Says the name in all ways; under a runner, which takes long to start, in one of them by turns.
template <typename Check>
void say(std::size_t number, const std::string& name, Check check) {
    const std::vector<Way> ways = ways_to_say(name);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const bool option = i == 0 && name.size() > 1 && name.front() == '-';
        if (option || (!program().runner.empty() && i != number % ways.size())) {
            continue;
        }
        INFO(Catch::Detail::stringify(name) << ' ' << ways[i].what);
        check(ways[i].words);
    }
}

Words nasty() {
    Words names = NASTY;
    std::erase_if(names, [](const std::string& name) { return program().windows && !windows_allows(name); });
    return names;
}

void check_refused(const Output& output) {
    CHECK(output.exit_status == 2);
    CHECK(output.err.starts_with("fixnvpe: "));
}

}  // namespace

TEST_CASE("words taken: a file of any name is patched, and no other") {
    const Words names = nasty();
    for (std::size_t i = 0; i < names.size(); ++i) {
        Names files = decoys_of(names[i]);
        files.insert(names[i]);
        const Place place(files, "");
        say(i, names[i], [&](const Words& words) {
            const Output output = place.run(words);
            if (is_own_file(names[i])) {
                check_refused(output);
                CHECK(place.changed() == Names{});
            } else {
                CHECK(output.exit_status == 0);
                CHECK(output.err.empty());
                CHECK(place.changed() == Names{names[i]});
            }
        });
        CHECK(place.has_no_other_files());
    }
}

TEST_CASE("words taken: a folder of any name is walked, and no other") {
    const Words names = nasty();
    for (std::size_t i = 0; i < names.size(); ++i) {
        Names folders = decoys_of(names[i]);
        folders.insert(names[i]);
        const Place place(folders, "/lib/x.dll");
        say(i, names[i], [&](const Words& words) {
            CHECK(place.run(words).exit_status == 0);
            CHECK(place.changed() == Names{names[i] + "/lib/x.dll"});
        });
        CHECK(place.has_no_other_files());
    }
}

TEST_CASE("words taken: one that names nothing is an error, whatever it resembles") {
    const Words names = nasty();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].find_first_of("*?") != std::string::npos) {
            continue;
        }
        Names files = decoys_of(names[i]);
        // As a glob, "[ab]" is any of these letters.
        std::erase_if(files, [](const std::string& decoy) { return decoy.size() == 1; });
        const Place place(files, "");
        say(i, names[i], [&](const Words& words) {
            check_refused(place.run(words));
            CHECK(place.changed() == Names{});
        });
        CHECK(place.has_no_other_files());
    }
}

TEST_CASE("words taken: one that looks like an option is one, or an error") {
    for (const std::string& name : nasty()) {
        // What is an option does what it says.
        const bool known =
            std::set<std::string>{"--", "-n", "-q", "-j4", "--json", "--dry-run", "--help", "--version"}.contains(name);
        if (name.size() < 2 || name.front() != '-' || known) {
            continue;
        }
        INFO(name);
        Names files = decoys_of(name);
        files.insert(name);
        const Place place(files, "");
        const Output output = place.run({"patch", name});
        if (const Names changed = place.changed(); name == "--input=a") {
            CHECK(changed == Names{"a"});
        } else if (changed != Names{name}) {
            check_refused(output);
            CHECK(changed == Names{});
        }
    }
}

TEST_CASE("words taken: an empty one is an error, and not the active environment") {
    const Place place({"a"}, "");
    for (const Words& words : {Words{"patch", ""},
                               {"patch", "--", ""},
                               {"patch", "--input", ""},
                               {"patch", "--input="},
                               {"--input", ""},
                               {"patch", "", "--json"}}) {
        INFO(Catch::Detail::stringify(words));
        check_refused(place.run(words));
        CHECK(place.changed() == Names{});
    }
}

}  // namespace fixnvpe::test
