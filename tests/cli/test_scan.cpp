// What the DLLs cost, and what patching would save.

#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

const std::string OTHER_CAUSES =
    "; if WinError 1455 comes all the same, it has another cause:\n"
    "  - the page file is too small: let Windows manage its size, or give it more\n"
    "  - too many workers: each is a process of its own, so lower num_workers\n"
    "  - other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed\n";

}  // namespace

TEST_CASE("scan: the biggest saving first, and in words what to do; nothing is written") {
    const Session session;
    session.sample("lib");
    const Snapshot before = session.snapshot();
    const Output output = session.fixnvpe({"scan", "lib"});
    CHECK(output.exit_status == 0);
    CHECK(
        output.out ==
        "    SAVED        NOW      AFTER       CUDA  WRITABLE  ASLR  SIGNED  FILE\n"
        "987.0 MiB  987.0 MiB   12.0 KiB  987.0 MiB  yes       yes   no      lib/torch_cuda_cu.dll\n"
        "437.0 MiB  437.0 MiB   12.0 KiB  437.0 MiB  yes       yes   yes     lib/cudnn_cnn_infer64_8.dll\n"
        "303.0 MiB  303.0 MiB   12.0 KiB  303.0 MiB  yes       yes   yes     lib/cublasLt64_11.dll\n"
        "211.0 MiB  211.0 MiB   12.0 KiB  211.0 MiB  yes       yes   no      lib/torch_cuda_cpp.dll\n"
        " 84.0 MiB   84.0 MiB   12.0 KiB   84.0 MiB  yes       yes   yes     lib/cudnn_ops_infer64_8.dll\n"
        "      0 B   12.0 KiB   12.0 KiB  226.0 MiB  no        yes   no      lib/cusparse64_12.dll\n"
        "\n"
        "5 files that lose ASLR share the preferred base 0x180000000: in each process all but one are moved, and "
        "their pages with relocations become private memory:\n"
        "  4.0 KiB  lib/torch_cuda_cu.dll\n"
        "  4.0 KiB  lib/cudnn_cnn_infer64_8.dll\n"
        "  4.0 KiB  lib/cublasLt64_11.dll\n"
        "  4.0 KiB  lib/torch_cuda_cpp.dll\n"
        "  4.0 KiB  lib/cudnn_ops_infer64_8.dll\n"
        "\n"
        "7 files: 5 unpatched, 1 not-needed, 1 no-fatbin\n"
        "commit of each process: 2.0 GiB now, 80.0 KiB after patching; with 8 workers: 17.8 GiB now, 720.0 KiB after\n"
        "patch saves 2.0 GiB in each process, 17.8 GiB with 8 workers\n");
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"scan", "--workers", "3", "lib"})
              .out.ends_with("patch saves 2.0 GiB in each process, 7.9 GiB with 3 workers\n"));
    CHECK(session.json({"scan", "--workers", "3", "lib"})["summary"]["workers"] == 3);
}

TEST_CASE("scan: where there is nothing to gain, it says why, and what else brings WinError 1455") {
    const Session session;
    session.fixture("x64-read-only.dll", "a.dll");
    CHECK(session.fixnvpe({"scan", "a.dll"})
              .out.ends_with("these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain" + OTHER_CAUSES));
    session.fixture("x64-patched.dll", "a.dll");
    CHECK(session.fixnvpe({"scan", "a.dll"})
              .out.ends_with("these DLLs are patched: nothing more to gain" + OTHER_CAUSES));
    session.fixture("x64-no-fatbin.dll", "a.dll");
    CHECK(
        session.fixnvpe({"scan", "a.dll"}).out.ends_with("no CUDA code in these DLLs: nothing to gain" + OTHER_CAUSES));
}

}  // namespace fixnvpe::test
