// GPU code among variables: split, told, taken back, and known again whatever stands beside it.

#include <memory>
#include <string>

#include "fixnvpe/pe/headers.hpp"
#include "support/catch.hpp"
#include "support/fat_binaries.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t MIB = std::size_t{1} << 20;
constexpr std::size_t SPLIT = MIB + 4096;  // bytes: 1 MiB and 5,000 bytes, from a page on

/// Variables, a fat binary of more than 1 MiB, and variables.
std::vector<std::uint8_t> variables_and_code() {
    std::vector<std::uint8_t> data(4096, 0xDA);
    append_aligned(data, fat_binary(MIB + 5000));
    data.resize(data.size() + 9000, 0xDA);
    return data;
}

/// Like cuRAND's: no fatbin section.
PeSpec without_fatbin() {
    PeSpec spec = dll_with_data(variables_and_code());
    spec.check_sum = CheckSum::right;
    return spec;
}

/// Like cuFFT's of CUDA 11.6: a writable .nv_fatb, too.
PeSpec with_fatbin() {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    section(spec, ".data") = section(*std::make_unique<PeSpec>(without_fatbin()), ".data");
    section(spec, ".rdata").raw_size = 1024;
    spec.check_sum = CheckSum::right;
    return spec;
}

/// The NT headers stand so far behind that there is room for none more, unless they move.
PeSpec without_room(PeSpec spec) {
    spec.e_lfanew = 0x100;
    for (std::size_t i = 0; spec.sections.size() < 12; ++i) {
        spec.sections.insert(spec.sections.begin() + 1, {.name = "p" + std::to_string(i), .data = {1, 2, 3}});
    }
    return spec;
}

std::vector<std::uint8_t> bytes_of(const fs::path& path) {
    const std::string bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

std::uint32_t check_sum_of(const std::vector<std::uint8_t>& file) {
    return load_le<std::uint32_t>(file, load_le<std::uint32_t>(file, 60) + 24 + 64);
}

/// The file up to here, and another behind it.
std::string mixed(const std::string& first, const std::string& second, std::size_t at) {
    return first.substr(0, at) + second.substr(at);
}

}  // namespace

TEST_CASE("split: asked for, done, told and taken back, with each kind of backup, in place and moved") {
    for (const bool moves : {false, true}) {
        for (const std::string backup : {"full", "undo"}) {
            INFO("--backup " << backup << (moves ? ", moved" : ""));
            const Session session;
            const fs::path dll = session.dll("a.dll", moves ? without_room(without_fatbin()) : without_fatbin());
            const std::string original = read_file(dll);
            CHECK(session.told({"verify", "a.dll"}) == "a.dll no-fatbin; exit 0");
            CHECK(session.told({"verify", "--data", "split", "a.dll"}) ==
                  "a.dll unpatched; saves " + std::to_string(SPLIT) + "; exit 1");
            CHECK(session.told({"patch", "a.dll"}) == "a.dll no-fatbin; exit 0");
            CHECK((read_file(dll) == original));

            CHECK(session.told({"patch", "--data", "split", "--backup", backup, "a.dll"}) ==
                  "a.dll patched+patched; saves " + std::to_string(SPLIT) + "; exit 0");
            const std::vector<std::uint8_t> split = bytes_of(dll);
            CHECK(check_sum_of(split) == compute_check_sum(split));
            CHECK(load_le<std::uint32_t>(split, 60) == (moves ? 0x80 : 0x80));
            CHECK((read_file(dll).substr(4096) == original.substr(4096)));  // nothing but the headers changed
            for (const std::string data : {"keep", "split"}) {
                CHECK(session.told({"verify", "--data", data, "--require-backup", "a.dll"}) == "a.dll patched; exit 0");
                CHECK(session.told({"patch", "--data", data, "--backup", backup, "a.dll"}) == "a.dll patched; exit 0");
                CHECK((bytes_of(dll) == split));  // what was split stays
            }
            CHECK(session.told({"scan", "a.dll"}) == "a.dll patched; exit 0");
            CHECK(session.told({"clean", "a.dll"}).find("removed") == std::string::npos);

            CHECK(session.told({"restore", "a.dll"}) == "a.dll no-fatbin+restored; exit 0");
            CHECK((read_file(dll) == original));
            CHECK(session.names() == "a.dll");
        }
    }
}

TEST_CASE(
    "split: together with .nv_fatb, before it or after it, all comes to the same, and from the original's headers") {
    const Session session;
    const fs::path at_once = session.dll("a.dll", without_room(with_fatbin()));
    const std::string original = read_file(at_once);
    REQUIRE(session.fixnvpe({"patch", "--data", "split", "a.dll"}).exit_status == 0);
    const std::string both = read_file(at_once);
    for (const std::string backup : {"full", "undo"}) {
        INFO(backup);
        const fs::path later = session.dll("b.dll", without_room(with_fatbin()));
        CHECK(session.told({"patch", "--backup", backup, "b.dll"}) == "b.dll patched+patched; saves 4096; exit 0");
        CHECK(session.told({"verify", "--data", "split", "b.dll"}) ==
              "b.dll unpatched; saves " + std::to_string(SPLIT) + "; exit 1");
        CHECK(session.told({"patch", "--data", "split", "--backup", backup, "b.dll"}) ==
              "b.dll patched+patched; saves " + std::to_string(SPLIT) + "; exit 0");
        CHECK((read_file(later) == both));
        CHECK(session.told({"restore", "b.dll"}) == "b.dll unpatched+restored; exit 0");
        CHECK((read_file(later) == original));
    }
    // Split without a backup, and patched then: nothing is left to go back to, and nothing is lost.
    const fs::path without = session.dll("c.dll", without_room(with_fatbin()));
    REQUIRE(session.fixnvpe({"patch", "--data", "split", "--aslr", "keep", "--backup", "none", "c.dll"}).exit_status ==
            0);
    CHECK(session.told({"patch", "--aslr", "clear", "--backup", "undo", "c.dll"}) == "c.dll patched+patched; exit 0");
    CHECK((read_file(without) == both));
    CHECK(session.told({"restore", "c.dll"}) == "c.dll patched+restored; exit 0");
    CHECK(session.told({"restore", "c.dll"}) == "c.dll patched !no-backup; exit 2");
}

TEST_CASE("split: without a backup a copy takes its name, for headers that are half written could not be mended") {
    const Session session;
    const fs::path dll = session.dll("a.dll", without_fatbin());
    const FileState before = state_of(dll);
    CHECK(session.told({"patch", "--data", "split", "--backup", "none", "a.dll"}) ==
          "a.dll patched+patched; saves " + std::to_string(SPLIT) + "; exit 0");
    CHECK(state_of(dll).identity != before.identity);
    CHECK(session.names() == "a.dll");
    CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !no-backup; exit 2");
}

TEST_CASE("split: an edit that was broken off half way is known, be it a PE file or not") {
    const Session session;
    const fs::path dll = session.dll("a.dll", without_room(with_fatbin()));
    const std::string original = read_file(dll);
    REQUIRE(session.fixnvpe({"patch", "--data", "split", "--backup", "undo", "a.dll"}).exit_status == 0);
    const std::string split = read_file(dll);
    for (const std::size_t at : {62UL, 0x86UL, 0x90UL, 0xE0UL, 0x180UL, 0x200UL, 0x300UL}) {
        for (const bool new_first : {true, false}) {
            INFO(at << new_first);
            const std::string half = new_first ? mixed(split, original, at) : mixed(original, split, at);
            REQUIRE((half != original));
            REQUIRE((half != split));
            write_file(dll, half);
            CHECK(session.told({"verify", "a.dll"}).find("!half-done") != std::string::npos);
            CHECK(session.json({"clean", "--backups", "a.dll"}).at("files").at(0).at("action") == "none");
            CHECK(session.json({"patch", "--backup", "undo", "a.dll"}).at("files").at(0).at("note_codes") ==
                  Json::array({"finished"}));
            CHECK((read_file(dll) == split));
            write_file(dll, half);
            CHECK(session.json({"restore", "--keep-backup", "a.dll"}).at("files").at(0).at("note_codes") ==
                  Json::array({"taken-back"}));
            CHECK((read_file(dll) == original));
        }
    }
}

TEST_CASE("split: backups are judged with splits taken back") {
    const Session session;
    const fs::path dll = session.dll("a.dll", without_room(without_fatbin()));
    const std::string original = read_file(dll);
    REQUIRE(session.fixnvpe({"patch", "--data", "split", "--backup", "none", "a.dll"}).exit_status == 0);
    const std::string split = read_file(dll);
    const std::string saves = "; saves " + std::to_string(SPLIT);

    SECTION("fixNvPe.py's name") {
        write_file(session / "a.dll_bak", original);
        CHECK(session.told({"verify", "a.dll"}) == "a.dll patched; exit 0");
        CHECK(session.told({"restore", "a.dll"}) == "a.dll no-fatbin+restored; exit 0");
        CHECK((read_file(dll) == original));
    }
    SECTION("a backup that is split itself is no original") {
        write_file(session / "a.dll.bak", split);
        CHECK(session.told({"verify", "--require-backup", "a.dll"}) == "a.dll patched (no-valid-backup); exit 1");
        write_file(dll, original);
        CHECK(session.told({"restore", "a.dll"}) == "a.dll no-fatbin (patched-backup); exit 0");
        CHECK((read_file(dll) == original));
        CHECK(session.told({"patch", "--data", "split", "a.dll"}) ==
              "a.dll patched+patched (moved-aside)" + saves + "; exit 0");
        CHECK((read_file(session / "a.dll.bak") == original));
    }
    SECTION("another build is stale") {
        std::string other = original;
        other[0x108] = static_cast<char>(other[0x108] ^ 1);  // TimeDateStamp
        write_file(session / "a.dll.bak", other);
        CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !stale-backup (stale-backup); exit 2");
    }
    SECTION("other bytes behind the headers: CheckSum tells") {
        std::string other = original;
        other[other.size() - 3000] = static_cast<char>(other[other.size() - 3000] ^ 1);
        std::vector<std::uint8_t> bytes(other.begin(), other.end());
        store_le(bytes, 0x100 + 24 + 64, 4, compute_check_sum(bytes));
        write_file(session / "a.dll.bak", {bytes.begin(), bytes.end()});
        CHECK(session.told({"restore", "a.dll"}) == "a.dll patched !stale-backup (stale-backup); exit 2");
    }
    SECTION("a copy that was kept is removed, and what is nobody's stays") {
        write_file(dll, original);
        write_file(session / "a.dll.bak", original);
        session.fixture("x64-no-fatbin.dll", "b.dll");
        session.fixture("x64-no-fatbin.dll", "b.dll.bak");
        CHECK(session.told({"clean", "."}) == "./a.dll.bak no-fatbin+removed (equal); exit 0");
        CHECK(session.names() == "a.dll b.dll b.dll.bak");
    }
    SECTION("a DLL that is missing is put back") {
        write_file(session / "a.dll.bak", original);
        fs::remove(dll);
        CHECK(session.told({"restore", "a.dll"}) == "a.dll no-fatbin+restored (put-back); exit 0");
        CHECK((read_file(dll) == original));
    }
}

TEST_CASE("split: what can't be split is told with its reason, and is nothing to patch") {
    const Session session;
    PeSpec spec = without_fatbin();
    spec.dll_characteristics |= IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY;
    session.dll("refused.dll", spec);
    spec = without_fatbin();
    for (std::size_t i = 0; spec.sections.size() < 15; ++i) {
        spec.sections.insert(spec.sections.begin() + 1, {.name = "q" + std::to_string(i), .data = {1, 2, 3}});
    }
    session.dll("room.dll", spec);
    CHECK(session.told({"patch", "--data", "split", "room.dll"}) == "room.dll not-needed; exit 0");
    CHECK(session.told({"verify", "--data", "split", "refused.dll"}) ==
          "refused.dll refused (force-integrity); exit 0");
    const Json found = session.json({"scan", "room.dll"}).at("files").at(0).at("split");
    CHECK(found == Json{{"planned", false},
                        {"freed", 0},
                        {"pages", Json::array()},
                        {"left", MIB + 5000},
                        {"reason", "no room for more section headers"},
                        {"reason_code", "no-room"}});
    CHECK(session.json({"verify", "room.dll"}).at("files").at(0).contains("split") == false);  // not looked for
}

}  // namespace fixnvpe::test
