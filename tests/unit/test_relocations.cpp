#include "fixnvpe/pe/relocations.hpp"

#include <vector>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint16_t DIR64 = 10 << 12;

/// One block: a page, and entries of a type and an offset in the page.
void append_block(std::vector<std::uint8_t>& table, std::uint32_t page, const std::vector<std::uint16_t>& entries) {
    const std::size_t at = table.size();
    table.resize(at + 8 + 2 * entries.size());
    store_le(table, at, 4, page);
    store_le(table, at + 4, 4, table.size() - at);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        store_le(table, at + 8 + 2 * i, 2, entries[i]);
    }
}

}  // namespace

TEST_CASE("relocations: the table is found in every fixture that has one, and holds the wrapper's page") {
    for (const char* name : {"x64-writable.dll", "x86-writable.dll", "arm64-writable.dll", "x64-two-fatbins.dll"}) {
        INFO(name);
        const Headers file = fixture(name);
        const RelocationTable table = relocation_table(read_pe_raw(file.bytes, file.file_size));
        REQUIRE(table.size == 12);
        CHECK(relocated_bytes(ByteView(file.bytes).subspan(table.offset, table.size)) == 4096);
    }
}

TEST_CASE("relocations: none is no error") {
    CHECK(relocation_table(PeImage{}).size == 0);
    CHECK(relocated_bytes({}) == 0);
}

TEST_CASE("relocations: each page counts once, and padding not at all") {
    std::vector<std::uint8_t> table;
    append_block(table, 0x1000, {DIR64 | 0x008, DIR64 | 0x010, 0});
    append_block(table, 0x2000, {0, 0});
    append_block(table, 0x3000, {0, DIR64 | 0x008});
    append_block(table, 0x1000, {DIR64 | 0xFF0, 0});
    CHECK(relocated_bytes(table) == 2 * 4096);
}

TEST_CASE("relocations: a table that breaks off counts as far as it goes") {
    std::vector<std::uint8_t> good;
    append_block(good, 0x1000, {DIR64 | 0x008, 0});
    for (const std::uint32_t size : {0U, 7U, 13U, 0xFFFFFFFFU}) {
        INFO("the second block says it has " << size << " bytes");
        std::vector<std::uint8_t> table = good;
        append_block(table, 0x2000, {DIR64 | 0x008, 0});
        store_le(table, good.size() + 4, 4, size);
        CHECK(relocated_bytes(table) == 4096);
    }
    good.resize(good.size() + 7, 0xFF);
    CHECK(relocated_bytes(good) == 4096);
}

TEST_CASE("relocations: a directory that no section holds, or of more than 64 MiB, is malformed") {
    PeImage image;
    image.sections = {{.name = ".reloc", .virtual_size = 0x1000, .virtual_address = 0x5000, .size_of_raw_data = 0x200}};
    const auto error_of = [&](std::uint32_t address, std::uint32_t size) -> std::string {
        image.base_relocations = {address, size};
        try {
            (void)relocation_table(image);
            return "none";
        } catch (const Error& e) {
            return std::string(to_string(e.code()));
        }
    };
    CHECK(error_of(0x5000, 0x200) == "none");
    CHECK(error_of(0x51FF, 1) == "none");
    CHECK(error_of(0x5200, 1) == "malformed");
    CHECK(error_of(0x4FFF, 1) == "malformed");
    CHECK(error_of(0xFFFFFFFF, 1) == "malformed");
    CHECK(error_of(0x5000, (64U << 20) + 1) == "malformed");
}

}  // namespace fixnvpe::test
