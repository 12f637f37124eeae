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

const std::string RESTORED = "a.dll unpatched+restored; exit 0";
const std::string PATCHED = "a.dll patched; exit 0";
const std::string NOTHING_DONE = "a.dll unpatched; exit 0";

std::string testdata(const std::string& name) {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/" + name);
}

/// What verify tells of it.
std::string unpatched(const std::string& note) {
    return "a.dll unpatched (" + note + "); saves 4096; exit 1";
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
        CHECK(session.told({"restore", "a.dll"}) == RESTORED);
        CHECK(session.snapshot() == before);  // the time and the inode, too
    }
}

TEST_CASE("restore: takes the edits back from the undo file, and removes it") {
    for (const std::string aslr : {"auto", "keep", "clear"}) {
        INFO(aslr);
        const Session session;
        session.writable("a.dll");
        session.age();
        const FileState before = state_of(session / "a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "--aslr", aslr, "a.dll"}).exit_status == 0);
        CHECK(session.told({"restore", "a.dll"}) == RESTORED);
        CHECK(session.names() == "a.dll");
        CHECK(state_of(session / "a.dll") == before);  // the time, too
    }
}

TEST_CASE("restore: a second time there is nothing to restore") {
    const Session session;
    session.writable("a.dll");
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.told({"restore", "a.dll"}) == NOTHING_DONE);
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.told({"restore", "a.dll"}) == RESTORED);
    CHECK(session.told({"restore", "a.dll"}) == NOTHING_DONE);
    CHECK(session.snapshot() == before);
}

TEST_CASE("restore: files that were never patched are left alone") {
    const Session session;
    session.fixture("x64-read-only.dll", "a.dll");
    session.fixture("x64-no-fatbin.dll", "b.dll");
    session.fixture("x64-force-integrity.dll", "c.dll");
    session.text("d.dll", "no PE file");
    const Snapshot before = session.snapshot();
    CHECK(session.told({"restore", "-v", "."}) ==
          "./a.dll not-needed; ./b.dll no-fatbin; ./c.dll refused "
          "(force-integrity); ./d.dll not-pe; exit 0");
    CHECK(session.snapshot() == before);
}

TEST_CASE("restore: a patched file without a backup is an error with a hint") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "none", "a.dll"}).exit_status == 0);
    REQUIRE(session.fixnvpe({"patch", "b.dll"}).exit_status == 0);
    const FileState before = state_of(session / "a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !no-backup; exit 2");
    CHECK(session.fixnvpe({"restore", "a.dll"}).err.find("\n  hint: ") != std::string::npos);
    CHECK(session.told({"restore", "."}) == "./a.dll patched !no-backup; ./b.dll unpatched+restored; exit 2");
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
        CHECK(session.fixnvpe({"restore", "-n", "-v", "a.dll"}).out ==
              "  would-restore  a.dll\n"
              "    CheckSum at offset 0xd8: 0x00009e2c -> 0x00001e6d\n"
              "    DllCharacteristics at offset 0xde: 0x0120 -> 0x0160\n"
              "    Characteristics at offset 0x224: 0x40000040 -> 0xc0000040\n"
              "1 file: 1 patched\n"
              "1 file would be restored\n");
        CHECK(session.snapshot() == before);
    }
}

TEST_CASE("restore: --keep-backup leaves the backup, and a second time does nothing") {
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const Session session;
        session.writable("a.dll");
        session.age();
        const FileState original = state_of(session / "a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        const std::string names = session.names();
        CHECK(session.told({"restore", "--keep-backup", "a.dll"}) == RESTORED);
        CHECK(session.names() == names);
        CHECK(state_of(session / "a.dll").modified == original.modified);
        CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));
        session.age();
        const Snapshot before = session.snapshot();
        CHECK(session.told({"restore", "--keep-backup", "a.dll"}) == NOTHING_DONE);
        CHECK(session.snapshot() == before);
        // The kept backup serves the next patch.
        CHECK(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        CHECK(session.names() == names);
        CHECK(session.told({"restore", "a.dll"}) == RESTORED);
        CHECK(session.names() == "a.dll");
    }
}

TEST_CASE("backup: one of another build is not restored") {
    const Session session;
    session.writable("a.dll");
    session.fixture("x64-odd-size.dll", "a.dll.bak");
    const Snapshot before = session.snapshot();
    CHECK(session.told({"verify", "a.dll"}) == unpatched("stale-backup"));
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (stale-backup); exit 0");
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
        CHECK(session.told({"verify", "a.dll"}) == unpatched("stale-backup"));
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (stale-backup); exit 0");
    }
}

TEST_CASE("patch: a backup of another build is moved to .bak.1, .bak.2, …, and that is said") {
    for (const std::string mode : {"full", "undo", "none"}) {
        INFO(mode);
        const Session session;
        session.fixture("x64-odd-size.dll", "a.dll.bak");
        session.fixture("x64-two-fatbins.dll", "a.dll.bak.2");
        for (const std::string number : {"1", "3"}) {
            session.writable("a.dll");
            const nlohmann::json file = session.json({"patch", "--backup", mode, "a.dll"}).at("files").at(0);
            CHECK(file.at("action") == "patched");
            CHECK(file.at("note_codes") == nlohmann::json{"moved-aside"});
            CHECK_THAT(file.at("notes").at(0), contains("a.dll.bak." + number));
            CHECK(file.at("backup").is_null() == (mode == "none"));
            CHECK((mode == "none" || file.at("backup").at("kind") == mode));
            CHECK(read_file(session / ("a.dll.bak." + number)) == testdata("x64-odd-size.dll"));
            fs::remove(session / "a.dll.fixnvpe-undo");
            session.fixture("x64-odd-size.dll", "a.dll.bak");
        }
        CHECK(read_file(session / "a.dll.bak.2") == testdata("x64-two-fatbins.dll"));
    }
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
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) == PATCHED);
    CHECK(session.told({"patch", "a.dll"}) == PATCHED);
    CHECK(session.told({"restore", "a.dll"}) == RESTORED);
    CHECK(session.names() == "a.dll");
    CHECK(state_of(session / "a.dll") == backup);
}

TEST_CASE("backup: a NAME_bak of another build is neither restored nor lost") {
    const Session session;
    session.fixture("x64-odd-size.dll", "a.dll_bak");
    session.writable("a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (stale-backup); exit 0");
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak a.dll_bak");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (stale-backup); exit 0");
    CHECK(read_file(session / "a.dll_bak") == testdata("x64-odd-size.dll"));
}

TEST_CASE("backup: one that can't be told from another program's is none of ours") {
    // A DLL without .nv_fatb was never patched; whatever its .bak is, somebody else made it.
    const Session session;
    session.fixture("x64-no-fatbin.dll", "a.dll");
    const std::string nothing = "a.dll no-fatbin; exit 0";
    const auto check = [&] {
        const Snapshot before = session.snapshot();
        CHECK(session.told({"verify", "a.dll"}) == nothing);
        CHECK(session.told({"restore", "a.dll"}) == nothing);
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
    CHECK(session.told({"verify", "a.dll"}) == unpatched("unusable-backup"));
    CHECK(session.told({"patch", "a.dll"}) == "a.dll unpatched !not-pe (unusable-backup); exit 2");
    CHECK(session.fixnvpe({"patch", "a.dll"}).err.starts_with("fixnvpe: a.dll.bak: "));
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"patch", "--backup", "none", "a.dll"}).exit_status == 0);
    CHECK(read_file(session / "a.dll.bak") == "my notes");
}

TEST_CASE("undo: a half-done edit is recognised, finished by patch and taken back by restore") {
    const Session session;
    half_done(session);
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.told({"verify", "a.dll"}) == unpatched("half-done"));
    CHECK(session.told({"patch", "-n", "a.dll"}) == "a.dll unpatched+would-patch (half-done); saves 4096; exit 0");
    CHECK(session.json({"patch", "-n", "a.dll"}).at("files").at(0).at("edits") ==
          nlohmann::json::array({{{"field", "Characteristics"},
                                  {"offset", SECTION_CHARACTERISTICS},
                                  {"before", 0xC0000040},
                                  {"after", 0x40000040}}}));
    CHECK(session.snapshot() == before);

    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (taken-back); exit 0");
    CHECK(session.names() == "a.dll");
    CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));

    for (const std::string backup : {"undo", "full", "none"}) {
        INFO(backup);
        half_done(session);
        const std::string name = backup == "full" ? "a.dll.bak" : "a.dll.fixnvpe-undo";
        CHECK(session.told({"patch", "--backup", backup, "a.dll"}) ==
              "a.dll patched+patched (finished); saves 4096; exit 0");
        CHECK(session.told({"verify", "--require-backup", "a.dll"}) == PATCHED);
        CHECK(session.names() == "a.dll " + name);
        CHECK(session.told({"restore", "a.dll"}) == RESTORED);
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
            CHECK(session.told({"patch", "--aslr", aslr, "--backup", backup, "a.dll"}) ==
                  "a.dll patched+patched (finished); exit 0");
            CHECK(session.names() == "a.dll " + name);
            CHECK((read_file(session / "a.dll") == testdata("x64-patched.dll")));
            CHECK(session.told({"verify", "--require-backup", "a.dll"}) == PATCHED);
            CHECK(session.told({"restore", "a.dll"}) == "a.dll not-needed+restored; exit 0");
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
        {"another size", [](auto& j) { j["size"] = 4609; }, another_build},
        {"another build's headers", [](auto& j) { j["fingerprint"] = 1; }, another_build},
        {"a size that is no number", [](auto& j) { j["size"] = "4608"; }, "read the undo file: \"size\" is no number"},
        {"a negative size", [](auto& j) { j["size"] = -1; }, "read the undo file: \"size\" is no number"},
        {"a time that is no number", [](auto& j) { j["modified"] = "noon"; },
         "read the undo file: \"modified\" is no number of 64 bits"},
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
    const auto check = [&](const std::string& text, const std::string& message, const std::string& hint) {
        write_file(session / "a.dll.fixnvpe-undo", text);
        session.age();
        const Snapshot before = session.snapshot();
        const nlohmann::json output = session.json({"restore", "a.dll"});
        CHECK(output.at("exit_status") == 2);
        const nlohmann::json& file = output.at("files").at(0);
        const bool stale = message.starts_with("check the undo file");
        CHECK(file.at("status") == "patched");
        CHECK(file.at("note_codes") == nlohmann::json{stale ? "stale-backup" : "unusable-backup"});
        CHECK(file.at("error").at("code") == (stale ? "stale-backup" : "bad-undo"));
        CHECK(file.at("error").at("message") == message);
        CHECK(file.at("error").value("hint", "") == (stale ? "" : hint));
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
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const std::string expected = "a.dll unpatched !bad-undo (unusable-backup); exit 2";
        CHECK(session.told({"patch", "--backup", backup, "a.dll"}) == expected);
        CHECK(session.told({"patch", "-n", "--backup", backup, "a.dll"}) == expected);  // a dry run says the same
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
    CHECK(session.told({"verify", "a.dll"}) == unpatched("temporary-left"));
    CHECK(session.fixnvpe({"patch", "-n", "a.dll"}).exit_status == 0);
    CHECK(session.snapshot() == before);

    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak");
    leave();
    CHECK(session.told({"patch", "a.dll"}) == "a.dll patched (temporary-removed); exit 0");
    CHECK(session.names() == "a.dll a.dll.bak");
    leave();
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll");
    leave();
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (temporary-removed); exit 0");
    CHECK(session.names() == "a.dll");
}

TEST_CASE("leftover: what restore has done is not said to be still to do") {
    const Session session;
    half_done(session);
    session.text("a.dll.fixnvpe-tmp", "half a copy");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (taken-back); exit 0");
    CHECK(session.names() == "a.dll");
}

TEST_CASE("missing: a file that a crash left under its backup's name is put back") {
    const Session session;
    session.writable("a.dll.bak");
    session.age();
    const Snapshot before = session.snapshot();
    CHECK(session.told({"verify", "a.dll"}) == "a.dll error !missing; exit 2");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll error !missing; exit 2");  // it may have been uninstalled
    CHECK(session.told({"restore", "-n", "a.dll"}) == "a.dll error+would-restore; exit 0");
    CHECK(session.snapshot() == before);

    session.text("a.dll.fixnvpe-tmp", "half a copy");
    CHECK(session.told({"patch", "-n", "a.dll"}) == "a.dll error+would-restore; exit 0");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (put-back); saves 4096; exit 0");
    CHECK(session.names() == "a.dll a.dll.bak");

    fs::remove(session / "a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (put-back); exit 0");
    CHECK(session.names() == "a.dll");
    CHECK((read_file(session / "a.dll") == testdata("x64-writable.dll")));
}

TEST_CASE("missing: what is called NAME.bak and is no PE file with GPU code is nobody's original") {
    const Session session;
    session.text("notes.txt.bak", "somebody's notes");
    session.fixture("x64-no-fatbin.dll", "plain.dll.bak");
    const Snapshot before = session.snapshot();
    for (const std::string command : {"patch", "restore", "verify"}) {
        CHECK(session.told({command, "notes.txt"}) == "notes.txt error !not-found; exit 2");
        CHECK(session.told({command, "plain.dll"}) == "plain.dll error !not-found; exit 2");
    }
    CHECK(session.snapshot() == before);
}

TEST_CASE("missing: in a folder it is put back if a temporary shows that it was a crash") {
    const Session session;
    session.writable("lib/a.dll.bak");
    session.fixture("x64-no-fatbin.dll", "lib/b.dll");
    session.text("lib/a.dll.fixnvpe-tmp", "half a copy");
    CHECK(session.told({"restore", "lib"}) == "lib/a.dll unpatched+restored (put-back); lib/b.dll no-fatbin; exit 0");
    CHECK(session.names() == "lib/a.dll lib/b.dll");
}

TEST_CASE("missing: in a folder a backup alone may be of a DLL that was uninstalled, which is said") {
    const Session session;
    session.writable("lib/a.dll.bak");
    session.fixture("x64-no-fatbin.dll", "lib/b.dll");
    const Snapshot before = session.snapshot();
    for (const std::string command : {"verify", "patch", "restore"}) {
        const Output output = session.fixnvpe({command, "lib"});
        CHECK(output.exit_status == 0);
        CHECK_THAT(output.err, contains("left behind: its DLL is gone"));
        CHECK_THAT(output.err, contains("lib/a.dll.bak"));
        CHECK(session.fixnvpe({command, "-q", "lib"}).err.empty());
        CHECK(session.snapshot() == before);
    }
}

}  // namespace fixnvpe::test
