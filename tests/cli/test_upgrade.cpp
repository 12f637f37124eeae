// What pip leaves after an upgrade: a new build beside the backup of the old one.

#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
TEST_CASE("upgrade: after pip has put another build in place, patch moves the old backup aside and goes on") {
    const std::string pe = std::string(FIXNVPE_TESTDATA_DIR) + "/pe/";
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    const std::string newer = read_file(session.another_build("a.dll"));  // pip leaves a.dll.bak behind
    CHECK(session.told({"verify", "."}) == "./a.dll unpatched (stale-backup); saves 4096; exit 1");
    CHECK(session.told({"restore", "."}) == "./a.dll unpatched (stale-backup); exit 0");
    CHECK(read_file(session / "a.dll") == newer);
    CHECK(session.told({"patch", "."}) == "./a.dll patched+patched (moved-aside); saves 4096; exit 0");
    CHECK(session.names() == "a.dll a.dll.bak a.dll.bak.1");
    CHECK(session.told({"verify", "--require-backup", "."}) == "./a.dll patched; exit 0");
    CHECK(session.told({"restore", "."}) == "./a.dll unpatched+restored; exit 0");
    CHECK(read_file(session / "a.dll") == newer);
    CHECK(read_file(session / "a.dll.bak.1") == read_file(pe + "x64-writable.dll"));
    CHECK(session.told({"clean", "."}) == "./a.dll.bak.1 unpatched+removed (other-build); exit 0");
    CHECK(session.names() == "a.dll");
}

}  // namespace fixnvpe::test
