// Backups whose DLL is gone: its package was uninstalled, an upgrade has no DLL of that name, or a mishap.

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// site-packages of an environment, with packages that a test installs and removes as pip does.
class Packages {
public:
    explicit Packages(const Session& session) : session_(session) { fs::create_directories(session / site()); }

    static fs::path site() { return fs::path("venv") / "Lib" / "site-packages"; }
    /// Writes the record of a package, later than all that is there.
    void record(const std::string& distribution, const std::string& files) const {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        const fs::path folder = site() / (distribution + ".dist-info");
        fs::create_directories(session_ / folder);
        session_.text(folder / "RECORD", files);
    }
    void dll(const fs::path& name) const {
        fs::create_directories((session_ / site() / name).parent_path());
        session_.writable(site() / name);
    }
    void remove(const fs::path& name) const { fs::remove_all(session_ / site() / name); }

private:
    const Session& session_;
};

const std::string SITE = "venv/Lib/site-packages";

}  // namespace

TEST_CASE("gone: after its package was uninstalled a backup is left, which is no fault") {
    const Session session;
    const Packages packages(session);
    packages.dll("xgboost/lib/xgboost.dll");
    packages.dll("other/other.dll");
    packages.record("xgboost-1.3.3", "xgboost/lib/xgboost.dll,,\nxgboost/lib/x.txt,,\n");
    packages.record("other-1", "other/other.dll,,\n");
    REQUIRE(session.fixnvpe({"patch", SITE}).exit_status == 0);
    packages.remove("xgboost/lib/xgboost.dll");
    packages.remove("xgboost-1.3.3.dist-info");

    const std::string backup = SITE + "/xgboost/lib/xgboost.dll.bak";
    const std::string other = SITE + "/other/other.dll";
    const Output verified = session.fixnvpe({"verify", SITE});
    CHECK(verified.exit_status == 0);
    CHECK(verified.err ==
          "fixnvpe: " + backup + ": left behind: its DLL is gone\n  hint: fixnvpe clean --backups removes it\n");
    const nlohmann::json json = session.json({"verify", SITE});
    CHECK(in_short(json) == other + " patched; exit 0");
    CHECK(with_slashes(json.at("orphans").at(0)) == backup);
    CHECK(json.at("orphans").size() == 1);

    for (const char* command : {"patch", "scan"}) {
        CHECK(session.fixnvpe({command, SITE}).exit_status == 0);
    }
    CHECK(session.told({"clean", SITE}) == other + ".bak patched (usable); " + backup + " not-pe (dll-gone); exit 0");
    CHECK(session.fixnvpe({"restore", SITE}).exit_status == 0);
    CHECK(session.names() == SITE + "/other-1.dist-info/RECORD " + other + " " + backup);
    CHECK(session.told({"clean", "--backups", SITE}) == backup + " not-pe+removed (dll-gone); exit 0");
}

TEST_CASE("gone: a DLL that a package lists ought to be there") {
    const Session session;
    const Packages packages(session);
    packages.dll("xgboost/lib/xgboost.dll");
    packages.record("xgboost-1.3.3", "xgboost/lib/xgboost.dll,,\n");
    packages.dll("xgboost/lib/there.dll");
    packages.record("later-1", "xgboost/lib/there.dll,,\n");
    REQUIRE(session.fixnvpe({"patch", SITE}).exit_status == 0);
    const fs::path dll = Packages::site() / "xgboost" / "lib" / "xgboost.dll";
    fs::remove(session / dll);

    const std::string path = SITE + "/xgboost/lib/xgboost.dll";
    const Output verified = session.fixnvpe({"verify", SITE});
    CHECK(verified.exit_status == 2);
    CHECK(verified.err.find("the file is missing, but its backup is there\n  hint: fixnvpe restore puts it back") !=
          std::string::npos);
    const std::string there = SITE + "/xgboost/lib/there.dll";
    CHECK(session.told({"patch", SITE}) == there + " patched; " + path + " error !missing; exit 2");
    CHECK(session.told({"clean", SITE}) == there + ".bak patched (usable); " + path + ".bak not-pe (dll-gone); exit 0");
    CHECK(session.told({"restore", SITE}) ==
          there + " unpatched+restored; " + path + " unpatched+restored (put-back); exit 0");
    CHECK(fs::exists(session / dll));
}

TEST_CASE("gone: what has a backup's name, and is none, is nobody's business") {
    const Session session;
    const Packages packages(session);
    packages.dll("notes/there.dll");
    packages.record("notes-1", "notes/notes.dll,,\nnotes/there.dll,,\n");
    session.text(Packages::site() / "notes" / "notes.dll.bak", "somebody's notes");
    for (const bool listed : {true, false}) {
        if (!listed) {
            packages.remove("notes-1.dist-info");
        }
        const nlohmann::json json = session.json({"verify", "--aslr", "keep", SITE});
        CHECK(json.at("orphans").empty());
        CHECK(json.at("files").size() == (listed ? 2 : 1));
    }
}

TEST_CASE("gone: an upgrade that has no DLL of that name: clean removes its backup, and nothing else says restore") {
    const Session session;
    const Packages packages(session);
    packages.dll("torch/lib/torch_cuda_cu.dll");
    packages.dll("torch/lib/torch_cuda.dll");
    packages.record("torch-1.12.1+cu113", "torch/lib/torch_cuda_cu.dll,,\ntorch/lib/torch_cuda.dll,,\n");
    REQUIRE(session.fixnvpe({"patch", SITE}).exit_status == 0);
    const std::string lib = SITE + "/torch/lib/";
    const std::string kept = lib + "torch_cuda.dll.bak patched (usable); " + lib + "torch_cuda_cu.dll.bak not-pe";

    packages.remove("torch/lib/torch_cuda_cu.dll");
    packages.remove("torch-1.12.1+cu113.dist-info");
    packages.record("torch-2.0.1+cu118", "torch/lib/torch_cuda.dll,,\n");

    SECTION("the packages that have files there came later") {
        const Output verified = session.fixnvpe({"verify", SITE});
        CHECK(verified.exit_status == 0);
        CHECK(verified.err.find("left behind: its DLL is gone\n  hint: fixnvpe clean removes it\n") !=
              std::string::npos);
        CHECK(verified.err.find("restore") == std::string::npos);
        CHECK(session.told({"clean", "-n", SITE}) == kept + "+would-remove (dll-dropped); exit 0");
        CHECK(session.told({"clean", SITE}) == kept + "+removed (dll-dropped); exit 0");
        CHECK(session.told({"clean", SITE}) == lib + "torch_cuda.dll.bak patched (usable); exit 0");
    }
    SECTION("another one has had files there from before: was it its DLL?") {
        fs::rename(session / Packages::site() / "torch-2.0.1+cu118.dist-info", session / Packages::site() / "aside");
        REQUIRE(session.fixnvpe({"restore", SITE}).exit_status == 0);
        packages.dll("torch/lib/torch_cuda_cu.dll");
        packages.record("addon-1", "torch/lib/addon.txt,,\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        REQUIRE(session.fixnvpe({"patch", SITE}).exit_status == 0);
        packages.remove("torch/lib/torch_cuda_cu.dll");
        packages.record("torch-2.0.1+cu118", "torch/lib/torch_cuda.dll,,\n");
        CHECK(session.told({"clean", SITE}) == kept + " (dll-gone); exit 0");
    }
    SECTION("its package is installed again, with the DLL") {
        packages.record("torch-1.12.1+cu113", "torch/lib/torch_cuda_cu.dll,,\n");
        CHECK(session.told({"clean", SITE}) == kept + " (dll-gone); exit 0");
        CHECK(session.fixnvpe({"verify", SITE}).exit_status == 2);
    }
    SECTION("a record that can't be read may list it") {
        packages.record("big-1", "");
        fs::resize_file(session / Packages::site() / "big-1.dist-info" / "RECORD", std::uintmax_t{64} << 20);
        CHECK(session.told({"clean", SITE}) == kept + " (dll-gone); exit 0");
    }
    SECTION("a crash's temporary stands beside it") {
        session.text(Packages::site() / "torch" / "lib" / "torch_cuda_cu.dll.fixnvpe-tmp", "");
        CHECK(session.fixnvpe({"verify", SITE}).exit_status == 2);
        CHECK(session.told({"clean", SITE}).find("torch_cuda_cu.dll.bak not-pe (dll-left-by-crash)") !=
              std::string::npos);
    }
}

TEST_CASE("gone: conda's records count, too") {
    const Session session;
    const std::string bin = "conda/Library/bin";
    fs::create_directories(session / "conda" / "conda-meta");
    fs::create_directories(session / "conda" / "Lib" / "site-packages");
    fs::create_directories(session / bin);
    session.writable(fs::path(bin) / "cublas64_11.dll");
    session.writable(fs::path(bin) / "cufft64_10.dll");
    const auto record = [&](const std::string& version, const std::string& files) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        session.text(fs::path("conda") / "conda-meta" / ("cudatoolkit-" + version + "-h1.json"),
                     "{\"files\": [" + files + "]}");
    };
    record("11.3", "\"Library/bin/cublas64_11.dll\", \"Library/bin/cufft64_10.dll\"");
    REQUIRE(session.fixnvpe({"patch", bin}).exit_status == 0);
    fs::remove(session / bin / "cufft64_10.dll");
    CHECK(session.fixnvpe({"verify", bin}).exit_status == 2);
    fs::remove(session / "conda" / "conda-meta" / "cudatoolkit-11.3-h1.json");
    record("11.8", "\"Library/bin/cublas64_11.dll\"");
    CHECK(session.fixnvpe({"verify", bin}).exit_status == 0);
    CHECK(session.told({"clean", bin}) == bin + "/cublas64_11.dll.bak patched (usable); " + bin +
                                              "/cufft64_10.dll.bak not-pe+removed (dll-dropped); exit 0");
}

}  // namespace fixnvpe::test
