// The builder and the mutations are what the other tests stand on.

#include "support/pe_builder.hpp"

#include <filesystem>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"

namespace fixnvpe::test {
namespace {

PeImage read(const TestFile& file) {
    return read_pe_raw(file.first(HEADER_BYTES_MIN), file.size);
}

}  // namespace

TEST_CASE("pe_builder: what is asked for stands in the headers") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_ARM64, SECTION_WRITABLE);
    spec.e_lfanew = 0x130;
    spec.overlay = {1, 2, 3};
    spec.signature = {4, 5};
    const TestFile file = build(spec);
    const PeImage image = read(file);

    CHECK(image.machine == IMAGE_FILE_MACHINE_ARM64);
    CHECK(image.layout.nt_headers == 0x130);
    CHECK(image.layout.pe32_plus);
    CHECK(image.image_base == 0x180000000);
    CHECK(image.dynamic_base());
    REQUIRE(image.sections.size() == 6);
    CHECK(image.sections[3].name == ".nv_fatb");
    CHECK(image.sections[3].characteristics == SECTION_WRITABLE);
    CHECK(image.sections[4].name == ".nvFatBi");
    CHECK(image.security.virtual_address % 8 == 0);
    CHECK(image.security.virtual_address + image.security.size == file.size);
}

TEST_CASE("pe_builder: CheckSum is right, wrong, impossible or zero as asked for") {
    for (std::size_t overlay = 0; overlay < 6; ++overlay) {
        PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
        spec.overlay.assign(overlay, 0xA5);
        const auto stored = [&](CheckSum check_sum) {
            spec.check_sum = check_sum;
            return read(build(spec)).check_sum;
        };
        const std::vector<std::uint8_t> bytes = build(spec).bytes();
        INFO("an overlay of " << overlay << " bytes");
        CHECK(stored(CheckSum::right) == compute_check_sum(bytes));
        CHECK(stored(CheckSum::wrong) != compute_check_sum(bytes));
        CHECK(stored(CheckSum::wrong) - bytes.size() <= 0xFFFF);
        CHECK(stored(CheckSum::impossible) - bytes.size() > 0xFFFF);
        CHECK(stored(CheckSum::zero) == 0);
    }
}

TEST_CASE("pe_builder: a section of gigabytes needs neither memory nor disk") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    section(spec, ".nv_fatb").virtual_size = section(spec, ".nv_fatb").raw_size = 0x79999A00;
    const TestFile file = build(spec);
    CHECK(file.size > 0x79999A00);
    std::size_t held = 0;
    for (const TestFile::Part& part : file.parts) {
        held += part.bytes.size();
    }
    CHECK(held < 8192);

    const std::filesystem::path path = std::filesystem::temp_directory_path() / "fixnvpe-test_pe_builder.bin";
    file.write(path);
    CHECK(std::filesystem::file_size(path) == file.size);
    std::filesystem::remove(path);
}

TEST_CASE("pe_builder: random files are valid, and the same for the same seed") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        INFO("random_pe(" << seed << ")");
        const TestFile file = build(random_pe(seed));
        const PeImage image = read(file);
        CHECK(build(random_pe(seed)).bytes() == file.bytes());
        std::uint64_t address = 0;
        for (const Section& section : image.sections) {
            CHECK(section.virtual_address >= address);
            address = std::uint64_t{section.virtual_address} + section.virtual_size;
            CHECK(std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data <= file.size);
        }
    }
}

TEST_CASE("mutate: every mutation changes something, or is one of few that don't") {
    Rng rng(1);
    const std::vector<std::uint8_t> original = build(cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE)).bytes();
    int unchanged = 0;
    for (int i = 0; i < 1000; ++i) {
        std::vector<std::uint8_t> bytes = original;
        mutate(bytes, rng);
        unchanged += bytes == original ? 1 : 0;
    }
    CHECK(unchanged < 150);
}

}  // namespace fixnvpe::test
