// An original is never lost: what counts as one, and what is done about all that does not.

#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t CHECK_SUM = 128 + 24 + 64;  // of the fixtures, from the specification
constexpr std::size_t BODY = 4096 + 100;          // behind the header bytes

std::string testdata(const std::string& name) {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/" + name);
}

void store_u32(const fs::path& path, std::size_t offset, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) {
        poke(path, offset + i, static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

/// A DLL as most are shipped: no CheckSum, so that nothing in the headers tells of the body.
std::string without_check_sum(const Session& session, const fs::path& name) {
    session.writable(name);
    store_u32(session / name, CHECK_SUM, 0);
    return read_file(session / name);
}

/// As a signing tool does, but for what the certificate says.
void sign(const fs::path& path) {
    std::string bytes = read_file(path);
    const std::size_t padded = (bytes.size() + 7) / 8 * 8;
    bytes.resize(padded + 512, 'c');
    write_file(path, bytes);
    constexpr std::size_t certificate_entry = 128 + 24 + 112 + 4 * 8;
    store_u32(path, certificate_entry, static_cast<std::uint32_t>(padded));
    store_u32(path, certificate_entry + 4, 512);
    store_u32(path, CHECK_SUM, 0x12345);
}

}  // namespace

TEST_CASE("originals: a backup that is patched itself is never taken for the original") {
    SECTION("patched without a backup, copied, and patched on") {
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.told({"patch", "--backup", "none", "a.dll"}).starts_with("a.dll patched+patched"));
        fs::copy_file(session / "a.dll", session / "a.dll.bak");
        CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched (no-valid-backup); exit 1");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !no-backup; exit 2");
    }
    SECTION("a .bak of the patched file beside the reinstalled original") {
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", "none", "--aslr", "keep", "a.dll"}).exit_status == 0);
        REQUIRE(session.fixnvpe({"patch", "--aslr", "clear", "a.dll"}).exit_status == 0);
        const std::string half = read_file(session / "a.dll.bak");  // --aslr keep's
        session.writable("a.dll");                                  // reinstalled
        CHECK(session.told({"verify", "a.dll"}) == "a.dll unpatched (patched-backup); saves 4096; exit 1");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (patched-backup); exit 0");
        CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (moved-aside); saves 4096; exit 0");
        CHECK(read_file(session / "a.dll.bak") == testdata("x64-writable.dll"));
        CHECK(read_file(session / "a.dll.bak.1") == half);
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored; exit 0");
        CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
    }
    SECTION("a _bak that fixNvPe.py made of a patched file is not restored") {
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
        fs::copy_file(session / "a.dll", session / "a.dll_bak");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored (patched-backup); exit 0");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (patched-backup); exit 0");
        CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
    }
    SECTION("one hides no good undo file") {
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
        fs::copy_file(session / "a.dll", session / "a.dll.bak");
        CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched; exit 0");
        CHECK(session.told({"restore", "a.dll"}).starts_with("a.dll unpatched+restored"));
        CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
    }
}

TEST_CASE("originals: builds that differ in body and CheckSum alone are two builds") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    const std::string a = read_file(session / "a.dll.bak");
    session.writable("a.dll");
    poke(session / "a.dll", BODY, 0x77);
    const auto sum = static_cast<unsigned char>(read_file(session / "a.dll")[CHECK_SUM]);
    poke(session / "a.dll", CHECK_SUM, static_cast<std::uint8_t>(sum ^ 0x5A));
    const std::string b = read_file(session / "a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (stale-backup); exit 0");
    CHECK(read_file(session / "a.dll") == b);
    CHECK(session.told({"clean", "a.dll"}) == "a.dll.bak unpatched (maybe-other-build); exit 0");
    CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (moved-aside); saves 4096; exit 0");
    CHECK(read_file(session / "a.dll.bak") == b);
    CHECK(read_file(session / "a.dll.bak.1") == a);
}

TEST_CASE("originals: where CheckSum proves nothing, the bytes are compared before a backup is relied on") {
    const Session session;
    const std::string a = without_check_sum(session, "a.dll");
    SECTION("the same build: restored") {
        REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored; exit 0");
        CHECK(read_file(session / "a.dll") == a);
    }
    SECTION("another body: neither restored, nor taken for the earlier original") {
        REQUIRE(session.fixnvpe({"patch", "--aslr", "keep", "a.dll"}).exit_status == 0);
        poke(session / "a.dll", BODY, 0x77);  // another build, which was patched, too
        const std::string b = read_file(session / "a.dll");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll not-needed (stale-backup); exit 0");
        CHECK(read_file(session / "a.dll") == b);
        CHECK(read_file(session / "a.dll.bak") == a);
        CHECK(session.fixnvpe({"patch", "--aslr", "clear", "a.dll"}).exit_status == 0);
        CHECK(read_file(session / "a.dll.bak") == b);
        CHECK(read_file(session / "a.dll.bak.1") == a);
    }
}

TEST_CASE("originals: patch keeps a .bak of equal headers whose body differs") {
    const Session session;
    without_check_sum(session, "a.dll");
    fs::copy_file(session / "a.dll", session / "a.dll.bak");
    poke(session / "a.dll.bak", BODY, 0x77);
    const std::string other = read_file(session / "a.dll.bak");
    SECTION("by patch") {
        CHECK(session.told({"patch", "a.dll"}) == "a.dll patched+patched (moved-aside); saves 4096; exit 0");
        CHECK(read_file(session / "a.dll.bak.1") == other);
    }
    SECTION("by clean") {
        CHECK(session.told({"clean", "a.dll"}) == "a.dll.bak unpatched (maybe-other-build); exit 0");
        CHECK(read_file(session / "a.dll.bak") == other);
    }
    SECTION("by restore") {
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (stale-backup); exit 0");
        CHECK(read_file(session / "a.dll.bak") == other);
    }
}

TEST_CASE("originals: clean removes a copy that is equal in every byte, and no other") {
    const Session session;
    without_check_sum(session, "a.dll");
    fs::copy_file(session / "a.dll", session / "a.dll.bak");
    CHECK(session.told({"clean", "a.dll"}) == "a.dll.bak unpatched+removed (equal); exit 0");
    CHECK(session.names() == "a.dll");
}

TEST_CASE("originals: the backup beside a DLL that was cut short stays") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    for (const std::uintmax_t size : {4200U, 600U, 0U}) {
        INFO(size);
        fs::resize_file(session / "a.dll", size);
        static_cast<void>(session.fixnvpe({"clean", "a.dll"}));
        CHECK(read_file(session / "a.dll.bak") == testdata("x64-writable.dll"));
    }
}

TEST_CASE("originals: a broken DLL is put back from a whole backup, and kept as NAME.bak.N") {
    const std::string backup = GENERATE("a.dll.bak", "a.dll_bak");
    const bool was_patched = GENERATE(true, false);
    struct Break {
        std::uintmax_t size;
        const char* code;
        bool recognised;
    };
    const Break breaks[] = {
        {4200, "truncated", true}, {700, "truncated", true}, {600, "truncated", false}, {0, "not-pe", false}};
    for (const Break& b : breaks) {
        INFO(backup << ' ' << b.size);
        const Session session;
        session.writable("a.dll");
        session.writable(backup);
        if (was_patched) {
            write_file(session / "a.dll", testdata("x64-patched.dll"));
        }
        fs::resize_file(session / "a.dll", b.size);
        const std::string broken = read_file(session / "a.dll");
        const std::string refused =
            std::string("a.dll error !") + b.code + (b.recognised ? " (raw-data-past-end)" : "") + "; exit 2";
        session.age();
        const Snapshot before = session.snapshot();
        for (const std::string command : {"verify", "scan", "patch"}) {
            CHECK(session.told({command, "a.dll"}) == refused);
            CHECK(session.told({command, "."}) == "./" + refused);
        }
        const nlohmann::json file = session.json({"verify", "a.dll"}).at("files").at(0);
        CHECK(file.at("backup").at("path") == backup);
        CHECK(file.at("backup").at("state") == "whole");
        CHECK(file.at("error").at("hint") == backup + " beside it is whole: fixnvpe restore \"a.dll\" puts it back");
        CHECK(session.told({"restore", "-n", "a.dll"}) == "a.dll error+would-restore; exit 0");
        if (!b.recognised) {
            CHECK(session.told({"restore", "."}) == "./" + refused);
            CHECK(with_slashes(session.json({"restore", "."}).at("files").at(0).at("error").at("hint")) ==
                  backup + " beside it is whole: fixnvpe restore \"./a.dll\" puts it back");
        }
        CHECK(session.snapshot() == before);

        const std::string target = b.recognised ? "." : "a.dll";
        const std::string path = b.recognised ? "./a.dll" : "a.dll";
        CHECK(session.told({"restore", target}) == path + " unpatched+restored (broken-aside); exit 0");
        CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
        CHECK(read_file(session / "a.dll.bak.1") == broken);
        CHECK(session.names() == "a.dll a.dll.bak.1");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched; exit 0");
    }
}

TEST_CASE("originals: restore --keep-backup of a broken DLL keeps the backup, too") {
    const Session session;
    session.writable("a.dll.bak");
    session.text("a.dll", "");
    CHECK(session.told({"restore", "--keep-backup", "a.dll"}) == "a.dll unpatched+restored (broken-aside); exit 0");
    CHECK(session.names() == "a.dll a.dll.bak a.dll.bak.1");
    CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
}

TEST_CASE("originals: an upgrade that was cut short is no place for the old build") {
    const Session session;
    session.another_build("a.dll");
    session.writable("a.dll.bak");
    fs::resize_file(session / "a.dll", 4200);
    session.age();
    const Snapshot before = session.snapshot();
    for (const std::string command : {"verify", "patch", "restore"}) {
        CHECK(session.told({command, "a.dll"}) == "a.dll error !truncated (raw-data-past-end); exit 2");
    }
    CHECK(session.json({"restore", "a.dll"}).at("files").at(0).at("error").at("hint") ==
          "the file is cut short: install it again");
    CHECK(session.snapshot() == before);
}

TEST_CASE("originals: beside what was no DLL of ours, a file is only what it is") {
    const Session session;
    session.text("notes.dll", "my notes");
    session.text("notes.dll.bak", "my older notes");
    CHECK(session.told({"verify", "notes.dll"}) == "notes.dll not-pe !not-pe; exit 2");
    CHECK(session.told({"restore", "notes.dll"}) == "notes.dll not-pe !not-pe; exit 2");
}

TEST_CASE("originals: a DLL that was signed after patching is still the build of its backup") {
    const auto [mode, suffix] = GENERATE(std::pair<std::string, std::string>{"full", "bak"},
                                         std::pair<std::string, std::string>{"undo", "fixnvpe-undo"});
    INFO(mode);
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", mode, "a.dll"}).exit_status == 0);
    sign(session / "a.dll");
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched; exit 0");
    CHECK(session.told({"clean", "a.dll"}) == "a.dll." + suffix + " patched (usable); exit 0");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored; exit 0");
    CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
    CHECK(session.names() == "a.dll");
}

TEST_CASE("originals: an undo file is not restored over a signed file whose body is another build's") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    poke(session / "a.dll", BODY, 0x77);
    sign(session / "a.dll");
    const std::string b = read_file(session / "a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !stale-backup (stale-backup); exit 2");
    CHECK(read_file(session / "a.dll") == b);
}

TEST_CASE("originals: what another tool clears over an undo file comes back, too") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "--aslr", "keep", "a.dll"}).exit_status == 0);
    constexpr std::size_t dll_characteristics = 128 + 24 + 70;
    const auto low = static_cast<unsigned char>(read_file(session / "a.dll")[dll_characteristics]);
    poke(session / "a.dll", dll_characteristics, static_cast<std::uint8_t>(low & ~0x40U));
    CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched; exit 0");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched+restored; exit 0");
    CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
    CHECK(session.names() == "a.dll");
}

TEST_CASE("originals: the name in an undo file decides nothing") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    fs::rename(session / "a.dll", session / "b.dll");
    fs::rename(session / "a.dll.fixnvpe-undo", session / "b.dll.fixnvpe-undo");
    CHECK(session.told({"clean", "b.dll"}) == "b.dll.fixnvpe-undo patched (usable); exit 0");
    CHECK(session.told({"restore", "b.dll"}) == "b.dll unpatched+restored; exit 0");
    CHECK(read_file(session / "b.dll") == testdata("x64-writable.dll"));
}

TEST_CASE("originals: an undo file of another build is moved aside, and not written over") {
    for (const std::string mode : {"full", "undo", "none"}) {
        INFO(mode);
        const Session session;
        session.writable("a.dll");
        REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
        const std::string undo = read_file(session / "a.dll.fixnvpe-undo");
        session.another_build("a.dll");
        CHECK(session.told({"patch", "--backup", mode, "a.dll"}) ==
              "a.dll patched+patched (moved-aside); saves 4096; exit 0");
        CHECK(read_file(session / "a.dll.fixnvpe-undo.1") == undo);
    }
}

}  // namespace fixnvpe::test
