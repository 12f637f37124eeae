// Which of our own files go, and which stay.

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

    CHECK(session.fixnvpe({"clean", "-n", "."}).out.ends_with("2 files would be removed, 12.0 KiB freed\n"));
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"clean", "."}) == Output{0,
                                                    "kept           ./a.dll.bak  (restore could use it)\n"
                                                    "removed        ./a.dll.bak.1  (of another build; 8.0 KiB)\n"
                                                    "removed        ./a.dll.fixnvpe-tmp  (left by a crash; 4.0 KiB)\n"
                                                    "2 files removed, 12.0 KiB freed\n",
                                                    ""});
    CHECK(session.names() == "a.dll a.dll.bak b.dll.bak");
    CHECK(session.fixnvpe({"clean", "."}).out ==
          "kept           ./a.dll.bak  (restore could use it)\nnothing to remove\n");
    CHECK(
        session.fixnvpe({"clean", "--all", "."}) ==
        Output{0, "removed        ./a.dll.bak  (restore could use it; 8.0 KiB)\n1 file removed, 8.0 KiB freed\n", ""});
    CHECK(session.names() == "a.dll b.dll.bak");
    CHECK(session.fixnvpe({"verify", "a.dll"}).exit_status == 0);
}

TEST_CASE("clean: the only copy of a DLL that is gone goes with --all alone") {
    const Session session;
    session.writable("a.dll.bak");
    CHECK(session.fixnvpe({"clean", "."}).out ==
          "kept           ./a.dll.bak  (its DLL is gone: it may be the only copy)\nnothing to remove\n");
    CHECK(session.names() == "a.dll.bak");
    CHECK(session.fixnvpe({"clean", "--all", "."}).exit_status == 0);
    CHECK(session.names() == "");
}

TEST_CASE("clean: an undo file stays while an edit is broken off half way, and goes once nothing is left to undo") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"clean", "a.dll"}).out ==
          "kept           a.dll.fixnvpe-undo  (restore could use it)\nnothing to remove\n");
    const std::string undo = read_file(session / "a.dll.fixnvpe-undo");
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    write_file(session / "a.dll.fixnvpe-undo", undo);
    CHECK(session.fixnvpe({"clean", "a.dll"}).out ==
          "removed        a.dll.fixnvpe-undo  (nothing to undo; 4.0 KiB)\n1 file removed, 4.0 KiB freed\n");
    CHECK(session.names() == "a.dll");
}

}  // namespace fixnvpe::test
