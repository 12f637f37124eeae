// A program without LIEF: in its place stands a reader that is wrong in one field at a time. read_pe() must see it.

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"

namespace fixnvpe {
namespace {

std::function<void(PeImage&)> falsify = [](PeImage&) {};

}  // namespace

PeImage read_pe_lief(ByteView headers, const PeLayout& layout) {
    PeImage image = read_pe_raw(headers, layout);
    falsify(image);
    return image;
}

std::string reader_name() {
    return "a false reader";
}

namespace test {
namespace {

struct Falsification {
    std::string named;  ///< how the message begins
    std::function<void(PeImage&)> falsify;
};

/// Every field of an image, and of each section.
std::vector<Falsification> falsifications(const PeImage& image) {
    // Who adds a field adds a name here, or this does not compile; and then a line below.
    const auto& [layout, machine, time_date_stamp, image_base, section_alignment, check_sum, dll_characteristics,
                 security, base_relocations, sections] = image;
    std::vector<Falsification> all{
        {fmt::format("Machine is {:#x}", machine), [](PeImage& i) { i.machine ^= 1; }},
        {fmt::format("TimeDateStamp is {:#x}", time_date_stamp), [](PeImage& i) { i.time_date_stamp ^= 1; }},
        {layout.pe32_plus ? "Magic is 0x20b" : "Magic is 0x10b",
         [](PeImage& i) { i.layout.pe32_plus = !i.layout.pe32_plus; }},
        {fmt::format("ImageBase is {:#x}", image_base), [](PeImage& i) { i.image_base ^= std::uint64_t{1} << 63; }},
        {fmt::format("SectionAlignment is {:#x}", section_alignment), [](PeImage& i) { i.section_alignment ^= 1; }},
        {fmt::format("CheckSum is {:#x}", check_sum), [](PeImage& i) { i.check_sum ^= 1U << 31; }},
        {fmt::format("DllCharacteristics is {:#x}", dll_characteristics),
         [](PeImage& i) { i.dll_characteristics ^= 0x40; }},
        {fmt::format("NumberOfRvaAndSizes is {:#x}", layout.number_of_rva_and_sizes),
         [](PeImage& i) { i.layout.number_of_rva_and_sizes -= 1; }},
        {fmt::format("VirtualAddress of the certificate table is {:#x}", security.virtual_address),
         [](PeImage& i) { i.security.virtual_address ^= 1; }},
        {fmt::format("Size of the certificate table is {:#x}", security.size),
         [](PeImage& i) { i.security.size ^= 1; }},
        {fmt::format("VirtualAddress of the base relocation table is {:#x}", base_relocations.virtual_address),
         [](PeImage& i) { i.base_relocations.virtual_address ^= 1; }},
        {fmt::format("Size of the base relocation table is {:#x}", base_relocations.size),
         [](PeImage& i) { i.base_relocations.size ^= 1; }},
        {fmt::format("the number of sections is {:#x}", sections.size()), [](PeImage& i) { i.sections.pop_back(); }},
        {"the layout", [](PeImage& i) { i.layout.section_table += 1; }},
    };
    for (std::size_t n = 0; n < sections.size(); ++n) {
        const auto& [name, virtual_size, virtual_address, size_of_raw_data, pointer_to_raw_data, characteristics] =
            sections[n];
        const auto add = [&](std::string_view field, const std::string& value, std::function<void(Section&)> change) {
            all.push_back({fmt::format("{} of section {} is {}", field, n + 1, value),
                           [n, change](PeImage& i) { change(i.sections[n]); }});
        };
        const auto hex = [](std::uint32_t value) { return fmt::format("{:#x}", value); };
        add("Name", '"' + name + '"', [](Section& s) { s.name += "\x1b"; });
        add("VirtualSize", hex(virtual_size), [](Section& s) { s.virtual_size ^= 1; });
        add("VirtualAddress", hex(virtual_address), [](Section& s) { s.virtual_address ^= 1; });
        add("SizeOfRawData", hex(size_of_raw_data), [](Section& s) { s.size_of_raw_data ^= 1; });
        add("PointerToRawData", hex(pointer_to_raw_data), [](Section& s) { s.pointer_to_raw_data ^= 1; });
        add("Characteristics", hex(characteristics), [](Section& s) { s.characteristics ^= IMAGE_SCN_MEM_WRITE; });
    }
    return all;
}

}  // namespace

TEST_CASE("one field that LIEF reads otherwise, and nothing may be written") {
    for (const char* name : {"x64-writable.dll", "x86-writable.dll"}) {
        const Headers headers = fixture(name);
        falsify = [](PeImage&) {};
        const PeImage image = read_pe(headers.bytes, headers.file_size);
        REQUIRE(image.sections.size() > 3);
        CHECK_FALSE(difference(image, image));
        for (const Falsification& one : falsifications(image)) {
            INFO(name << ": " << one.named);
            falsify = one.falsify;
            const Reading read = reading(read_pe, headers);
            CHECK(read.error == ErrorCode::readers_disagree);
            CHECK(read.message.find("read headers: " + one.named) == 0);
            CHECK(read.message.find('\x1b') == std::string::npos);

            PeImage false_image = image;
            one.falsify(false_image);
            CHECK("read headers: " + difference(image, false_image).value_or("") == read.message);
            CHECK(difference(false_image, image));
        }
    }
}

TEST_CASE("both values are named, ours first") {
    const Headers headers = fixture("x64-writable.dll");
    falsify = [](PeImage& image) { image.check_sum = 0xABC; };
    const std::string ours = fmt::format("{:#x}", read_pe_raw(headers.bytes, headers.file_size).check_sum);
    CHECK(reading(read_pe, headers).message ==
          "read headers: CheckSum is " + ours + " in the file, but LIEF reads 0xabc");
}

}  // namespace test
}  // namespace fixnvpe
