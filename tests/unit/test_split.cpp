// Splits of headers: which pages, where their section headers find room, joined again, and what stands against it.

#include "fixnvpe/pe/split.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/pe/survey.hpp"
#include "support/catch.hpp"
#include "support/fat_binaries.hpp"
#include "support/headers.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t PAGE = 4096;

/// A file in memory, and what was found in it.
struct Case {
    TestFile file;
    Bytes headers;
    PeImage image;

    explicit Case(const PeSpec& spec) : Case(build(spec)) {}
    explicit Case(TestFile built) : file(std::move(built)), headers(file.first(HEADER_BYTES_MIN)) { read(); }

    void read() { image = read_pe(headers, file.size); }
    [[nodiscard]] Survey look(std::uint32_t shortest = PAGE) const {
        return survey(headers, image, file.size, read_from(file), shortest);
    }
    [[nodiscard]] PeImage image_after(const Split& split) const {
        return read_pe(split_headers(headers, image, split), file.size);
    }
};

/// Variables, two pages and more of GPU code, variables.
Bytes some_data() {
    Bytes data(PAGE, 0xDA);
    append_aligned(data, fat_binary(2 * PAGE + 800));
    data.resize(data.size() + 5000, 0xDA);
    return data;
}

std::vector<std::string> names_of_sections(const PeImage& image) {
    std::vector<std::string> names;
    for (const Section& section : image.sections) {
        names.push_back(section.name);
    }
    return names;
}

const Section& named(const PeImage& image, std::string_view name) {
    return *std::find_if(image.sections.begin(), image.sections.end(),
                         [&](const Section& s) { return s.name == name; });
}

std::size_t at_optional(const Case& it, std::size_t field) {
    return it.image.layout.optional_header + field;
}

std::size_t at_section(const Case& it, std::string_view name, std::size_t field) {
    const auto index = static_cast<std::size_t>(&named(it.image, name) - it.image.sections.data());
    return it.image.layout.section_header(index) + field;
}

std::size_t at_directory(const Case& it, std::size_t index) {
    return it.image.layout.data_directory(index);
}

}  // namespace

TEST_CASE("split: .data becomes .data, .fixnv, .data, and the bytes keep their places") {
    const Case it(dll_with_data(some_data()));
    const Survey seen = it.look();
    const Section whole = named(it.image, ".data");
    REQUIRE(seen.found.size() == 1);
    CHECK(seen.found[0].why == WhyNotSplit::nothing);
    REQUIRE(seen.split == Split{{{whole.virtual_address + PAGE, 2 * PAGE}}, false});

    const PeImage after = it.image_after(seen.split);
    CHECK(names_of_sections(after) ==
          std::vector<std::string>{".text", ".rdata", ".data", ".fixnv", ".data", ".reloc"});
    const std::uint32_t address = whole.virtual_address;
    const std::uint32_t pointer = whole.pointer_to_raw_data;
    CHECK(after.sections[2] == Section{".data", PAGE, address, PAGE, pointer, SECTION_WRITABLE});
    CHECK(after.sections[3] ==
          Section{".fixnv", 2 * PAGE, address + PAGE, 2 * PAGE, pointer + PAGE, SECTION_READ_ONLY});
    CHECK(after.sections[4] == Section{".data", whole.virtual_size - 3 * PAGE, address + 3 * PAGE,
                                       whole.size_of_raw_data - 3 * PAGE, pointer + 3 * PAGE, SECTION_WRITABLE});
    CHECK(commit_charge(it.image).now - commit_charge(after).now == seen.split.bytes());
    CHECK(split_pages(after) == seen.split.pages);
    CHECK(split_pages(it.image).empty());
}

TEST_CASE("split: a section that begins with GPU code needs one header more, and one that ends with it keeps a page") {
    Bytes data = fat_binary(3 * PAGE);
    const Case it(dll_with_data(data));
    const Survey seen = it.look();
    const Section whole = named(it.image, ".data");
    CHECK(seen.split.pages == std::vector<Pages>{{whole.virtual_address, 2 * PAGE}});
    CHECK(names_of_sections(it.image_after(seen.split)) ==
          std::vector<std::string>{".text", ".rdata", ".fixnv", ".data", ".reloc"});

    const Case with_zeros(dll_with_data(data, 3 * PAGE));
    const Survey seen_zeros = with_zeros.look();
    CHECK(seen_zeros.split.pages == std::vector<Pages>{{whole.virtual_address, 3 * PAGE}});
    const PeImage after = with_zeros.image_after(seen_zeros.split);
    CHECK(after.sections[3] == Section{".data", 3 * PAGE, whole.virtual_address + 3 * PAGE, 0, 0, SECTION_WRITABLE});
}

TEST_CASE(
    "split: the largest runs first, the NT headers move where that frees more, and joined again all is as before") {
    Bytes data(PAGE, 0xDA);
    for (const std::uint32_t pages : {3U, 5U, 4U, 6U}) {
        append_aligned(data, fat_binary(pages * PAGE + 1600));
        data.resize((data.size() / PAGE + 2) * PAGE, 0xDA);
    }
    PeSpec spec = dll_with_data(data);
    for (std::size_t i = 0; i < 5; ++i) {  // two section headers less than FileAlignment leaves room for
        spec.sections.insert(spec.sections.begin() + 1, {.name = "p" + std::to_string(i), .data = Bytes(16, 1)});
    }
    struct Row {
        std::uint32_t e_lfanew;
        std::vector<std::uint32_t> pages;
        bool moves;
    };
    const Row rows[] = {
        {0x80, {5, 6}, false},  // 0x80 + 264 + 9 * 40 = 752 of 1,024: 6 headers; 3 runs
        {0x128, {5, 4, 6}, true},
        {0x60, {5, 4, 6}, false},
    };
    for (const Row& row : rows) {
        INFO(row.e_lfanew);
        spec.e_lfanew = row.e_lfanew;
        const Case it(spec);
        const Survey seen = it.look();
        std::vector<std::uint32_t> pages;
        for (const Pages& p : seen.split.pages) {
            pages.push_back(p.size / PAGE);
        }
        CHECK(seen.split.moves_nt_headers == row.moves);
        const auto left = std::count_if(seen.found.begin(), seen.found.end(),
                                        [](const Found& f) { return f.why == WhyNotSplit::no_room; });
        CHECK(static_cast<std::size_t>(left) + pages.size() == 4);
        CHECK(pages.size() >= row.pages.size());
        const Bytes after = split_headers(it.headers, it.image, seen.split);
        const PeImage image = read_pe(after, it.file.size);
        CHECK(image.layout.nt_headers == (row.moves ? 0x80 : row.e_lfanew));
        const auto joined = joined_headers(after, image);
        REQUIRE(joined);
        CHECK(*joined == (row.moves ? *moved_headers(it.headers, it.image) : it.headers));
    }
}

TEST_CASE("split: what it frees of real DLLs") {
    struct Row {
        const char* name;
        double freed;  ///< MiB
        std::size_t runs;
        bool moves;
    };
    const Row rows[] = {
        {"maven:org.bytedeco:cuda (windows-x86_64-redist) 11.6-8.3-1.5.7 cufft64_10.dll", 318.9, 1, false},
        {"pypi:nvidia-cufft-cu11 10.9.0.58 cufft64_10.dll", 216.2, 1, true},
        {"pypi:nvidia-cufft 12.5.0.14 cufft64_12.dll", 90.2, 17, true},
    };
    const std::vector<Shape> shapes = read_shapes();
    for (const Row& row : rows) {
        INFO(row.name);
        const auto shape =
            std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.name == row.name; });
        REQUIRE(shape != shapes.end());
        TestFile file = shape->file();
        const PeImage image = read_pe(file.first(HEADER_BYTES_MIN), file.size);
        const auto part_at = [&](std::uint32_t address) -> TestFile::Part& {
            for (const Section& s : image.sections) {
                if (address >= s.virtual_address && address - s.virtual_address < s.size_of_raw_data) {
                    const std::uint64_t at = std::uint64_t{s.pointer_to_raw_data} + (address - s.virtual_address);
                    const auto found = std::find_if(file.parts.begin(), file.parts.end(),
                                                    [&](const TestFile::Part& part) { return part.offset == at; });
                    return found != file.parts.end() ? *found : file.parts.emplace_back(TestFile::Part{at, {}});
                }
            }
            throw std::logic_error("lies in no section");
        };
        // A load configuration that says its size, and relocations that fill their directory.
        Bytes& config = part_at(shape->spec.directories.at(IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG).virtual_address).bytes;
        config.resize(4);
        store_le(config, 0, 4, 264);
        const DataDirectory& directory = shape->spec.directories.at(IMAGE_DIRECTORY_ENTRY_BASERELOC);
        Bytes& relocations = part_at(directory.virtual_address).bytes;
        const std::size_t end = relocations.size();
        REQUIRE(directory.size >= end + 8);
        relocations.resize(end + 8);
        store_le(relocations, end + 4, 4, directory.size - end);

        const Case it(file);
        const Survey seen = it.look(RUN_MIN);
        CHECK(seen.found.size() == row.runs);
        CHECK(static_cast<double>(seen.split.bytes()) / (1 << 20) == Approx(row.freed).margin(0.05));
        CHECK(seen.split.moves_nt_headers == row.moves);
        const PeImage after = it.image_after(seen.split);
        CHECK(commit_charge(it.image).now - commit_charge(after).now == seen.split.bytes());
    }
}

TEST_CASE("split: each thing that stands against it is named") {
    struct Row {
        WhyNotSplit why;
        const char* what;
        std::function<void(Case&)> change;
    };
    const auto header = [](std::function<std::size_t(const Case&)> at, std::size_t width, std::uint64_t value) {
        return [=](Case& it) {
            store_le(it.headers, at(it), width, value);
            it.read();
        };
    };
    const auto optional = [&](std::size_t field, std::size_t width, std::uint64_t value) {
        return header([=](const Case& it) { return at_optional(it, field); }, width, value);
    };
    const auto of_section = [&](const char* name, std::size_t field, std::size_t width, std::uint64_t value) {
        return header([=](const Case& it) { return at_section(it, name, field); }, width, value);
    };
    const auto directory = [&](std::size_t index, std::uint64_t address) {
        return header([=](const Case& it) { return at_directory(it, index); }, 8, address | std::uint64_t{64} << 32);
    };
    const auto file_header = [&](std::size_t field, std::uint64_t value) {
        return header([=](const Case& it) { return it.image.layout.nt_headers + field; }, 4, value);
    };
    /// The structure of a directory, put behind the exports in .rdata.
    const auto structure = [](std::size_t index, const Bytes& bytes) {
        return [=](Case& it) {
            const Section& rdata = named(it.image, ".rdata");
            store_le(it.headers, at_directory(it, index), 4, rdata.virtual_address + 256);
            store_le(it.headers, at_directory(it, index) + 4, 4, bytes.size());
            it.file.parts.push_back({rdata.pointer_to_raw_data + 256, bytes});
            it.read();
        };
    };
    const auto with = [](std::size_t size, std::size_t at, std::size_t width, std::uint64_t value) {
        Bytes bytes(size);
        store_le(bytes, 0, 4, size);
        store_le(bytes, at, width, value);
        return bytes;
    };
    const Case plain(dll_with_data(some_data()));
    const std::uint64_t in_run = named(plain.image, ".data").virtual_address + PAGE + 800;
    const std::uint64_t base = plain.image.image_base;
    using Why = WhyNotSplit;
    const Row rows[] = {
        {Why::force_integrity, "FORCE_INTEGRITY", optional(70, 2, 0x1E0)},
        {Why::section_alignment, "SectionAlignment 8192", optional(32, 4, 8192)},
        {Why::file_alignment, "FileAlignment 256", optional(36, 4, 256)},
        {Why::file_alignment, "FileAlignment 1536", optional(36, 4, 1536)},
        {Why::file_alignment, "FileAlignment 8192", optional(36, 4, 8192)},
        {Why::raw_data, "FileAlignment 4096, and data at multiples of 512", optional(36, 4, 4096)},
        {Why::raw_data, "raw data that overlaps", of_section(".rdata", 20, 4, 0x400)},
        {Why::sections, "a hole between sections", of_section(".reloc", 12, 4, 0x100000)},
        {Why::sections, "SizeOfImage", optional(56, 4, 0x100000)},
        {Why::sections, "a VirtualSize of 0", of_section(".reloc", 8, 4, 0)},
        {Why::object_fields, "relocations of an object", of_section(".text", 32, 2, 1)},
        {Why::object_fields, "line numbers", of_section(".text", 28, 4, 0x400)},
        {Why::symbol_table, "a symbol table", file_header(12, 0x5000)},
        {Why::symbol_table, "symbols", file_header(16, 5)},
        {Why::equal_neighbours, "two neighbours of one name and one kind",
         [](Case& it) {
             store_le(it.headers, at_section(it, ".rdata", 36), 4, SECTION_WRITABLE);
             store_le(it.headers, at_section(it, ".rdata", 0), 8, 0x617461642E);
             it.read();
         }},
        {Why::not_joining, "another's .fixnv", of_section(".reloc", 0, 8, 0x766E7869662E)},
        {Why::header_bytes, "a byte behind the section table",
         header([](const Case& it) { return it.image.layout.end() + 8; }, 1, 1)},
        {Why::header_bytes, "SizeOfHeaders before the end of the section table",
         [](Case& it) {
             store_le(it.headers, at_optional(it, 60), 4, 512);
             it.headers[it.image.layout.end()] = 1;
             it.read();
         }},
        {Why::into_headers, "a directory in the headers", directory(2, 0x200)},
        {Why::into_headers, "a certificate in the headers", directory(4, 0x200)},
        {Why::into_headers, "debug data in the headers", structure(6, with(28, 16, 8, 0x10 | std::uint64_t{0x200} << 32))},
        {Why::bound_imports, "bound imports", directory(11, 0x2000)},
        {Why::dot_net, ".NET", directory(14, 0x2000)},
        {Why::load_config, "DynamicValueRelocTableOffset", structure(10, with(264, 224, 4, 16))},
        {Why::load_config, "DynamicValueRelocTableSection", structure(10, with(264, 228, 2, 3))},
        {Why::load_config, "CHPE metadata", structure(10, with(264, 200, 8, base + 0x2000))},
        {Why::load_config, "a hot-patch table", structure(10, with(264, 240, 4, 8))},
        {Why::load_config, "an enclave's configuration", structure(10, with(264, 248, 8, base + 0x2000))},
        {Why::unreadable, "a load config that lies in no section", directory(10, 0x900000)},
        {Why::unreadable, "a load config without a size", structure(10, Bytes(64))},
        {Why::unreadable, "a security cookie before the image", structure(10, with(264, 88, 8, 0x1000))},
        {Why::unreadable, "imports without an end", structure(1, Bytes(2000, 0xEE))},
        {Why::unreadable, "exports that lie nowhere", structure(0, with(40, 20, 4, 5))},
        {Why::unreadable, "relocations that break off",
         [](Case& it) {
             store_le(it.headers, at_directory(it, 5) + 4, 4, 13);
             it.read();
         }},
        {Why::unreadable, "relocations that lie nowhere", directory(5, 0x900000)},
        {Why::taken, "a directory in the run", directory(2, in_run)},
        {Why::taken, "the security cookie in the run", structure(10, with(264, 88, 8, base + in_run))},
        {Why::taken, "the TLS index in the run", structure(9, with(40, 16, 8, base + in_run))},
        {Why::taken, "a table of imports in the run",
         [&](Case& it) {
             structure(1, with(40, 16, 4, in_run))(it);
             it.file.parts.push_back({named(it.image, ".data").pointer_to_raw_data + PAGE + 800, Bytes(8)});
         }},
        {Why::relocated, "a relocation in the run",
         [&](Case& it) {
             Bytes block(12);
             store_le(block, 0, 4, in_run / PAGE * PAGE);
             store_le(block, 4, 4, 12);
             store_le(block, 8, 2, 10U << 12 | in_run % PAGE);
             it.file.parts.push_back({named(it.image, ".reloc").pointer_to_raw_data, block});
         }},
        {Why::section_flags, "a shared section", of_section(".data", 36, 4, SECTION_WRITABLE | 0x10000000)},
        {Why::section_flags, "an executable section", of_section(".data", 36, 4, SECTION_WRITABLE | 0x20000000)},
    };
    CHECK(plain.look().found.at(0).why == Why::nothing);
    for (const Row& row : rows) {
        INFO(row.what);
        Case it = plain;
        row.change(it);
        const Survey seen = it.look();
        REQUIRE(seen.found.size() == 1);
        CHECK(to_string(seen.found[0].why) == to_string(row.why));
        CHECK(seen.split.pages.empty());
        CHECK(seen.bytes_left() == 2 * PAGE + 800);
        CHECK(seen.why_left() == row.why);
    }
}

TEST_CASE("split: a relocation that touches a run by its last byte is enough, and one that ends before it is not") {
    const Case plain(dll_with_data(some_data()));
    const std::uint32_t run = named(plain.image, ".data").virtual_address + PAGE;
    for (const auto& [address, touched] :
         {std::pair{run - 8, false}, {run - 7, true}, {run + 2 * PAGE + 799, true}, {run + 2 * PAGE + 800, false}}) {
        INFO(address - run);
        Case it = plain;
        Bytes block(12);
        store_le(block, 0, 4, address / PAGE * PAGE);
        store_le(block, 4, 4, 12);
        store_le(block, 8, 2, 10U << 12 | address % PAGE);
        it.file.parts.push_back({named(it.image, ".reloc").pointer_to_raw_data, block});
        CHECK((it.look().found.at(0).why == WhyNotSplit::relocated) == touched);
    }
}

TEST_CASE("split: an export may lie in a run where a fat binary begins, and nowhere else") {
    const Case plain(dll_with_data(some_data()));
    const Section& rdata = named(plain.image, ".rdata");
    const std::uint32_t run = named(plain.image, ".data").virtual_address + PAGE;
    for (const auto& [address, taken] : {std::pair{run, false}, {run + 16, true}, {run - 1, false}}) {
        INFO(address - run);
        Case it = plain;
        Bytes exported(4);  // in place of the first function
        store_le(exported, 0, 4, address);
        it.file.parts.push_back({rdata.pointer_to_raw_data + 40U, exported});
        CHECK((it.look().found.at(0).why == WhyNotSplit::taken) == taken);
    }
}

TEST_CASE("split: pages that no split could have are refused") {
    const Case it(dll_with_data(some_data()));
    const std::uint32_t data = named(it.image, ".data").virtual_address;
    const auto refused = [&](const Split& split) {
        try {
            static_cast<void>(split_headers(it.headers, it.image, split));
            return false;
        } catch (const Error& error) {
            return error.code() == ErrorCode::malformed;
        }
    };
    CHECK_FALSE(refused({{{data, PAGE}, {data + 2 * PAGE, PAGE}}, false}));
    CHECK(refused({{{data + 1, PAGE}}, false}));
    CHECK(refused({{{data, PAGE - 1}}, false}));
    CHECK(refused({{{data, 0}}, false}));
    CHECK(refused({{{data + PAGE, PAGE}, {data, PAGE}}, false}));
    CHECK(refused({{{data, PAGE}, {data + PAGE, PAGE}}, false}));  // nothing would stand between them
    CHECK(refused({{{data, 8 * PAGE}}, false}));
    CHECK(refused({{{0x1000, PAGE}}, false}));           // .text
    CHECK(refused({{{data + 4 * PAGE, PAGE}}, false}));  // the last page
    CHECK(refused({{{data, PAGE}}, true}));              // they are there already
}

TEST_CASE("split: a .fixnv that does not join is nobody's split") {
    const Case it(dll_with_data(some_data()));
    const Bytes after = split_headers(it.headers, it.image, it.look().split);
    const PeImage image = read_pe(after, it.file.size);
    REQUIRE(joined_headers(after, image));
    CHECK_FALSE(joined_headers(it.headers, it.image));
    struct Row {
        const char* what;
        std::size_t section;
        std::size_t field;
        std::uint32_t value;
    };
    const Row rows[] = {
        {"a piece that is writable", 3, offset::Characteristics, SECTION_WRITABLE},
        {"a piece that leaves a hole", 3, offset::VirtualSize, PAGE},
        {"a piece whose data is elsewhere", 3, offset::PointerToRawData, 0x400},
        {"an owner that is read-only", 4, offset::Characteristics, SECTION_READ_ONLY},
        {"an owner of another kind", 4, offset::Characteristics, SECTION_WRITABLE | IMAGE_SCN_MEM_SHARED},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        Bytes changed = after;
        store_le(changed, image.layout.section_header(row.section) + row.field, 4, row.value);
        CHECK_FALSE(joined_headers(changed, read_pe(changed, it.file.size)));
    }
}

TEST_CASE("split/property: joined again all is as before, and only pages of GPU code alone become read-only") {
    constexpr std::uint64_t seeds = FIXNVPE_LONG_TESTS ? 20000 : 300;
    std::size_t splits = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        INFO("seed " << seed);
        Rng rng(seed);
        Bytes data;
        std::vector<bool> code;  // of each byte: it belongs to a run, or to the zeros inside of one
        for (std::uint64_t i = 1 + below(rng, 12); i > 0; --i) {
            if (chance(rng, 60)) {
                data.resize((data.size() + 15) / 16 * 16);
                code.resize(data.size(), chance(rng, 50));
                const Bytes binary = fat_binary(400 + 8 * below(rng, 3000), 1 + below(rng, 4));
                data.insert(data.end(), binary.begin(), binary.end());
                code.resize(data.size(), true);
            } else {
                const Bytes variables = random_bytes(rng, 1 + below(rng, 6000));
                data.insert(data.end(), variables.begin(), variables.end());
                code.resize(data.size(), false);
            }
        }
        PeSpec spec = dll_with_data(data, static_cast<std::uint32_t>(below(rng, 3) * below(rng, 9000)));
        spec.e_lfanew = static_cast<std::uint32_t>(64 + 8 * below(rng, 40));
        spec.file_alignment = static_cast<std::uint32_t>(512U << below(rng, 4));
        for (std::uint64_t i = below(rng, 6); i > 0; --i) {
            spec.sections.insert(spec.sections.begin(), {.name = "s" + std::to_string(i), .data = Bytes(8, 1)});
        }
        Case it(spec);
        const Section whole = named(it.image, ".data");
        const std::uint32_t relocation = static_cast<std::uint32_t>(below(rng, data.size()));
        Bytes block(12);
        store_le(block, 0, 4, (whole.virtual_address + relocation) / PAGE * PAGE);
        store_le(block, 4, 4, 12);
        store_le(block, 8, 2, 10U << 12 | relocation % PAGE);
        it.file.parts.push_back({named(it.image, ".reloc").pointer_to_raw_data, block});

        const Survey seen = it.look();
        if (seen.split.pages.empty()) {
            continue;
        }
        ++splits;
        const Bytes headers = split_headers(it.headers, it.image, seen.split);
        const PeImage after = read_pe(headers, it.file.size);
        const auto joined = joined_headers(headers, after);
        REQUIRE(joined);
        CHECK(*joined == (seen.split.moves_nt_headers ? *moved_headers(it.headers, it.image) : it.headers));
        CHECK(after.layout.end() <= load_le<std::uint32_t>(headers, after.layout.optional_header + 60));

        const auto section_at = [](const PeImage& image, std::uint32_t address) -> const Section& {
            return *std::find_if(image.sections.begin(), image.sections.end(), [&](const Section& s) {
                return address >= s.virtual_address &&
                       address < s.virtual_address + (s.virtual_size + 4095) / 4096 * 4096;
            });
        };
        for (const Section& section : it.image.sections) {
            for (std::uint32_t into = 0; into < section.virtual_size; into += PAGE) {
                const std::uint32_t page = section.virtual_address + into;
                const Section& now = section_at(after, page);
                const auto data_of = [&](const Section& s) {  // where its first byte comes from
                    const std::uint32_t from = page - s.virtual_address;
                    return from < s.size_of_raw_data ? s.pointer_to_raw_data + from : 0;
                };
                REQUIRE(data_of(now) == data_of(section));
                if (now.characteristics == section.characteristics) {
                    continue;
                }
                REQUIRE(section.name == ".data");
                REQUIRE(now.characteristics == SECTION_READ_ONLY);
                for (std::uint32_t i = into; i < into + PAGE; ++i) {
                    REQUIRE((i < code.size() && (code[i] || data[i] == 0)));
                    REQUIRE((i < relocation || i >= relocation + 8));
                }
            }
        }
    }
    CHECK(splits > seeds / 4);
}

}  // namespace fixnvpe::test
