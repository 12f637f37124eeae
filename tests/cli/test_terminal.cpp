// What a terminal shows: exactly, at three widths.

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
std::string shown(const Session& session, unsigned columns, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = program().with(arguments);
    if (columns != 0) {
        words.insert(words.begin(),
                     {"/usr/bin/python3", FIXNVPE_SOURCE_DIR "/tests/cli/on_terminal.py", std::to_string(columns)});
    }
    const ProcessResult result = session.run({.words = words});
    INFO(result.err);
    CHECK(result.exit_status <= 1);
    return result.out + result.err;
}

/// Messages, which are wrapped by the terminal.
bool is_message(const std::string& line) {
    return line.starts_with("fixnvpe: ") || line.starts_with("  hint: ");
}

/// Holds what COMMAND shows against testdata/screens/NAME.WIDTH.txt; with FIXNVPE_UPDATE_SCREENS in the environment
/// it is written there.
void check_screen(const Session& session, const std::string& name, unsigned columns, std::vector<std::string> command) {
    command.insert(command.end(), {"--color", "never", "--no-progress", "."});
    const std::string screen = shown(session, columns, command);
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
        CHECK((columns == 0 || is_message(line) || display_width(line) <= columns));
    }
}

}  // namespace

TEST_CASE("terminal: exactly what each command shows at 60, 80 and 200 columns, and in a pipe") {
    const unsigned columns = GENERATE(60U, 80U, 200U, 0U);
    const Session session;
    session.sample(LIB);
    check_screen(session, "verify", columns, {"verify"});
    check_screen(session, "scan", columns, {"scan"});
    check_screen(session, "patch", columns, {"patch"});
    check_screen(session, "verify-quiet", columns, {"verify", "--quiet"});
    // What pip leaves after an upgrade: a new build beside the backup of the old one.
    session.fixture("x64-odd-size.dll", LIB / "torch_cuda_cu.dll");
    check_screen(session, "patch-after-upgrade", columns, {"patch"});
    check_screen(session, "clean", columns, {"clean"});
    check_screen(session, "restore", columns, {"restore"});
}

TEST_CASE("terminal: colors are for terminals, unless they are asked for or NO_COLOR is set") {
    const Session session;
    session.writable("a.dll");
    const std::string yellow = "\x1b[33munpatched\x1b[0m      a.dll";
    CHECK_THAT(shown(session, 80, {"verify", "a.dll"}), contains(yellow));
    CHECK_THAT(shown(session, 0, {"verify", "--color", "always", "a.dll"}), contains(yellow));
    CHECK_THAT(shown(session, 0, {"verify", "a.dll"}), !contains("\x1b"));
    CHECK_THAT(session.fixnvpe({"verify", "a.dll"}, {{"NO_COLOR", "1"}}).out, !contains("\x1b"));
}

}  // namespace fixnvpe::test
