// Names that the user spells otherwise than the folder lists them.

#include <filesystem>
#include <string>
#include <vector>

#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/os/process.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "windows.hpp"

namespace fixnvpe::test {
namespace {

/// The file names of what these targets lead to.
std::vector<std::string> found(const std::vector<fs::path>& targets, Want want = Want::dlls) {
    std::vector<std::string> texts;
    for (const fs::path& target : targets) {
        texts.push_back(os::from_path(target));
    }
    const Targets result = find_targets(texts, want);
    CHECK(result.problems.empty());
    std::vector<std::string> names;
    for (const Target& target : result.files) {
        names.push_back(target.path.filename().string() + (target.missing ? " missing" : ""));
    }
    return names;
}

}  // namespace

TEST_CASE("targets: a file in another case is the one that the folder lists") {
    const TempFolder temp;
    temp.file("lib/Torch_Cuda.dll");
    temp.file("lib/gone.dll.bak");
    const std::vector<std::string> once{"Torch_Cuda.dll"};
    CHECK(found({temp / "LIB/TORCH_CUDA.DLL"}) == once);
    CHECK(found({temp / "lib/torch_cuda.dll", temp / "lib", temp / "lib/Torch_Cuda.DLL"}) == once);
    CHECK(found({temp / "lib/GONE.DLL"}) == std::vector<std::string>{"gone.dll missing"});
}

TEST_CASE("targets: a file by its 8.3 name is the one that the folder lists") {
    const TempFolder temp;
    const fs::path dll = temp.file("lib/Torch_Cuda_Linalg.dll");
    wchar_t text[MAX_PATH] = {};
    REQUIRE(::GetShortPathNameW(dll.c_str(), text, MAX_PATH) != 0);
    const fs::path name = temp / "lib" / fs::path(text).filename();
    INFO(name);
    CHECK(found({name, dll}) == std::vector<std::string>{"Torch_Cuda_Linalg.dll"});
}

}  // namespace fixnvpe::test
