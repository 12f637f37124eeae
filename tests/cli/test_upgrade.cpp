// What pip leaves after an upgrade: a new build beside the backup of the old one.

#include <filesystem>
#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
TEST_CASE("upgrade: after pip has put another build in place, patch moves the old backup aside and goes on") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    session.fixture("x64-odd-size.dll", "a.dll");  // pip leaves a.dll.bak behind
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 2);
    const Output patched = session.fixnvpe({"patch", "."});
    CHECK(patched.exit_status == 0);
    CHECK(patched.out.find("the backup of another build was moved to a.dll.bak.1") != std::string::npos);
    CHECK(session.names() == "a.dll a.dll.bak a.dll.bak.1");
    CHECK(session.fixnvpe({"restore", "."}).exit_status == 0);
    CHECK(read_file(session / "a.dll") ==
          read_file(std::filesystem::path(FIXNVPE_TESTDATA_DIR) / "pe" / "x64-odd-size.dll"));
    CHECK(session.fixnvpe({"clean", "."}).exit_status == 0);
    CHECK(session.names() == "a.dll");
}

}  // namespace fixnvpe::test
