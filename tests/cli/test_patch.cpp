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

const std::string PATCHED = "a.dll patched+patched; saves 4096; exit 0";

std::string original() {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-writable.dll");
}

/// x64-writable.dll as it should be after `--aslr auto`, or after `--aslr keep`.
std::string patched(bool keep_aslr = false) {
    std::string bytes = original();
    bytes[SECTION_CHARACTERISTICS + 3] = 0x40;
    if (keep_aslr) {
        bytes[CHECK_SUM + 1] = '\x9E';
        bytes[CHECK_SUM] = 0x6C;
        return bytes;
    }
    bytes[DLL_CHARACTERISTICS] = 0x20;
    bytes[CHECK_SUM] = 0x2C;
    bytes[CHECK_SUM + 1] = '\x9E';
    return bytes;
}

}  // namespace

TEST_CASE("patch: the original itself becomes NAME.bak, and the patched file is a fresh one of the same mode") {
    const Session session;
    session.writable("a.dll");
    session.age();
    const FileState before = state_of(session / "a.dll");
    CHECK(session.told({"patch", "a.dll"}) == PATCHED);
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
    CHECK(session.told({"patch", "--backup", "undo", "a.dll"}) == PATCHED);
    CHECK(session.names() == "a.dll a.dll.fixnvpe-undo");
    CHECK(read_file(session / "a.dll") == patched());
    CHECK(state_of(session / "a.dll").identity == before.identity);
    CHECK(state_of(session / "a.dll").mode == before.mode);

    const auto undo = nlohmann::json::parse(read_file(session / "a.dll.fixnvpe-undo"));
    CHECK(undo.at("schema") == 2);
    CHECK(undo.at("tool") == "fixnvpe");
    CHECK(undo.at("file") == "a.dll");
    CHECK(undo.at("size") == before.bytes.size());
    CHECK(undo.at("edits").size() == 3);
    CHECK(std::filesystem::file_size(session / "a.dll.fixnvpe-undo") < 10'000);
}

TEST_CASE("patch: --backup none edits the file in place, and leaves nothing else") {
    const Session session;
    session.writable("a.dll");
    const FileState before = state_of(session / "a.dll");
    CHECK(session.told({"patch", "--backup", "none", "a.dll"}) == PATCHED);
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
        CHECK(session.told({"patch", "--aslr", "clear", "--backup", backup, "a.dll"}) ==
              "a.dll patched+patched; exit 0");
        CHECK(read_file(session / "a.dll") == read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/x64-patched.dll"));
        CHECK(session.told({"patch", "--aslr", "clear", "--backup", backup, "a.dll"}) == "a.dll patched; exit 0");
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
            const std::string status = aslr == "keep" && backup == "none" ? "not-needed" : "patched";
            const bool same_base = aslr != "keep";
            const std::string told = status + (same_base ? " (same-image-base); " : "; ");
            CHECK(session.told({"patch", "--backup", backup, "--aslr", aslr, "."}) ==
                  "./a.dll " + told + "./b.dll " + told + "exit 0");
            CHECK(session.snapshot() == before);
        }
    }
}

TEST_CASE("patch: another policy later starts from the original, and keeps its backup") {
    for (const std::string first : {"full", "undo"}) {
        for (const std::string second : {"full", "undo", "none"}) {
            INFO(first << ", then " << second);
            const Session session;
            session.writable("a.dll");
            REQUIRE(session.fixnvpe({"patch", "--aslr", "keep", "--backup", first, "a.dll"}).exit_status == 0);
            const std::string kept = first == "undo" && second == "full" ? "full" : first;
            const std::string name = kept == "full" ? "a.dll.bak" : "a.dll.fixnvpe-undo";
            CHECK(session.told({"patch", "--aslr", "clear", "--backup", second, "a.dll"}) ==
                  "a.dll patched+patched; exit 0");
            CHECK(session.names() == "a.dll " + name);
            CHECK(read_file(session / "a.dll") == patched());
            CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored; exit 0");
            CHECK(session.names() == "a.dll");
            CHECK(read_file(session / "a.dll") == original());
        }
    }
}

TEST_CASE("patch: --dry-run says what would be done, with -v each edit, and writes nothing") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-patched.dll", "b.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    session.age();
    const Snapshot before = session.snapshot();
    const std::string out =
        ".\n"
        "  would-patch  4.0 KiB  a.dll\n"
        "  patched               b.dll\n"
        "3 files: 1 unpatched, 1 patched, 1 no-fatbin (-v lists it)\n"
        "1 file would be patched: each process would commit up to 4.0 KiB less (36.0 KiB -> 32.0 KiB)\n";
    CHECK(session.fixnvpe({"patch", "-n", "."}) == Output{0, out, ""});
    CHECK(session.fixnvpe({"patch", "--dry-run", "--backup", "none", "."}) == Output{0, out, ""});
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"patch", "-n", "-v", "--aslr", "keep", "a.dll"}).out ==
          "  would-patch  4.0 KiB  a.dll\n"
          "    CheckSum at offset 0xd8: 0x00001e6d -> 0x00009e6c\n"
          "    Characteristics at offset 0x224: 0xc0000040 -> 0x40000040\n"
          "1 file: 1 unpatched\n"
          "1 file would be patched: each process would commit up to 4.0 KiB less (16.0 KiB -> 12.0 KiB)\n");
    CHECK(session.fixnvpe({"patch", "-n", "-q", "."}) == Output{0, out.substr(out.find("1 file would")), ""});
}

TEST_CASE("patch: refused files fail with the reason, and are not touched") {
    const std::vector<std::pair<std::string, std::string>> refusals{
        {"x64-force-integrity.dll", "force-integrity"},
        {"x64-section-alignment-512.dll", "section-alignment"},
        {"x64-truncated-data.dll", "raw-data-past-end"}};
    for (const auto& [fixture, reason] : refusals) {
        INFO(fixture);
        const Session session;
        session.fixture(fixture, "a.dll");
        const Snapshot before = session.snapshot();
        const std::string expected = "a.dll refused !refused (" + reason + "); exit 2";
        CHECK(session.told({"patch", "a.dll"}) == expected);
        CHECK(session.told({"patch", "-n", "a.dll"}) == expected);
        CHECK(session.told({"patch", "--backup", "none", "--aslr", "clear", "a.dll"}) == expected);
        CHECK(session.snapshot() == before);
    }
    // Nothing to be done, so nothing is refused.
    const Session session;
    session.fixture("x64-force-integrity-read-only.dll", "a.dll");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll refused (force-integrity); exit 0");
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
        CHECK(session.told({"patch", "-j", jobs, "."}) ==
              "./a.dll patched+patched; ./b.dll error !truncated; ./c.dll refused !refused (force-integrity); "
              "./e.dll patched+patched; saves 4096; exit 2");  // a.dll and e.dll are of two machines
        CHECK(session.names() == "a.dll a.dll.bak b.dll c.dll d.dll e.dll e.dll.bak");
        REQUIRE(session.fixnvpe({"restore", "a.dll", "e.dll"}).exit_status == 0);
    }
}

TEST_CASE("patch: --skip-signed leaves signed files alone, without a warning of what does not happen") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    session.writable("b.dll");
    const FileState before = state_of(session / "a.dll");
    CHECK(session.told({"patch", "--skip-signed", "."}) ==
          "./a.dll unpatched (skipped-signed); ./b.dll patched+patched; saves 4096; exit 0");
    CHECK(state_of(session / "a.dll") == before);
    CHECK(session.names() == "a.dll b.dll b.dll.bak");
    CHECK(session.told({"patch", "--skip-signed", "a.dll"}) == "a.dll unpatched (skipped-signed); exit 0");
}

TEST_CASE("patch: a signed file is patched with a warning, which -q leaves out") {
    const Session session;
    session.fixture("x64-signed.dll", "a.dll");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (signed); saves 4096; exit 0");
    session.fixture("x64-signed.dll", "b.dll");
    CHECK(session.fixnvpe({"patch", "-q", "b.dll"}).err.empty());
}

TEST_CASE("patch: Control Flow Guard is lost with ASLR, and kept with --aslr keep") {
    const Session session;
    session.fixture("x64-guard-cf.dll", "a.dll");
    session.fixture("x64-guard-cf.dll", "b.dll");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (guard-cf-lost); saves 4096; exit 0");
    CHECK(session.told({"patch", "--aslr", "keep", "b.dll"}) == "b.dll patched+patched; saves 4096; exit 0");
}

TEST_CASE("patch: two files with the same preferred base are warned of") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    CHECK(session.told({"patch", "."}) ==
          "./a.dll patched+patched (same-image-base); ./b.dll patched+patched "
          "(same-image-base); saves 8192; exit 0");
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
    CHECK(session.fixnvpe({"patch", "."})
              .out.ends_with("2 files: 1 not-needed, 1 no-fatbin (-v lists it)\nnothing to patch\n"));
    CHECK(session.told({"patch", "."}) == "./a.dll not-needed; ./b.dll no-fatbin; exit 0");
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
