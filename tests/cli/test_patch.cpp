// What patch does, says and leaves alone.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

// Where x64-writable.dll keeps what a patch changes: `-n` shows it, and the oracle tests hold it against pefile.
constexpr std::size_t CHECK_SUM = 0xD8;
constexpr std::size_t DLL_CHARACTERISTICS = 0xDE;
constexpr std::size_t SECTION_CHARACTERISTICS = 0x224;

const std::string ONE_PATCHED =
    "1 file patched: each process commits 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n";

std::string patched_line(const std::string& backup) {
    return "patched        a.dll  (4.0 KiB less commit in each process" +
           (backup.empty() ? "" : "; backup: " + backup) + ")\n";
}

std::string original() {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-writable.dll");
}

/// x64-writable.dll as it should be after `--aslr auto`, or after `--aslr keep`.
std::string patched(bool keep_aslr = false) {
    std::string bytes = original();
    bytes[SECTION_CHARACTERISTICS + 3] = 0x40;
    if (keep_aslr) {
        bytes[CHECK_SUM + 1] = static_cast<char>(0x9E);
        bytes[CHECK_SUM] = 0x6C;
        return bytes;
    }
    bytes[DLL_CHARACTERISTICS] = 0x20;
    bytes[CHECK_SUM] = 0x2C;
    bytes[CHECK_SUM + 1] = static_cast<char>(0x9E);
    return bytes;
}

}  // namespace

TEST_CASE("patch: the original itself becomes NAME.bak, and the patched file is a fresh one of the same mode") {
    const Session session;
    session.writable("a.dll");
    session.age();
    const FileState before = state_of(session / "a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}) == Output{0, patched_line("a.dll.bak") + ONE_PATCHED, ""});
    CHECK(session.names() == "a.dll a.dll.bak");
    CHECK(state_of(session / "a.dll.bak") == before);
    CHECK(read_file(session / "a.dll") == patched());
    CHECK(state_of(session / "a.dll").mode == before.mode);
}

TEST_CASE("patch: --backup undo edits the file in place, and leaves a small NAME.fixnvpe-undo") {
    const Session session;
    session.writable("a.dll");
    session.age();
    const FileState before = state_of(session / "a.dll");
    CHECK(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}) ==
          Output{0, patched_line("a.dll.fixnvpe-undo") + ONE_PATCHED, ""});
    CHECK(session.names() == "a.dll a.dll.fixnvpe-undo");
    CHECK(read_file(session / "a.dll") == patched());
    CHECK(state_of(session / "a.dll").identity == before.identity);
    CHECK(state_of(session / "a.dll").mode == before.mode);

    const auto undo = nlohmann::json::parse(read_file(session / "a.dll.fixnvpe-undo"));
    CHECK(undo.at("schema") == 1);
    CHECK(undo.at("tool") == "fixnvpe");
    CHECK(undo.at("file") == "a.dll");
    CHECK(undo.at("size") == before.bytes.size());
    CHECK(undo.at("edits").size() == 3);
    CHECK(std::filesystem::file_size(session / "a.dll.fixnvpe-undo") < 1024);
}

TEST_CASE("patch: --backup none edits the file in place, and leaves nothing else") {
    const Session session;
    session.writable("a.dll");
    const FileState before = state_of(session / "a.dll");
    CHECK(session.fixnvpe({"patch", "--backup", "none", "a.dll"}) == Output{0, patched_line("") + ONE_PATCHED, ""});
    CHECK(session.names() == "a.dll");
    CHECK(read_file(session / "a.dll") == patched());
    CHECK(state_of(session / "a.dll").identity == before.identity);
}

TEST_CASE("patch: --aslr keep drops the write flag alone") {
    for (const std::string backup : {"full", "undo", "none"}) {
        INFO(backup);
        const Session session;
        session.writable("a.dll");
        CHECK(session.fixnvpe({"patch", "--aslr", "keep", "--backup", backup, "a.dll"}).exit_status == 0);
        CHECK(read_file(session / "a.dll") == patched(true));
    }
}

TEST_CASE("patch: --aslr clear also clears DYNAMIC_BASE in read-only files, which gains no commit") {
    for (const std::string backup : {"full", "undo", "none"}) {
        INFO(backup);
        const Session session;
        session.fixture("x64-read-only.dll", "a.dll");
        const std::string name = backup == "full"   ? "  (backup: a.dll.bak)"
                                 : backup == "undo" ? "  (backup: a.dll.fixnvpe-undo)"
                                                    : "";
        CHECK(session.fixnvpe({"patch", "--aslr", "clear", "--backup", backup, "a.dll"}) ==
              Output{0, "patched        a.dll" + name + "\n1 file patched\n", ""});
        CHECK(read_file(session / "a.dll") == read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-patched.dll"));
        CHECK(session.fixnvpe({"patch", "--aslr", "clear", "--backup", backup, "a.dll"}) ==
              Output{0, "patched        a.dll\nnothing to patch: 1 file: 1 patched\n", ""});
    }
}

TEST_CASE("patch: a second time changes nothing: the same file, the same time, nothing beside it") {
    for (const std::string backup : {"full", "undo", "none"}) {
        for (const std::string aslr : {"auto", "keep", "clear"}) {
            INFO(backup << ' ' << aslr);
            const Session session;
            session.writable("a.dll");
            session.fixture("x64-two-fatbins.dll", "b.dll");
            REQUIRE(session.fixnvpe({"patch", "--backup", backup, "--aslr", aslr, "."}).exit_status == 0);
            session.age();
            const Snapshot before = session.snapshot();
            const std::string status = aslr == "keep" && backup == "none" ? "not-needed     ./" : "patched        ./";
            const Output again = session.fixnvpe({"patch", "--backup", backup, "--aslr", aslr, "."});
            CHECK(again.exit_status == 0);
            CHECK(again.out == status + "a.dll\n" + status + "b.dll\nnothing to patch: 2 files: 2 " +
                                   (status.starts_with("not") ? "not-needed\n" : "patched\n"));
            CHECK(session.snapshot() == before);
        }
    }
}

TEST_CASE("patch: another policy later starts from the original, and keeps its backup") {
    const std::string first_line = "patched        a.dll  (backup: ";
    for (const std::string first : {"full", "undo"}) {
        for (const std::string second : {"full", "undo", "none"}) {
            INFO(first << ", then " << second);
            const Session session;
            session.writable("a.dll");
            REQUIRE(session.fixnvpe({"patch", "--aslr", "keep", "--backup", first, "a.dll"}).exit_status == 0);
            const std::string kept = first == "undo" && second == "full" ? "full" : first;
            const std::string name = kept == "full" ? "a.dll.bak" : "a.dll.fixnvpe-undo";
            CHECK(session.fixnvpe({"patch", "--aslr", "clear", "--backup", second, "a.dll"}) ==
                  Output{0, first_line + name + ")\n1 file patched\n", ""});
            CHECK(session.names() == "a.dll " + name);
            CHECK(read_file(session / "a.dll") == patched());
            CHECK(session.fixnvpe({"restore", "a.dll"}) == Output{0, "restored       a.dll\n1 file restored\n", ""});
            CHECK(session.names() == "a.dll");
            CHECK(read_file(session / "a.dll") == original());
        }
    }
}

TEST_CASE("patch: --dry-run says each edit, and writes nothing") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-patched.dll", "b.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    session.age();
    const Snapshot before = session.snapshot();
    const std::string out =
        "would-patch    ./a.dll  (4.0 KiB less commit in each process)\n"
        "               CheckSum at offset 0xd8: 0x00001e6d -> 0x00009e2c\n"
        "               DllCharacteristics at offset 0xde: 0x0160 -> 0x0120\n"
        "               Characteristics at offset 0x224: 0xc0000040 -> 0x40000040\n"
        "patched        ./b.dll\n"
        "no-fatbin      ./c.dll\n"
        "1 file would be patched: each process would commit 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n";
    CHECK(session.fixnvpe({"patch", "-n", "."}) == Output{0, out, ""});
    CHECK(session.fixnvpe({"patch", "--dry-run", "--backup", "none", "."}) == Output{0, out, ""});
    CHECK(session.snapshot() == before);
    CHECK(
        session.fixnvpe({"patch", "-n", "--aslr", "keep", "a.dll"}).out ==
        "would-patch    a.dll  (4.0 KiB less commit in each process)\n"
        "               CheckSum at offset 0xd8: 0x00001e6d -> 0x00009e6c\n"
        "               Characteristics at offset 0x224: 0xc0000040 -> 0x40000040\n"
        "1 file would be patched: each process would commit 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n");
    CHECK(session.fixnvpe({"patch", "-n", "-q", "."}) == Output{0, "", ""});
}

TEST_CASE("patch: refused files fail with the reason, and are not touched") {
    const std::vector<std::pair<std::string, std::string>> refusals{
        {"x64-force-integrity.dll", "FORCE_INTEGRITY is set: Windows would not load it with an invalid signature"},
        {"x64-section-alignment-512.dll", "SectionAlignment 512 is under 4096: its sections share pages"},
        {"x64-truncated-data.dll",
         "a section's raw data ends at byte 4096, but the file has only 4000: a broken download"}};
    for (const auto& [fixture, reason] : refusals) {
        INFO(fixture);
        const Session session;
        session.fixture(fixture, "a.dll");
        const Snapshot before = session.snapshot();
        const Output expected{2,
                              "refused        a.dll  (unpatched: " + reason + ")\nnothing patched: 1 file: 1 refused\n",
                              "fixnvpe: a.dll: refused: " + reason + "\n"};
        CHECK(session.fixnvpe({"patch", "a.dll"}) == expected);
        CHECK(session.fixnvpe({"patch", "-n", "a.dll"}) == expected);
        CHECK(session.fixnvpe({"patch", "--backup", "none", "--aslr", "clear", "a.dll"}) == expected);
        CHECK(session.snapshot() == before);
    }
    // Nothing to be done, so nothing is refused.
    const Session session;
    session.fixture("x64-force-integrity-read-only.dll", "a.dll");
    CHECK(session.fixnvpe({"patch", "a.dll"}) ==
          Output{0,
                 "refused        a.dll  (FORCE_INTEGRITY is set: Windows would not load it with an invalid signature)\n"
                 "nothing to patch: 1 file: 1 refused\n",
                 ""});
}

TEST_CASE("patch: files that fail do not keep the others from being patched") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-truncated-headers.dll", "b.dll");
    session.fixture("x64-force-integrity.dll", "c.dll");
    session.text("d.dll", "no PE file");
    session.fixture("x86-writable.dll", "e.dll");
    for (const std::string jobs : {"1", "4"}) {
        INFO(jobs);
        CHECK(session.fixnvpe({"patch", "-j", jobs, "."}) ==
              Output{2,
                     "patched        ./a.dll  (4.0 KiB less commit in each process; backup: a.dll.bak)\n"
                     "error          ./b.dll\n"
                     "refused        ./c.dll  (unpatched: FORCE_INTEGRITY is set: Windows would not load it with an "
                     "invalid signature)\n"
                     "patched        ./e.dll  (4.0 KiB less commit in each process; backup: e.dll.bak)\n"
                     "2 files patched: each process commits 8.0 KiB less (72.0 KiB less with 8 DataLoader workers)\n",
                     "fixnvpe: ./b.dll: read headers: the section table ends at byte 632, but the file has only 600 "
                     "bytes\n"
                     "  hint: the file is cut short: install it again\n"
                     "fixnvpe: ./c.dll: refused: FORCE_INTEGRITY is set: Windows would not load it with an invalid "
                     "signature\n"});
        CHECK(session.names() == "a.dll a.dll.bak b.dll c.dll d.dll e.dll e.dll.bak");
        REQUIRE(session.fixnvpe({"restore", "a.dll", "e.dll"}).exit_status == 0);
    }
}

TEST_CASE("patch: --skip-signed leaves signed files alone, without a warning of what does not happen") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    session.writable("b.dll");
    const FileState before = state_of(session / "a.dll");
    CHECK(session.fixnvpe({"patch", "--skip-signed", "."}) ==
          Output{0,
                 "unpatched      ./a.dll  (4.0 KiB of commit to save in each process; signed: skipped)\n"
                 "patched        ./b.dll  (4.0 KiB less commit in each process; backup: b.dll.bak)\n" +
                     ONE_PATCHED,
                 ""});
    CHECK(state_of(session / "a.dll") == before);
    CHECK(session.names() == "a.dll b.dll b.dll.bak");
    CHECK(session.fixnvpe({"patch", "--skip-signed", "a.dll"}) ==
          Output{0,
                 "unpatched      a.dll  (4.0 KiB of commit to save in each process; signed: skipped)\n"
                 "nothing to patch: 1 file: 1 unpatched\n",
                 ""});
}

TEST_CASE("patch: a signed file is patched with a warning, which -q leaves out") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    CHECK(
        session.fixnvpe({"patch", "a.dll"}) ==
        Output{0,
               "patched        a.dll  (4.0 KiB less commit in each process; backup: a.dll.bak; signed)\n" + ONE_PATCHED,
               "fixnvpe: warning: 1 file is signed, and patching makes its signature invalid\n"
               "  hint: Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed "
               "leaves signed files alone\n"});
    session.fixture("x64-signed.dll", "b.dll");
    CHECK(session.fixnvpe({"patch", "-q", "b.dll"}) == Output{0, "", ""});
}

TEST_CASE("patch: Control Flow Guard is lost with ASLR, and kept with --aslr keep") {
    const Session session;
    session.fixture("x64-guard-cf.dll", "a.dll");
    session.fixture("x64-guard-cf.dll", "b.dll");
    CHECK(
        session.fixnvpe({"patch", "a.dll"}) ==
        Output{
            0,
            "patched        a.dll  (4.0 KiB less commit in each process; backup: a.dll.bak; loses Control Flow "
            "Guard)\n" +
                ONE_PATCHED,
            "fixnvpe: warning: 1 file loses Control Flow Guard together with ASLR\n  hint: --aslr keep keeps both\n"});
    CHECK(session.fixnvpe({"patch", "--aslr", "keep", "b.dll"}) ==
          Output{0, "patched        b.dll  (4.0 KiB less commit in each process; backup: b.dll.bak)\n" + ONE_PATCHED,
                 ""});
}

TEST_CASE("patch: two files with the same preferred base are warned of") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    const Output output = session.fixnvpe({"patch", "."});
    CHECK(output.exit_status == 0);
    CHECK(output.err ==
          "fixnvpe: warning: 2 files are patched and share their preferred base with one another\n"
          "  hint: in each process all but one are moved, which costs it the pages that hold relocations; --aslr keep "
          "avoids that\n");
}

TEST_CASE("patch: -j 4 does and says what -j 1 does") {
    const auto patch_all = [](const std::string& jobs) {
        const Session session;
        for (const auto& file : std::filesystem::directory_iterator(std::string(FIXNVPE_TESTDATA_DIR) + "/pe")) {
            session.fixture(file.path().filename().string());
        }
        const Output output = session.fixnvpe({"patch", "-v", "--jobs", jobs, "."});
        std::map<std::string, std::string> files;
        for (const auto& [name, state] : session.snapshot()) {
            files[name] = state.bytes;
        }
        return std::pair(output, files);
    };
    const auto [output, files] = patch_all("1");
    for (const std::string jobs : {"2", "4", "64"}) {
        const auto [same_output, same_files] = patch_all(jobs);
        CHECK(same_output == output);
        CHECK((same_files == files));
    }
}

TEST_CASE("patch: nothing to patch is said, and is no failure") {
    const Session session;
    session.fixture("x64-read-only.dll", "a.dll");
    session.fixture("x64-no-fatbin.dll", "b.dll");
    const Snapshot before = session.snapshot();
    CHECK(session.fixnvpe({"patch", "."}) == Output{0,
                                                    "not-needed     ./a.dll\nno-fatbin      ./b.dll\n"
                                                    "nothing to patch: 2 files: 1 not-needed, 1 no-fatbin\n",
                                                    ""});
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
