#include "fixnvpe/pe/commit_charge.hpp"

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/pe_builder.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

struct Row {
    const char* what;
    std::uint32_t virtual_size;
    std::uint32_t size_of_raw_data;
    std::uint32_t characteristics;
    std::uint64_t charged;
};

PeImage image_of(std::vector<Section> sections) {
    PeImage image;
    image.sections = std::move(sections);
    return image;
}

}  // namespace

TEST_CASE("commit charge: writable and not shared, VirtualSize, in whole pages") {
    const Row rows[] = {
        {"read-only", 100'000, 100'352, SECTION_READ_ONLY, 0},
        {"code", 100'000, 100'352, SECTION_CODE, 0},
        {"writable, one byte", 1, 512, SECTION_WRITABLE, 4096},
        {"writable, one page", 4096, 4096, SECTION_WRITABLE, 4096},
        {"writable, one byte more than a page", 4097, 4608, SECTION_WRITABLE, 8192},
        {"writable, larger than in the file", 6000, 512, SECTION_WRITABLE, 8192},
        {"writable, smaller than in the file", 100, 65536, SECTION_WRITABLE, 4096},
        {"writable, VirtualSize 0: SizeOfRawData counts", 0, 5000, SECTION_WRITABLE, 8192},
        {"writable, nothing at all", 0, 0, SECTION_WRITABLE, 0},
        {"writable and shared", 100'000, 100'352, SECTION_WRITABLE | IMAGE_SCN_MEM_SHARED, 0},
        {"writable and executable", 4096, 4096, SECTION_CODE | IMAGE_SCN_MEM_WRITE, 4096},
        {"4 GiB less one byte doesn't overflow", 0xFFFFFFFF, 0, SECTION_WRITABLE, 0x1'0000'0000},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const Section section{.name = ".data",
                              .virtual_size = row.virtual_size,
                              .size_of_raw_data = row.size_of_raw_data,
                              .characteristics = row.characteristics};
        const CommitCharge other = commit_charge(image_of({section}));
        CHECK(other.now == row.charged);
        CHECK(commit_charge(section) == row.charged);
        CHECK(other.saved == 0);
        CHECK(other.after == row.charged);

        for (const std::string_view name : {FATBIN_SECTION, RELOCATABLE_FATBIN_SECTION}) {
            Section fatbin = section;
            fatbin.name = name;
            const CommitCharge charge = commit_charge(image_of({fatbin}));
            CHECK(charge.now == row.charged);
            CHECK(charge.saved == row.charged);
            CHECK(charge.after == 0);
        }
    }
}

TEST_CASE("commit charge: sections add up, past 4 GiB, and only fatbin sections are saved") {
    const Section data{.name = ".data", .virtual_size = 5000, .characteristics = SECTION_WRITABLE};
    const Section wrapper{.name = ".nvFatBi", .virtual_size = 24, .characteristics = SECTION_WRITABLE};
    const Section fatbin{.name = ".nv_fatb", .virtual_size = 0xC000'0000, .characteristics = SECTION_WRITABLE};
    const CommitCharge charge = commit_charge(image_of({data, fatbin, wrapper, fatbin}));
    CHECK(charge.saved == 2 * std::uint64_t{0xC000'0000});
    CHECK(charge.after == 8192 + 4096);
    CHECK(charge.now == charge.saved + charge.after);
}

TEST_CASE("commit charge: of every shape, as another program counted it in the real file") {
    for (const Shape& shape : read_shapes()) {
        INFO(shape.name);
        const CommitCharge charge = commit_charge(read_pe_raw(shape.file().first(HEADER_BYTES_MIN), shape.file_size));
        CHECK(charge.now == shape.commit_now);
        CHECK(charge.saved == shape.commit_saved);
    }
}

}  // namespace fixnvpe::test
