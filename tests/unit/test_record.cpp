#include "fixnvpe/find/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// An environment whose records list files; the folders are there, the files need not be.
class Site {
public:
    void record(const std::string& distribution, const std::string& text) const {
        temp.file(site() / (distribution + ".dist-info") / "RECORD", text);
    }
    fs::path site() const { return fs::path("Lib") / "site-packages"; }
    Records read() const { return {{temp.folder(site())}, {temp.path()}}; }

    /// "torch 1.0, nvidia 2"
    static std::string words(const std::vector<Distribution>& owners) {
        std::string text;
        for (const Distribution& d : owners) {
            text += (text.empty() ? "" : ", ") + d.name + " " + d.version;
        }
        return text;
    }
    std::string owners(const fs::path& file) const {
        temp.folder(file.parent_path());
        return words(read().owners_of(temp / file));
    }

    TempFolder temp;
};

}  // namespace

TEST_CASE("record: names as pip compares them") {
    CHECK(normalised_name("Scikit_Learn") == "scikit-learn");
    CHECK(normalised_name("zope.interface") == "zope-interface");
    CHECK(normalised_name("a-._B") == "a-b");
    CHECK(normalised_name("torch") == "torch");
}

TEST_CASE("record: which distribution lists which file") {
    const Site env;
    env.record("torch-1.12.1+cu113",
               "torch/lib/torch_cuda.dll,sha256=x,5\r\ntorch/lib/caffe2.DLL,,\r\ntorch/__init__.py,,\r\n"
               "\"torch/lib/odd, \"\"name\"\".dll\",,\r\n../../Library/bin/tbb.dll,,\r\n./torch/./x.pyd,,\r\n");
    env.record("Nvidia_CuBLAS-11.1", "torch/lib/torch_cuda.dll,,\nnvidia/cublas/bin/cublas64_11.dll");
    env.record("a-1", "torch/lib/torch_cuda.dll,,\n");
    const fs::path lib = env.site() / "torch" / "lib";

    CHECK(env.owners(env.site() / "nvidia/cublas/bin/cublas64_11.dll") == "nvidia-cublas 11.1");
    CHECK(env.owners(lib / "caffe2.DLL") == "torch 1.12.1+cu113");
    CHECK(env.owners(env.site() / "torch" / "x.pyd") == "torch 1.12.1+cu113");
    CHECK(env.owners(fs::path("Library") / "bin" / "tbb.dll") == "torch 1.12.1+cu113");
    CHECK(env.owners(lib / "gone.dll").empty());
    CHECK(env.owners("elsewhere/torch_cuda.dll").empty());
    // Of several, that which the folder is called by comes first.
    CHECK(env.owners(lib / "torch_cuda.dll") == "torch 1.12.1+cu113, a 1, nvidia-cublas 11.1");
    CHECK(Site::words(env.read().owners_in(env.temp / lib)) == "torch 1.12.1+cu113, a 1, nvidia-cublas 11.1");
    CHECK(Site::words(env.read().owners_in(env.temp / env.site() / "torch")) == "torch 1.12.1+cu113");
    CHECK(env.read().has("nvidia-cublas"));
    CHECK_FALSE(env.read().has("Nvidia_CuBLAS"));
    CHECK(env.read().complete());
#ifdef _WIN32
    CHECK(env.owners(env.site() / "TORCH" / "LIB" / "Torch_CUDA.dll") == "torch 1.12.1+cu113, a 1, nvidia-cublas 11.1");
#else
    CHECK(env.owners(lib / "Torch_CUDA.dll").empty());
    CHECK(env.owners(lib / "odd, \"name\".dll") == "torch 1.12.1+cu113");
#endif
}

TEST_CASE("record: a file is known behind any spelling of its folder") {
    const Site env;
    env.record("torch-1", "torch/lib/x.dll,,\n");
    const fs::path lib = env.temp.folder(env.site() / "torch" / "lib");
    CHECK(Site::words(env.read().owners_of(lib / ".." / "lib" / "x.dll")) == "torch 1");
    CHECK(Site::words(env.read().owners_in(lib / "")) == "torch 1");
#ifndef _WIN32
    fs::create_directory_symlink(lib, env.temp / "link");
    CHECK(Site::words(env.read().owners_of(env.temp / "link" / "x.dll")) == "torch 1");
#endif
}

TEST_CASE("record: conda's and egg-info's") {
    const Site env;
    env.temp.file("conda-meta/pytorch-mutex-1.0-cuda.json", R"({"build": "cuda", "depends": ["x"], "files": []})");
    env.temp.file("conda-meta/cudatoolkit-11.3.1-h59b6b97_2.json",
                  R"({"a": {"files": ["Library/bin/no.dll"]}, "b": [["Library/bin/no.dll"]], "c": "Library/bin/no.dll",
                      "files": ["Library/bin/cublas64_11.dll", {"x": ["Library/bin/no.dll"]}],
                      "paths_data": never looked at)");
    env.temp.file("conda-meta/history", "==> 2026 <==");
    env.temp.file(env.site() / "torch-1.7.0-py3.8.egg-info" / "installed-files.txt", "../torch/lib/x.dll\n");

    CHECK(env.owners("Library/bin/cublas64_11.dll") == "cudatoolkit 11.3.1");
    CHECK(env.owners("Library/bin/no.dll").empty());
    CHECK(env.owners(env.site() / "torch/lib/x.dll") == "torch 1.7.0");
    CHECK(env.read().has("pytorch-mutex"));
    CHECK(env.read().complete());
}

TEST_CASE("record: when it was installed is when its record was written") {
    const Site env;
    env.record("a-1", "p/x.dll,,\n");
    env.temp.folder(env.site() / "p");
    const Records records = env.read();
    const auto info = os::info_of(env.temp / env.site() / "a-1.dist-info" / "RECORD");
    CHECK(records.owners_of(env.temp / env.site() / "p" / "x.dll").at(0).installed == info.changed);
}

TEST_CASE("record: what is odd, damaged or too much lists nothing, and that is known") {
    const Site env;
    env.temp.folder(env.site() / "p");
    SECTION("pip's leftovers are not installed") {
        env.record("~orch-1", "p/x.dll,,\n");
        CHECK_FALSE(env.read().has("-orch"));
        CHECK(env.owners(env.site() / "p/x.dll").empty());
    }
    SECTION("no record: it is installed, and lists nothing") {
        env.temp.folder(env.site() / "a-1.dist-info");
        CHECK(env.read().has("a"));
        CHECK(env.read().complete());
    }
    SECTION("a file of conda's that is none") {
        env.temp.file("conda-meta/a-1-0.json", "{\"files\": [\"p/x.dll\"");
        CHECK_FALSE(env.read().complete());
        CHECK(env.read().has("a"));
    }
    SECTION("nested without end") {
        env.temp.file("conda-meta/a-1-0.json", "{\"files\":" + std::string(1'000'000, '['));
        CHECK_FALSE(env.read().complete());
    }
    SECTION("too long") {
        fs::resize_file(env.temp.file(env.site() / "a-1.dist-info" / "RECORD"), (std::uintmax_t{32} << 20) + 1);
        CHECK_FALSE(env.read().complete());
    }
    SECTION("too many names") {
        std::string text;
        for (int i = 0; i < 125'001; ++i) {
            text += std::to_string(i) + "/x.dll,,\n";
        }
        env.record("a-1", text);
        CHECK_FALSE(env.read().complete());
    }
    SECTION("names that are none") {
        const std::string odd = "\"\n\"\"\n,,,\n/\n//.dll\n..\n../../../../../../../../../../etc/x.dll\n\xFF.dll\n";
        env.record("a-1", odd + '\0' + ".dll\n" + std::string(100'000, '/') + "\n" + std::string(100'000, 'x') +
                              ".dll\np/x.dll");
        CHECK(env.owners(env.site() / "p/x.dll") == "a 1");
        CHECK(env.read().complete());
    }
#ifndef _WIN32
    SECTION("a link to a record elsewhere") {
        env.temp.file("elsewhere", "p/x.dll,,\n");
        env.temp.folder(env.site() / "a-1.dist-info");
        fs::create_symlink(env.temp / "elsewhere", env.temp / env.site() / "a-1.dist-info" / "RECORD");
        CHECK(env.owners(env.site() / "p/x.dll").empty());
    }
#endif
}

}  // namespace fixnvpe::test
