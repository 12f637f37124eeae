#include "fixnvpe/find/python_env.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// A tree of small files, and what a process in it would see.
class World {
public:
    explicit World(bool windows) { query.windows = windows; }

    /// @param site a site-packages folder, from the tree's root
    void torch(const std::string& site, const std::string& version = "1.12.1+cu113", bool cuda = true) const {
        temp.file(site + "/torch-" + version + ".dist-info/METADATA");
        temp.file(site + "/torch/lib/c10.dll");
        if (cuda) {
            temp.file(site + "/torch/lib/torch_cuda.dll");
        }
    }
    void set(const std::string& name, const std::string& value) { variables[name] = value; }
    /// A variable that names a place in the tree.
    void point(const std::string& name, const std::string& place) { set(name, (temp / place).string()); }

    PythonEnvironment find() {
        query.current_folder = temp / "work";
        query.variable = [&](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        };
        return find_python_environment(query);
    }
    /// From the tree's root, with slashes.
    std::string name(const fs::path& path) const { return path.lexically_relative(temp.path()).generic_string(); }

    /// "PREFIX (CHOSEN_BY): FOLDER, FOLDER"
    std::string found() {
        const PythonEnvironment e = find();
        std::string text = name(e.prefix) + " (" + e.chosen_by + "):";
        for (const fs::path& folder : e.folders) {
            text += " " + name(folder);
        }
        return text;
    }
    std::string torch_found() {
        const PythonEnvironment e = find();
        return e.torch ? name(e.torch->lib) + " " + e.torch->version + (e.torch->cuda ? " cuda" : " cpu") : "none";
    }

    TempFolder temp;
    EnvironmentQuery query;
    std::map<std::string, std::string> variables;
};

/// Its version, and what it is built for.
std::string torch_of(const PythonEnvironment& environment) {
    if (!environment.torch) {
        return "none";
    }
    const Torch& torch = *environment.torch;
    return (torch.version.empty() ? "unknown" : torch.version) + (torch.cuda ? ", CUDA" : ", CPU");
}

}  // namespace

TEST_CASE("python_env: each kind of environment, named with --env") {
    World world(GENERATE(true, false));
    const auto [prefix, site, library] = GENERATE(table<std::string, std::string, std::string>({
        {"venv", "venv/Lib/site-packages", "venv/Scripts/python.exe"},
        {"venv", "venv/lib/python3.11/site-packages", "venv/bin/python"},
        {"conda", "conda/Lib/site-packages", "conda/python.exe"},
        {"conda/envs/named", "conda/envs/named/Lib/site-packages", "conda/envs/named/python.exe"},
        {"conda", "conda/lib/python3.9/site-packages", "conda/bin/python3"},
        {"Python310", "Python310/Lib/site-packages", "Python310/python.exe"},
        {"ComfyUI/python_embeded", "ComfyUI/python_embeded/Lib/site-packages", "ComfyUI/python_embeded/python310._pth"},
        {"usr", "usr/lib/python3/dist-packages", "usr/bin/python3"},
        {"usr", "usr/local/lib/python3.11/dist-packages", "usr/bin/python3"},
        {"fedora", "fedora/lib64/python3.12/site-packages", "fedora/bin/python3"},
    }));
    world.temp.file(library);
    world.torch(site);
    world.query.env_option = world.temp / prefix;
    CHECK(world.found() == prefix + " (--env): " + site);
    CHECK(world.torch_found() == site + "/torch/lib 1.12.1+cu113 cuda");
}

TEST_CASE("python_env: --env also takes what lies in an environment, and a folder that holds one") {
    World world(GENERATE(true, false));
    world.torch("project/inner/env/Lib/site-packages");
    world.temp.file("project/inner/env/python.exe");
    world.temp.file("project/inner/env/Scripts/pip.exe");
    world.temp.file("project/inner/env/bin/pip");
    world.temp.folder("project/other");
    for (const char* dir :
         {"project", "project/inner", "project/inner/env/python.exe", "project/inner/env/Scripts",
          "project/inner/env/bin", "project/inner/env/Lib/site-packages", "project/inner/env/Lib/site-packages/"}) {
        INFO(dir);
        world.query.env_option = world.temp / dir;
        CHECK(world.found() == "project/inner/env (--env): project/inner/env/Lib/site-packages");
    }
}

TEST_CASE("python_env: several environments in a folder are an error that names each") {
    World world(GENERATE(true, false));
    world.torch("work/venv/Lib/site-packages");
    world.temp.file("work/venv/pyvenv.cfg");
    world.torch("work/installer files/env/Lib/site-packages");
    world.temp.folder("work/installer files/env/conda-meta");
    world.temp.folder("work/src/empty");
    const bool named = GENERATE(true, false);
    if (named) {
        world.query.env_option = world.temp / "work";
    }
    const auto line = [&](const char* place) { return (world.temp / "work" / place).make_preferred().string(); };
    try {
        world.find();
        FAIL("found " << world.found());
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::ambiguous);
        CHECK(error.message() ==
              (named ? "it has 2 Python environments" : "the current folder has 2 Python environments"));
        CHECK(error.detail() ==
              "name the one that you mean\n--env \"" + line("installer files/env") + "\"\n--env " + line("venv"));
    }
}

TEST_CASE("python_env: the current folder's environment, by any name; below the home folder nothing is looked at") {
    World world(true);
    const std::string place =
        GENERATE("work/.venv", "work/runtime", "work/system/python", "work/python-3.8.10-embed-amd64", "work");
    world.torch(place + "/Lib/site-packages");
    world.temp.file(place + "/python.exe");
    world.temp.folder("work/a/b/c/Lib/site-packages");
    world.temp.file("work/a/b/c/python.exe");  // too deep
    world.torch("Python310/Lib/site-packages");
    world.temp.file("Python310/python.exe");
    world.point("PATH", "Python310");
    CHECK(world.found() == place + " (in the current folder): " + place + "/Lib/site-packages");
    world.point("USERPROFILE", "work");
    CHECK(world.find().prefix == world.temp / (place == "work" ? "work" : "Python310"));
}

TEST_CASE("python_env: what a variable chose beside other environments in the current folder is not surely meant") {
    World world(true);
    world.torch("venv/Lib/site-packages");
    world.torch("work/.venv/Lib/site-packages");
    world.temp.file("work/.venv/pyvenv.cfg");
    world.point("VIRTUAL_ENV", "venv");
    CHECK(world.find().prefix == world.temp / "venv");
    CHECK(world.find().rivals == std::vector<fs::path>{world.temp / "work/.venv"});
    world.point("VIRTUAL_ENV", "work/.venv");
    CHECK(world.find().rivals.empty());
    world.torch("work/venv/Lib/site-packages");
    world.temp.file("work/venv/pyvenv.cfg");
    CHECK(world.find().prefix == world.temp / "work/.venv");  // the active one of two
    CHECK(world.find().rivals.empty());
    world.query.env_option = world.temp / "venv";
    CHECK(world.find().rivals.empty());
}

TEST_CASE("python_env: thousands of Pythons take no more than a look each") {
    World world(true);
    for (int i = 0; i < 2000; ++i) {
        world.temp.folder("Roaming/Python/Python3" + std::to_string(i) + "/site-packages");
    }
    world.point("APPDATA", "Roaming");
    CHECK(world.find().folders.size() == 2000);
}

TEST_CASE("python_env: --env that is none is an error, whatever else is there") {
    World world(false);
    world.torch("venv/lib/python3.11/site-packages");
    world.point("VIRTUAL_ENV", "venv");
    world.temp.folder("work/empty");
    const auto [dir, message] =
        GENERATE(std::pair{"work/empty", "no Python environment: it has no site-packages folder"},
                 std::pair{"work/nowhere", "there is no such folder"});
    world.query.env_option = world.temp / dir;
    try {
        world.find();
        FAIL("found " << world.found());
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::no_match);
        CHECK(error.path() == world.temp / dir);
        CHECK(error.message() == message);
        CHECK_THAT(error.detail(), contains("the folder that holds python.exe, Scripts or bin"));
    }
}

TEST_CASE("python_env: the order is VIRTUAL_ENV, CONDA_PREFIX, the current folder, python on PATH, the user's own") {
    World world(true);
    world.point("VIRTUAL_ENV", "virtual");
    world.point("CONDA_PREFIX", "conda");
    world.point("PATH", "Python310");
    world.point("APPDATA", "Roaming");
    world.torch("virtual/Lib/site-packages");
    world.torch("conda/Lib/site-packages");
    world.torch("work/python_embeded/Lib/site-packages");
    world.temp.file("work/python_embeded/python.exe");
    world.torch("Python310/Lib/site-packages");
    world.temp.file("Python310/python.exe");
    world.torch("Roaming/Python/Python310/site-packages");

    CHECK(world.found() == "virtual (VIRTUAL_ENV): virtual/Lib/site-packages");
    world.variables.erase("VIRTUAL_ENV");
    CHECK(world.found() == "conda (CONDA_PREFIX): conda/Lib/site-packages");
    world.variables.erase("CONDA_PREFIX");
    CHECK(world.found() == "work/python_embeded (in the current folder): work/python_embeded/Lib/site-packages");
    fs::remove_all(world.temp / "work/python_embeded");
    CHECK(world.found() == "Python310 (python.exe on PATH): Python310/Lib/site-packages");
    fs::remove(world.temp / "Python310/python.exe");
    CHECK(world.found() ==
          "Roaming/Python/Python310 (the user's site-packages): Roaming/Python/Python310/site-packages");
}

TEST_CASE("python_env: the Python that runs fixnvpe comes first, unless one is named") {
    World world(GENERATE(true, false));
    world.torch("running/Lib/site-packages");
    world.torch("virtual/Lib/site-packages");
    world.torch("work/.venv/Lib/site-packages");
    world.temp.file("work/.venv/pyvenv.cfg");
    world.point("VIRTUAL_ENV", "virtual");
    world.point("FIXNVPE_PYTHON", "running");
    CHECK(world.found() == "running (python -m fixnvpe): running/Lib/site-packages");
    CHECK(world.find().rivals.empty());  // it was meant
    world.query.env_option = world.temp / "virtual";
    CHECK(world.found() == "virtual (--env): virtual/Lib/site-packages");
    world.query.env_option.reset();
    world.point("FIXNVPE_PYTHON", "removed");
    CHECK(world.found() == "virtual (VIRTUAL_ENV): virtual/Lib/site-packages");
}

TEST_CASE("python_env: the Python that the program is installed in comes before those on PATH") {
    const bool windows = GENERATE(true, false);
    World world(windows);
    const std::string site = "own/Lib/site-packages";
    world.torch(site);
    world.temp.file(windows ? "own/python.exe" : "own/bin/python3");
    world.temp.file(site + "/fixnvpe-0.2.0.dist-info/RECORD");
    world.torch("P/Lib/site-packages");
    world.temp.file(windows ? "P/python.exe" : "P/bin/python3");
    world.point("PATH", windows ? "P" : "P/bin");
    const std::string on_path = windows ? "P (python.exe on PATH)" : "P (python3 on PATH)";
    CHECK(world.found().starts_with(on_path));
    world.query.program = world.temp / (windows ? "own/Scripts/fixnvpe.exe" : "own/bin/fixnvpe");
    CHECK(world.found() == "own (fixnvpe is installed there): " + site);
    SECTION("which the current folder's comes before") {
        world.torch("work/.venv/Lib/site-packages");
        world.temp.file("work/.venv/pyvenv.cfg");
        CHECK(world.found() == "work/.venv (in the current folder): work/.venv/Lib/site-packages");
    }
    SECTION("but not one that was made for it alone, as uvx, uv tool and pipx do") {
        fs::remove_all(world.temp / (site + "/torch-1.12.1+cu113.dist-info"));
        world.temp.file(site + "/pip-24.0.dist-info/RECORD");
        CHECK(world.found().starts_with(on_path));
        // uvx puts it on PATH, too, first.
        world.temp.file("own/pyvenv.cfg");
        world.temp.file(windows ? "own/Scripts/python.exe" : "own/bin/python");
        const std::string both = world.variables["PATH"];
        world.point("PATH", windows ? "own/Scripts" : "own/bin");
        world.variables["PATH"] += (windows ? ";" : ":") + both;
        CHECK(world.found().starts_with(on_path));
    }
    SECTION("nor one that it merely lies beside") {
        fs::remove_all(world.temp / (site + "/fixnvpe-0.2.0.dist-info"));
        CHECK(world.found().starts_with(on_path));
    }
}

TEST_CASE("python_env: py launcher's Pythons come after those on PATH") {
    World world(true);
    world.torch("Python39/Lib/site-packages");
    world.torch("Python312/Lib/site-packages");
    world.temp.file("Python312/python312.dll");
    world.torch("Roaming/Python/Python312/site-packages");
    world.point("APPDATA", "Roaming");
    SECTION("and those that python.org's installer and the Python install manager put there") {
        world.torch("Local/Programs/Python/Python310/Lib/site-packages");
        world.temp.file("Local/Programs/Python/Python310/python.exe");
        world.torch("Local/Python/pythoncore-3.14-64/Lib/site-packages");
        world.temp.file("Local/Python/pythoncore-3.14-64/python.exe");
        world.temp.folder("Local/Python/bin");
        world.point("LOCALAPPDATA", "Local");
        CHECK(world.found() ==
              "Local/Programs/Python/Python310 (py launcher): Local/Programs/Python/Python310/Lib/site-packages");
        fs::remove_all(world.temp / "Local/Programs");
        CHECK(world.found() ==
              "Local/Python/pythoncore-3.14-64 (py launcher): Local/Python/pythoncore-3.14-64/Lib/site-packages");
        return;
    }
    world.temp.file("Python312/python.exe");
    world.temp.file("Python39/python.exe");
    world.query.registered = [&] {
        return std::vector<fs::path>{world.temp / "removed", world.temp / "Python312", world.temp / "Python39"};
    };
    CHECK(world.found() ==
          "Python312 (py launcher): Roaming/Python/Python312/site-packages Python312/Lib/site-packages");
    world.torch("P/Lib/site-packages");
    world.temp.file("P/python.exe");
    world.point("PATH", "P");
    CHECK(world.found() == "P (python.exe on PATH): P/Lib/site-packages");
}

TEST_CASE("python_env: those nearby are the active ones, the current folder's and those beside the chosen one") {
    World world(true);
    for (const char* place : {"envs/chosen", "envs/beside", "virtual", "conda", "work/venv"}) {
        world.torch(std::string(place) + "/Lib/site-packages");
        world.temp.file(std::string(place) + "/python.exe");
    }
    world.temp.folder("envs/none");
    world.query.env_option = world.temp / "envs/chosen";
    const auto nearby = [&] {
        std::string text;
        const PythonEnvironment chosen = world.find();
        for (const fs::path& place : environments_nearby(world.query, chosen)) {
            text += world.name(place) + " ";
        }
        return text;
    };
    CHECK(nearby() == "work/venv envs/beside ");
    world.point("VIRTUAL_ENV", "virtual");
    world.point("CONDA_PREFIX", "envs/chosen");
    CHECK(nearby() == "virtual work/venv envs/beside ");
    world.point("USERPROFILE", "envs");  // everybody's
    CHECK(nearby() == "virtual work/venv ");
}

TEST_CASE("python_env: a variable that leads nowhere is passed over, and that is said") {
    World world(false);
    world.point("VIRTUAL_ENV", "removed");
    world.point("CONDA_PREFIX", "conda");
    world.torch("conda/lib/python3.10/site-packages");
    const PythonEnvironment e = world.find();
    CHECK(e.chosen_by == "CONDA_PREFIX");
    CHECK(e.passed_over == Texts{(world.temp / "removed").string() + " (VIRTUAL_ENV) is not there"});
}

TEST_CASE("python_env: conda's own DLLs are among the folders") {
    World world(true);
    world.torch("conda/Lib/site-packages");
    world.temp.file("conda/conda-meta/history");
    world.temp.file("conda/Library/bin/cublas64_11.dll");
    world.point("CONDA_PREFIX", "conda");
    CHECK(world.found() == "conda (CONDA_PREFIX): conda/Lib/site-packages conda/Library/bin");
}

TEST_CASE("python_env: python.exe on PATH in Windows' layouts") {
    World world(true);
    SECTION("a virtual environment that was not activated has it in Scripts") {
        world.temp.file("venv/Scripts/python.exe");
        world.temp.file("venv/pyvenv.cfg");
        world.torch("venv/Lib/site-packages");
        world.torch("Roaming/Python/Python310/site-packages");
        world.point("PATH", "venv/Scripts");
        world.point("APPDATA", "Roaming");
        CHECK(world.found() == "venv (python.exe on PATH): venv/Lib/site-packages");
    }
    SECTION("a plain one also looks into the user's site-packages of its version, and first there") {
        world.temp.file("Python310/python.exe");
        world.temp.file("Python310/python3.dll");
        world.temp.file("Python310/python310.dll");
        world.temp.file("Python310/Lib/site-packages/pip/a.py");
        world.torch("Roaming/Python/Python310/site-packages");
        world.torch("Roaming/Python/Python311/site-packages", "2.0.1+cu118");
        world.point("PATH", "Python310");
        world.point("APPDATA", "Roaming");
        CHECK(world.found() ==
              "Python310 (python.exe on PATH): Roaming/Python/Python310/site-packages "
              "Python310/Lib/site-packages");
        CHECK(world.torch_found() == "Roaming/Python/Python310/site-packages/torch/lib 1.12.1+cu113 cuda");
        SECTION("unless it is told not to") {
            world.set("PYTHONNOUSERSITE", "1");
            CHECK(world.found() == "Python310 (python.exe on PATH): Python310/Lib/site-packages");
        }
        SECTION("or is an embeddable one") {
            world.temp.file("Python310/python310._pth");
            CHECK(world.found() == "Python310 (python.exe on PATH): Python310/Lib/site-packages");
        }
    }
    SECTION("the Microsoft Store's empty alias is passed over") {
        world.temp.file("Local/Microsoft/WindowsApps/python.exe", "");
        world.temp.file("Local/Microsoft/WindowsApps/python3.exe", "");
        world.set("PATH", (world.temp / "Local/Microsoft/WindowsApps").string() + ";" + (world.temp / "P").string());
        world.temp.file("P/python.exe");
        world.torch("P/Lib/site-packages");
        CHECK(world.found() == "P (python.exe on PATH): P/Lib/site-packages");
        CHECK(world.find().passed_over.size() == 2);
        SECTION("and the packages of the Store's Python are found where it keeps them") {
            fs::remove(world.temp / "P/python.exe");
            const std::string store =
                "Local/Packages/PythonSoftwareFoundation.Python.3.11_qbz5n2kfra8p0/LocalCache/local-packages/Python311";
            world.torch(store + "/site-packages");
            world.point("LOCALAPPDATA", "Local");
            CHECK(world.found() == store + " (the user's site-packages): " + store + "/site-packages");
        }
    }
    SECTION("a quoted entry, an empty one and one that is not there") {
        world.temp.file("My Python/python.exe");
        world.torch("My Python/Lib/site-packages");
        world.set("PATH",
                  ";;\"" + (world.temp / "nowhere").string() + "\";\"" + (world.temp / "My Python").string() + "\"");
        CHECK(world.found() == "My Python (python.exe on PATH): My Python/Lib/site-packages");
    }
}

TEST_CASE("python_env: the newest of several versions comes first, by number") {
    World world(true);
    world.point("APPDATA", "Roaming");
    world.torch("Roaming/Python/Python39/site-packages", "1.10.0+cu113");
    world.torch("Roaming/Python/Python310/site-packages", "1.12.1+cu113");
    world.temp.file("Roaming/Python/Python311-32/site-packages/pip/a.py");
    CHECK(world.found() ==
          "Roaming/Python/Python311-32 (the user's site-packages): "
          "Roaming/Python/Python311-32/site-packages Roaming/Python/Python310/site-packages "
          "Roaming/Python/Python39/site-packages");
    CHECK(world.torch_found() == "Roaming/Python/Python310/site-packages/torch/lib 1.12.1+cu113 cuda");
}

TEST_CASE("python_env: nothing found says what was looked at, and how to name one") {
    World world(GENERATE(true, false));
    world.point("VIRTUAL_ENV", "removed");
    try {
        world.find();
        FAIL("found " << world.found());
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::no_match);
        CHECK(error.message() == "no Python environment found");
        for (const char* words :
             {"removed (VIRTUAL_ENV) is not there", "CONDA_PREFIX is not set", "no environment in the current folder",
              "no Python on PATH", "the user has no site-packages", "--env DIR", "TARGET"}) {
            CHECK_THAT(error.detail(), contains(words));
        }
    }
}

TEST_CASE("python_env: torch and its version are described, and so is that there is none") {
    World world(false);
    world.temp.folder("venv/lib/python3.11/site-packages");
    world.point("VIRTUAL_ENV", "venv");
    const std::string site = "venv/lib/python3.11/site-packages";
    SECTION("not installed") {
        world.temp.file(site + "/torchvision-0.13.1+cu113.dist-info/METADATA");
        const PythonEnvironment e = world.find();
        CHECK(torch_of(e) == "none");
    }
    SECTION("installed once, but gone: only its dist-info was left behind") {
        world.temp.file(site + "/torch-1.12.1.dist-info/METADATA");
        CHECK(torch_of(world.find()) == "none");
    }
    SECTION("a CUDA build") {
        world.torch(site);
        const PythonEnvironment e = world.find();
        CHECK(torch_of(e) == "1.12.1+cu113, CUDA");
    }
    SECTION("a CPU build by its version") {
        world.torch(site, "2.1.0+cpu", true);
        CHECK(torch_of(world.find()) == "2.1.0+cpu, CPU");
    }
    SECTION("a CPU build by its files") {
        world.torch(site, "2.1.0", false);
        world.temp.file(site + "/torch/lib/cuda.txt");
        CHECK(torch_of(world.find()) == "2.1.0, CPU");
    }
    SECTION("conda's egg-info") {
        world.temp.file(site + "/torch-1.12.1-py3.9.egg-info/PKG-INFO");
        world.temp.file(site + "/torch/lib/c10_cuda.dll");
        CHECK(torch_of(world.find()) == "1.12.1, CUDA");
    }
    SECTION("an egg-info without Python's version") {
        world.temp.file(site + "/torch-2.0.10.egg-info/PKG-INFO");
        world.temp.file(site + "/torch/lib/c10_cuda.dll");
        CHECK(torch_of(world.find()) == "2.0.10, CUDA");
    }
    SECTION("no dist-info at all") {
        world.temp.file(site + "/torch/lib/libtorch_cuda.so");
        CHECK(torch_of(world.find()) == "unknown, CUDA");
    }
}

#if !defined(_WIN32)

TEST_CASE("python_env: python on PATH in POSIX layouts") {
    World world(false);
    world.temp.file("usr/bin/python3.11");
    world.temp.folder("usr/lib/python3.11/dist-packages");
    world.torch("usr/lib/python3/dist-packages");
    world.temp.folder("usr/lib/python3.9/site-packages");
    world.temp.folder("usr/local/lib/python3.11/dist-packages");
    fs::create_symlink("python3.11", world.temp / "usr/bin/python3");
    world.point("PATH", "usr/bin");
    SECTION("Debian's python3, a link to python3.11: only that version's folders") {
        CHECK(world.found() ==
              "usr (python3 on PATH): usr/local/lib/python3.11/dist-packages "
              "usr/lib/python3.11/dist-packages usr/lib/python3/dist-packages");
        CHECK(world.torch_found() == "usr/lib/python3/dist-packages/torch/lib 1.12.1+cu113 cuda");
    }
    SECTION("with the user's own folder first") {
        world.torch("home/.local/lib/python3.11/site-packages", "2.0.1");
        world.torch("home/.local/lib/python3.12/site-packages", "2.9.0");
        world.point("HOME", "home");
        CHECK(world.torch_found() == "home/.local/lib/python3.11/site-packages/torch/lib 2.0.1 cuda");
        SECTION("or PYTHONUSERBASE") {
            world.torch("base/lib/python3.11/site-packages", "2.2.0");
            world.point("PYTHONUSERBASE", "base");
            CHECK(world.torch_found() == "base/lib/python3.11/site-packages/torch/lib 2.2.0 cuda");
        }
    }
    SECTION("a virtual environment whose python is a link to it") {
        world.temp.folder("venv/bin");
        world.temp.file("venv/pyvenv.cfg");
        world.torch("venv/lib/python3.11/site-packages");
        fs::create_symlink(world.temp / "usr/bin/python3", world.temp / "venv/bin/python");
        fs::create_symlink("lib", world.temp / "venv/lib64");
        world.set("PATH", (world.temp / "venv/bin").string() + ":" + (world.temp / "usr/bin").string());
        CHECK(world.found() == "venv (python on PATH): venv/lib/python3.11/site-packages");
    }
    SECTION("a link to a Python elsewhere") {
        world.temp.file("opt/py/bin/python3.10");
        world.torch("opt/py/lib/python3.10/site-packages");
        world.temp.folder("links");
        fs::create_symlink(world.temp / "opt/py/bin/python3.10", world.temp / "links/python");
        world.set("PATH", (world.temp / "links").string() + ":" + (world.temp / "usr/bin").string());
        CHECK(world.found() == "opt/py (python on PATH): opt/py/lib/python3.10/site-packages");
    }
    SECTION("a link to nothing, or to itself, is passed over") {
        world.temp.folder("links");
        fs::create_symlink("gone", world.temp / "links/python");
        fs::create_symlink("python3", world.temp / "links/python3");
        world.set("PATH", (world.temp / "links").string() + ":" + (world.temp / "usr/bin").string());
        CHECK(world.find().prefix == world.temp / "usr");
    }
}

#endif

TEST_CASE("python_env: this machine can be looked at, whatever is there") {
    try {
        const auto found = find_python_environment({});
        CHECK_FALSE(found.folders.empty());
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::no_match);
    }
}

}  // namespace fixnvpe::test
