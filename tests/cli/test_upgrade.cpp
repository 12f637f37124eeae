// What pip leaves after an upgrade: a new build beside the backup of the old one.

#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {
namespace fs = std::filesystem;
}

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

TEST_CASE("upgrade: an original that was moved aside is found again when its build is back") {
    const std::string original = read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-writable.dll");
    for (const std::string target : {"a.dll", "."}) {
        INFO(target);
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
        const std::string older = read_file(session / "a.dll");
        session.another_build("a.dll");
        REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
        REQUIRE(session.names() == "a.dll a.dll.bak a.dll.bak.1");
        write_file(session / "a.dll", older);
        const std::string name = target == "." ? "./a.dll" : "a.dll";
        CHECK(session.told({"clean", "-n", target}) ==
              name + ".bak patched+would-remove (other-build); " + name + ".bak.1 patched (usable); exit 0");
        CHECK(session.fixnvpe({"verify", "--require-backup", target}).exit_status == 1);  // under its own name only
        CHECK(session.told({"restore", "--keep-backup", target}) ==
              name + " unpatched+restored (stale-backup); exit 0");
        CHECK(session.names() == "a.dll a.dll.bak a.dll.bak.1");
        write_file(session / "a.dll", older);
        CHECK(session.told({"restore", target}) == name + " unpatched+restored (stale-backup); exit 0");
        CHECK((read_file(session / "a.dll") == original));
        CHECK(session.names() == "a.dll a.dll.bak");
    }
}

TEST_CASE("upgrade: an undo file that was moved aside is found again, too") {
    const std::string original = read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-writable.dll");
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    const std::string older = read_file(session / "a.dll");
    session.another_build("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    REQUIRE(session.names() == "a.dll a.dll.fixnvpe-undo a.dll.fixnvpe-undo.1");
    write_file(session / "a.dll", older);
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (stale-backup); exit 0");
    CHECK((read_file(session / "a.dll") == original));
    CHECK(session.names() == "a.dll a.dll.fixnvpe-undo");
}

TEST_CASE("upgrade: a backup that was moved aside is none where its body is another's") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    fs::rename(session / "a.dll.bak", session / "a.dll.bak.1");
    poke(session / "a.dll.bak.1", fs::file_size(session / "a.dll.bak.1") - 1, 0x5A);
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 2);
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
