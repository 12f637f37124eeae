// What verify says of each kind of file, and that it writes nothing.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

/// Verifies a fixture as a.dll. @param told what is told of it behind its name
void check_verify(const std::string& fixture, const std::string& told, const std::vector<std::string>& options = {}) {
    INFO(fixture);
    const Session session;
    session.fixture(fixture, "a.dll");
    const Snapshot before = session.snapshot();
    std::vector<std::string> words{"verify", "a.dll"};
    words.insert(words.end(), options.begin(), options.end());
    CHECK(session.told(words) == "a.dll " + told);
    CHECK(session.snapshot() == before);
}

}  // namespace

TEST_CASE("verify: unpatched fails and says what there is to gain") {
    for (const std::string fixture :
         {"x64-writable.dll", "x86-writable.dll", "arm64-writable.dll", "x64-writable.pyd", "x64-writable.node",
          "x64-writable-no-aslr.dll", "x64-two-fatbins-one-writable.dll", "x64-check-sum-wrong.dll",
          "x64-check-sum-zero.dll", "x64-odd-size.dll"}) {
        check_verify(fixture, "unpatched; saves 4096; exit 1");
    }
    check_verify("x64-two-fatbins.dll", "unpatched; saves 8192; exit 1");
}

TEST_CASE("verify: patched, not-needed and no-fatbin are fine") {
    check_verify("x64-patched.dll", "patched; exit 0");
    for (const std::string fixture :
         {"x64-read-only.dll", "x86-read-only.dll", "arm64-read-only.dll", "x64-signed-read-only.dll"}) {
        check_verify(fixture, "not-needed; exit 0");
    }
    for (const std::string fixture :
         {"x64-no-fatbin.dll", "x86-no-fatbin.dll", "arm64-no-fatbin.dll", "x64-look-alikes.dll"}) {
        check_verify(fixture, "no-fatbin; exit 0");
    }
}

TEST_CASE("verify: refused says why, and fails if it is unpatched, too") {
    check_verify("x64-force-integrity.dll", "refused (force-integrity); exit 1");
    check_verify("x64-section-alignment-512.dll", "refused (section-alignment); exit 1");
    check_verify("x64-truncated-data.dll", "refused (raw-data-past-end); exit 1");
    check_verify("x64-force-integrity-read-only.dll", "refused (force-integrity); exit 0");
}

TEST_CASE(
    "verify: what patching would do to signature, Control Flow Guard and CheckSum is warned of, but not with -q") {
    check_verify("x64-signed.dll", "unpatched (signed); saves 4096; exit 1");
    check_verify("x86-signed.dll", "unpatched (signed); saves 4096; exit 1");
    check_verify("x64-guard-cf.dll", "unpatched (guard-cf-lost); saves 4096; exit 1");
    check_verify("x64-check-sum-impossible.dll", "unpatched (check-sum-impossible); saves 4096; exit 1");

    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    CHECK(session.fixnvpe({"verify", "a.dll"}).err.starts_with("fixnvpe: warning: 1 file is signed"));
    CHECK(session.fixnvpe({"verify", "-q", "a.dll"}).err.empty());
}

TEST_CASE("verify: patched files that share their preferred base are warned of, x64 and x86 apart") {
    const Session session;
    session.fixture("x64-patched.dll", "a.dll");
    session.fixture("x64-patched.dll", "b.dll");
    CHECK(session.told({"verify", "."}) ==
          "./a.dll patched (same-image-base); ./b.dll patched (same-image-base); exit 0");
    PeSpec elsewhere = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_READ_ONLY);
    elsewhere.image_base = 0x190000000;
    elsewhere.dll_characteristics = 0;
    session.dll("b.dll", elsewhere);
    PeSpec other_machine = elsewhere;
    other_machine.machine = IMAGE_FILE_MACHINE_ARM64;
    session.dll("c.dll", other_machine);
    CHECK(session.told({"verify", "."}) == "./a.dll patched; ./b.dll patched; ./c.dll patched; exit 0");
}

TEST_CASE("verify: what is no PE file is an error when named, and passed over when found") {
    check_verify("not-pe.dll", "not-pe !not-pe; exit 2");
    check_verify("empty.dll", "not-pe !not-pe; exit 2");
    const Session session;
    session.fixture("not-pe.dll", "lib/a.dll");
    session.fixture("x64-patched.dll", "lib/b.dll");
    for (const std::string target : {"lib", "lib/*.dll"}) {
        CHECK(session.told({"verify", target}) == "lib/b.dll patched; exit 0");
        CHECK(session.json({"verify", target}).at("summary").at("not-pe") == 1);
    }
    CHECK(session.told({"verify", "lib", "-v"}) == "lib/a.dll not-pe; lib/b.dll patched; exit 0");
}

TEST_CASE("verify: a file that can't be read is an error, and the others are looked at") {
    check_verify("x64-truncated-headers.dll", "error !truncated; exit 2");
    const Session session;
    session.fixture("x64-truncated-headers.dll", "b.dll");
    session.writable("a.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    CHECK(session.told({"verify", "."}) ==
          "./a.dll unpatched; ./b.dll error !truncated; ./c.dll no-fatbin; saves 4096; exit 2");
}

TEST_CASE("verify: --aslr clear also asks for read-only files that have DYNAMIC_BASE") {
    const std::vector<std::string> clear{"--aslr", "clear"};
    check_verify("x64-read-only.dll", "unpatched; exit 1", clear);
    check_verify("x64-signed-read-only.dll", "unpatched (signed); exit 1", clear);
    check_verify("x64-force-integrity-read-only.dll", "refused (force-integrity); exit 1", clear);
    check_verify("x64-no-fatbin.dll", "no-fatbin; exit 0", clear);
    check_verify("x64-patched.dll", "patched; exit 0", clear);
    check_verify("x64-writable.dll", "unpatched; saves 4096; exit 1", clear);
}

TEST_CASE("verify: --aslr keep asks for no more than the write flag") {
    const std::vector<std::string> keep{"--aslr", "keep"};
    check_verify("x64-writable.dll", "unpatched; saves 4096; exit 1", keep);
    check_verify("x64-read-only.dll", "not-needed; exit 0", keep);
    check_verify("x64-guard-cf.dll", "unpatched; saves 4096; exit 1", keep);
}

TEST_CASE("verify: --skip-signed does not ask for signed files to be patched") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    CHECK(session.told({"verify", "--skip-signed", "a.dll"}) == "a.dll unpatched (skipped-signed); exit 0");
    session.writable("b.dll");
    CHECK(session.told({"verify", "--skip-signed", "."}) ==
          "./a.dll unpatched (skipped-signed); ./b.dll unpatched; saves 4096; exit 1");
}

TEST_CASE("verify: --require-backup fails for a patched file without a valid backup") {
    const Session session;
    session.fixture("x64-patched.dll", "a.dll");
    const std::string passes = "a.dll patched; exit 0";
    CHECK(session.told({"verify", "a.dll"}) == passes);
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched (no-valid-backup); exit 1");
    CHECK(session.fixnvpe({"verify", "--require-backup", "-q", "a.dll"}) ==
          Output{1, "  patched  a.dll  no valid backup\n", ""});

    session.fixture("x64-odd-size.dll", "a.dll.bak");
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) ==
          "a.dll patched (no-valid-backup, stale-backup); exit 1");
    session.writable("a.dll.bak");
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) == passes);

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
    CHECK(session.told({"verify", "a.dll"}) == "a.dll patched; exit 0");
    std::filesystem::remove(session / "a.dll.bak");
    CHECK(session.told({"verify", "a.dll"}) == "a.dll not-needed; exit 0");
}

TEST_CASE("verify: the sum is of all files in one process, and with --workers of one main process beside them") {
    constexpr std::uint64_t mib = 1 << 20;
    const Session session;
    session.sample("lib");
    const Snapshot before = session.snapshot();
    const auto summary = session.json({"verify", "lib"}).at("summary");
    CHECK(summary.at("unpatched") == 5);
    CHECK(summary.at("not-needed") == 1);
    CHECK(summary.at("no-fatbin") == 1);
    CHECK(summary.at("saved") == (303 + 437 + 84 + 211 + 987) * mib);
    CHECK(summary.at("workers").is_null());
    const std::string gain =
        "to do: fixnvpe patch\n"
        "each process would commit up to 2.0 GiB less (2.0 GiB -> 80.0 KiB)\n";
    CHECK(session.fixnvpe({"verify", "lib"}).out.ends_with(gain));
    CHECK(session.json({"verify", "--workers", "8", "lib"}).at("summary").at("workers") == 8);
    CHECK(session.fixnvpe({"verify", "--workers", "8", "lib"})
              .out.ends_with(gain + "(17.8 GiB less with 8 DataLoader workers)\n"));
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
