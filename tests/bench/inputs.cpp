// Makes what the benchmark works on:
//
//   fixnvpe_bench_inputs FOLDER SCALE     SCALE: 1, or by how much less there shall be of everything
//
//   big.dll, small.dll   463 MB, 459 MB of them a writable .nv_fatb of random bytes; and a tenth of that
//   huge.dll             2 GiB, sparse
//   torch/lib            40 DLLs, 4.5 GB, sparse
//   jobs                 40 DLLs of 100 MB of random bytes
//   many, few            environments with 50,000 and 5,000 files in site-packages, 3,000 and 300 of them DLLs

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "support/pe_builder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t MB = 1'000'000;
constexpr unsigned DLLS = 40;

/// @param fatbin bytes of .nv_fatb, random
/// @param rest bytes beside it, zeros
PeSpec cuda(std::uint32_t fatbin, std::uint32_t rest) {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    section(spec, ".nv_fatb").fatbin_size = fatbin;
    section(spec, ".rdata").raw_size = rest / spec.file_alignment * spec.file_alignment;
    return spec;
}

/// @param size bytes, all holes but for the headers
PeSpec sparse(std::uint32_t size) {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    TestSection& fatbin = section(spec, ".nv_fatb");
    fatbin.raw_size = fatbin.virtual_size = size / spec.file_alignment * spec.file_alignment;
    return spec;
}

/// Packages of 94 modules and 6 DLLs each, as site-packages has them: most DLLs have no GPU code.
void make_environment(const fs::path& prefix, unsigned packages) {
    const fs::path site_packages = prefix / "lib" / "python3.11" / "site-packages";
    constexpr unsigned modules = 94;
    constexpr unsigned per_folder = 24;
    const TestFile plain = build(plain_dll(IMAGE_FILE_MACHINE_AMD64));
    const TestFile read_only = build(cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_READ_ONLY));
    for (unsigned p = 0; p < packages; ++p) {
        const fs::path package = site_packages / ("package_" + std::to_string(p));
        for (unsigned m = 0; m < modules; ++m) {
            const fs::path folder = package / ("part_" + std::to_string(m / per_folder));
            fs::create_directories(folder);
            std::ofstream(folder / ("module_" + std::to_string(m) + ".py")) << "value = " << m << '\n';
        }
        for (const char* name : {"part_0/a.pyd", "part_1/b.pyd", "part_2/c.pyd", "a.dll", "b.dll"}) {
            plain.write(package / name);
        }
        read_only.write(package / "cuda.dll");
    }
}

void make(const fs::path& folder, unsigned scale) {
    fs::create_directories(folder / "torch" / "lib");
    fs::create_directories(folder / "jobs");
    build(cuda(459 * MB / scale, 4 * MB / scale)).write(folder / "big.dll");
    build(cuda(459 * MB / scale / 10, 4 * MB / scale / 10)).write(folder / "small.dll");
    build(sparse(2047 * (1U << 20))).write(folder / "huge.dll");
    const TestFile one_of_jobs = build(cuda(100 * MB / scale, 0));
    for (unsigned i = 0; i < DLLS; ++i) {
        const std::string name = "cuda_" + std::to_string(i) + ".dll";
        one_of_jobs.write(folder / "jobs" / name);
        build(sparse(10 * MB + i * 5'250'000)).write(folder / "torch" / "lib" / name);  // 4.5 GB together
    }
    make_environment(folder / "many", 500 / scale);
    make_environment(folder / "few", 50 / scale);
}

}  // namespace
}  // namespace fixnvpe::test

int main(int argc, char* argv[]) {
    try {
        if (argc != 3) {
            throw std::runtime_error("usage: fixnvpe_bench_inputs FOLDER SCALE");
        }
        fixnvpe::test::make(argv[1], static_cast<unsigned>(std::stoul(argv[2])));
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fixnvpe_bench_inputs: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
