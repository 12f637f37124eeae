// Help, the nearest word, completion scripts.

#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
TEST_CASE("help: a command's help, the nearest word, and completion scripts") {
    const Session session;
    CHECK(session.fixnvpe({"help", "patch"}).out == session.fixnvpe({"patch", "--help"}).out);
    CHECK(session.fixnvpe({"ptach", "a.dll"}) ==
          Output{2, "", "fixnvpe: there is no command \"ptach\"\n  hint: did you mean patch?\n"});
    CHECK(session.fixnvpe({"patch", "--dryrun", "a.dll"}).err.ends_with("  hint: did you mean --dry-run?\n"));
    for (const std::string shell : {"bash", "powershell"}) {
        const Output script = session.fixnvpe({"completion", shell});
        CHECK(script.exit_status == 0);
        CHECK(script.out.find("--require-backup") != std::string::npos);
    }
    CHECK(session.fixnvpe({"completion", "tcsh"}).exit_status == 2);
}

}  // namespace fixnvpe::test
