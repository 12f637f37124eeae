// The completion scripts: what they say, and what real shells make of them.

#include "fixnvpe/ui/completion.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fixnvpe/ui/cli.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

/// Words with all that a shell could take for something else.
ProgramWords example() {
    const OptionWords color{"--color", "", "Colors", Takes::choice, "auto|always|never", {"auto", "always", "never"}};
    const OptionWords verbose{"--verbose", "-v", "Say more", Takes::nothing, "", {}};
    const OptionWords dry_run{"--dry-run", "-n", "Don't write: [not] `a` \"$HOME\" of C:\\x\\", Takes::nothing, "", {}};
    const OptionWords mode{"--mode", "", "The user's", Takes::choice, "gentle|rough", {"gentle", "rough"}};
    const OptionWords env{"--env", "", "Where", Takes::folder, "DIR", {}};
    const OptionWords input{"--input", "", "What", Takes::file, "GLOB", {}};
    const OptionWords jobs{"--jobs", "-j", "How many", Takes::other, "N", {}};
    const OptionWords target{"TARGET", "", "A file", Takes::file, "[TARGET...]", {}};
    const OptionWords shell{"SHELL", "", "Whose", Takes::choice, "SHELL", {"bash", "zsh"}};
    return {"An example",
            {color, verbose},
            {{"mend", "Don't break: [it] is C:\\x\\", {dry_run, mode, env, input, jobs}, {target}, ""},
             {"tell", "Tell", {verbose}, {shell}, ""}},
            ""};
}

std::string script_for(Shell shell) {
    return completion_script(shell, example());
}

}  // namespace

TEST_CASE("completion: each shell's script has every command, option and choice of the command line") {
    const ProgramWords program = program_words();
    REQUIRE(program.commands.size() >= 6);
    for (const auto& [shell, name] : names_of<Shell>) {
        const std::string script = completion_script(shell, program);
        const auto check = [&, &shell_name = name](const std::string& word) {
            INFO(shell_name);
            CHECK_THAT(script, contains(word));
        };
        for (const CommandWords& command : program.commands) {
            check(command.name);
            for (const OptionWords& option : command.options) {
                check(shell == Shell::fish ? "-l " + option.name.substr(2) : option.name);
                for (const std::string& choice : option.choices) {
                    check(choice);
                }
            }
        }
    }
}

TEST_CASE("completion: the command line's words say what each option takes") {
    const ProgramWords program = program_words();
    const CommandWords& patch = program.commands.front();
    REQUIRE(patch.name == "patch");
    const auto option = [&](const std::string& name) {
        const auto found = std::find_if(patch.options.begin(), patch.options.end(),
                                        [&](const OptionWords& words) { return words.name == name; });
        REQUIRE(found != patch.options.end());
        return *found;
    };
    CHECK(option("--aslr").choices == std::vector<std::string>{"auto", "keep", "clear"});
    CHECK(option("--aslr").takes == Takes::choice);
    CHECK(option("--dry-run").letter == "-n");
    CHECK(option("--dry-run").takes == Takes::nothing);
    CHECK(option("--env").takes == Takes::folder);
    CHECK(option("--input").takes == Takes::file);
    CHECK(option("--jobs").takes == Takes::other);
    REQUIRE(patch.operands.size() == 1);
    CHECK(patch.operands.front().takes == Takes::file);
    const CommandWords& completion = program.commands.back();
    REQUIRE(completion.operands.size() == 1);
    CHECK(completion.operands.front().choices == std::vector<std::string>{"bash", "zsh", "fish", "powershell"});
}

TEST_CASE("completion: help is quoted as each shell has it") {
    const std::string zsh = script_for(Shell::zsh);
    CHECK_THAT(zsh, contains(R"('mend:Don'\''t break\: [it] is C\:\\x\\')"));
    CHECK_THAT(zsh, contains(R"('(-n --dry-run)-n[Don'\''t write\: \[not\] `a` "$HOME" of C\:\\x\\]')"));
    CHECK_THAT(zsh, contains("'--mode=[The user'\\''s]:--mode:(gentle rough)'"));
    CHECK_THAT(zsh, contains("'(-j --jobs)-j+[How many]:N: '"));
    const std::string fish = script_for(Shell::fish);
    CHECK_THAT(fish, contains(R"(-s n -l dry-run -d 'Don\'t write: [not] `a` "$HOME" of C:\\x\\')"));
    CHECK_THAT(fish, contains(R"(-l mode -x -a 'gentle rough' -d 'The user\'s')"));
}

TEST_CASE("completion: PowerShell's script has a table of options and one of values") {
    const std::string script = script_for(Shell::powershell);
    CHECK_THAT(script, contains("'' = '--color -v --verbose'\n"));
    CHECK_THAT(script, contains("'mend' = '-n --dry-run --mode --env --input -j --jobs'\n"));
    CHECK_THAT(script, contains("'mend --mode' = 'gentle rough'\n"));
    CHECK_THAT(script, contains("' --color' = 'auto always never'\n"));
    CHECK_THAT(script, contains("'tell' = 'bash zsh'\n"));
    CHECK_THAT(script, contains("$folders = @('mend --env')\n"));
    CHECK_THAT(script, contains("$takesValue = '--color --env --input --jobs --mode -j' -split ' '\n"));
}

#if !defined(_WIN32)
namespace {

using Texts = std::set<std::string>;

/// What is typed behind "fixnvpe ", and all that the last word can become.
struct Completion {
    std::string typed;
    Texts expected;
};

/// In a folder that holds "a file.dll" and "folder".
const std::vector<Completion>& completions() {
    static const std::vector<Completion> completions{
        {"", {"mend", "tell"}},
        {"m", {"mend"}},
        {"--verb", {"--verbose"}},
        {"--color al", {"always"}},
        {"--color=n", {"--color=never"}},
        {"--color never t", {"tell"}},
        {"--color=never t", {"tell"}},
        {"-v m", {"mend"}},
        {"mend -", {"--dry-run", "--env", "--input", "--jobs", "--mode", "-j", "-n"}},
        {"mend --dr", {"--dry-run"}},
        {"mend --mo", {"--mode"}},
        {"mend --mode ", {"gentle", "rough"}},
        {"mend --mode r", {"rough"}},
        {"mend --mode=r", {"--mode=rough"}},
        {"mend -n --jobs 4 --mode g", {"gentle"}},
        {"mend -j ", {}},
        {"mend --env f", {"folder"}},
        {"mend --env a", {}},
        {"mend --input a", {"a file.dll"}},
        {"mend ", {"a file.dll", "folder"}},
        {"mend a", {"a file.dll"}},
        {"mend folder --mode g", {"gentle"}},
        {"mend -- --m", {}},
        {"tell ", {"bash", "zsh"}},
        {"tell z", {"zsh"}},
        {"tell --ve", {"--verbose"}},
    };
    return completions;
}

/// The script as "script" beside what completions() are about.
class ShellFolder {
public:
    explicit ShellFolder(Shell shell) {
        folder_.folder("work/folder");
        folder_.file("work/a file.dll");
        folder_.file("script", script_for(shell));
    }

    [[nodiscard]] ProcessResult run(const std::vector<std::string>& words) const {
        return run_process({.words = words, .folder = folder_ / "work", .environment = {{"HOME", folder_.path()}}});
    }
    /// Runs a script of this shell that prints lines.
    [[nodiscard]] std::vector<std::string> lines(std::vector<std::string> shell, const std::string& script) const {
        shell.push_back(folder_.file("test", script).string());
        const ProcessResult result = run(shell);
        CHECK(result.exit_status == 0);
        CHECK(result.err.empty());
        std::istringstream stream(result.out);
        std::vector<std::string> lines;
        for (std::string line; std::getline(stream, line);) {
            lines.push_back(line);
        }
        return lines;
    }

private:
    TempFolder folder_;
};

/// Folders without the slash that some shells put behind them.
std::string without_slash(const std::string& line) {
    return line.ends_with('/') ? line.substr(0, line.size() - 1) : line;
}

/// A test script that prints "= TYPED" and then what that can become, for all of completions().
void check_completions(const std::vector<std::string>& lines) {
    std::vector<Completion> seen;
    for (const std::string& line : lines) {
        if (line.starts_with("= ")) {
            seen.push_back({line.substr(2), {}});
        } else {
            REQUIRE(!seen.empty());
            seen.back().expected.insert(without_slash(line));
        }
    }
    REQUIRE(seen.size() == completions().size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        INFO(seen[i].typed);
        CHECK(seen[i].typed == completions()[i].typed);
        CHECK(seen[i].expected == completions()[i].expected);
    }
}

bool is_here(const ShellFolder& folder, const std::string& shell) {
    if (folder.run({shell, "-c", "exit 0"}).exit_status == 0) {
        return true;
    }
    WARN(shell << " is not here: its script was not run");
    return false;
}

}  // namespace

TEST_CASE("completion: bash completes as it should") {
    const ShellFolder folder(Shell::bash);
    REQUIRE(folder.run({"bash", "-n", "../script"}).err.empty());
    // Words as readline has them, and what it does itself when it is told to by compopt.
    std::string script = R"(source ../script
compopt() { case $* in *dirnames*) own=-d ;; *default*) own=-f ;; esac; }
try() {
    echo "= $1"
    local line=${1//=/ = } own='' start=''
    COMP_WORDS=(fixnvpe $line)
    [[ $1 == '' || $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    [[ ${1##* } == *=* ]] && start=${1##* } && start=${start%%=*}=
    _fixnvpe
    for word in "${COMPREPLY[@]}"; do printf "%s\n" "$start$word"; done
    [[ -z $own ]] || compgen $own -- "${COMP_WORDS[COMP_CWORD]}" || true
}
)";
    for (const Completion& completion : completions()) {
        script += "try '" + completion.typed + "'\n";
    }
    check_completions(folder.lines({"bash", "--norc"}, script));
    CHECK(folder.lines({"bash"}, "source ../script; complete -p fixnvpe") ==
          std::vector<std::string>{"complete -F _fixnvpe fixnvpe"});
}

TEST_CASE("completion: fish completes as it should") {
    const ShellFolder folder(Shell::fish);
    if (!is_here(folder, "fish")) {
        return;
    }
    std::string script = "source ../script\n";
    for (const Completion& completion : completions()) {
        script += "echo '= " + completion.typed + "'\n";
        script += "complete -C 'fixnvpe " + completion.typed + "' | string replace -r '\\t.*' ''\n";
    }
    check_completions(folder.lines({"fish", "--no-config"}, script + "true\n"));
}

TEST_CASE("completion: zsh completes as it should") {
    const ShellFolder folder(Shell::zsh);
    if (!is_here(folder, "zsh")) {
        return;
    }
    // A zsh at a terminal is given what a user would type, and runs what it made of that. Where more than one word
    // would do it asks, so only those are typed for which one does.
    std::string script = R"(zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -D -u; source ../script; fixnvpe() { print -r -- "$*" >>../said }'
)";
    std::vector<std::string> expected;
    for (const Completion& completion : completions()) {
        if (completion.expected.size() == 1) {
            script += "zpty -w shell $'fixnvpe " + completion.typed + "\\t'\n";
            const std::size_t last = completion.typed.rfind(' ');
            expected.push_back(completion.typed.substr(0, last == std::string::npos ? 0 : last + 1) +
                               *completion.expected.begin());
        }
    }
    script += "zpty -w shell exit\nwhile zpty -r shell shown; do :; done\ncat ../said\n";
    std::vector<std::string> said = folder.lines({"zsh", "-f"}, script);
    std::transform(said.begin(), said.end(), said.begin(), without_slash);
    CHECK(said == expected);
}
#endif

}  // namespace fixnvpe::test
