// The Windows loader, or Wine's, is the judge: what it makes of a DLL before patching, after it, and after restore.

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "loader/in_use.hpp"
#include "support/catch.hpp"
#include "support/fat_binaries.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t FATBIN_SIZE = std::size_t{64} << 20;
constexpr std::size_t GPU_PAGES = FATBIN_SIZE + 4096;             ///< with the fat binary's header
constexpr std::size_t CODE_SIZE = (std::size_t{1} << 20) + 8000;  // of a fat binary among variables

/// x64, with 64 MiB of GPU code.
fs::path cuda_dll_file(const Session& session, const char* name) {
    PeSpec spec = cuda_dll(0x8664, 0xC0000040);
    section(spec, ".nv_fatb").fatbin_size = FATBIN_SIZE;
    spec.check_sum = CheckSum::right;
    return session.dll(name, spec);
}

struct Loaded {
    int exit_status = 0;
    std::string text;

    [[nodiscard]] bool has(const std::string& line) const { return text.find("  " + line + "\n") != std::string::npos; }
    /// What stands behind this word.
    [[nodiscard]] std::string line_of(const std::string& word) const {
        const std::size_t at = text.find("  " + word + " ");
        return at == std::string::npos ? "none" : text.substr(at, text.find('\n', at) - at);
    }
    /// Bytes that the DLLs added to the commit charge, one after another.
    [[nodiscard]] std::vector<std::int64_t> commits() const {
        std::vector<std::int64_t> result;
        std::istringstream lines(text);
        for (std::string word; lines >> word;) {
            if (word == "commit") {
                lines >> result.emplace_back();
            }
        }
        return result;
    }
};

Loaded load(const Session& session, std::vector<std::string> names) {
    names.insert(names.begin(), FIXNVPE_LOAD_PROGRAM);
    const ProcessResult result = session.run({.words = std::move(names)});
    UNSCOPED_INFO(result.out << result.err);
    std::string text = result.out;
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return {result.exit_status, text};
}

void check_original(const Loaded& loaded) {
    CHECK(loaded.exit_status == 0);
    CHECK(loaded.has("fixnvpe_answer 42"));
    CHECK(loaded.has("wrapper right"));
    CHECK(loaded.has(".text PAGE_EXECUTE_READ image"));
    CHECK(loaded.has(".nv_fatb PAGE_WRITECOPY image"));
    CHECK(loaded.has(".nv_fatb writable"));
    CHECK(loaded.has(".nvFatBi writable"));
    // Wine does not count what is mapped against the charge, so there it shows nothing.
    if (!is_wine()) {
        CHECK(loaded.commits().at(0) >= static_cast<std::int64_t>(FATBIN_SIZE));
    }
}

void check_patched(const Loaded& loaded) {
    CHECK(loaded.exit_status == 0);
    CHECK(loaded.has("fixnvpe_answer 42"));
    CHECK(loaded.has("wrapper right"));
    CHECK(loaded.has(".text PAGE_EXECUTE_READ image"));
    CHECK(loaded.has(".nv_fatb PAGE_READONLY image"));
    CHECK_FALSE(loaded.has(".nv_fatb PAGE_WRITECOPY image"));
    CHECK_FALSE(loaded.has(".nv_fatb writable"));
    CHECK(loaded.has(".nvFatBi writable"));
    if (!is_wine()) {
        CHECK(loaded.commits().at(0) < static_cast<std::int64_t>(FATBIN_SIZE) / 8);
    }
}

}  // namespace

TEST_CASE("loader: .nv_fatb is copied on write before patching, read-only after it, and as before after restore") {
    for (const std::string backup : {"full", "undo"}) {
        INFO("--backup " << backup);
        const Session session;
        const fs::path path = cuda_dll_file(session, "torch_cuda.dll");
        const std::string original = read_file(path);
        check_original(load(session, {"torch_cuda.dll"}));
        REQUIRE(session.fixnvpe({"patch", "--backup", backup, "torch_cuda.dll"}).exit_status == 0);
        check_patched(load(session, {"torch_cuda.dll"}));
        REQUIRE(session.fixnvpe({"restore", "torch_cuda.dll"}).exit_status == 0);
        check_original(load(session, {"torch_cuda.dll"}));
        CHECK(read_file(path) == original);
    }
}

TEST_CASE(
    "loader: of a split DLL variables can be written, GPU code can be read and not written, and all keep their place") {
    for (const bool moved : {false, true}) {
        for (const std::string backup : {"full", "undo"}) {
            INFO("--backup " << backup << (moved ? ", moved" : ""));
            const Session session;
            std::vector<std::uint8_t> data(5000, 0xDA);
            append_aligned(data, fat_binary(CODE_SIZE));
            data.resize(data.size() + 9000, 0xDA);
            append_aligned(data, fat_binary(2 * CODE_SIZE));
            PeSpec spec = dll_with_data(data, 70000);
            spec.exports_data = true;
            spec.check_sum = CheckSum::right;
            spec.e_lfanew = moved ? 0x100 : 0x80;
            for (std::size_t i = 0; moved && spec.sections.size() < 11; ++i) {  // two more section headers find room
                spec.sections.insert(spec.sections.begin() + 1, {.name = "p" + std::to_string(i), .data = {1}});
            }
            const fs::path path = session.dll("a.dll", spec);
            const std::string original = read_file(path);
            const Loaded before = load(session, {"a.dll"});
            CHECK(before.exit_status == 0);
            CHECK(before.has(".data PAGE_WRITECOPY image"));
            REQUIRE(session.fixnvpe({"patch", "--data", "split", "--backup", backup, "a.dll"}).exit_status == 0);
            const Loaded after = load(session, {"a.dll"});
            CHECK(after.exit_status == 0);
            CHECK(after.has("fixnvpe_answer 42"));
            CHECK(after.has(".fixnv PAGE_READONLY image"));
            CHECK_FALSE(after.has(".fixnv PAGE_WRITECOPY image"));
            CHECK(after.has(".fixnv refuses writes"));
            CHECK(after.has(".data writable"));
            CHECK(after.line_of("variable") == before.line_of("variable"));
            CHECK(after.line_of("data") == before.line_of("data"));
            if (!is_wine()) {
                CHECK(after.commits().at(0) < before.commits().at(0) - static_cast<std::int64_t>(2 * CODE_SIZE - 8192));
            }
            REQUIRE(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
            CHECK((read_file(path) == original));
        }
    }
}

TEST_CASE("loader: --aslr keep is enough to make .nv_fatb read-only") {
    const Session session;
    cuda_dll_file(session, "torch_cuda.dll");
    REQUIRE(session.fixnvpe({"patch", "--aslr", "keep", "torch_cuda.dll"}).exit_status == 0);
    check_patched(load(session, {"torch_cuda.dll"}));
}

TEST_CASE("loader: of two patched DLLs with the same preferred base only one gets it, and both work") {
    const Session session;
    cuda_dll_file(session, "a.dll");
    cuda_dll_file(session, "b.dll");
    REQUIRE(session.fixnvpe({"patch", "."}).exit_status == 0);
    const Loaded loaded = load(session, {"a.dll", "b.dll"});
    check_patched(loaded);
    CHECK_THAT(loaded.text, contains("base 0x180000000 preferred 0x180000000 kept"));
    CHECK_THAT(loaded.text, contains("preferred 0x180000000 relocated"));
    if (!is_wine()) {
        CHECK(loaded.commits().at(1) < static_cast<std::int64_t>(FATBIN_SIZE) / 8);  // the pages with relocations alone
    }
}

TEST_CASE("loader: a DLL that is loaded can be patched, and whoever loads it next gets the patched one") {
    const Session session;
    const fs::path path = cuda_dll_file(session, "torch_cuda.dll");
    const std::string original = read_file(path);
    {
        const InUse in_use(path);
        const Output output = session.fixnvpe({"patch", "torch_cuda.dll"});
        INFO(output.out << output.err);
        CHECK(output.exit_status == 0);
        const std::string users =
            is_wine() ? "another program"  // its Restart Manager knows nobody
                      : fs::path(FIXNVPE_LOADER_TESTS_NAME).string() + " (" + std::to_string(own_process_id()) + ")";
        CHECK_THAT(output.err, contains("fixnvpe: torch_cuda.dll is still loaded by " + users +
                                        "\n  hint: a program keeps the old one until it is started again\n"));
        CHECK(session.names() == "torch_cuda.dll torch_cuda.dll.bak");
        CHECK(read_file(session / "torch_cuda.dll.bak") == original);
        CHECK(in_use.answer() == 42);
        check_patched(load(session, {"torch_cuda.dll"}));
    }
    REQUIRE(session.fixnvpe({"restore", "torch_cuda.dll"}).exit_status == 0);
    CHECK(read_file(path) == original);
}

TEST_CASE("loader: measure sees GPU code in writable pages, that a DLL is patched but loaded before, and none after") {
    const Session session;
    const fs::path path = cuda_dll_file(session, "torch_cuda.dll");
    const std::string own = std::to_string(own_process_id());
    const auto measured = [&] {
        nlohmann::json json = session.json({"measure", own});
        CHECK(json.at("processes").size() == 1);
        CHECK(json.at("processes").at(0).at("name") == FIXNVPE_LOADER_TESTS_NAME);
        for (const nlohmann::json& image : json.at("processes").at(0).at("images")) {
            if (fs::path(image.at("path").get<std::string>()).filename() == "torch_cuda.dll") {
                return image;
            }
        }
        return nlohmann::json();
    };
    CHECK(measured().is_null());
    {
        const InUse in_use(path);
        const nlohmann::json before = measured();
        CHECK(before.at("gpu_writable") == GPU_PAGES);
        CHECK(before.at("gpu_read_only") == 0);
        CHECK(before.at("writable") >= GPU_PAGES);
        CHECK(before.at("on_disk") == "unpatched");
        CHECK(session.json({"measure", own}).at("verdict").at("patching_frees") == GPU_PAGES);
        REQUIRE(session.fixnvpe({"patch", "torch_cuda.dll"}).exit_status == 0);
        const nlohmann::json loaded_before = measured();
        CHECK(loaded_before.at("gpu_writable") == GPU_PAGES);
        CHECK(loaded_before.at("on_disk") == "patched");
        CHECK(loaded_before.at("needs_restart") == true);
        CHECK(session.json({"measure", own}).at("verdict").at("restart_frees") == GPU_PAGES);
    }
    const InUse in_use(path);
    const nlohmann::json after = measured();
    CHECK(after.at("gpu_writable") == 0);
    CHECK(after.at("gpu_read_only") == GPU_PAGES);
    CHECK(session.json({"measure", own}).at("verdict").at("freed") == GPU_PAGES);
    // Without a PID: those that have such DLLs loaded.
    const nlohmann::json all = session.json({"measure"});
    CHECK(std::any_of(all.at("processes").begin(), all.at("processes").end(),
                      [](const nlohmann::json& process) { return process.at("pid") == own_process_id(); }));
    CHECK(all.at("system").at("limit") >= all.at("system").at("commit"));
}

TEST_CASE("loader: measure runs a command, passes its exit status on, and has seen it at its peak") {
    const Session session;
    cuda_dll_file(session, "torch_cuda.dll");
    const auto run = [&](const std::string& dll) {
        const ProcessResult result =
            session.run({.words = program().with({"measure", "--json", "--", FIXNVPE_LOAD_PROGRAM, "--wait", dll})});
        CHECK(result.err.find("loader: ") != std::string::npos);  // what the command prints
        return nlohmann::json::parse(result.out);
    };
    const nlohmann::json good = run("torch_cuda.dll");
    CHECK(good.at("command_exit_status") == 0);
    CHECK(good.at("exit_status") == 0);
    CHECK(good.at("processes").at(0).at("gpu_writable") == GPU_PAGES);
    const nlohmann::json bad = run("nowhere.dll");
    CHECK(bad.at("command_exit_status") == 1);
    CHECK(bad.at("exit_status") == 1);
    const ProcessResult none = session.run({.words = program().with({"measure", "--", "nowhere.exe"})});
    CHECK(none.exit_status == 2);
    CHECK_THAT(none.err, contains("nowhere.exe: start: "));
    CHECK(session.run({.words = program().with({"measure", "4294967294"})}).exit_status == 2);
}

TEST_CASE("loader: what can't be done to a loaded DLL is an error that names who has it open") {
    const Session session;
    const fs::path path = cuda_dll_file(session, "torch_cuda.dll");
    const auto check_busy = [&](const Output& output) {
        CHECK(output.exit_status == 2);
        CHECK_THAT(output.err, contains("torch_cuda.dll: "));
        CHECK_THAT(output.err, contains("hint: in use by "));
        CHECK_THAT(output.err, contains(": close it"));
        if (!is_wine()) {  // whose Restart Manager knows nobody
            CHECK_THAT(output.err, contains(fs::path(FIXNVPE_LOADER_TESTS_NAME).string() + " (" +
                                            std::to_string(own_process_id()) + ")"));
        }
    };
    {
        const InUse in_use(path);
        const Snapshot before = session.snapshot();
        check_busy(session.fixnvpe({"patch", "--backup", "none", "torch_cuda.dll"}));
        CHECK(session.snapshot() == before);
        check_busy(session.fixnvpe({"patch", "--backup", "undo", "torch_cuda.dll"}));
        CHECK(session.snapshot() == before);
    }
    REQUIRE(session.fixnvpe({"patch", "torch_cuda.dll"}).exit_status == 0);
    const InUse in_use(path);
    const Snapshot before = session.snapshot();
    check_busy(session.fixnvpe({"restore", "torch_cuda.dll"}));
    CHECK(session.snapshot() == before);
    CHECK(session.fixnvpe({"verify", "torch_cuda.dll"}).exit_status == 0);
}

}  // namespace fixnvpe::test
