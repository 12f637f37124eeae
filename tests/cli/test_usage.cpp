// What the command line can say, and what is said of one that makes no sense.

#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
TEST_CASE("usage: measure takes a PID, or a command of its own behind --, and is for Windows") {
    const Session session;
    const auto error_of = [&](const std::vector<std::string>& words) {
        const nlohmann::json json = session.json(words);
        CHECK(json.at("command") == (json.at("error").at("code") == "usage" ? nlohmann::json() : "measure"));
        CHECK(json.at("exit_status") == 2);
        return json.at("error").at("message").get<std::string>();
    };
    const std::string exclude = "a COMMAND, and a PID or --watch, exclude each other";
    CHECK(session.fixnvpe({"measure", "1", "--", "x"}).err.starts_with("fixnvpe: " + exclude));
    CHECK(session.fixnvpe({"measure", "--watch", "--", "x"}).err.starts_with("fixnvpe: " + exclude));
    CHECK(error_of({"measure", "--watch"}) == "--watch and --json exclude each other");
    CHECK_FALSE(error_of({"measure", "train.py"}).empty());
    if (!program().windows) {
        const std::string elsewhere = "measure is for Windows: here memory that is not used costs nothing";
        CHECK(error_of({"measure"}) == elsewhere);
        CHECK(session.fixnvpe({"measure", "--", "true"}) == Output{2, "", "fixnvpe: " + elsewhere + "\n"});
    }
}

namespace {

using Words = std::vector<std::string>;

const std::string EXIT_STATUSES =
    "Exit status: 0 done, or nothing to do 1 verify found a file that needs patching 2 an error: usage, no match, or "
    "at "
    "least one file failed or was refused 130 interrupted";

/// How CLI11 sets the help, and where it breaks lines, is not ours to say.
std::string in_one_line(const std::string& text) {
    std::istringstream words(text);
    std::string result;
    for (std::string word; words >> word;) {
        const bool long_name = word.starts_with("--") && result.ends_with(",");  // "-n,  --dry-run", since CLI11 2.6
        result += (result.empty() || long_name ? "" : " ") + word;
    }
    return result;
}

const Words COMMON_OPTIONS{"--json Print one JSON document instead of text",
                           "-v,--verbose Also show what was passed over, and each changed field",
                           "-q,--quiet Show only what is a problem, and in one line what was changed",
                           "--color auto|always|never Colors; auto: on a terminal, unless NO_COLOR is set",
                           "--no-progress No progress line during long copies"};

const std::string UNPATCHED_A =
    "  unpatched  4.0 KiB  a.dll\n"
    "1 file: 1 unpatched\n"
    "to do: fixnvpe patch\n"
    "each process would commit up to 4.0 KiB less (16.0 KiB -> 12.0 KiB)\n";

const std::string PATCHED_A =
    "  patched  4.0 KiB  a.dll\n"
    "1 file: 1 patched\n"
    "1 file patched: each process commits up to 4.0 KiB less (16.0 KiB -> 12.0 KiB)\n"
    "the original is kept as a.dll.bak\n";

/// Nothing may have been touched by a command line that is refused.
void check_usage_error(const Words& words, const std::string& message, const std::string& hint) {
    const Session session;
    session.writable("a.dll");
    const Snapshot before = session.snapshot();
    Output output = session.fixnvpe(words);
    // Since 2.6 CLI11 names the command, too.
    if (const std::size_t named = output.err.find(": The following"); named != std::string::npos) {
        output.err.replace(0, named, "fixnvpe");
    }
    CHECK(output == Output{2, "", "fixnvpe: " + message + "\n  hint: " + hint + "\n"});
    CHECK(session.snapshot() == before);
}

}  // namespace

TEST_CASE("usage: --help goes to standard output, names every command and exit status, and succeeds") {
    const Session session;
    const Output output = session.fixnvpe({"--help"});
    CHECK(output.exit_status == 0);
    CHECK(output.err.empty());
    const std::string help = in_one_line(output.out);
    CHECK_THAT(help, contains("Makes CUDA DLLs stop eating the Windows page file"));
    CHECK_THAT(help, contains("patch Clear DYNAMIC_BASE, drop MEM_WRITE on .nv_fatb and __nv_rel, keep a backup"));
    CHECK_THAT(help, contains("verify Report each file's status; write nothing"));
    CHECK_THAT(help, contains("restore Put the originals back"));
    for (const std::string& option : COMMON_OPTIONS) {
        CHECK_THAT(help, contains(option));
    }
    CHECK_THAT(help, contains("--version "));
    CHECK_THAT(help, contains("`fixnvpe --input GLOB` means patch."));
    CHECK_THAT(help, contains(EXIT_STATUSES));
    CHECK(session.fixnvpe({"-h"}) == output);
}

TEST_CASE("usage: each command's --help names its options, examples and exit statuses") {
    const Session session;
    const auto check = [&](const std::string& command, Words expected) {
        INFO(command);
        const Output output = session.fixnvpe({command, "--help"});
        CHECK(output.exit_status == 0);
        CHECK(output.err.empty());
        const std::string help = in_one_line(output.out);
        expected.insert(expected.end(), COMMON_OPTIONS.begin(), COMMON_OPTIONS.end());
        expected.push_back("fixnvpe " + command + " [OPTIONS] [TARGET...]");
        expected.emplace_back(
            "TARGET ... A file, a folder (searched to the bottom for *.dll, *.pyd, *.node, *.exe, *.mexw64 and *.so) "
            "or a glob (*, ?, [...], **). None: all packages of the active Python environment");
        expected.emplace_back("--input GLOB Another way to give a target, as fixNvPe.py has it");
        expected.push_back("Examples: fixnvpe " + command);
        expected.push_back(EXIT_STATUSES);
        for (const std::string& words : expected) {
            CHECK_THAT(help, contains(words));
        }
        CHECK(session.fixnvpe({command, "-h"}) == output);
        CHECK(session.fixnvpe({"help", command}) == output);
    };
    check("patch", {"-n,--dry-run Say what would be done, write nothing", "--aslr auto|keep|clear auto (default): ",
                    "--backup full|undo|none full (default): ", "--skip-signed Leave signed files alone",
                    "-j,--jobs N Files worked on at once (default: 4)"});
    check("verify",
          {"--aslr auto|keep|clear Judge by this policy: auto (default), keep or clear; see fixnvpe patch --help",
           "--skip-signed Do not ask for signed files to be patched",
           "--require-backup A patched file without a valid backup fails, too"});
    check("restore", {"-n,--dry-run Say what would be done, write nothing", "--keep-backup Keep the backup"});
}

TEST_CASE("usage: --version says the version and what reads the headers") {
    const Session session;
    const Output output = session.fixnvpe({"--version"});
    CHECK(output.exit_status == 0);
    CHECK(output.err.empty());
    const std::string reader = program().windows ? "" : FIXNVPE_WITH_LIEF != 0 ? "LIEF " : "";
    CHECK_THAT(output.out, contains("fixnvpe " FIXNVPE_VERSION " (" + reader));
    CHECK(output.out.back() == '\n');
}

TEST_CASE("usage: without a command the help goes to standard error and fails") {
    const Session session;
    const std::string help = session.fixnvpe({"--help"}).out;
    CHECK(session.fixnvpe({}) == Output{2, "", help});
    CHECK(session.fixnvpe({"-v"}) == Output{2, "", help});
}

TEST_CASE("usage: a command line that makes no sense is refused with a hint, and nothing is touched") {
    check_usage_error({"frob", "a.dll"}, "there is no command \"frob\"",
                      "the commands are patch, verify, restore, scan, clean, measure, completion; to patch a file: "
                      "fixnvpe patch FILE");
    check_usage_error({"pacth", "a.dll"}, "there is no command \"pacth\"", "did you mean patch?");
    check_usage_error({"patch", "--frob", "a.dll"}, "The following argument was not expected: --frob",
                      "see fixnvpe patch --help");
    check_usage_error({"patch", "--dryrun", "a.dll"}, "The following argument was not expected: --dryrun",
                      "did you mean --dry-run?");
    check_usage_error({"verify", "--dry-run", "a.dll"}, "The following argument was not expected: --dry-run",
                      "see fixnvpe verify --help");
    check_usage_error({"restore", "--backup=undo", "a.dll"}, "The following argument was not expected: --backup=undo",
                      "see fixnvpe restore --help");
    check_usage_error({"verify", "-q", "-v", "a.dll"}, "--quiet and --verbose exclude each other",
                      "leave one of them out");
}

TEST_CASE("usage: an option's value that is none of its choices is refused with the choices") {
    const auto check = [](const std::string& command, const std::string& option, const std::string& value,
                          const std::string& choices) {
        check_usage_error({command, option + "=" + value, "a.dll"},
                          option + ": \"" + value + "\" is none of " + choices, "see fixnvpe " + command + " --help");
    };
    check("patch", "--aslr", "off", "auto|keep|clear");
    check("verify", "--aslr", "0", "auto|keep|clear");
    check("patch", "--aslr", "KEEP", "auto|keep|clear");
    check("patch", "--backup", "zip", "full|undo|none");
    check("restore", "--color", "yes", "auto|always|never");
}

TEST_CASE("usage: --jobs takes a number from 1 to 64") {
    const Session session;
    session.writable("a.dll");
    for (const std::string jobs : {"0", "65", "x", "-1", "1.5", "4294967297", ""}) {
        INFO(jobs);
        const Output output = session.fixnvpe({"patch", "--jobs=" + jobs, "a.dll"});
        CHECK(output.exit_status == 2);
        CHECK(output.out.empty());
        CHECK_THAT(output.err, contains("fixnvpe: --jobs: "));  // the rest is CLI11's, and differs between its versions
        CHECK_THAT(output.err, contains("\n  hint: see fixnvpe patch --help\n"));
    }
    CHECK(session.names() == "a.dll");
}

TEST_CASE("usage: an option that lacks its value is refused") {
    const Session session;
    session.writable("a.dll");
    for (const std::string option : {"--aslr", "--backup", "--jobs", "--input"}) {
        INFO(option);
        const Output output = session.fixnvpe({"patch", "a.dll", option});
        CHECK(output.exit_status == 2);
        CHECK(output.out.empty());
        CHECK_THAT(output.err, contains("fixnvpe: " + option + ": 1 required "));  // the rest is CLI11's
        CHECK_THAT(output.err, contains("\n  hint: see fixnvpe patch --help\n"));
    }
    CHECK(session.names() == "a.dll");
}

TEST_CASE("usage: --input without a command means patch, as fixNvPe.py had it") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"--input", "*.dll"}) == Output{0, PATCHED_A, ""});
    CHECK(session.names() == "a.dll a.dll.bak");

    const Session equals_sign;
    equals_sign.writable("a.dll");
    CHECK(equals_sign.fixnvpe({"--input=a.dll"}) == Output{0, PATCHED_A, ""});

    const Session options;
    options.writable("a.dll");
    CHECK(options.fixnvpe({"--input", "a.dll", "--backup", "none"}).exit_status == 0);
    CHECK(options.names() == "a.dll");
}

TEST_CASE("usage: --input gives a target to every command, beside the others") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"verify", "--input", "a.dll"}) == Output{1, UNPATCHED_A, ""});
    session.writable("b.dll");
    session.writable("c.dll");
    CHECK(session.fixnvpe({"verify", "--input", "a.dll", "c.dll", "--input", "b*"}) ==
          Output{1,
                 "  unpatched  4.0 KiB  a.dll\n"
                 "  unpatched  4.0 KiB  b.dll\n"
                 "  unpatched  4.0 KiB  c.dll\n"
                 "3 files: 3 unpatched\n"
                 "to do: fixnvpe patch\n"
                 "each process would commit up to 12.0 KiB less (48.0 KiB -> 36.0 KiB)\n",
                 ""});
}

TEST_CASE("usage: common options may stand before the command, and behind it") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"-q", "verify", "a.dll"}) == session.fixnvpe({"verify", "a.dll", "-q"}));
    CHECK(session.fixnvpe({"--json", "verify", "a.dll"}) == session.fixnvpe({"verify", "--json", "a.dll"}));
    CHECK(session.fixnvpe({"--color", "always", "verify", "a.dll"}) ==
          session.fixnvpe({"verify", "a.dll", "--color=always"}));
}

TEST_CASE("usage: a file whose name starts with a dash is a target behind --") {
    const Session session;
    session.writable("-n.dll");
    CHECK(session.fixnvpe({"verify", "--", "-n.dll"}) ==
          Output{1, "  unpatched  4.0 KiB  -n.dll\n" + UNPATCHED_A.substr(UNPATCHED_A.find("1 file")), ""});
}

TEST_CASE("usage: targets that match nothing are errors, and the others are worked on") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"verify", "nosuch.dll"}) ==
          Output{2, "", "fixnvpe: nosuch.dll: not found\n  hint: the current folder has no nosuch.dll\n"});
    CHECK(session.fixnvpe({"verify", "*.pyd"}) ==
          Output{2, "", "fixnvpe: *.pyd: no file matches\n  hint: the current folder has no *.pyd\n"});
    CHECK(session.fixnvpe({"restore", "lib/*.dll"}) ==
          Output{2, "", "fixnvpe: lib/*.dll: no file matches\n  hint: the current folder has no lib\n"});
    CHECK(session.fixnvpe({"patch", ""}) == Output{2, "", "fixnvpe: an empty TARGET\n"});
    std::filesystem::create_directory(session / "empty");
    CHECK(session.fixnvpe({"patch", "empty"}) ==
          Output{2, "", "fixnvpe: empty: no .dll, .pyd, .node, .exe, .mexw64 or .so file in this folder\n"});
    CHECK(session.fixnvpe({"patch", "nosuch.dll", "a.dll", "*.pyd"}) ==
          Output{2, PATCHED_A,
                 "fixnvpe: nosuch.dll: not found\n  hint: the current folder has no nosuch.dll\n"
                 "fixnvpe: *.pyd: no file matches\n  hint: the current folder has no *.pyd\n"});
}

TEST_CASE("usage: fixnvpe's own files are no targets") {
    const Session session;
    session.writable("a.dll");
    session.writable("a.dll.bak");
    session.writable("a.dll_bak");
    session.writable("a.dll.bak.1");
    for (const std::string name : {"a.dll.bak", "a.dll_bak", "a.dll.bak.1"}) {
        CHECK(
            session.fixnvpe({"verify", name}) ==
            Output{2, "",
                   "fixnvpe: " + name + ": this is one of fixnvpe's own files\n  hint: name the DLL itself: a.dll\n"});
    }
    CHECK(session.fixnvpe({"verify", "a*"}) == Output{1, UNPATCHED_A, ""});
}

TEST_CASE("usage: a file that is named several times is worked on once") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll", "./a.dll", "*.dll", "."}) == Output{0, PATCHED_A, ""});
}

TEST_CASE("usage: folders are walked to the bottom, for PE files by their extensions") {
    const Session session;
    session.writable("lib/a.dll");
    session.writable("lib/sub/deep/b.pyd");
    session.writable("lib/sub/c.node");
    session.writable("lib/sub/d.exe_");
    session.text("lib/readme.txt", "text");
    CHECK(session.fixnvpe({"verify", "lib"}) ==
          Output{1,
                 "lib\n  unpatched  4.0 KiB  a.dll\n"
                 "lib/sub\n  unpatched  4.0 KiB  c.node\n"
                 "lib/sub/deep\n  unpatched  4.0 KiB  b.pyd\n"
                 "3 files: 3 unpatched\n"
                 "to do: fixnvpe patch\n"
                 "each process would commit up to 12.0 KiB less (48.0 KiB -> 36.0 KiB)\n",
                 ""});
    CHECK(session.fixnvpe({"verify", "**/?.dll"}) == Output{1, "lib\n" + UNPATCHED_A, ""});
}

TEST_CASE("usage: -q shows only what is a problem, and in one line what was changed") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-no-fatbin.dll", "b.dll");
    session.fixture("x64-signed.dll", "c.dll");
    CHECK(session.fixnvpe({"verify", "-q", "."}) == Output{1,
                                                           ".\n"
                                                           "  unpatched  4.0 KiB  a.dll\n"
                                                           "  unpatched  4.0 KiB  c.dll  signed\n",
                                                           ""});
    CHECK(session.fixnvpe({"patch", "-q", "."}) ==
          Output{0, "2 files patched: each process commits up to 8.0 KiB less (40.0 KiB -> 32.0 KiB)\n", ""});
    CHECK(session.fixnvpe({"verify", "--quiet", "."}) == Output{0, "", ""});
    session.text("d.dll", "no PE file");
    CHECK(session.fixnvpe({"verify", "-q", "d.dll"}) ==
          Output{2, "  not-pe  d.dll\n", "fixnvpe: d.dll: read headers: not a PE file: no MZ signature\n"});
}

TEST_CASE("usage: -v also shows each changed field, and what was passed over") {
    const Session session;
    session.writable("a.dll");
    session.text("b.dll", "no PE file");
    const std::string version = session.fixnvpe({"--version"}).out;
    const std::string reader =
        "fixnvpe: reader: " + version.substr(version.find('(') + 1, version.find(')') - version.find('(') - 1) + "\n";
    const std::string edits =
        "    CheckSum at offset 0xd8: 0x00001e6d -> 0x00009e2c\n"
        "    DllCharacteristics at offset 0xde: 0x0160 -> 0x0120\n"
        "    Characteristics at offset 0x224: 0xc0000040 -> 0x40000040\n";
    CHECK(session.fixnvpe({"verify", "-v", "."}) == Output{1,
                                                           ".\n"
                                                           "  unpatched  4.0 KiB  a.dll\n" +
                                                               edits +
                                                               "  not-pe              b.dll\n"
                                                               "2 files: 1 unpatched, 1 not-pe\n" +
                                                               UNPATCHED_A.substr(UNPATCHED_A.find("to do")),
                                                           reader});
    CHECK(session.fixnvpe({"patch", "--verbose", "a.dll"}) ==
          Output{0, "  patched  4.0 KiB  a.dll\n" + edits + PATCHED_A.substr(PATCHED_A.find("1 file")), reader});
}

TEST_CASE("usage: colors come when asked for, and not into a pipe by themselves") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-patched.dll", "b.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    session.fixture("x64-force-integrity.dll", "d.dll");
    const std::string plain = session.fixnvpe({"verify", "."}).out;
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(session.fixnvpe({"verify", "--color", "never", "."}).out == plain);
    CHECK(session.fixnvpe({"verify", "--color", "auto", "."}).out == plain);
    const std::string colored =
        ".\n"
        "  \x1b[33munpatched\x1b[0m  4.0 KiB  a.dll\n"
        "  \x1b[32mpatched\x1b[0m             b.dll\n"
        "  \x1b[31mrefused\x1b[0m             d.dll  unpatched: FORCE_INTEGRITY is set: Windows would not load it with "
        "an invalid signature\n"
        "4 files: 1 unpatched, 1 patched, 1 no-fatbin (-v lists it), 1 refused\n"
        "to do: fixnvpe patch\n"
        "each process would commit up to 4.0 KiB less (52.0 KiB -> 48.0 KiB)\n";
    CHECK(session.fixnvpe({"verify", "--color", "always", "."}) == Output{1, colored, ""});
    // NO_COLOR takes back what "auto" does, and not what the user asks for.
    CHECK(session.fixnvpe({"verify", "--color", "always", "."}, {{"NO_COLOR", "1"}}) == Output{1, colored, ""});
    CHECK(session.fixnvpe({"verify", "."}, {{"NO_COLOR", "1"}}).out == plain);
}

}  // namespace fixnvpe::test
