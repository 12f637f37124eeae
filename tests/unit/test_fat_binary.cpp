// Fat binaries among variables: what is one, where a run of them ends, and what is read to find it.

#include "fixnvpe/pe/fat_binary.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/fat_binaries.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t ADDRESS = 0x5000;
constexpr std::uint32_t OFFSET = 0x400;

PeImage image_of(const Bytes& data, std::uint32_t virtual_size = 0) {
    const auto size = static_cast<std::uint32_t>(data.size());
    PeImage image;
    image.sections = {{".data", virtual_size == 0 ? size : virtual_size, ADDRESS, size, OFFSET, SECTION_WRITABLE}};
    return image;
}

/// [from, to) from the start of the data.
using Places = std::vector<std::pair<std::size_t, std::size_t>>;

Places runs_in(const Bytes& data, std::uint32_t shortest = 1, std::uint32_t virtual_size = 0) {
    const TestFile file{{{OFFSET, data}}, OFFSET + data.size()};
    Places places;
    for (const Run& run : find_runs(image_of(data, virtual_size), 0, read_from(file), {}, shortest)) {
        places.emplace_back(run.address - ADDRESS, run.end() - ADDRESS);
    }
    return places;
}

Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes data;
    for (const Bytes& part : parts) {
        data.insert(data.end(), part.begin(), part.end());
    }
    return data;
}

Bytes with(Bytes bytes, std::size_t at, std::size_t width, std::uint64_t value) {
    store_le(bytes, at, width, value);
    return bytes;
}

const Bytes VARIABLE{1, 2, 3, 4, 5, 6, 7, 8};
const Bytes ZEROS(8);

}  // namespace

TEST_CASE("fat binary: each rule that one breaks makes it none") {
    const Bytes good = fat_binary(16 + 64 + 80, 2);
    REQUIRE(runs_in(good) == Places{{0, 160}});
    struct Row {
        const char* what;
        Bytes bytes;
    };
    const Row rows[] = {
        {"the magic", with(good, 0, 4, 0xBA55ED51)},
        {"the version", with(good, 4, 2, 2)},
        {"the header's size", with(good, 6, 2, 24)},
        {"no entry", with(good, 8, 8, 0)},
        {"a size past the end", with(good, 8, 8, 152)},
        {"a size of 64 bits that wraps around", with(good, 8, 8, ~std::uint64_t{15})},
        {"entries that end before it", with(good, 8, 8, 136)},
        {"an entry's version", with(good, 16 + 2, 2, 0x0102)},
        {"an entry's header of 56 bytes", with(good, 16 + 4, 4, 56)},
        {"an entry's header that is no multiple of 8", with(with(good, 16 + 4, 4, 68), 16 + 8, 8, 4)},
        {"a payload that is no multiple of 8", with(good, 16 + 8, 8, 12)},
        {"a payload past the end", with(good, 16 + 8, 8, 160)},
        {"a payload that wraps around", with(good, 16 + 8, 8, ~std::uint64_t{7})},
        {"the last entry", with(good, 16 + 72 + 2, 2, 0)},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        CHECK(runs_in(row.bytes).empty());
    }
}

TEST_CASE("fat binary: a run goes on over zeros up to the next multiple of 16, and over nothing else") {
    const Bytes odd = fat_binary(16 + 64 + 8);  // ends 8 bytes before the next multiple of 16
    const Bytes even = fat_binary(16 + 64);
    CHECK(runs_in(joined({even, even})) == Places{{0, 160}});
    CHECK(runs_in(joined({odd, ZEROS, even})) == Places{{0, 176}});
    CHECK(runs_in(joined({odd, VARIABLE, even})) == Places{{0, 88}, {96, 176}});
    CHECK(runs_in(joined({even, ZEROS, ZEROS, even})) == Places{{0, 80}, {96, 176}});
    CHECK(runs_in(joined({VARIABLE, VARIABLE, even, VARIABLE, ZEROS, odd})) == Places{{16, 96}, {112, 200}});
    CHECK(runs_in(joined({ZEROS, even})).empty());  // on no multiple of 16
    const Bytes empty = with(Bytes(16), 0, 8, 0x00100001BA55ED50);
    CHECK(runs_in(joined({even, empty, even})) == Places{{0, 80}, {96, 176}});
}

TEST_CASE("fat binary: only runs that are long enough, and end before the section does") {
    const Bytes data = joined({fat_binary(160), VARIABLE, VARIABLE, fat_binary(320)});
    CHECK(runs_in(data, 160) == Places{{0, 160}, {176, 496}});
    CHECK(runs_in(data, 161) == Places{{176, 496}});
    CHECK(runs_in(data, 321).empty());
    CHECK(runs_in(data, 1, 480) == Places{{0, 160}});  // VirtualSize
    CHECK(runs_in({}).empty());
    CHECK(runs_in(Bytes(15, 0x50)).empty());
}

TEST_CASE("fat binary: a file that ends inside the section is cut short") {
    const Bytes data(8000);
    const TestFile file{{{OFFSET, data}}, OFFSET + 4000};
    CHECK_THROWS_AS(find_runs(image_of(data), 0, read_from(file)), Error);
}

TEST_CASE("fat binary: each is visited, in runs of any length") {
    const Bytes data = joined({fat_binary(80), fat_binary(160), VARIABLE, VARIABLE, fat_binary(80)});
    const TestFile file{{{OFFSET, data}}, OFFSET + data.size()};
    std::vector<std::uint32_t> seen;
    const auto visit = [&](std::uint32_t address) { seen.push_back(address); };
    CHECK(find_runs(image_of(data), 0, read_from(file), visit).empty());
    CHECK(seen == std::vector<std::uint32_t>{ADDRESS, ADDRESS + 80, ADDRESS + 256});
}

TEST_CASE("fat binary: in 1 GiB of GPU code only headers are read, and a forged file takes no endless time") {
    constexpr std::uint64_t size = std::uint64_t{1} << 26;
    TestFile file{{}, OFFSET + 16 * size};
    for (std::uint64_t i = 0; i < 16; ++i) {
        file.parts.push_back({OFFSET + i * size, fat_binary_headers(size)});
    }
    PeImage image = image_of({});
    image.sections[0].virtual_size = image.sections[0].size_of_raw_data = 16 * size;
    std::uint64_t bytes = 0;
    const auto counted = [&](std::uint64_t offset, ByteSpan into) {
        bytes += into.size();
        return read_from(file)(offset, into);
    };
    CHECK(find_runs(image, 0, counted) == std::vector<Run>{{0, ADDRESS, 16 * size}});
    CHECK(bytes <= 16 * 8192);

    // A fat binary at each multiple of 16, whose entries lead almost to the end.
    Bytes forged(std::size_t{1} << 22);
    for (std::size_t at = 0; at + 16 <= forged.size(); at += 16) {
        if (at % 64 == 0) {
            store_le(forged, at, 8, 0x00100001BA55ED50);
            store_le(forged, at + 8, 8, (forged.size() - at) / 64 * 64 - 64);
        } else if (at % 64 == 16 && at + 256 < forged.size()) {
            store_le(forged, at, 8, 0x0000004001010002);  // the next entry is 64 bytes further
        }
    }
    CHECK(runs_in(forged).empty());
}

TEST_CASE("fat binary: runs are looked for in sections that are long, writable and not of GPU code alone") {
    const Section data{".data", 1U << 20, 0x1000, 1U << 20, 0x400, SECTION_WRITABLE};
    CHECK(may_hold_runs(data));
    Section other = data;
    other.size_of_raw_data -= 1;
    CHECK_FALSE(may_hold_runs(other));
    CHECK(may_hold_runs(other, 512));
    other = data;
    other.characteristics = SECTION_READ_ONLY;
    CHECK_FALSE(may_hold_runs(other));
    other = data;
    other.name = RELOCATABLE_FATBIN_SECTION;
    CHECK_FALSE(may_hold_runs(other));
}

}  // namespace fixnvpe::test
