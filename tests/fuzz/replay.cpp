// Runs a fuzz target over every file of some folders: fixnvpe_fuzz_TARGET CORPUS [FOLDER...]
// The first one must hold inputs: a test that tries nothing must not pass. The others may be empty, or missing.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"

namespace fs = std::filesystem;

static std::size_t replay(const fs::path& folder) {
    std::vector<fs::path> files;
    if (fs::exists(folder)) {
        files.assign(fs::directory_iterator(folder), fs::directory_iterator());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        std::fprintf(stderr, "%s\n", file.string().c_str());  // before it runs: it may not come back
        std::ifstream stream(file, std::ios::binary);
        const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
        fixnvpe::test::expect(stream.is_open() && !stream.bad(), "the input can be read");
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs replayed from %s\n", files.size(), folder.string().c_str());
    return files.size();
}

int main(int argc, char** argv) {
    const std::size_t in_corpus = argc > 1 ? replay(argv[1]) : 0;
    for (int i = 2; i < argc; ++i) {
        replay(argv[i]);
    }
    fixnvpe::test::expect(in_corpus > 0, "the corpus holds inputs");
    return 0;
}
