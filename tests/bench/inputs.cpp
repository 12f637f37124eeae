// Makes what the benchmark works on:
//
//   fixnvpe_bench_inputs FOLDER SCALE     SCALE: 1, or by how much less there shall be of everything
//
//   big.dll, small.dll   463 MB, 459 MB of them a writable .nv_fatb of random bytes; and a tenth of that
//   huge.dll             2 GiB, sparse
//   variables.dll        320 MB of .data: 22,000 fat binaries among variables, as in cuFFT of CUDA 12
//   torch/lib            40 DLLs, 4.5 GB, sparse
//   jobs                 40 DLLs of 100 MB of random bytes
//   many, few            environments with 50,000 and 5,000 files in site-packages, 2,000 and 200 of them DLLs, and
//                        their records
//   bare                 the same files as in many, in no environment

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/fat_binaries.hpp"
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

/// Fat binaries of 14.5 KB, a variable behind each hundredth.
PeSpec variables(unsigned count) {
    constexpr std::size_t size = 14'544;
    const std::vector<std::uint8_t> one = fat_binary(size, 2);
    std::vector<std::uint8_t> data;
    for (unsigned i = 0; i < count; ++i) {
        append_aligned(data, one);
        if (i % 100 == 0) {
            data.insert(data.end(), 8, 1);
        }
    }
    return dll_with_data(std::move(data));
}

/// Packages of 96 modules and 4 DLLs each, as site-packages has them: most DLLs have no GPU code.
void make_packages(const fs::path& site_packages, unsigned packages, bool records) {
    constexpr unsigned modules = 96;
    constexpr unsigned per_folder = 24;
    const TestFile plain = build(plain_dll(IMAGE_FILE_MACHINE_AMD64));
    const TestFile read_only = build(cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_READ_ONLY));
    for (unsigned p = 0; p < packages; ++p) {
        const std::string name = "package_" + std::to_string(p);
        const fs::path package = site_packages / name;
        std::ofstream record;
        if (records) {
            fs::create_directories(site_packages / (name + "-1.0.dist-info"));
            record.open(site_packages / (name + "-1.0.dist-info") / "RECORD");
        }
        for (unsigned m = 0; m < modules; ++m) {
            const std::string part = "part_" + std::to_string(m / per_folder);
            const std::string module = "module_" + std::to_string(m) + ".py";
            fs::create_directories(package / part);
            std::ofstream(package / part / module) << "value = " << m << '\n';
            record << name << '/' << part << '/' << module << ",sha256=" << std::string(43, 'x') << ",12\n";
        }
        for (const char* file : {"part_0/a.pyd", "part_1/b.pyd", "a.dll", "cuda.dll"}) {
            plain.write(package / file);
            record << name << '/' << file << ",,\n";
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
    build(variables(22'000 / scale)).write(folder / "variables.dll");
    const TestFile one_of_jobs = build(cuda(100 * MB / scale, 0));
    for (unsigned i = 0; i < DLLS; ++i) {
        const std::string name = "cuda_" + std::to_string(i) + ".dll";
        one_of_jobs.write(folder / "jobs" / name);
        build(sparse(10 * MB + i * 5'250'000)).write(folder / "torch" / "lib" / name);  // 4.5 GB together
    }
    const fs::path site_packages = fs::path("lib") / "python3.11" / "site-packages";
    make_packages(folder / "many" / site_packages, 500 / scale, true);
    make_packages(folder / "few" / site_packages, 50 / scale, true);
    make_packages(folder / "bare", 500 / scale, false);
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
