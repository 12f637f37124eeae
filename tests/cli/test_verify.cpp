// What verify says of each kind of file, and that it writes nothing.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

const std::string SAVES = "4.0 KiB of commit to save in each process";
const std::string TO_DO =
    "to do: fixnvpe patch; each process would commit 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n";

const std::string FORCE_INTEGRITY = "FORCE_INTEGRITY is set: Windows would not load it with an invalid signature";
const std::string SHARED_PAGES = "SectionAlignment 512 is under 4096: its sections share pages";
const std::string BROKEN = "a section's raw data ends at byte 4096, but the file has only 4000: a broken download";

const std::string SIGNED_WARNING =
    "fixnvpe: warning: 1 file is signed, and patching makes its signature invalid\n"
    "  hint: Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed leaves "
    "signed "
    "files alone\n";

/// Verifies a fixture as a.dll. @param status and @param details as they stand on its line
void check_verify(const std::string& fixture, int exit_status, const std::string& status, const std::string& details,
                  const std::string& to_do = "", const std::string& err = "",
                  const std::vector<std::string>& options = {}) {
    INFO(fixture);
    const Session session;
    session.fixture(fixture, "a.dll");
    const Snapshot before = session.snapshot();
    std::vector<std::string> words{"verify", "a.dll"};
    words.insert(words.end(), options.begin(), options.end());
    const std::string line =
        status + std::string(15 - status.size(), ' ') + "a.dll" + (details.empty() ? "" : "  (" + details + ")") + "\n";
    CHECK(session.fixnvpe(words) == Output{exit_status, line + "1 file: 1 " + status + "\n" + to_do, err});
    CHECK(session.snapshot() == before);
}

}  // namespace

TEST_CASE("verify: unpatched fails and says what there is to gain") {
    for (const std::string fixture :
         {"x64-writable.dll", "x86-writable.dll", "arm64-writable.dll", "x64-writable.pyd", "x64-writable.node",
          "x64-writable-no-aslr.dll", "x64-two-fatbins-one-writable.dll", "x64-check-sum-wrong.dll",
          "x64-check-sum-zero.dll", "x64-odd-size.dll"}) {
        check_verify(fixture, 1, "unpatched", SAVES, TO_DO);
    }
    check_verify(
        "x64-two-fatbins.dll", 1, "unpatched", "8.0 KiB of commit to save in each process",
        "to do: fixnvpe patch; each process would commit 8.0 KiB less (72.0 KiB less with 8 DataLoader workers)\n");
}

TEST_CASE("verify: patched, not-needed and no-fatbin are fine") {
    check_verify("x64-patched.dll", 0, "patched", "");
    for (const std::string fixture :
         {"x64-read-only.dll", "x86-read-only.dll", "arm64-read-only.dll", "x64-signed-read-only.dll"}) {
        check_verify(fixture, 0, "not-needed", "");
    }
    for (const std::string fixture :
         {"x64-no-fatbin.dll", "x86-no-fatbin.dll", "arm64-no-fatbin.dll", "x64-look-alikes.dll"}) {
        check_verify(fixture, 0, "no-fatbin", "");
    }
}

TEST_CASE("verify: refused says why, and fails if it is unpatched, too") {
    check_verify("x64-force-integrity.dll", 1, "refused", "unpatched: " + FORCE_INTEGRITY);
    check_verify("x64-section-alignment-512.dll", 1, "refused", "unpatched: " + SHARED_PAGES);
    check_verify("x64-truncated-data.dll", 1, "refused", "unpatched: " + BROKEN);
    check_verify("x64-force-integrity-read-only.dll", 0, "refused", FORCE_INTEGRITY);
}

TEST_CASE("verify: warnings are said once on standard error, and shortly on the file's line") {
    check_verify("x64-signed.dll", 1, "unpatched", SAVES + "; signed", TO_DO, SIGNED_WARNING);
    check_verify("x86-signed.dll", 1, "unpatched", SAVES + "; signed", TO_DO, SIGNED_WARNING);
    check_verify("x64-guard-cf.dll", 1, "unpatched", SAVES + "; loses Control Flow Guard", TO_DO,
                 "fixnvpe: warning: 1 file loses Control Flow Guard together with ASLR\n"
                 "  hint: --aslr keep keeps both\n");
    check_verify("x64-check-sum-impossible.dll", 1, "unpatched", SAVES + "; CheckSum was wrong before, left alone",
                 TO_DO,
                 "fixnvpe: warning: 1 file has a CheckSum that can't be right, and keeps it\n"
                 "  hint: it was wrong before; Windows looks at it only for drivers\n");

    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    session.fixture("x86-signed.dll", "b.dll");
    session.fixture("x64-guard-cf.dll", "c.dll");
    session.fixture("x64-guard-cf.dll", "d.dll");
    session.fixture("x64-check-sum-impossible.dll", "e.dll");
    session.fixture("x64-check-sum-impossible.dll", "f.dll");
    CHECK(session.fixnvpe({"verify", "."}).err ==
          "fixnvpe: warning: 2 files are signed, and patching makes their signatures invalid\n"
          "  hint: Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed leaves "
          "signed files alone\n"
          "fixnvpe: warning: 2 files lose Control Flow Guard together with ASLR\n"
          "  hint: --aslr keep keeps both\n"
          "fixnvpe: warning: 2 files have a CheckSum that can't be right, and keep it\n"
          "  hint: it was wrong before; Windows looks at it only for drivers\n");
    CHECK(session.fixnvpe({"verify", "-q", "."}).err.empty());
}

TEST_CASE("verify: patched files that share their preferred base are warned of, x64 and x86 apart") {
    const Session session;
    session.fixture("x64-patched.dll", "a.dll");
    session.fixture("x64-patched.dll", "b.dll");
    const std::string lines = "patched        ./a.dll\npatched        ./b.dll\n";
    CHECK(
        session.fixnvpe({"verify", "."}) ==
        Output{0, lines + "2 files: 2 patched\n",
               "fixnvpe: warning: 2 files are patched and share their preferred base with one another\n"
               "  hint: in each process all but one are moved, which costs it the pages that hold relocations; --aslr "
               "keep avoids that\n"});
    PeSpec elsewhere = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_READ_ONLY);
    elsewhere.image_base = 0x190000000;
    elsewhere.dll_characteristics = 0;
    session.dll("b.dll", elsewhere);
    PeSpec other_machine = elsewhere;
    other_machine.machine = IMAGE_FILE_MACHINE_ARM64;
    session.dll("c.dll", other_machine);
    CHECK(session.fixnvpe({"verify", "."}) == Output{0, lines + "patched        ./c.dll\n3 files: 3 patched\n", ""});
}

TEST_CASE("verify: what is no PE file is an error when named, and passed over when found") {
    check_verify("not-pe.dll", 2, "not-pe", "", "", "fixnvpe: a.dll: read headers: not a PE file: no MZ signature\n");
    check_verify("empty.dll", 2, "not-pe", "", "",
                 "fixnvpe: a.dll: read headers: not a PE file: it is too short for the MZ signature\n");
    const Session session;
    session.fixture("not-pe.dll", "lib/a.dll");
    session.fixture("x64-patched.dll", "lib/b.dll");
    for (const std::string target : {"lib", "lib/*.dll"}) {
        CHECK(session.fixnvpe({"verify", target}) ==
              Output{0, "patched        lib/b.dll\n2 files: 1 patched, 1 not-pe\n", ""});
    }
    CHECK(session.fixnvpe({"verify", "lib", "-v"}).out ==
          "not-pe         lib/a.dll\npatched        lib/b.dll\n2 files: 1 patched, 1 not-pe\n");
}

TEST_CASE("verify: a file that can't be read is an error, and the others are looked at") {
    const std::string cut =
        "read headers: the section table ends at byte 632, but the file has only 600 bytes\n"
        "  hint: the file is cut short: install it again\n";
    check_verify("x64-truncated-headers.dll", 2, "error", "", "", "fixnvpe: a.dll: " + cut);
    const Session session;
    session.fixture("x64-truncated-headers.dll", "b.dll");
    session.writable("a.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    CHECK(session.fixnvpe({"verify", "."}) == Output{2,
                                                     "unpatched      ./a.dll  (" + SAVES +
                                                         ")\nerror          ./b.dll\nno-fatbin      ./c.dll\n"
                                                         "3 files: 1 unpatched, 1 no-fatbin, 1 error\n" +
                                                         TO_DO,
                                                     "fixnvpe: ./b.dll: " + cut});
}

TEST_CASE("verify: --aslr clear also asks for read-only files that have DYNAMIC_BASE") {
    check_verify("x64-read-only.dll", 1, "unpatched", "DYNAMIC_BASE is set", "", "", {"--aslr", "clear"});
    check_verify("x64-signed-read-only.dll", 1, "unpatched", "DYNAMIC_BASE is set; signed", "", SIGNED_WARNING,
                 {"--aslr", "clear"});
    check_verify("x64-force-integrity-read-only.dll", 1, "refused", "unpatched: " + FORCE_INTEGRITY, "", "",
                 {"--aslr", "clear"});
    check_verify("x64-no-fatbin.dll", 0, "no-fatbin", "", "", "", {"--aslr", "clear"});
    check_verify("x64-patched.dll", 0, "patched", "", "", "", {"--aslr", "clear"});
    check_verify("x64-writable.dll", 1, "unpatched", SAVES, TO_DO, "", {"--aslr", "clear"});
}

TEST_CASE("verify: --aslr keep asks for no more than the write flag") {
    check_verify("x64-writable.dll", 1, "unpatched", SAVES, TO_DO, "", {"--aslr", "keep"});
    check_verify("x64-read-only.dll", 0, "not-needed", "", "", "", {"--aslr", "keep"});
    check_verify("x64-guard-cf.dll", 1, "unpatched", SAVES, TO_DO, "", {"--aslr", "keep"});
}

TEST_CASE("verify: --skip-signed does not ask for signed files to be patched") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    const Output signed_alone = session.fixnvpe({"verify", "--skip-signed", "a.dll"});
    CHECK(signed_alone ==
          Output{0, "unpatched      a.dll  (" + SAVES + "; signed: skipped)\n1 file: 1 unpatched\n", ""});
    session.writable("b.dll");
    CHECK(session.fixnvpe({"verify", "--skip-signed", "."}) ==
          Output{1,
                 "unpatched      ./a.dll  (" + SAVES + "; signed: skipped)\nunpatched      ./b.dll  (" + SAVES +
                     ")\n"
                     "2 files: 2 unpatched\n" +
                     TO_DO,
                 ""});
}

TEST_CASE("verify: --require-backup fails for a patched file without a valid backup") {
    const Session session;
    session.fixture("x64-patched.dll", "a.dll");
    const std::string passes = "patched        a.dll\n1 file: 1 patched\n";
    const std::string fails = "patched        a.dll  (no valid backup)\n1 file: 1 patched\n";
    CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{0, passes, ""});
    CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) == Output{1, fails, ""});
    CHECK(session.fixnvpe({"verify", "--require-backup", "-q", "a.dll"}) ==
          Output{1, "patched        a.dll  (no valid backup)\n", ""});

    session.fixture("x64-odd-size.dll", "a.dll.bak");
    CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) ==
          Output{1, "patched        a.dll  (no valid backup; a.dll.bak belongs to another build)\n1 file: 1 patched\n",
                 ""});
    session.writable("a.dll.bak");
    CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) == Output{0, passes, ""});

    // What was never patched needs no backup.
    for (const std::string fixture : {"x64-read-only.dll", "x64-no-fatbin.dll"}) {
        session.fixture(fixture, "b.dll");
        CHECK(session.fixnvpe({"verify", "--require-backup", "b.dll"}).exit_status == 0);
    }
}

TEST_CASE("verify: a file patched with --aslr keep is told from one that was never writable by its backup") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--aslr", "keep", "a.dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{0, "patched        a.dll\n1 file: 1 patched\n", ""});
    std::filesystem::remove(session / "a.dll.bak");
    CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{0, "not-needed     a.dll\n1 file: 1 not-needed\n", ""});
}

TEST_CASE("verify: the sum is of all files, and of one main process beside the workers") {
    const Session session;
    session.sample("sample/torch/lib");
    const Snapshot before = session.snapshot();
    CHECK(
        session.fixnvpe({"verify", "sample"}) ==
        Output{
            1,
            "no-fatbin      sample/torch/lib/c10.dll\n"
            "unpatched      sample/torch/lib/cublasLt64_11.dll  (303.0 MiB of commit to save in each process; signed; "
            "loses Control Flow Guard)\n"
            "unpatched      sample/torch/lib/cudnn_cnn_infer64_8.dll  (437.0 MiB of commit to save in each process; "
            "signed)\n"
            "unpatched      sample/torch/lib/cudnn_ops_infer64_8.dll  (84.0 MiB of commit to save in each process; "
            "signed)\n"
            "not-needed     sample/torch/lib/cusparse64_12.dll\n"
            "unpatched      sample/torch/lib/torch_cuda_cpp.dll  (211.0 MiB of commit to save in each process)\n"
            "unpatched      sample/torch/lib/torch_cuda_cu.dll  (987.0 MiB of commit to save in each process)\n"
            "7 files: 5 unpatched, 1 not-needed, 1 no-fatbin\n"
            "to do: fixnvpe patch; each process would commit 2.0 GiB less (17.8 GiB less with 8 DataLoader workers)\n",
            "fixnvpe: warning: 3 files are signed, and patching makes their signatures invalid\n"
            "  hint: Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed "
            "leaves signed files alone\n"
            "fixnvpe: warning: 1 file loses Control Flow Guard together with ASLR\n"
            "  hint: --aslr keep keeps both\n"});
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
