// Without a target: the active Python environment.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace fs = std::filesystem;

namespace {

/// site-packages with torch and cupy, and their records.
void install(const Session& session, const fs::path& packages) {
    session.sample(packages / "torch" / "lib");
    fs::create_directories(session / packages / "torch-1.12.1+cu113.dist-info");
    std::string files;
    for (const auto& entry : fs::directory_iterator(session / packages / "torch" / "lib")) {
        files += "torch/lib/" + entry.path().filename().string() + ",,\n";
    }
    session.text(packages / "torch-1.12.1+cu113.dist-info" / "RECORD", files);
    fs::create_directories(session / packages / "cupy");
    session.writable(packages / "cupy" / "core.pyd");
    fs::create_directories(session / packages / "cupy_cuda113-10.6.dist-info");
    session.text(packages / "cupy_cuda113-10.6.dist-info" / "RECORD", "cupy/core.pyd,,\n");
}

}  // namespace

TEST_CASE("environment: without a target, all packages of the active one, and it is said which") {
    const Session session;
    const fs::path packages = fs::path("venv") / "Lib" / "site-packages";
    install(session, packages);
    fs::create_directories(session / packages / "~upy");
    session.writable(packages / "~upy" / "core.pyd");
    const std::string prefix = (session / "venv").string();
    const std::map<std::string, std::string> active{{"VIRTUAL_ENV", prefix}, {"CONDA_PREFIX", ""}};

    const Output verified = session.fixnvpe({"verify"}, active);
    CHECK(verified.exit_status == 1);
    CHECK(verified.out.starts_with(with_slashes(prefix) + " (VIRTUAL_ENV)\n"));
    CHECK_THAT(verified.out, contains("torch/lib\n  unpatched   987.0 MiB  torch_cuda_cu.dll\n"));
    CHECK_THAT(session.fixnvpe({"verify", "--env", "venv"}).out, contains("venv (--env)\n"));

    CHECK(session.fixnvpe({"patch"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--require-backup"}, active).exit_status == 0);
    CHECK(fs::exists(session / packages / "cupy" / "core.pyd.bak"));
    CHECK_FALSE(fs::exists(session / packages / "~upy" / "core.pyd.bak"));
    CHECK(session.fixnvpe({"restore"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify"}, active).exit_status == 1);

    const Output both = session.fixnvpe({"verify", "--env", "venv", "a.dll"});
    CHECK(both == Output{2, "",
                         "fixnvpe: a TARGET and an environment (--env, --package) exclude each other\n"
                         "  hint: leave one of them out\n"});
    const Output none = session.fixnvpe({"verify", "--env", "nowhere"});
    CHECK(none.exit_status == 2);
    CHECK(none.err.find("nowhere") != std::string::npos);
}

TEST_CASE("environment: --package takes what that package lists, and nothing else") {
    const Session session;
    const fs::path packages = fs::path("venv") / "Lib" / "site-packages";
    install(session, packages);
    const std::string core = "venv/Lib/site-packages/cupy/core.pyd";
    CHECK(session.told({"patch", "--env", "venv", "--package", "CuPy.cuda113"}) ==
          core + " patched+patched; saves 4096; exit 0");
    CHECK(session.told({"clean", "--env", "venv", "--package", "cupy_cuda113"}) ==
          core + ".bak patched (usable); exit 0");
    CHECK(session.told({"restore", "--env", "venv", "--package", "torch", "--package", "cupy-cuda113"})
              .find(core + " unpatched+restored") != std::string::npos);
    CHECK(session.fixnvpe({"verify", "--env", "venv", "--package", "torch"}).exit_status == 1);
    const Output output = session.fixnvpe({"patch", "--env", "venv", "--package", "torch", "--package", "xgboost"});
    CHECK(
        output ==
        Output{2, "", "fixnvpe: xgboost is not installed here\n  hint: name an environment that has it: --env DIR\n"});
    CHECK(session.fixnvpe({"verify", "--package", "torch", core}).exit_status == 2);
}

TEST_CASE("environment: --exclude passes over what a glob names, and what a package lists") {
    const Session session;
    const fs::path packages = fs::path("venv") / "Lib" / "site-packages";
    install(session, packages);
    const std::string core = "venv/Lib/site-packages/cupy/core.pyd";
    const auto without = [&](const std::string& word) {
        const nlohmann::json json = session.json({"verify", "--env", "venv", "--exclude", word});
        std::size_t torch = 0;
        std::size_t cupy = 0;
        for (const auto& file : json.at("files")) {
            const std::string path = with_slashes(file.at("path"));
            torch += path.find("/torch/") != std::string::npos ? std::size_t{1} : 0;
            cupy += path.find("/cupy/") != std::string::npos ? std::size_t{1} : 0;
        }
        CHECK(json.at("passed_over").size() == 8 - torch - cupy);
        for (const auto& skipped : json.at("passed_over")) {
            CHECK(skipped.at("reason_code") == "excluded");
        }
        return std::to_string(torch) + " " + std::to_string(cupy);
    };
    CHECK(without("torch") == "0 1");
    CHECK(without("CuPy_CUDA113") == "7 0");
    CHECK(without("cupy") == "7 0");
    CHECK(without("*.pyd") == "7 0");
    CHECK(without("torch/lib") == "0 1");
    CHECK(without("torch/lib/") == "0 1");
    CHECK(without("cu*") == "3 0");
    CHECK(without("lib/cu*.dll") == "3 1");
    CHECK(without("orch") == "7 1");
    CHECK(without("[c]upy") == "7 0");
    CHECK_THAT(session.fixnvpe({"verify", "--env", "venv", "--exclude", "torch"}).out,
               contains("1 file: 1 unpatched; 7 passed over by --exclude\n"));
    CHECK_THAT(session.fixnvpe({"scan", "--env", "venv", "--exclude", "torch", "--exclude", "cupy"}).out,
               contains("8 passed over by --exclude\n"));
    session.writable(packages / "cupy" / "gone.dll.bak");
    CHECK(session.json({"verify", "--env", "venv"}).at("orphans").size() == 1);
    CHECK(session.json({"verify", "--env", "venv", "--exclude", "gone.*"}).at("orphans").empty());
    fs::remove(session / packages / "cupy" / "gone.dll.bak");
    // In a folder that was named, too.
    CHECK(session.told({"patch", "--exclude", "cu*", "--exclude", "torch", "venv"}) == "exit 0");
    CHECK(session.told({"patch", "--exclude", "torch", "venv"}) == core + " patched+patched; saves 4096; exit 0");
}

TEST_CASE("environment: under python -m fixnvpe that Python's comes before any that is active") {
    const Session session;
    install(session, fs::path("running") / "Lib" / "site-packages");
    install(session, fs::path("active") / "Lib" / "site-packages");
    const std::map<std::string, std::string> variables{{"VIRTUAL_ENV", (session / "active").string()},
                                                       {"FIXNVPE_PYTHON", (session / "running").string()}};
    const Output output = session.fixnvpe({"verify"}, variables);
    CHECK(output.exit_status == 1);
    CHECK(output.out.starts_with(with_slashes((session / "running").string()) + " (python -m fixnvpe)\n"));
    CHECK_THAT(session.fixnvpe({"verify", "--env", "active"}, variables).out, contains("active (--env)\n"));
}

TEST_CASE("environment: one without CUDA code names those nearby that have some") {
    const Session session;
    for (const char* with : {"cuda env", "more"}) {
        install(session, fs::path(with) / "Lib" / "site-packages");
        session.text(fs::path(with) / "pyvenv.cfg", "");
    }
    for (const char* without : {"plain", "other"}) {
        const fs::path packages = fs::path(without) / "Lib" / "site-packages";
        session.text(fs::path(without) / "pyvenv.cfg", "");
        session.fixture("x64-no-fatbin.dll", packages / "numpy" / "core.pyd");
    }
    const std::string cuda_env = "cuda env";
    for (const char* command : {"patch", "verify", "restore", "scan"}) {
        INFO(command);
        const Output output = session.fixnvpe({command, "--env", "plain"});
        CHECK(output.exit_status == 0);
        CHECK(output.err ==
              "fixnvpe: 2 other Python environments nearby have CUDA code\n"
              "  hint: name the one that you mean\n        --env \"cuda env\"\n        --env more\n");
    }
    CHECK(session.fixnvpe({"clean", "--env", "plain"}).err.empty());
    CHECK(session.json({"verify", "--env", "plain"}).at("environment").at("nearby_with_cuda") ==
          nlohmann::json::array({cuda_env, "more"}));
    const ProcessResult inside = run_process({.words = program().with({"verify"}),
                                              .folder = session / "plain",
                                              .environment = {{"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}}});
    CHECK_THAT(with_slashes(inside.err), contains("/cuda env\"\n"));
    CHECK(session.fixnvpe({"verify", "--env", "plain", "-q"}) == Output{0, "", ""});
    CHECK(session.fixnvpe({"verify", "--env", "plain", "--exclude", "x"}).err.empty());
    CHECK(session.fixnvpe({"verify", "--env", cuda_env}).err.find("nearby") == std::string::npos);
}

TEST_CASE("environment: --all is an error that says what it was for") {
    const Session session;
    for (const char* command : {"patch", "verify", "restore", "scan", "clean"}) {
        const Output output = session.fixnvpe({command, "--all"});
        CHECK(output.exit_status == 2);
        CHECK(output.err.find("all packages of the environment are taken") != std::string::npos);
        CHECK(output.err.find("clean --backups") != std::string::npos);
    }
}

TEST_CASE("environment: where another one may be meant, nothing is written") {
    const Session session;
    install(session, fs::path("venv") / "Lib" / "site-packages");
    session.text("venv/pyvenv.cfg", "");
    install(session, fs::path("elsewhere") / "active" / "deep" / "Lib" / "site-packages");
    const std::string active = (session / "elsewhere" / "active" / "deep").string();
    const std::map<std::string, std::string> variables{{"VIRTUAL_ENV", active}, {"CONDA_PREFIX", ""}};
    const Snapshot before = session.snapshot();
    for (const char* command : {"patch", "restore", "clean", "verify"}) {
        const Output output = session.fixnvpe({command}, variables);
        CHECK(output == Output{2, "",
                               "fixnvpe: VIRTUAL_ENV names another Python environment than the current folder has\n"
                               "  hint: name the one that you mean\n"
                               "        --env " +
                                   with_slashes(active) + "\n        --env venv\n"});
    }
    CHECK(session.snapshot() == before);
    const Output scanned = session.fixnvpe({"scan"}, variables);
    CHECK(scanned.exit_status == 0);
    CHECK(scanned.err.find("the current folder has another Python environment") != std::string::npos);
    CHECK(session.fixnvpe({"verify", "--env", "venv"}, variables).exit_status == 1);
}

TEST_CASE("environment: one without CUDA code says so, and is no error") {
    const Session session;
    fs::create_directories(session / "venv" / "Lib" / "site-packages" / "numpy");
    const auto says_so = [&](const std::string& command) {
        const Output output = session.fixnvpe({command, "--env", "venv"});
        CHECK(output.exit_status == 0);
        CHECK_THAT(output.out, contains(command == "clean" ? "nothing to remove\n" : "no DLLs here\n"));
        CHECK(output.err.empty());
    };
    for (const char* command : {"patch", "verify", "restore", "scan", "clean"}) {
        says_so(command);
    }
    session.fixture("x64-no-fatbin.dll", fs::path("venv") / "Lib" / "site-packages" / "numpy" / "a.pyd");
    for (const char* command : {"patch", "verify", "scan"}) {
        const Output output = session.fixnvpe({command, "--env", "venv"});
        CHECK(output.exit_status == 0);
        CHECK(output.out.find("no CUDA code") != std::string::npos);
    }
    CHECK(session.fixnvpe({"clean", "--env", "venv"}).exit_status == 0);
}

TEST_CASE("environment: sums are those of one environment, and two never share a process") {
    const Session session;
    for (const char* prefix : {"a", "b"}) {
        session.text(fs::path(prefix) / "pyvenv.cfg", "");
        session.writable(fs::path(prefix) / "Lib" / "site-packages" / "x" / "x.dll");
        session.writable(fs::path(prefix) / "Scripts" / "y.exe");
    }
    session.writable(fs::path("loose") / "z.dll");
    session.writable(fs::path("loose") / "deep" / "z.dll");
    const nlohmann::json json = session.json({"verify", "a", "b", "loose"});
    const auto scopes = json.at("scopes");
    REQUIRE(scopes.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(fs::path(with_slashes(scopes[i].at("place").get<std::string>())).filename() == (i == 0   ? "a"
                                                                                              : i == 1 ? "b"
                                                                                                       : "loose"));
        CHECK(scopes[i].at("environment") == (i < 2));
        CHECK(scopes[i].at("saved") == 2 * 4096);
    }
    // One DLL in each that loses its ASLR shares its base with none.
    CHECK(session.fixnvpe({"patch", "a/Scripts", "b/Scripts"}).err.find("preferred base") == std::string::npos);
    CHECK(session.fixnvpe({"patch", "a"}).err.find("preferred base") != std::string::npos);
}

TEST_CASE("environment: what the backups take is known before the first copy, in a dry run, too") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    session.fixture("x64-no-fatbin.dll", "c.dll");
    const std::uintmax_t size = fs::file_size(session / "a.dll");
    for (const bool dry : {true, false}) {
        const nlohmann::json disk = session.json({"patch", dry ? "-n" : "-v", "."}).at("disk");
        if (!disk.empty()) {  // a file system that clones needs none
            CHECK(disk.size() == 1);
            CHECK(disk[0].at("needed") == 2 * size);
            CHECK(disk[0].at("available") > 2 * size);
        }
    }
    CHECK(session.json({"restore", "."}).at("disk").empty());
    PeSpec large = cuda_dll(0x8664, 0xC0000040);
    section(large, ".nv_fatb").fatbin_size = std::size_t{2} << 20;
    session.dll("large.dll", large);
    const bool copies = !session.json({"patch", "-n", "."}).at("disk").empty();
    const std::string said = "fixnvpe: the backups take 2.0 MiB of disk\n";
    CHECK(session.fixnvpe({"patch", "-n", "large.dll"}).err.find(said) == std::string::npos);
    CHECK(session.fixnvpe({"patch", "large.dll"}).err.starts_with(said) == copies);
    CHECK(session.fixnvpe({"restore", "large.dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"patch", "-q", "large.dll"}).err.empty());
    CHECK(session.json({"patch", "--backup", "undo", "."}).at("disk").empty());
}

TEST_CASE("environment: a malformed file that was found, and has nothing of ours, is passed over") {
    const Session session;
    constexpr std::size_t magic = 0x98;
    const fs::path broken = session.fixture("x64-no-fatbin.dll", "lib/broken.dll");
    poke(broken, magic, 0x77);
    session.writable("lib/a.dll");
    CHECK(session.told({"patch", "lib"}) == "lib/a.dll patched+patched; lib/broken.dll no-fatbin; saves 4096; exit 0");
    SECTION("named") {
        CHECK(session.told({"verify", "lib/broken.dll"}) == "lib/broken.dll error !malformed; exit 2");
    }
    SECTION("with a backup") {
        session.text("lib/broken.dll.bak", "x");
        CHECK(session.fixnvpe({"verify", "lib"}).exit_status == 2);
    }
    SECTION("with a name of GPU code") {
        std::string bytes = read_file(broken);
        bytes.replace(0x300, 8, ".nv_fatb");
        write_file(broken, bytes);
        CHECK(session.fixnvpe({"verify", "lib"}).exit_status == 2);
    }
    SECTION("cut short") {
        fs::resize_file(broken, 300);
        CHECK(session.fixnvpe({"verify", "lib"}).exit_status == 2);
    }
}

#if !defined(_WIN32)
TEST_CASE("environment: in the root folder, where containers start, the system's own Python is no rival", "[posix]") {
    const Session session;
    install(session, fs::path("venv") / "Lib" / "site-packages");
    std::vector<std::string> words{"env", "-C", "/", "VIRTUAL_ENV=" + (session / "venv").string()};
    for (const std::string& word : program().with({"verify"})) {
        words.push_back(word);
    }
    const ProcessResult result = session.run({.words = words});
    CHECK(result.exit_status == 1);
    CHECK(result.out.starts_with((session / "venv").string() + " (VIRTUAL_ENV)\n"));
}
#endif

}  // namespace fixnvpe::test
