// What a terminal shows: exactly, at four widths.

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// In a folder whose name is two columns a letter.
const fs::path LIB = fs::path("环境") / "Lib" / "site-packages" / "torch" / "lib";

/// @param columns the width of the terminal; 0: a pipe instead
std::string shown(const Session& session, unsigned columns, const std::vector<std::string>& arguments,
                  const std::string& locale = "C.UTF-8") {
    std::vector<std::string> words = program().with(arguments);
    if (columns != 0) {
        words.insert(words.begin(),
                     {"/usr/bin/python3", FIXNVPE_SOURCE_DIR "/tests/cli/on_terminal.py", std::to_string(columns)});
    }
    const ProcessResult result = session.run({.words = words, .environment = {{"LC_ALL", locale}}});
    INFO(result.err);
    CHECK(result.exit_status <= 2);
    return result.out + result.err;
}

/// Without -v's line that names LIEF's version.
std::string without_reader(std::string screen) {
    const std::size_t line = screen.find("fixnvpe: reader: ");
    return line == std::string::npos ? screen : screen.erase(line, screen.find('\n', line) + 1 - line);
}

/// Holds what COMMAND shows against testdata/screens/NAME.WIDTH.txt; with FIXNVPE_UPDATE_SCREENS in the environment
/// it is written there.
void check_screen(const Session& session, const std::string& name, unsigned columns, std::vector<std::string> command,
                  const std::string& locale = "C.UTF-8") {
    command.insert(command.end(), {"--color", "never", "--no-progress", "."});
    const std::string screen = without_reader(shown(session, columns, command, locale));
    const std::string file = name + "." + (columns == 0 ? "pipe" : std::to_string(columns)) + ".txt";
    const fs::path path = fs::path(FIXNVPE_TESTDATA_DIR) / "screens" / file;
    if (std::getenv("FIXNVPE_UPDATE_SCREENS") != nullptr) {
        write_file(path, screen);
    }
    INFO(path.string());
    CHECK(screen == (fs::exists(path) ? read_file(path) : "(there is no such file)"));

    std::istringstream lines(screen);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK((columns == 0 || display_width(line) <= columns));
    }
}

}  // namespace

TEST_CASE("terminal: exactly what each command shows at 60, 80, 100 and 200 columns, and in a pipe") {
    const unsigned columns = GENERATE(60U, 80U, 100U, 200U, 0U);
    const Session session;
    session.sample(LIB);
    check_screen(session, "verify", columns, {"verify"});
    check_screen(session, "scan", columns, {"scan"});
    check_screen(session, "scan-ascii", columns, {"scan", "--workers", "8"}, "C");
    check_screen(session, "patch", columns, {"patch", "--workers", "8"});
    check_screen(session, "verify-quiet", columns, {"verify", "--quiet"});
    // What pip leaves after an upgrade: a new build beside the backup of the old one.
    session.another_build(LIB / "torch_cuda_cu.dll");
    check_screen(session, "patch-after-upgrade", columns, {"patch"});
    check_screen(session, "clean", columns, {"clean"});
    check_screen(session, "restore", columns, {"restore"});
}

TEST_CASE("terminal: exactly what is said of files that are refused, damaged, linked, half done or without their DLL") {
    const unsigned columns = GENERATE(60U, 80U, 100U, 200U, 0U);
    const Session session;
    session.writable("half-done.dll");
    session.fixture("x64-writable-no-aslr.dll", "other-undo.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "."}).exit_status == 0);
    constexpr std::size_t section_characteristics = 0x224;
    poke(session / "half-done.dll", section_characteristics + 3, 0xC0);
    session.fixture("x64-odd-size.dll", "other-undo.dll");
    session.fixture("x64-section-alignment-512.dll", "alignment.dll");
    session.fixture("x64-truncated-data.dll", "broken.dll");
    session.fixture("x64-truncated-headers.dll", "cut.dll");
    session.fixture("x64-check-sum-impossible.dll", "check-sum.dll");
    session.fixture("x64-force-integrity.dll", "integrity.dll");
    session.fixture("x64-patched.dll", "no-backup.dll");
    session.text("notes.dll", "no PE file");
    session.fixture("x64-odd-size.dll", "other-legacy.dll_bak");
    session.writable("other-legacy.dll");
    session.writable("damaged-undo.dll");
    session.text("damaged-undo.dll.fixnvpe-undo", "hello");
    session.writable("foreign-backup.dll");
    session.text("foreign-backup.dll.bak", "my notes");
    session.fixture("x64-read-only.dll", "leftover.dll");
    session.text("leftover.dll.fixnvpe-tmp", "half a copy");
    session.writable("missing.dll.bak");
    session.text("missing.dll.fixnvpe-tmp", "half a copy");
    session.writable("uninstalled.dll.bak");
    session.writable("found-by-its-link-alone");
    fs::create_symlink("found-by-its-link-alone", session / "link.dll");
    fs::create_symlink("nowhere", session / "dangling.dll");
    check_screen(session, "verify-trouble", columns, {"verify", "--verbose", "--require-backup"});
    check_screen(session, "scan-trouble", columns, {"scan", "--verbose"});
    check_screen(session, "clean-trouble", columns, {"clean", "--dry-run", "--verbose"});
    check_screen(session, "patch-trouble-dry", columns, {"patch", "--dry-run"});
    check_screen(session, "patch-trouble", columns, {"patch"});
    check_screen(session, "restore-trouble", columns, {"restore"});
    check_screen(session, "clean-trouble-all", columns, {"clean", "--backups"});
}

TEST_CASE("terminal: colors are for terminals, unless they are asked for or NO_COLOR is set") {
    const Session session;
    session.writable("a.dll");
    const std::string yellow = "  \x1b[33munpatched\x1b[0m  4.0 KiB  a.dll";
    CHECK_THAT(shown(session, 80, {"verify", "a.dll"}), contains(yellow));
    CHECK_THAT(shown(session, 0, {"verify", "--color", "always", "a.dll"}), contains(yellow));
    CHECK_THAT(shown(session, 0, {"verify", "a.dll"}), !contains("\x1b"));
    CHECK_THAT(session.fixnvpe({"verify", "a.dll"}, {{"NO_COLOR", "1"}}).out, !contains("\x1b"));
}

TEST_CASE("terminal: what can be copied, a path or a command, is whole at any width") {
    const Session session;
    const fs::path folder = "a folder of a name that is longer than many a terminal is wide";
    session.fixture("x64-truncated-headers.dll", folder / "cut.dll");
    session.writable(folder / "gone.dll.bak");
    const std::string screen = shown(session, 40, {"verify", "--color", "never", "."});
    CHECK_THAT(screen, contains("./" + folder.string() + "\n"));
    CHECK_THAT(screen, contains("fixnvpe: ./" + (folder / "cut.dll").string() + ":\n"));
    CHECK_THAT(screen, contains("./" + (folder / "gone.dll").string()));
}

}  // namespace fixnvpe::test
