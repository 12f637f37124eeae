// Writes testdata/pe and testdata/sample, the same bytes each time. Run as testdata/README.md says.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/fat_binaries.hpp"
#include "support/pe_builder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t X64 = IMAGE_FILE_MACHINE_AMD64;
constexpr std::uint16_t X86 = IMAGE_FILE_MACHINE_I386;
constexpr std::uint16_t ARM64 = IMAGE_FILE_MACHINE_ARM64;

constexpr std::uint32_t MIB = 1U << 20;

PeSpec with_check_sum(PeSpec spec, CheckSum check_sum = CheckSum::right) {
    spec.check_sum = check_sum;
    return spec;
}

PeSpec writable(std::uint16_t machine) {
    return with_check_sum(cuda_dll(machine, SECTION_WRITABLE));
}

PeSpec read_only(std::uint16_t machine) {
    return with_check_sum(cuda_dll(machine, SECTION_READ_ONLY));
}

PeSpec no_fatbin(std::uint16_t machine) {
    return with_check_sum(plain_dll(machine));
}

PeSpec with_flags(PeSpec spec, std::uint16_t flags) {
    spec.dll_characteristics = static_cast<std::uint16_t>(spec.dll_characteristics | flags);
    return spec;
}

PeSpec without_dynamic_base(PeSpec spec) {
    spec.dll_characteristics =
        static_cast<std::uint16_t>(spec.dll_characteristics & ~IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE);
    return spec;
}

/// A second `.nv_fatb`, as a linker of several CUDA objects may leave it.
PeSpec with_second_fatbin(PeSpec spec, std::uint32_t characteristics) {
    spec.sections.insert(
        spec.sections.end() - 1,
        {.name = ".nv_fatb", .characteristics = characteristics, .content = Content::fatbin, .fatbin_size = 700});
    return spec;
}

/// GPU code from separate compilation beside `.nv_fatb`, which is read-only.
PeSpec relocatable(std::uint32_t characteristics) {
    PeSpec spec = with_second_fatbin(read_only(X64), characteristics);
    spec.sections[spec.sections.size() - 2].name = RELOCATABLE_FATBIN_SECTION;
    return spec;
}

/// Like cuFFT's: GPU code among the variables of `.data`, too, and no room for one more section header.
PeSpec variables() {
    std::vector<std::uint8_t> data(PAGE_SIZE_BYTES, 0xDA);
    append_aligned(data, fat_binary(MIB + 5000));
    data.resize(data.size() + 9000, 0xDA);
    PeSpec spec = writable(X64);
    section(spec, ".data").virtual_size = static_cast<std::uint32_t>(data.size());
    section(spec, ".data").data = data;
    spec.e_lfanew = 0x100;
    for (std::size_t i = 0; spec.sections.size() < 12; ++i) {
        spec.sections.insert(spec.sections.begin() + 1, {.name = "p" + std::to_string(i), .data = {1, 2, 3}});
    }
    return spec;
}

PeSpec look_alikes() {
    PeSpec spec = plain_dll(X64);
    for (const char* name : {".nv_fat", ".nvFatBi", ".NV_FATB", "nv_fatb", ".nv_fatc"}) {
        spec.sections.insert(spec.sections.end() - 1,
                             {.name = name, .characteristics = SECTION_WRITABLE, .data = {1, 2, 3, 4}});
    }
    return with_check_sum(spec);
}

PeSpec section_alignment_512() {
    PeSpec spec = cuda_dll(X64, SECTION_WRITABLE);
    spec.section_alignment = spec.file_alignment = 512;
    return with_check_sum(spec);
}

PeSpec with_overlay(PeSpec spec, std::size_t size) {
    Rng rng(size);
    spec.overlay = random_bytes(rng, size);
    return spec;
}

/// As large in memory as the DLL whose name it bears, but with next to nothing in the file: what lies between
/// SizeOfRawData and VirtualSize is zeros.
PeSpec large(PeSpec spec, std::uint32_t fatbin_size) {
    section(spec, ".nv_fatb").virtual_size = fatbin_size;
    return spec;
}

class Writer {
public:
    explicit Writer(fs::path testdata) : testdata_(std::move(testdata)) {
        fs::remove_all(testdata_ / "pe");
        fs::remove_all(testdata_ / "sample");
    }

    void pe(const std::string& name, const PeSpec& spec) const { build(spec).write(made(name)); }

    void cut(const std::string& name, const PeSpec& spec, std::uint64_t size) const {
        pe(name, spec);
        fs::resize_file(testdata_ / name, size);
    }

    void text(const std::string& name, const std::string& contents) const {
        std::ofstream(made(name), std::ios::binary) << contents;
    }

    /// The signing time is fixed and RSA signatures hold no random numbers: the same bytes each time.
    void signed_pe(const std::string& name, const PeSpec& spec) const {
        const fs::path unsigned_file = made(name + ".unsigned");
        build(spec).write(unsigned_file);
        const fs::path signing = testdata_ / "signing";
        const std::string command = "osslsigncode sign -h sha256 -time 1704153600 -certs \"" +
                                    (signing / "cert.pem").string() + "\" -key \"" + (signing / "key.pem").string() +
                                    "\" -in \"" + unsigned_file.string() + "\" -out \"" + made(name).string() + "\"";
        if (std::system(command.c_str()) != 0) {
            throw std::runtime_error("failed: " + command);
        }
        fs::remove(unsigned_file);
    }

private:
    [[nodiscard]] fs::path made(const std::string& name) const {
        fs::path path = testdata_ / name;
        fs::create_directories(path.parent_path());
        return path;
    }

    fs::path testdata_;
};

void write_fixtures(const Writer& write) {
    for (const auto& [machine, name] : {std::pair{X64, "x64"}, std::pair{X86, "x86"}, std::pair{ARM64, "arm64"}}) {
        write.pe(std::string("pe/") + name + "-writable.dll", writable(machine));
        write.pe(std::string("pe/") + name + "-read-only.dll", read_only(machine));
        write.pe(std::string("pe/") + name + "-no-fatbin.dll", no_fatbin(machine));
    }
    write.pe("pe/x64-writable.pyd", writable(X64));
    write.pe("pe/x64-writable.node", writable(X64));
    write.pe("pe/x64-patched.dll", without_dynamic_base(read_only(X64)));
    write.pe("pe/x64-writable-no-aslr.dll", without_dynamic_base(writable(X64)));
    write.pe("pe/x64-two-fatbins.dll", with_second_fatbin(writable(X64), SECTION_WRITABLE));
    write.pe("pe/x64-two-fatbins-one-writable.dll", with_second_fatbin(read_only(X64), SECTION_WRITABLE));
    write.pe("pe/x64-relocatable.dll", relocatable(SECTION_WRITABLE));
    write.pe("pe/x64-relocatable-read-only.dll", relocatable(SECTION_READ_ONLY));
    write.pe("pe/x64-variables.dll", variables());
    write.pe("pe/x64-look-alikes.dll", look_alikes());
    write.signed_pe("pe/x64-signed.dll", writable(X64));
    write.signed_pe("pe/x86-signed.dll", writable(X86));
    write.signed_pe("pe/x64-signed-read-only.dll", read_only(X64));
    write.pe("pe/x64-guard-cf.dll", with_flags(writable(X64), IMAGE_DLLCHARACTERISTICS_GUARD_CF));
    write.pe("pe/x64-force-integrity.dll", with_flags(writable(X64), IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY));
    write.pe("pe/x64-force-integrity-read-only.dll",
             with_flags(read_only(X64), IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY));
    write.pe("pe/x64-section-alignment-512.dll", section_alignment_512());
    write.pe("pe/x64-check-sum-zero.dll", with_check_sum(writable(X64), CheckSum::zero));
    write.pe("pe/x64-check-sum-wrong.dll", with_check_sum(writable(X64), CheckSum::wrong));
    write.pe("pe/x64-check-sum-impossible.dll", with_check_sum(writable(X64), CheckSum::impossible));
    write.pe("pe/x64-odd-size.dll", with_overlay(writable(X64), 333));
    write.cut("pe/x64-truncated-data.dll", writable(X64), 4000);
    write.cut("pe/x64-truncated-headers.dll", writable(X64), 600);
    write.text("pe/not-pe.dll", "This is a text file that somebody named .dll.\n");
    write.text("pe/empty.dll", "");
}

void write_sample(const Writer& write) {
    const auto lib = [](const char* name) { return std::string("sample/torch/lib/") + name; };
    write.pe(lib("torch_cuda_cu.dll"), large(writable(X64), 987 * MIB));
    write.pe(lib("torch_cuda_cpp.dll"), large(writable(X64), 211 * MIB));
    write.signed_pe(lib("cudnn_cnn_infer64_8.dll"), large(writable(X64), 437 * MIB));
    write.signed_pe(lib("cudnn_ops_infer64_8.dll"), large(writable(X64), 84 * MIB));
    write.signed_pe(lib("cublasLt64_11.dll"),
                    large(with_flags(writable(X64), IMAGE_DLLCHARACTERISTICS_GUARD_CF), 303 * MIB));
    write.pe(lib("cusparse64_12.dll"), large(read_only(X64), 226 * MIB));
    write.pe(lib("c10.dll"), no_fatbin(X64));
    write.text(lib("torch_cuda_cu.lib"), "Not a DLL: fixnvpe passes it by.\n");
}

}  // namespace
}  // namespace fixnvpe::test

int main(int argc, char** argv) {
    try {
        if (argc != 2) {
            throw std::runtime_error("usage: fixnvpe_make_testdata TESTDATA_FOLDER");
        }
        const fixnvpe::test::Writer writer{std::filesystem::path(argv[1])};
        fixnvpe::test::write_fixtures(writer);
        fixnvpe::test::write_sample(writer);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fixnvpe_make_testdata: %s\n", e.what());
        return 1;
    }
}
