// Other people's programs read the same files, and must agree with what we say of them and do to them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint32_t MEM_WRITE = 0x80000000;
constexpr unsigned DYNAMIC_BASE = 0x40;
constexpr unsigned HIGH_ENTROPY_VA = 0x20;
constexpr unsigned GUARD_CF = 0x4000;

/// Puts all of testdata/pe, and the DLLs of testdata/sample, into a folder here. @return their names
std::vector<std::string> copy_fixtures(const Session& session, const std::string& folder) {
    std::vector<std::string> names;
    const fs::path testdata = FIXNVPE_TESTDATA_DIR;
    fs::create_directory(session / folder);
    for (const fs::path& source : {testdata / "pe", testdata / "sample/torch/lib"}) {
        for (const auto& entry : fs::directory_iterator(source)) {
            if (entry.path().extension() != ".lib") {
                names.push_back(entry.path().filename().string());
                const fs::path copy = session / folder / names.back();
                fs::copy_file(entry.path(), copy);
                fs::permissions(copy, fs::perms(0644));
            }
        }
    }
    std::sort(names.begin(), names.end());
    REQUIRE(names.size() > 30);
    return names;
}

/// What the program says of the files in a folder, by name.
std::map<std::string, Json> by_name(const Json& result) {
    std::map<std::string, Json> files;
    for (const Json& file : result.at("files")) {
        files[fs::path(file.at("path").get<std::string>()).filename().string()] = file;
    }
    return files;
}

/// Runs an oracle. One that can't be run fails the test. @return what it printed
std::string ask(const Session& session, const std::vector<std::string>& words, const std::vector<int>& statuses = {0}) {
    const ProcessResult result = session.run({.words = words});
    INFO(fmt::format("{} ended with {}\n{}\n{}", fmt::join(words, " "), result.exit_status, result.out, result.err));
    REQUIRE(std::find(statuses.begin(), statuses.end(), result.exit_status) != statuses.end());
    return result.out;
}

/// Debian's own python: another one that comes first on PATH need not have Debian's pefile.
std::string ask_pefile(const Session& session, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/python3", std::string(FIXNVPE_SOURCE_DIR) + "/tests/oracle/pefile_oracle.py"});
    return ask(session, arguments);
}

Json describe_by_pefile(const Session& session, const std::string& folder) {
    return Json::parse(ask_pefile(session, {"describe", folder}));
}

struct ReadobjSection {
    std::string name;
    std::uint64_t virtual_size = 0;
    std::uint64_t characteristics = 0;
};

/// What llvm-readobj says of the headers that matter here.
struct Readobj {
    std::uint64_t machine = 0;
    std::uint64_t image_base = 0;
    std::uint64_t dll_characteristics = 0;
    std::uint64_t certificate_table_size = 0;
    std::vector<ReadobjSection> sections;
};

/// The number in "Name: 0x10", "Name [ (0x10)" or "Name: WORD (0x10)".
std::uint64_t number_in(const std::string& line) {
    return std::stoull(line.substr(line.find("0x")), nullptr, 16);
}

Readobj read_by_llvm(const Session& session, const std::string& file) {
    Readobj result;
    std::istringstream lines(ask(session, {"llvm-readobj", "--file-headers", "--sections", file}));
    bool in_optional_header = false;
    for (std::string line; std::getline(lines, line);) {
        const std::string text = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
        const auto starts = [&](const char* word) { return text.rfind(word, 0) == 0; };
        if (starts("ImageOptionalHeader {") || starts("DOSHeader {")) {
            in_optional_header = starts("ImageOptionalHeader {");
        } else if (starts("Machine: ")) {
            result.machine = number_in(text);
        } else if (starts("ImageBase: ")) {
            result.image_base = number_in(text);
        } else if (starts("CertificateTableSize: ")) {
            result.certificate_table_size = number_in(text);
        } else if (starts("Section {")) {
            result.sections.emplace_back();
        } else if (starts("Name: ")) {
            result.sections.back().name = text.substr(6, text.find(" (") - 6);
        } else if (starts("VirtualSize: ")) {
            result.sections.back().virtual_size = number_in(text);
        } else if (starts("Characteristics [ (")) {
            if (!result.sections.empty()) {
                result.sections.back().characteristics = number_in(text);
            } else if (in_optional_header) {
                result.dll_characteristics = number_in(text);
            }
        }
    }
    return result;
}

std::uint64_t machine_number(const std::string& name) {
    return name == "x64" ? 0x8664 : name == "x86" ? 0x014C : name == "arm64" ? 0xAA64 : 0;
}

}  // namespace

TEST_CASE("oracle: patch changes the bytes that a pefile script changes, and CheckSum as pefile computes it") {
    for (const std::string policy : {"auto", "keep", "clear"}) {
        for (const std::string backup : {"full", "undo", "none"}) {
            const Session session;
            const auto names = copy_fixtures(session, "original");
            copy_fixtures(session, "ours");
            fs::create_directory(session / "theirs");
            ask_pefile(session, {"patch", policy, "original", "theirs"});
            const auto files = by_name(session.json({"patch", "-v", "--aslr", policy, "--backup", backup, "ours"}));
            REQUIRE(files.size() == names.size());
            for (const std::string& name : names) {
                fs::rename(session / "ours" / name, session / ("ours-" + name));
            }
            fs::remove_all(session / "ours");  // the backups, which pefile would read, too
            fs::create_directory(session / "ours");
            for (const std::string& name : names) {
                fs::rename(session / ("ours-" + name), session / "ours" / name);
            }
            const Json before = describe_by_pefile(session, "original");
            const Json after = describe_by_pefile(session, "ours");
            std::size_t changed = 0;
            for (const std::string& name : names) {
                INFO(name << " --aslr " << policy << " --backup " << backup);
                const Json& file = files.at(name);
                const std::string original = read_file(session / "original" / name);
                const std::string ours = read_file(session / "ours" / name);
                if (file.contains("error") || file.at("status") == "refused" || file.at("status") == "not-pe") {
                    CHECK((ours == original));
                    continue;
                }
                std::string theirs = read_file(session / "theirs" / name);
                REQUIRE(theirs.size() == original.size());
                CHECK((file.at("action") == "patched") == (theirs != original));
                changed += theirs != original ? 1U : 0U;

                // Apart from CheckSum, byte by byte.
                const auto offset = before.at(name).at("check_sum_offset").get<std::size_t>();
                theirs.replace(offset, 4, ours, offset, 4);
                CHECK((ours == theirs));

                const auto stored = before.at(name).at("check_sum").get<std::uint32_t>();
                const auto now = after.at(name).at("check_sum").get<std::uint32_t>();
                const auto right_before = before.at(name).at("right_check_sum").get<std::uint32_t>();
                const auto right_now = after.at(name).at("right_check_sum").get<std::uint32_t>();
                if (ours == original || stored == 0) {
                    CHECK(now == stored);
                } else if (stored == right_before) {
                    CHECK(now == right_now);  // a right one stays right
                } else if (name == "x64-check-sum-impossible.dll") {
                    CHECK(now == stored);
                } else {
                    REQUIRE(name == "x64-check-sum-wrong.dll");
                    CHECK(now - right_now == stored - right_before);  // one that is off by one stays so
                }
            }
            CHECK(changed >= 20);
        }
    }
}

TEST_CASE("oracle: llvm-readobj reads the flags that verify --json prints, before and after patch") {
    const Session session;
    const auto names = copy_fixtures(session, "lib");
    std::size_t read = 0;
    for (const bool patched : {false, true}) {
        if (patched) {
            REQUIRE(session.fixnvpe({"patch", "--backup", "none", "lib"}).exit_status == 2);  // some are refused
        }
        const auto files = by_name(session.json({"verify", "-v", "lib"}));
        for (const std::string& name : names) {
            INFO(name << (patched ? ", patched" : ""));
            const Json& ours = files.at(name);
            if (ours.at("machine").is_null()) {
                continue;  // no PE file, or one that is cut inside its headers
            }
            ++read;
            const Readobj theirs = read_by_llvm(session, "lib/" + name);
            CHECK(machine_number(ours.at("machine").get<std::string>()) == theirs.machine);
            CHECK(ours.at("image_base") == theirs.image_base);
            CHECK(ours.at("dynamic_base") == ((theirs.dll_characteristics & DYNAMIC_BASE) != 0));
            CHECK(ours.at("high_entropy_va") == ((theirs.dll_characteristics & HIGH_ENTROPY_VA) != 0));
            CHECK(ours.at("guard_cf") == ((theirs.dll_characteristics & GUARD_CF) != 0));
            CHECK(ours.at("signed") == (theirs.certificate_table_size != 0));
            Json fatbins = Json::array();
            for (const ReadobjSection& section : theirs.sections) {
                if (section.name == ".nv_fatb" || section.name == "__nv_rel") {
                    fatbins.push_back({{"name", section.name},
                                       {"virtual_size", section.virtual_size},
                                       {"writable", (section.characteristics & MEM_WRITE) != 0}});
                }
            }
            CHECK(ours.at("fatbin") == fatbins);
        }
    }
    CHECK(read > 50);
}

TEST_CASE(
    "oracle: osslsigncode finds a signature where we do, valid before patch, invalid after, valid after restore") {
    const std::string certificate = std::string(FIXNVPE_TESTDATA_DIR) + "/signing/cert.pem";
    const Session session;
    const auto names = copy_fixtures(session, "lib");
    // It says part of that on standard output and part on standard error, depending on its version.
    const auto signature_of = [&](const std::string& name) -> std::string {
        const ProcessResult result =
            session.run({.words = {"osslsigncode", "verify", "-CAfile", certificate, "-in", "lib/" + name}});
        INFO(result.exit_status << '\n' << result.out << result.err);
        REQUIRE(result.exit_status <= 1);
        const std::string said = result.out + result.err;
        const auto says = [&](const char* words) { return said.find(words) != std::string::npos; };
        if (says("No signature found") || says("Unable to extract existing signature")) {
            return "none";
        }
        if (says("MISMATCH")) {
            return "invalid";
        }
        return says("Signature verification: ok") && result.exit_status == 0 ? "valid" : "not understood";
    };
    const auto check = [&](const std::string& of_patched) {
        std::size_t count = 0;
        for (const auto& [name, file] : by_name(session.json({"verify", "lib"}))) {
            if (!file.at("machine").is_null()) {
                INFO(name);
                const bool is_signed = file.at("signed").get<bool>();
                const bool is_patched = file.at("status") == "patched";
                CHECK(signature_of(name) == (!is_signed ? "none" : is_patched ? of_patched : "valid"));
                count += is_signed && is_patched ? 1U : 0U;
            }
        }
        return count;
    };
    CHECK(check("valid") == 0);
    REQUIRE(session.fixnvpe({"patch", "lib"}).exit_status == 2);  // some are refused
    CHECK(check("invalid") == 5);
    for (const auto& [name, file] : by_name(session.json({"verify", "lib"}))) {
        if (!file.at("backup").is_null()) {
            REQUIRE(session.fixnvpe({"restore", "lib/" + name}).exit_status == 0);
        }
    }
    CHECK(check("valid") == 0);
}

}  // namespace fixnvpe::test
