// scan and clean, and environments without a target.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// A torch/lib of self-made files in the shape of torch 1.12.1+cu113.
void sample(const Session& session, const fs::path& where) {
    fs::create_directories(session / where.parent_path());
    fs::copy(fs::path(FIXNVPE_TESTDATA_DIR) / "sample" / "torch" / "lib", session / where, fs::copy_options::recursive);
}

const std::string OTHER_CAUSES =
    "; if WinError 1455 comes all the same, it has another cause:\n"
    "  - the page file is too small: let Windows manage its size, or give it more\n"
    "  - too many workers: each is a process of its own, so lower num_workers\n"
    "  - other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed\n";

}  // namespace

TEST_CASE("scan: the biggest saving first, and in words what to do; nothing is written") {
    const Session session;
    sample(session, "lib");
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

TEST_CASE("clean: keeps what restore could use, removes what no DLL needs any more") {
    const Session session;
    session.writable("a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    session.fixture("x64-odd-size.dll", "a.dll.bak.1");
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

TEST_CASE("environment: without a target, torch/lib of the active one, and it is said which") {
    const Session session;
    const fs::path packages = fs::path("venv") / "Lib" / "site-packages";
    sample(session, packages / "torch" / "lib");
    fs::create_directories(session / packages / "torch-1.12.1+cu113.dist-info");
    fs::create_directories(session / packages / "cupy");
    session.writable(packages / "cupy" / "core.pyd");
    const std::string prefix = (session / "venv").string();
    const std::map<std::string, std::string> active{{"VIRTUAL_ENV", prefix}, {"CONDA_PREFIX", ""}};

    const Output verified = session.fixnvpe({"verify"}, active);
    CHECK(verified.exit_status == 1);
    CHECK(verified.err.starts_with("fixnvpe: environment: " + with_slashes(prefix) +
                                   " (VIRTUAL_ENV), torch 1.12.1+cu113"));
    CHECK(session.fixnvpe({"verify", "--env", "venv"}).err.find("(--env), torch 1.12.1+cu113") != std::string::npos);

    CHECK(session.fixnvpe({"patch"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--require-backup"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 1);  // cupy's is not yet done
    CHECK(session.fixnvpe({"patch", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"restore", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 1);

    const Output both = session.fixnvpe({"verify", "--env", "venv", "a.dll"});
    CHECK(both == Output{2, "",
                         "fixnvpe: a TARGET and an environment (--env, --all) exclude each other\n"
                         "  hint: leave one of them out\n"});
    const Output none = session.fixnvpe({"verify", "--env", "nowhere"});
    CHECK(none.exit_status == 2);
    CHECK(none.err.find("nowhere") != std::string::npos);
}

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
    CHECK(read_file(session / "a.dll") == read_file(fs::path(FIXNVPE_TESTDATA_DIR) / "pe" / "x64-odd-size.dll"));
    CHECK(session.fixnvpe({"clean", "."}).exit_status == 0);
    CHECK(session.names() == "a.dll");
}

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
