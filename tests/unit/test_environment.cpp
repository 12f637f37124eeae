#include "fixnvpe/find/environment.hpp"

#include <filesystem>
#include <string>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// The prefix around a folder, from the tree's root.
std::string around(const TempFolder& temp, const fs::path& folder) {
    const fs::path prefix = Environments().around(temp.folder(folder));
    return prefix.empty() ? "none" : prefix.lexically_relative(temp.path()).generic_string();
}

}  // namespace

TEST_CASE("environment: that which a folder lies in") {
    const TempFolder temp;
    temp.file("venv/pyvenv.cfg");
    temp.folder("conda/conda-meta");
    temp.folder("conda/Lib/site-packages");
    temp.folder("conda/envs/inner/conda-meta");
    temp.file("portable/python_embeded/python.exe");
    temp.folder("portable/python_embeded/Lib/site-packages");
    temp.file("program/python.exe");

    CHECK(around(temp, "venv/Lib/site-packages/torch/lib") == "venv");
    CHECK(around(temp, "venv/Scripts") == "venv");
    CHECK(around(temp, "conda/Library/bin") == "conda");
    CHECK(around(temp, "conda/envs/inner/Lib/site-packages/torch") == "conda/envs/inner");
    CHECK(around(temp, "portable/python_embeded/DLLs") == "portable/python_embeded");
    CHECK(around(temp, "copied/Lib/site-packages/torch/lib") == "copied");
    CHECK(around(temp, "user/lib/python3.11/site-packages/torch") == "user");
    CHECK(around(temp, "odd/site-packages/torch") == "none");
    CHECK(around(temp, "program") == "none");  // a python, and no packages
    CHECK(around(temp, "program/deep/lib") == "none");
}

TEST_CASE("environment: the records of each, and none where there is none") {
    const TempFolder temp;
    temp.file("a/Lib/site-packages/torch-1.dist-info/RECORD", "torch/lib/x.dll,,\n");
    temp.file("b/Lib/site-packages/torch-2.dist-info/RECORD", "torch/lib/x.dll,,\n");
    const auto lib = [&](const char* name) { return temp.folder(fs::path(name) / "Lib/site-packages/torch/lib"); };
    Environments environments;
    CHECK(environments.records_around(lib("a")).owners_of(lib("a") / "x.dll").at(0).version == "1");
    CHECK(environments.records_around(lib("b")).owners_of(lib("b") / "x.dll").at(0).version == "2");
    CHECK_FALSE(environments.records_around(temp.folder("c")).has("torch"));

    SECTION("the chosen one holds all") {
        PythonEnvironment chosen;
        chosen.prefix = temp / "a";
        chosen.folders = {temp / "a" / "Lib" / "site-packages"};
        Environments one(chosen);
        CHECK(one.around(lib("b")) == temp / "a");
        CHECK(one.records_around(lib("b")).has("torch"));
    }
}

TEST_CASE("environment: the base's packages belong to a virtual environment that says so") {
    const TempFolder temp;
    const bool windows = GENERATE(true, false);
    const std::string home = (temp / (windows ? "base" : "base/bin")).string();
    const std::string site = windows ? "base/Lib/site-packages" : "base/lib/python3.11/site-packages";
    temp.file(site + "/torch-1.dist-info/RECORD", "torch/lib/x.dll,,\n");
    temp.folder("base/lib/python3.12/site-packages");
    const fs::path lib = temp.folder(site + "/torch/lib");
    temp.folder("venv/Lib/site-packages");
    const auto knows_torch = [&](const std::string& says) {
        temp.file("venv/pyvenv.cfg", "home = " + home + "\nversion = 3.11.2\r\n" + says);
        return Environments().records_around(temp / "venv").has("torch");
    };
    CHECK(knows_torch("include-system-site-packages = true\n"));
    CHECK(knows_torch("Include-System-Site-Packages=TRUE"));
    CHECK_FALSE(knows_torch("include-system-site-packages = false\n"));
    CHECK_FALSE(knows_torch(""));
}

}  // namespace fixnvpe::test
