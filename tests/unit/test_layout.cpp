// Where the headers lie. The numbers are those of the "PE Format" specification, written out again.

#include "fixnvpe/pe/headers.hpp"

#include <string>

#include "fixnvpe/pe/image.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {

TEST_CASE("layout: PE32+ fields lie where the specification says") {
    const Headers headers = fixture("x64-writable.dll");
    const PeLayout layout = locate_headers(headers.bytes, headers.file_size);
    CHECK(layout.pe32_plus);
    CHECK(layout.nt_headers == 128);
    CHECK(layout.optional_header == 128 + 24);
    CHECK(layout.check_sum() == 128 + 24 + 64);
    CHECK(layout.dll_characteristics() == 128 + 24 + 70);
    CHECK(layout.data_directory(4) == 128 + 24 + 112 + 4 * 8);
    CHECK(layout.number_of_rva_and_sizes == 16);
    CHECK(layout.section_table == 128 + 24 + 240);
    CHECK(layout.number_of_sections == 6);
    CHECK(layout.section_header(2) == 128 + 24 + 240 + 80);
    CHECK(layout.section_characteristics(2) == 128 + 24 + 240 + 80 + 36);
    CHECK(layout.end() == 128 + 24 + 240 + 6 * 40);
}

TEST_CASE("layout: PE32 fields lie where the specification says") {
    const Headers headers = fixture("x86-writable.dll");
    const PeLayout layout = locate_headers(headers.bytes, headers.file_size);
    CHECK_FALSE(layout.pe32_plus);
    CHECK(layout.check_sum() == 128 + 24 + 64);
    CHECK(layout.dll_characteristics() == 128 + 24 + 70);
    CHECK(layout.data_directory(4) == 128 + 24 + 96 + 4 * 8);
    CHECK(layout.section_table == 128 + 24 + 224);
}

TEST_CASE("layout: the section table follows SizeOfOptionalHeader, not the number of directories") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    spec.number_of_rva_and_sizes = 6;
    spec.optional_header_padding = 24;
    const Headers headers = headers_of(spec);
    const PeLayout layout = locate_headers(headers.bytes, headers.file_size);
    CHECK(layout.number_of_rva_and_sizes == 6);
    CHECK(layout.section_table == 128 + 24 + 112 + 6 * 8 + 24);
}

TEST_CASE("layout: header_extent asks for a little more each time, and no more than the headers need") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    spec.e_lfanew = 5000;
    const std::vector<std::uint8_t> file = build(spec).bytes();
    const ByteView bytes(file);
    const auto extent = [&](std::size_t prefix) { return header_extent(bytes.first(prefix), file.size()); };
    CHECK(extent(0) == 2);
    CHECK(extent(2) == 64);
    CHECK(extent(63) == 64);
    CHECK(extent(64) == 5000 + 24);
    CHECK(extent(4096) == 5000 + 24);
    CHECK(extent(5024) == 5000 + 24 + 240 + 6 * 40);
    CHECK(extent(file.size()) == 5000 + 24 + 240 + 6 * 40);
}

TEST_CASE("layout: the headers of every real CUDA DLL known lie in the first 4,096 bytes") {
    for (const Shape& shape : read_shapes()) {
        INFO(shape.name);
        const std::vector<std::uint8_t> window = shape.file().first(HEADER_BYTES_MIN);
        CHECK(header_extent(window, shape.file_size) <= HEADER_BYTES_MIN);
    }
}

TEST_CASE("reader: reads of every shape what another program read in the real file") {
    for (const Shape& shape : read_shapes()) {
        INFO(shape.name);
        const PeImage image = read_pe(shape.file().first(HEADER_BYTES_MIN), shape.file_size);
        CHECK(image.machine == shape.spec.machine);
        CHECK(image.layout.pe32_plus == shape.spec.pe32_plus);
        CHECK(image.layout.nt_headers == shape.spec.e_lfanew);
        CHECK(image.time_date_stamp == shape.spec.time_date_stamp);
        CHECK(image.image_base == shape.spec.image_base);
        CHECK(image.section_alignment == shape.spec.section_alignment);
        CHECK(image.check_sum == shape.check_sum);
        CHECK(image.dll_characteristics == shape.spec.dll_characteristics);
        CHECK(image.security.present() == (shape.spec.directories.count(IMAGE_DIRECTORY_ENTRY_SECURITY) != 0));
        CHECK(image.base_relocations == shape.spec.directories.at(IMAGE_DIRECTORY_ENTRY_BASERELOC));
        REQUIRE(image.sections.size() == shape.spec.sections.size());
        for (std::size_t i = 0; i < image.sections.size(); ++i) {
            const TestSection& expected = shape.spec.sections[i];
            INFO("section " << i);
            CHECK(image.sections[i].name == expected.name.c_str());
            CHECK(image.sections[i].virtual_size == expected.virtual_size);
            CHECK(image.sections[i].virtual_address == expected.virtual_address);
            CHECK(image.sections[i].size_of_raw_data == expected.size_of_raw_data);
            CHECK(image.sections[i].pointer_to_raw_data == expected.pointer_to_raw_data);
            CHECK(image.sections[i].characteristics == expected.characteristics);
        }
    }
}

TEST_CASE("reader: a directory that the file doesn't have, or that lies behind its end, is no signature") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    spec.signature = {1, 2, 3};
    const Headers headers = headers_of(spec);
    const PeImage image = read_pe(headers.bytes, headers.file_size);
    CHECK(image.is_signed(headers.file_size));
    const std::uint64_t end = std::uint64_t{image.security.virtual_address} + image.security.size;
    CHECK(image.is_signed(end));
    CHECK_FALSE(image.is_signed(end - 1));

    Headers fewer = headers;
    store_le(fewer.bytes, 128 + 24 + 108, 4, IMAGE_DIRECTORY_ENTRY_SECURITY);  // NumberOfRvaAndSizes
    CHECK_FALSE(read_pe(fewer.bytes, fewer.file_size).is_signed(fewer.file_size));
}

TEST_CASE("image: only the exact eight bytes .nv_fatb or __nv_rel are GPU code") {
    for (const char* name : {".nv_fat", ".nvFatBi", ".NV_FATB", "nv_fatb", ".nv_fatc", "", ".nv_fatb ", "__nv_re",
                             "__nv_rem", "__NV_REL", ".nv_rel", "_nv_rel"}) {
        INFO(name);
        CHECK_FALSE(Section{.name = name}.is_fatbin());
    }
    CHECK(Section{.name = ".nv_fatb"}.is_fatbin());
    CHECK(Section{.name = "__nv_rel"}.is_fatbin());
    CHECK(RELOCATABLE_FATBIN_SECTION.size() == size_of::SectionName);
    CHECK(FATBIN_SECTION.size() == size_of::SectionName);
}

TEST_CASE("image: machine_name is the name users know, or the number") {
    CHECK(machine_name(0x8664) == "x64");
    CHECK(machine_name(0x014C) == "x86");
    CHECK(machine_name(0xAA64) == "arm64");
    CHECK(machine_name(0x0000) == "0x0000");
    CHECK(machine_name(0xBEEF) == "0xbeef");
}

}  // namespace fixnvpe::test
