// What stands beside a DLL: backups, undo files, leftovers; what restore makes of them, and what it refuses.

#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

// Of x64-writable.dll.
constexpr std::size_t SECTION_CHARACTERISTICS = 0x224;

const std::string SAVES = "4.0 KiB of commit to save in each process";
const std::string TO_DO =
    "to do: fixnvpe patch; each process would commit 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n";
const std::string ONE_PATCHED =
    "1 file patched: each process commits 4.0 KiB less (36.0 KiB less with 8 DataLoader workers)\n";
const Output RESTORED{0, "restored       a.dll\n1 file restored\n", ""};

std::string testdata(const std::string& name) {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/" + name);
}

Output unpatched(const std::string& note) {
    return {1, "unpatched      a.dll  (" + SAVES + "; " + note + ")\n1 file: 1 unpatched\n" + TO_DO, ""};
}

/// a.dll patched with --backup undo, as a power cut may leave it: the section's flag is not yet written.
void half_done(const Session& session) {
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    poke(session / "a.dll", SECTION_CHARACTERISTICS + 3, 0xC0);
}

}  // namespace

TEST_CASE("restore: gives back the very file, and removes the backup") {
    for (const std::string aslr : {"auto", "keep", "clear"}) {
        INFO(aslr);
        const Session session;
        session.writable("a.dll");
        session.age();
        const Snapshot before = session.snapshot();
        REQUIRE(session.fixnvpe({"patch", "--aslr", aslr, "a.dll"}).exit_status == 0);
        CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
        CHECK(session.snapshot() == before);  // the time and the inode, too
    }
}

TEST_CASE("restore: takes the edits back from the undo file, and removes it") {
    for (const std::string aslr : {"auto", "keep", "clear"}) {
        INFO(aslr);
        const Session session;
        session.writable("a.dll");
        const FileState before = state_of(session / "a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "--aslr", aslr, "a.dll"}).exit_status == 0);
        CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
        CHECK(session.names() == "a.dll");
        CHECK(state_of(session / "a.dll").bytes == before.bytes);
        CHECK(state_of(session / "a.dll").identity == before.identity);
        CHECK(state_of(session / "a.dll").mode == before.mode);
    }
}

TEST_CASE("restore: a second time there is nothing to restore") {
    const Session session;
    session.writable("a.dll");
    session.age();
    const Snapshot before = session.snapshot();
    const Output nothing{0, "unpatched      a.dll\nnothing to restore: 1 file: 1 unpatched\n", ""};
    CHECK(session.fixnvpe({"restore", "a.dll"}) == nothing);
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
    CHECK(session.fixnvpe({"restore", "a.dll"}) == nothing);
    CHECK(session.snapshot() == before);
}

TEST_CASE("restore: files that were never patched are left alone") {
    const Session session;
    session.fixture("x64-read-only.dll", "a.dll");
    session.fixture("x64-no-fatbin.dll", "b.dll");
    session.fixture("x64-force-integrity.dll", "c.dll");
    session.text("d.dll", "no PE file");
    const Snapshot before = session.snapshot();
    CHECK(
        session.fixnvpe({"restore", "."}) ==
        Output{0,
               "not-needed     ./a.dll\nno-fatbin      ./b.dll\n"
               "refused        ./c.dll  (unpatched: FORCE_INTEGRITY is set: Windows would not load it with an invalid "
               "signature)\n"
               "nothing to restore: 4 files: 1 not-needed, 1 no-fatbin, 1 refused, 1 not-pe\n",
               ""});
    CHECK(session.snapshot() == before);
}

TEST_CASE("restore: a patched file without a backup is an error with a hint") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "none", "a.dll"}).exit_status == 0);
    REQUIRE(session.fixnvpe({"patch", "b.dll"}).exit_status == 0);
    const FileState before = state_of(session / "a.dll");
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{2, "patched        a.dll\nnothing restored: 1 file: 1 patched\n",
                 "fixnvpe: a.dll: restore: it is patched, but there is no backup\n"
                 "  hint: install the file's package again to get the original\n"});
    const Output both = session.fixnvpe({"restore", "."});
    CHECK(both.exit_status == 2);
    CHECK(both.out == "patched        ./a.dll\nrestored       ./b.dll\n1 file restored\n");
    CHECK(state_of(session / "a.dll") == before);
    CHECK(read_file(session / "b.dll") == testdata("x64-writable.dll"));
}

TEST_CASE("restore: --dry-run says each edit, and writes nothing") {
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        session.age();
        const Snapshot before = session.snapshot();
        CHECK(session.fixnvpe({"restore", "-n", "a.dll"}) ==
              Output{0,
                     "would-restore  a.dll\n"
                     "               CheckSum at offset 0xd8: 0x00009e2c -> 0x00001e6d\n"
                     "               DllCharacteristics at offset 0xde: 0x0120 -> 0x0160\n"
                     "               Characteristics at offset 0x224: 0x40000040 -> 0xc0000040\n"
                     "1 file would be restored\n",
                     ""});
        CHECK(session.snapshot() == before);
    }
}

TEST_CASE("restore: --keep-backup leaves the backup, and a second time does nothing") {
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        const std::string names = session.names();
        CHECK(session.fixnvpe({"restore", "--keep-backup", "a.dll"}) == RESTORED);
        CHECK(session.names() == names);
        CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));
        session.age();
        const Snapshot before = session.snapshot();
        CHECK(session.fixnvpe({"restore", "--keep-backup", "a.dll"}) ==
              Output{0, "unpatched      a.dll\nnothing to restore: 1 file: 1 unpatched\n", ""});
        CHECK(session.snapshot() == before);
        // The kept backup serves the next patch.
        CHECK(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        CHECK(session.names() == names);
        CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
        CHECK(session.names() == "a.dll");
    }
}

TEST_CASE("backup: one of another build is not restored") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-odd-size.dll", "a.dll.bak");
    const Snapshot before = session.snapshot();
    CHECK(session.fixnvpe({"verify", "a.dll"}) == unpatched("a.dll.bak belongs to another build"));
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{2,
                 "unpatched      a.dll  (a.dll.bak belongs to another build)\nnothing restored: 1 file: 1 unpatched\n",
                 "fixnvpe: a.dll.bak: check the backup: it belongs to another build of this file\n"
                 "  hint: fixnvpe clean removes it\n"});
    CHECK(session.snapshot() == before);
}

TEST_CASE("backup: one of another build of the same size is told by any header field that a patch leaves alone") {
    const Session session;
    session.writable("a.dll");
    session.writable("a.dll.bak");
    const std::vector<std::pair<const char*, std::size_t>> fields{
        {"TimeDateStamp", 0x88},
        {"a bit of DllCharacteristics that is not DYNAMIC_BASE", 0xDF},
        {"a bit of .nv_fatb's Characteristics that is not MEM_WRITE", 0x224},
        {"VirtualSize", 0x208}};
    for (const auto& [field, offset] : fields) {
        INFO(field);
        const std::string original = testdata("x64-writable.dll");
        write_file(session / "a.dll.bak", original);
        poke(session / "a.dll.bak", offset, static_cast<std::uint8_t>(original[offset] ^ 0x20));
        CHECK(session.fixnvpe({"verify", "a.dll"}) == unpatched("a.dll.bak belongs to another build"));
        CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 2);
    }
}

TEST_CASE("patch: a backup of another build is moved to .bak.1, .bak.2, …, and that is said") {
    for (const std::string mode : {"full", "undo", "none"}) {
        INFO(mode);
        const Session session;
        const std::string made = mode == "full"   ? "; backup: a.dll.bak"
                                 : mode == "undo" ? "; backup: a.dll.fixnvpe-undo"
                                                  : "";
        session.fixture("x64-odd-size.dll", "a.dll.bak");
        session.fixture("x64-two-fatbins.dll", "a.dll.bak.2");
        for (const std::string number : {"1", "3"}) {
            session.writable("a.dll");
            const Output output = session.fixnvpe({"patch", "--backup", mode, "a.dll"});
            CHECK(output ==
                  Output{0,
                         "patched        a.dll  (4.0 KiB less commit in each process" + made +
                             "; the backup of another build was moved to a.dll.bak." + number + ")\n" + ONE_PATCHED,
                         ""});
            CHECK(read_file(session / ("a.dll.bak." + number)) == testdata("x64-odd-size.dll"));
            fs::remove(session / "a.dll.fixnvpe-undo");
            session.fixture("x64-odd-size.dll", "a.dll.bak");
        }
        CHECK(read_file(session / "a.dll.bak.2") == testdata("x64-two-fatbins.dll"));
    }
}

TEST_CASE("patch: after an upgrade by pip the old backup is moved aside, and restore gives back the new build") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    session.fixture("x64-two-fatbins.dll", "a.dll");  // pip writes the new build, and leaves a.dll.bak
    const Output refused = session.fixnvpe({"restore", "a.dll"});
    CHECK(refused.exit_status == 2);
    CHECK(read_file(session / "a.dll") == testdata("x64-two-fatbins.dll"));
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak a.dll.bak.1");
    CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
    CHECK(read_file(session / "a.dll") == testdata("x64-two-fatbins.dll"));
    CHECK(read_file(session / "a.dll.bak.1") == testdata("x64-writable.dll"));
}

TEST_CASE("backup: what fixNvPe.py left as NAME_bak is restored") {
    const Session session;
    session.writable("a.dll_bak");
    session.fixture("x64-patched.dll", "a.dll");
    std::string bytes = testdata("x64-writable.dll");  // as fixNvPe.py would leave it: the CheckSum is stale
    bytes[0xDE] = 0x20;
    bytes[SECTION_CHARACTERISTICS + 3] = 0x40;
    write_file(session / "a.dll", bytes);
    session.age();
    const FileState backup = state_of(session / "a.dll_bak");
    CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) ==
          Output{0, "patched        a.dll\n1 file: 1 patched\n", ""});
    CHECK(session.fixnvpe({"patch", "a.dll"}) ==
          Output{0, "patched        a.dll\nnothing to patch: 1 file: 1 patched\n", ""});
    CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
    CHECK(session.names() == "a.dll");
    CHECK(state_of(session / "a.dll") == backup);
}

TEST_CASE("backup: a NAME_bak of another build is neither restored nor lost") {
    const Session session;
    session.fixture("x64-odd-size.dll", "a.dll_bak");
    session.writable("a.dll");
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{2,
                 "unpatched      a.dll  (a.dll_bak belongs to another build)\nnothing restored: 1 file: 1 unpatched\n",
                 "fixnvpe: a.dll_bak: check the backup: it belongs to another build of this file\n"
                 "  hint: fixnvpe clean removes it\n"});
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak a.dll_bak");
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{0, "restored       a.dll  (a.dll_bak belongs to another build)\n1 file restored\n", ""});
    CHECK(read_file(session / "a.dll_bak") == testdata("x64-odd-size.dll"));
}

TEST_CASE("backup: one that can't be told from another program's is none of ours") {
    // A DLL without .nv_fatb was never patched; whatever its .bak is, somebody else made it.
    const Session session;
    session.fixture("x64-no-fatbin.dll", "a.dll");
    const Output nothing{0, "no-fatbin      a.dll\nnothing to restore: 1 file: 1 no-fatbin\n", ""};
    const auto check = [&] {
        const Snapshot before = session.snapshot();
        CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{0, "no-fatbin      a.dll\n1 file: 1 no-fatbin\n", ""});
        CHECK(session.fixnvpe({"restore", "a.dll"}) == nothing);
        CHECK(session.snapshot() == before);
    };
    session.text("a.dll.bak", "my notes");
    check();
    session.fixture("x64-no-fatbin.dll", "a.dll.bak");
    check();
    fs::remove(session / "a.dll.bak");
    fs::create_directory(session / "a.dll.bak");
    check();
}

TEST_CASE("backup: what can't be one stands in the way of a new one, and is not overwritten") {
    const Session session;
    session.writable("a.dll");
    session.text("a.dll.bak", "my notes");
    const Snapshot before = session.snapshot();
    const std::string message = "read headers: not a PE file: no MZ signature";
    const std::string note = "a.dll.bak can't be used: " + message;
    CHECK(session.fixnvpe({"verify", "a.dll"}) == unpatched(note));
    CHECK(session.fixnvpe({"patch", "a.dll"}) ==
          Output{2, "unpatched      a.dll  (" + SAVES + "; " + note + ")\nnothing patched: 1 file: 1 unpatched\n",
                 "fixnvpe: a.dll.bak: " + message + "\n  hint: move it away, or remove it\n"});
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"patch", "--backup", "none", "a.dll"}).exit_status == 0);
    CHECK(read_file(session / "a.dll.bak") == "my notes");
}

TEST_CASE("undo: a half-done edit is recognised, finished by patch and taken back by restore") {
    const std::string note = "an edit was broken off half way: patch finishes it, restore takes it back";
    const std::string edit = "               Characteristics at offset 0x224: 0xc0000040 -> 0x40000040\n";
    const Session session;
    half_done(session);
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.fixnvpe({"verify", "a.dll"}) == unpatched(note));
    CHECK(session.fixnvpe({"patch", "-n", "a.dll"}) ==
          Output{0,
                 "would-patch    a.dll  (4.0 KiB less commit in each process; " + note + ")\n" + edit +
                     "1 file would be patched: each process would commit 4.0 KiB less (36.0 KiB less with 8 DataLoader "
                     "workers)\n",
                 ""});
    CHECK(session.snapshot() == before);

    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{0,
                 "restored       a.dll  (an edit that had been broken off half way was taken back)\n1 file restored\n",
                 ""});
    CHECK(session.names() == "a.dll");
    CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));

    for (const std::string backup : {"undo", "full", "none"}) {
        INFO(backup);
        half_done(session);
        const std::string name = backup == "full" ? "a.dll.bak" : "a.dll.fixnvpe-undo";
        CHECK(session.fixnvpe({"patch", "--backup", backup, "a.dll"}) ==
              Output{0,
                     "patched        a.dll  (4.0 KiB less commit in each process; backup: " + name +
                         "; an edit that had been broken off half way was finished)\n" + ONE_PATCHED,
                     ""});
        CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{0, "patched        a.dll\n1 file: 1 patched\n", ""});
        CHECK(session.names() == "a.dll " + name);
        CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
        CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));
        CHECK(session.names() == "a.dll");
    }
}

TEST_CASE("undo: a half-done edit is finished as it was begun, where the present policy asks for nothing") {
    // CheckSum is not yet written: by its flags the file is patched, and only the undo file knows better.
    const std::string original = testdata("x64-read-only.dll");
    for (const std::string aslr : {"auto", "keep", "clear"}) {
        for (const std::string backup : {"undo", "full", "none"}) {
            INFO(aslr << ' ' << backup);
            const Session session;
            session.fixture("x64-read-only.dll", "a.dll");
            REQUIRE(session.fixnvpe({"patch", "--aslr", "clear", "--backup", "undo", "a.dll"}).exit_status == 0);
            poke(session / "a.dll", 0xD8, static_cast<std::uint8_t>(original[0xD8]));
            poke(session / "a.dll", 0xD9, static_cast<std::uint8_t>(original[0xD9]));
            CHECK(session.fixnvpe({"verify", "a.dll"}).exit_status == 1);
            const std::string name = backup == "full" ? "a.dll.bak" : "a.dll.fixnvpe-undo";
            CHECK(session.fixnvpe({"patch", "--aslr", aslr, "--backup", backup, "a.dll"}) ==
                  Output{0,
                         "patched        a.dll  (backup: " + name +
                             "; an edit that had been broken off half way was finished)\n1 file patched\n",
                         ""});
            CHECK((read_file(session / "a.dll") == testdata("x64-patched.dll")));
            CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) ==
                  Output{0, "patched        a.dll\n1 file: 1 patched\n", ""});
            CHECK(session.fixnvpe({"restore", "a.dll"}) == RESTORED);
            CHECK(session.names() == "a.dll");
            CHECK((read_file(session / "a.dll") == original));
        }
    }
}

TEST_CASE("undo: a damaged or foreign undo file is refused, and nothing is written") {
    struct Damage {
        const char* name;
        std::function<void(nlohmann::json&)> damage;
        const char* message;
    };
    const char* const another_build = "check the undo file: it was made for another build of this file";
    const char* const other_program = "read the undo file: it was written by another program, or by a newer fixnvpe";
    const std::vector<Damage> damages{
        {"a newer schema", [](auto& j) { j["schema"] = 2; }, other_program},
        {"another tool", [](auto& j) { j["tool"] = "patchelf"; }, other_program},
        {"another file's", [](auto& j) { j["file"] = "b.dll"; }, another_build},
        {"another size", [](auto& j) { j["size"] = 4609; }, another_build},
        {"another build's headers", [](auto& j) { j["fingerprint"] = 1; }, another_build},
        {"a size that is no number", [](auto& j) { j["size"] = "4608"; }, "read the undo file: \"size\" is no number"},
        {"a negative size", [](auto& j) { j["size"] = -1; }, "read the undo file: \"size\" is no number"},
        {"edits that are no list", [](auto& j) { j["edits"] = 5; }, "read the undo file: \"edits\" is no list"},
        {"no edits", [](auto& j) { j["edits"].clear(); }, "read the undo file: it holds no edits"},
        {"edits by name",
         [](auto& j) {
             j["edits"] = {{"0", j["edits"][0]}};
         },
         "read the undo file: \"edits\" is no list"},
        {"no list of edits", [](auto& j) { j.erase("edits"); }, "read the undo file: it is damaged, or no undo file"},
        {"an unknown field", [](auto& j) { j["edits"][0]["field"] = "AddressOfEntryPoint"; },
         "read the undo file: \"AddressOfEntryPoint\" is no field that fixnvpe changes"},
        {"an offset of another field", [](auto& j) { j["edits"][1]["offset"] = 224; },
         "read the undo file: DllCharacteristics at offset 224 is no field of this file that fixnvpe changes"},
        {"an offset outside the file", [](auto& j) { j["edits"][1]["offset"] = 4294967294U; },
         "read the undo file: DllCharacteristics at offset 4294967294 is no field of this file that fixnvpe changes"},
        {"an offset of 33 bits", [](auto& j) { j["edits"][1]["offset"] = 4294967518U; },
         "read the undo file: \"offset\" is no number of 32 bits"},
        {"a negative offset", [](auto& j) { j["edits"][1]["offset"] = -1; },
         "read the undo file: \"offset\" is no number of 32 bits"},
        {"an offset that is no integer", [](auto& j) { j["edits"][1]["offset"] = 222.0; },
         "read the undo file: \"offset\" is no number of 32 bits"},
        {"the flags of another section", [](auto& j) { j["edits"][2]["offset"] = 428; },
         "read the undo file: Characteristics at offset 428 is no field of this file that fixnvpe changes"},
        {"an overlap with the next field", [](auto& j) { j["edits"][0]["offset"] = 220; },
         "read the undo file: CheckSum at offset 220 is no field of this file that fixnvpe changes"},
        {"another width", [](auto& j) { j["edits"][1]["width"] = 4; },
         "read the undo file: DllCharacteristics at offset 222 is no field of this file that fixnvpe changes"},
        {"no width", [](auto& j) { j["edits"][1]["width"] = 0; },
         "read the undo file: DllCharacteristics at offset 222 is no field of this file that fixnvpe changes"},
        {"an edit without its value", [](auto& j) { j["edits"][0].erase("before"); },
         "read the undo file: it is damaged, or no undo file"},
        {"an edit that is none", [](auto& j) { j["edits"][0] = 5; },
         "read the undo file: it is damaged, or no undo file"},
        {"a list where a name should be", [](auto& j) { j["file"] = {"a.dll"}; },
         "read the undo file: it is damaged, or no undo file"},
        {"commands to the terminal", [](auto& j) { j["edits"][0]["field"] = "\x1b[2J" + std::string(100, 'x'); },
         "read the undo file: \"\\x1b[2Jxxxxxx…xxxxxxxxxxxxxxxxxxxxxxxxxx\" is no field that fixnvpe changes"},
        {"a field twice", [](auto& j) { j["edits"].push_back(j["edits"][0]); },
         "read the undo file: CheckSum at offset 216 is named twice"},
        {"other bits of DllCharacteristics", [](auto& j) { j["edits"][1]["before"] = 353; },
         "read the undo file: DllCharacteristics at offset 222 changes other bits than fixnvpe does"},
        {"other bits of a section", [](auto& j) { j["edits"][2]["before"] = 0xE0000040; },
         "read the undo file: Characteristics at offset 548 changes other bits than fixnvpe does"},
        {"a value that the file has not", [](auto& j) { j["edits"][0]["after"] = 7; },
         "check the undo file: CheckSum at offset 216 was changed by another program"},
    };
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    const auto undo = nlohmann::json::parse(read_file(session / "a.dll.fixnvpe-undo"));
    const std::string unused = "it is not used; if the DLL must go back, install its package again";
    const auto check = [&](const std::string& text, const std::string& said, const std::string& hint) {
        const std::string message = with_slashes(said);
        write_file(session / "a.dll.fixnvpe-undo", text);
        session.age();
        const Snapshot before = session.snapshot();
        const Output output = session.fixnvpe({"restore", "a.dll"});
        CHECK(output.exit_status == 2);
        const bool stale = message.starts_with("check the undo file");
        CHECK(output.out == "patched        a.dll  (a.dll.fixnvpe-undo " +
                                (stale ? "belongs to another build" : "can't be used: " + message) +
                                ")\nnothing restored: 1 file: 1 patched\n");
        CHECK(output.err == "fixnvpe: a.dll.fixnvpe-undo: " + message + "\n" + (stale ? "" : "  hint: " + hint + "\n"));
        CHECK(session.snapshot() == before);
    };
    for (const Damage& d : damages) {
        INFO(d.name);
        auto damaged = undo;
        d.damage(damaged);
        check(damaged.dump(), d.message, unused);
    }
    const std::string damaged = "read the undo file: it is damaged, or no undo file";
    for (const std::string& text : {std::string(), std::string("hello"), std::string("[]"), std::string("null"),
                                    undo.dump() + "x", undo.dump().substr(0, 100), std::string("\xff\xfe\x1b[31m")}) {
        check(text, damaged, unused);
    }
    const std::string good = undo.dump();
    for (const std::string key : {"schema", "edits", "offset"}) {
        std::string twice = good;
        const std::string name = '"' + key + '"';
        twice.insert(twice.find(name), name + ":1,");
        check(twice, "read the undo file: it names " + name + " twice", unused);
    }
    const std::string too_deep = "read the undo file: it is nested too deep for one";
    constexpr std::size_t longest = 1 << 16;
    check(std::string(longest, '['), too_deep, unused);
    check(std::string(longest / 2, '[') + std::string(longest / 2, ']'), too_deep, unused);
    check("{\"more\":[[[]]]," + good.substr(1), too_deep, unused);
    check(good + std::string(longest + 1 - good.size(), ' '),
          "read the undo file: it has 64.0 KiB, which is too long for one", unused);
}

TEST_CASE("undo: where it can't be used, patch refuses a file that it may still explain") {
    const Session session;
    session.writable("a.dll");
    session.text("a.dll.fixnvpe-undo", "hello");
    session.age();
    const Snapshot before = session.snapshot();
    const std::string message = "read the undo file: it is damaged, or no undo file";
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const Output expected{2,
                              "unpatched      a.dll  (" + SAVES + "; a.dll.fixnvpe-undo can't be used: " + message +
                                  ")\nnothing patched: 1 file: 1 unpatched\n",
                              "fixnvpe: a.dll.fixnvpe-undo: " + message +
                                  "\n  hint: it is not used; if the DLL must go back, install its package again\n"};
        CHECK(session.fixnvpe({"patch", "--backup", backup, "a.dll"}) == expected);
        CHECK(session.fixnvpe({"patch", "-n", "--backup", backup, "a.dll"}) == expected);  // a dry run says the same
        CHECK(session.snapshot() == before);
    }
}

TEST_CASE("leftover: a temporary that a crash left is reported by verify, and removed by patch and restore") {
    const Session session;
    session.writable("a.dll");
    const auto leave = [&] { session.text("a.dll.fixnvpe-tmp", "half a copy"); };
    leave();
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.fixnvpe({"verify", "a.dll"}) == unpatched("a temporary was left by a crash: patch removes it"));
    CHECK(session.fixnvpe({"patch", "-n", "a.dll"}).exit_status == 0);
    CHECK(session.snapshot() == before);

    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak");
    leave();
    CHECK(session.fixnvpe({"patch", "a.dll"}) ==
          Output{0,
                 "patched        a.dll  (a temporary that a crash had left was removed)\n"
                 "nothing to patch: 1 file: 1 patched\n",
                 ""});
    CHECK(session.names() == "a.dll a.dll.bak");
    leave();
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll");
    leave();
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{0,
                 "unpatched      a.dll  (a temporary that a crash had left was removed)\n"
                 "nothing to restore: 1 file: 1 unpatched\n",
                 ""});
    CHECK(session.names() == "a.dll");
}

TEST_CASE("leftover: what restore has done is not said to be still to do") {
    const Session session;
    half_done(session);
    session.text("a.dll.fixnvpe-tmp", "half a copy");
    const Output output = session.fixnvpe({"restore", "a.dll"});
    CHECK(output.exit_status == 0);
    CHECK(output.out.find("patch finishes it") == std::string::npos);
    CHECK(output.out.find("patch removes it") == std::string::npos);
    CHECK(session.names() == "a.dll");
}

TEST_CASE("missing: a file that a crash left under its backup's name is put back") {
    const Session session;
    session.writable("a.dll.bak");
    session.age();
    const Snapshot before = session.snapshot();
    const std::string message =
        "fixnvpe: a.dll: look up: the file is missing, but its backup is there\n"
        "  hint: fixnvpe patch or fixnvpe restore puts it back\n";
    CHECK(session.fixnvpe({"verify", "a.dll"}) == Output{2, "error          a.dll\n1 file: 1 error\n", message});
    CHECK(session.fixnvpe({"patch", "-n", "a.dll"}) ==
          Output{0, "would-restore  a.dll\n1 file would be restored\n", ""});
    CHECK(session.snapshot() == before);

    CHECK(session.fixnvpe({"patch", "a.dll"}) ==
          Output{
              0,
              "patched        a.dll  (4.0 KiB less commit in each process; backup: a.dll.bak; the file was missing and "
              "its backup was put back first)\n" +
                  ONE_PATCHED,
              ""});
    CHECK(session.names() == "a.dll a.dll.bak");

    fs::remove(session / "a.dll");
    CHECK(session.fixnvpe({"restore", "a.dll"}) ==
          Output{0, "restored       a.dll  (the file was missing and its backup was put back first)\n1 file restored\n",
                 ""});
    CHECK(session.names() == "a.dll");
    CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));
}

TEST_CASE("missing: in a folder it is put back if a temporary shows that it was a crash") {
    const Session session;
    session.writable("lib/a.dll.bak");
    session.fixture("x64-no-fatbin.dll", "lib/b.dll");
    session.text("lib/a.dll.fixnvpe-tmp", "half a copy");
    CHECK(session.fixnvpe({"restore", "lib"}) ==
          Output{0,
                 "restored       lib/a.dll  (the file was missing and its backup was put back first)\n"
                 "no-fatbin      lib/b.dll\n1 file restored\n",
                 ""});
    CHECK(session.names() == "lib/a.dll lib/b.dll");
}

TEST_CASE("missing: in a folder a backup alone may be of a DLL that was uninstalled, which is warned of") {
    const Session session;
    session.writable("lib/a.dll.bak");
    session.fixture("x64-no-fatbin.dll", "lib/b.dll");
    const Snapshot before = session.snapshot();
    for (const std::string command : {"verify", "patch", "restore"}) {
        const Output output = session.fixnvpe({command, "lib"});
        CHECK(output.exit_status == 0);
        CHECK_THAT(output.err, contains("fixnvpe: warning: "));
        CHECK_THAT(output.err, contains("lib/a.dll.bak"));
        CHECK(session.fixnvpe({command, "-q", "lib"}).err.empty());
        CHECK(session.snapshot() == before);
    }
}

}  // namespace fixnvpe::test
