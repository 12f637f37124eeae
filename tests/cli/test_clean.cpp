// Which of our own files go, and which stay.

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {

TEST_CASE("clean: keeps what restore could use, removes what no DLL needs any more") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    session.another_build("a.dll.bak.1");
    session.text("a.dll.fixnvpe-tmp", "left by a crash");
    session.text("b.dll.bak", "somebody's notes");
    const Snapshot before = session.snapshot();

    CHECK(session.told({"clean", "-n", "."}) ==
          "./a.dll.bak patched (usable); ./a.dll.bak.1 patched+would-remove (other-build); "
          "./a.dll.fixnvpe-tmp patched+would-remove (left-by-crash); exit 0");
    CHECK(session.snapshot() == before);
    const nlohmann::json cleaned = session.json({"clean", "."});
    CHECK(in_short(cleaned) ==
          "./a.dll.bak patched (usable); ./a.dll.bak.1 patched+removed (other-build); "
          "./a.dll.fixnvpe-tmp patched+removed (left-by-crash); exit 0");
    const auto freed = [&](std::size_t file) { return cleaned.at("files").at(file).at("freed").get<std::uint64_t>(); };
    CHECK(freed(0) == 0);
    CHECK(freed(1) > 0);
    CHECK(cleaned.at("summary").at("freed") == freed(1) + freed(2));
    CHECK(session.names() == "a.dll a.dll.bak b.dll.bak");
    CHECK(session.told({"clean", "."}) == "./a.dll.bak patched (usable); exit 0");
    CHECK(session.told({"clean", "--backups", "."}) == "./a.dll.bak patched+removed (usable); exit 0");
    CHECK(session.names() == "a.dll b.dll.bak");
    CHECK(session.fixnvpe({"verify", "a.dll"}).exit_status == 0);
}

TEST_CASE("clean: the only copy of a DLL that is gone goes with --backups alone") {
    const Session session;
    session.writable("a.dll.bak");
    CHECK(session.told({"clean", "."}) == "./a.dll.bak not-pe (dll-gone); exit 0");
    CHECK(session.names() == "a.dll.bak");
    CHECK(session.told({"clean", "--backups", "."}) == "./a.dll.bak not-pe+removed (dll-gone); exit 0");
    CHECK(session.names() == "");
}

TEST_CASE("clean: an undo file stays while an edit is broken off half way, and goes once nothing is left to undo") {
    constexpr std::size_t section_characteristics = 0x224;
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    CHECK(session.told({"clean", "a.dll"}) == "a.dll.fixnvpe-undo patched (usable); exit 0");
    const std::string undo = read_file(session / "a.dll.fixnvpe-undo");
    poke(session / "a.dll", section_characteristics + 3, 0xC0);
    CHECK(session.told({"clean", "a.dll"}) == "a.dll.fixnvpe-undo unpatched (half-done); exit 0");
    CHECK(session.told({"clean", "--backups", "a.dll"}) == "a.dll.fixnvpe-undo unpatched (half-done); exit 0");
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    write_file(session / "a.dll.fixnvpe-undo", undo);
    CHECK(session.told({"clean", "a.dll"}) == "a.dll.fixnvpe-undo unpatched+removed (nothing-to-undo); exit 0");
    CHECK(session.names() == "a.dll");
}

}  // namespace fixnvpe::test
