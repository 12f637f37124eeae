// One field of a good file is damaged, and the outcome is the one named here: an error with its code, or a status.
// Every row runs through both readers.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "fixnvpe/patch/status.hpp"
#include "fixnvpe/pe/headers.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/ui/words.hpp"
#include "support/catch.hpp"
#include "support/decided.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"

namespace fixnvpe::test {
namespace {

// Where things lie in the file that is damaged: x64, e_lfanew 128, six sections, 4,608 bytes.
constexpr std::size_t NT = 128;
constexpr std::size_t OPTIONAL = NT + 24;
constexpr std::size_t TABLE = OPTIONAL + 240;
constexpr std::size_t TABLE_END = TABLE + std::size_t{6} * 40;
constexpr std::uint64_t FILE_SIZE = 4608;
constexpr std::uint64_t GIB = std::uint64_t{1} << 30;

constexpr std::size_t section_field(std::size_t index, std::size_t field) {
    return TABLE + 40 * index + field;
}
constexpr std::size_t TEXT = 0;
constexpr std::size_t FATBIN = 3;
constexpr std::size_t LAST = 5;

Headers good_file() {
    Headers headers = headers_of(cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE));
    headers.bytes.resize(HEADER_BYTES_MIN);
    return headers;
}

/// What happens to the file. Plain values, since ninety rows of anything else take minutes to compile.
struct Damage {
    struct Store {
        std::size_t offset = 0;
        std::size_t width = 0;
        std::uint64_t value = 0;
    };
    std::array<Store, 2> stores{};
    std::uint64_t file_size = FILE_SIZE;
    std::size_t moved_by = 0;

    void apply(Headers& headers) const {
        headers.bytes.insert(headers.bytes.begin() + NT, moved_by, 0);
        headers.file_size = file_size + moved_by;
        headers.bytes.resize(std::min<std::size_t>(headers.bytes.size(), file_size));
        for (const Store& store : stores) {
            store_le(headers.bytes, store.offset, store.width, store.value);
        }
    }
};

/// `width` bytes of the file become `value`.
constexpr Damage set(std::size_t offset, std::size_t width, std::uint64_t value) {
    return {.stores = {{{offset, width, value}}}};
}

constexpr Damage both(const Damage& first, const Damage& second) {
    return {.stores = {{first.stores[0], second.stores[0]}}};
}

/// The file ends after `size` bytes.
constexpr Damage cut(std::uint64_t size) {
    return {.file_size = size};
}

/// Everything from the PE signature on lies `by` bytes further behind.
constexpr Damage move_headers(std::size_t by) {
    return {.stores = {{{offset::e_lfanew, 4, NT + by}}}, .moved_by = by};
}

/// The same damage in a file of 2 GiB: only the window's limit stops what the file's end stopped before.
constexpr Damage in_large_file(Damage damage) {
    damage.file_size = 2 * GIB;
    return damage;
}

struct Expected {
    std::optional<ErrorCode> error;
    std::optional<Status> status;
    std::string_view message;  ///< part of the error's message or of the refusal's reason
};

constexpr Expected fails(ErrorCode code, std::string_view message) {
    return {code, {}, message};
}
constexpr Expected is_refused(std::string_view reason) {
    return {{}, Status::refused, reason};
}
constexpr Expected is(Status status) {
    return {{}, status, {}};
}

constexpr ErrorCode not_pe = ErrorCode::not_pe;
constexpr ErrorCode truncated = ErrorCode::truncated;
constexpr ErrorCode malformed = ErrorCode::malformed;

struct Corruption {
    std::string_view what;
    Damage damage;
    Expected expected;
};

constexpr Corruption CORRUPTIONS[] = {
    // The MS-DOS header
    {"no byte at all", cut(0), fails(not_pe, "too short for the MZ signature")},
    {"one byte", cut(1), fails(not_pe, "too short for the MZ signature")},
    {"MZ and nothing else", cut(2), fails(truncated, "the MS-DOS header ends at byte 64, but the file has only 2")},
    {"cut one byte before the MS-DOS header ends", cut(63), fails(truncated, "but the file has only 63 bytes")},
    {"cut behind the MS-DOS header", cut(64), fails(truncated, "the COFF file header ends at byte 152")},
    {"e_magic ZM", set(0, 2, 0x4D5A), fails(not_pe, "no MZ signature")},
    {"e_magic M and a NUL", set(1, 1, 0), fails(not_pe, "no MZ signature")},
    {"e_magic of an ELF file", set(0, 4, 0x464C457F), fails(not_pe, "no MZ signature")},

    // e_lfanew
    {"e_lfanew 0: the MS-DOS header itself", set(60, 4, 0), fails(not_pe, "no PE signature")},
    {"e_lfanew 60: itself", set(60, 4, 60), fails(not_pe, "no PE signature")},
    {"e_lfanew two bytes before the signature", set(60, 4, NT - 2), fails(not_pe, "no PE signature")},
    {"e_lfanew behind the signature", set(60, 4, NT + 4), fails(not_pe, "no PE signature")},
    {"e_lfanew of the last 24 bytes", set(60, 4, FILE_SIZE - 24), fails(not_pe, "no PE signature")},
    {"e_lfanew of the last 23 bytes", set(60, 4, FILE_SIZE - 23),
     fails(truncated, "the COFF file header ends at byte 4609, but the file has only 4608")},
    {"e_lfanew of the end of the file", set(60, 4, FILE_SIZE), fails(truncated, "the COFF file header")},
    {"e_lfanew 0x7FFFFFFF", set(60, 4, 0x7FFFFFFF), fails(truncated, "ends at byte 2147483671")},
    {"e_lfanew whose header's end wraps to 0 in 32 bits", set(60, 4, 0xFFFFFFE8),
     fails(truncated, "ends at byte 4294967296")},
    {"e_lfanew 0xFFFFFFFF", set(60, 4, 0xFFFFFFFF), fails(truncated, "ends at byte 4294967319")},
    {"e_lfanew whose header ends at the window's limit", in_large_file(set(60, 4, HEADER_BYTES_MAX - 24)),
     fails(not_pe, "no PE signature")},
    {"e_lfanew whose header ends one byte past the window's limit", in_large_file(set(60, 4, HEADER_BYTES_MAX - 23)),
     fails(malformed, "the COFF file header ends at byte 1048577, past the limit of 1048576 bytes")},
    {"e_lfanew 0x7FFFFFFF in a large file", in_large_file(set(60, 4, 0x7FFFFFE0)),
     fails(malformed, "past the limit of 1048576 bytes")},
    {"e_lfanew odd, with the headers where it says", move_headers(1),
     fails(malformed, "e_lfanew 129 is not a multiple of 4")},
    {"e_lfanew even but no multiple of 4", move_headers(2), fails(malformed, "e_lfanew 130 is not a multiple of 4")},
    {"e_lfanew another multiple of 4", move_headers(4), is(Status::unpatched)},

    // The COFF file header
    {"NE signature of a 16-bit DLL", set(NT, 2, 0x454E), fails(not_pe, "no PE signature")},
    {"PE signature without its last NUL", set(NT + 3, 1, 1), fails(not_pe, "no PE signature")},
    {"cut inside the COFF file header", cut(OPTIONAL - 1), fails(truncated, "the COFF file header ends at byte 152")},
    {"cut behind the COFF file header", cut(OPTIONAL), fails(truncated, "the optional header ends at byte 392")},
    {"Machine 0", set(NT + 4, 2, 0), is(Status::unpatched)},
    {"Machine 0xFFFF", set(NT + 4, 2, 0xFFFF), is(Status::unpatched)},
    {"NumberOfSections 0", set(NT + 6, 2, 0), is(Status::no_fatbin)},
    {"NumberOfSections without .nv_fatb", set(NT + 6, 2, FATBIN), is(Status::no_fatbin)},
    {"NumberOfSections up to .nv_fatb", set(NT + 6, 2, FATBIN + 1), is(Status::unpatched)},
    {"NumberOfSections one more, of zeros", set(NT + 6, 2, 7), is(Status::unpatched)},
    {"NumberOfSections one more than the file has bytes for", set(NT + 6, 2, 106),
     fails(truncated, "the section table ends at byte 4632, but the file has only 4608")},
    {"NumberOfSections 0xFFFF", set(NT + 6, 2, 0xFFFF), fails(truncated, "the section table ends at byte 2621792")},
    {"NumberOfSections up to the window's limit: code and data are read as sections",
     in_large_file(set(NT + 6, 2, 26204)), is_refused("a section's raw data ends at byte")},
    {"NumberOfSections one past the window's limit", in_large_file(set(NT + 6, 2, 26205)),
     fails(malformed, "the section table ends at byte 1048592, past the limit of 1048576 bytes")},
    {"NumberOfSections 0xFFFF in a large file", in_large_file(set(NT + 6, 2, 0xFFFF)),
     fails(malformed, "the section table ends at byte 2621792, past the limit")},
    {"PointerToSymbolTable past the end", set(NT + 12, 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"NumberOfSymbols 0xFFFFFFFF", set(NT + 16, 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"SizeOfOptionalHeader 0", set(NT + 20, 2, 0), fails(malformed, "SizeOfOptionalHeader 0 leaves no room for Magic")},
    {"SizeOfOptionalHeader 1", set(NT + 20, 2, 1), fails(malformed, "SizeOfOptionalHeader 1 leaves no room for Magic")},
    {"SizeOfOptionalHeader 2", set(NT + 20, 2, 2),
     fails(malformed, "SizeOfOptionalHeader 2 is less than the 112 bytes of PE32+")},
    {"SizeOfOptionalHeader one short of the fixed part", set(NT + 20, 2, 111),
     fails(malformed, "SizeOfOptionalHeader 111 is less than the 112 bytes of PE32+")},
    {"SizeOfOptionalHeader without room for directories", set(NT + 20, 2, 112),
     fails(malformed, "NumberOfRvaAndSizes 16 exceeds the 0 that SizeOfOptionalHeader has room for")},
    {"SizeOfOptionalHeader one byte short of the directories", set(NT + 20, 2, 239),
     fails(malformed, "NumberOfRvaAndSizes 16 exceeds the 15")},
    {"SizeOfOptionalHeader one byte more: all section headers are read askew", set(NT + 20, 2, 241),
     is(Status::no_fatbin)},
    {"SizeOfOptionalHeader 0xFFFF", set(NT + 20, 2, 0xFFFF),
     fails(truncated, "the optional header ends at byte 65687")},
    {"SizeOfOptionalHeader 0xFFFF in a large file", in_large_file(set(NT + 20, 2, 0xFFFF)), is(Status::no_fatbin)},

    // The optional header
    {"cut one byte before the optional header ends", cut(TABLE - 1),
     fails(truncated, "the optional header ends at byte 392, but the file has only 391")},
    {"Magic 0", set(OPTIONAL, 2, 0), fails(malformed, "Magic 0x0000 is neither PE32 (0x010b) nor PE32+ (0x020b)")},
    {"Magic of a ROM image", set(OPTIONAL, 2, 0x0107), fails(malformed, "Magic 0x0107 is neither")},
    {"Magic of PE32 in a PE32+ file", set(OPTIONAL, 2, 0x010B), is(Status::unpatched)},
    {"SectionAlignment 0", set(OPTIONAL + 32, 4, 0), is_refused("SectionAlignment 0 is under 4096")},
    {"SectionAlignment 512", set(OPTIONAL + 32, 4, 512), is_refused("SectionAlignment 512 is under 4096")},
    {"SectionAlignment 4095", set(OPTIONAL + 32, 4, 4095), is_refused("SectionAlignment 4095 is under 4096")},
    {"SectionAlignment 64 KiB", set(OPTIONAL + 32, 4, 65536), is(Status::unpatched)},
    {"FileAlignment 0", set(OPTIONAL + 36, 4, 0), is(Status::unpatched)},
    {"FileAlignment 0xFFFFFFFF", set(OPTIONAL + 36, 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"CheckSum impossible", set(OPTIONAL + 64, 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"DllCharacteristics 0: the write flag is still there", set(OPTIONAL + 70, 2, 0), is(Status::unpatched)},
    {"FORCE_INTEGRITY", set(OPTIONAL + 70, 2, 0x01E0), is_refused("FORCE_INTEGRITY is set")},
    {"DllCharacteristics 0xFFFF", set(OPTIONAL + 70, 2, 0xFFFF), is_refused("FORCE_INTEGRITY is set")},
    {"NumberOfRvaAndSizes 0", set(OPTIONAL + 108, 4, 0), is(Status::unpatched)},
    {"NumberOfRvaAndSizes 17", set(OPTIONAL + 108, 4, 17), fails(malformed, "NumberOfRvaAndSizes 17 exceeds the 16")},
    {"NumberOfRvaAndSizes whose size wraps to 0 in 32 bits", set(OPTIONAL + 108, 4, 0x20000000),
     fails(malformed, "NumberOfRvaAndSizes 536870912 exceeds the 16")},
    {"NumberOfRvaAndSizes 0xFFFFFFFF", set(OPTIONAL + 108, 4, 0xFFFFFFFF),
     fails(malformed, "NumberOfRvaAndSizes 4294967295 exceeds the 16")},
    {"the import directory points past the end", set(OPTIONAL + 112 + 8, 8, 0xFFFFFFFFFFFFFFFF), is(Status::unpatched)},

    // The section table
    {"cut behind the optional header", cut(TABLE),
     fails(truncated, "the section table ends at byte 632, but the file has only 392")},
    {"cut one byte before the section table ends", cut(TABLE_END - 1),
     fails(truncated, "the section table ends at byte 632, but the file has only 631")},
    {"cut behind the section table", cut(TABLE_END),
     is_refused("a section's raw data ends at byte 1536, but the file has only 632")},
    {"cut by one byte", cut(FILE_SIZE - 1),
     is_refused("a section's raw data ends at byte 4608, but the file has only 4607: a broken download")},
    {"Name .nv_fat and a NUL", set(section_field(FATBIN, 7), 1, 0), is(Status::no_fatbin)},
    {"Name that begins with a NUL", set(section_field(FATBIN, 0), 1, 0), is(Status::no_fatbin)},
    {"Name in capitals", set(section_field(FATBIN, 1), 1, 'N'), is(Status::no_fatbin)},
    {"Name of bytes that are no text", set(section_field(FATBIN, 0), 8, 0xFFFEFDFCFBFAF9F8), is(Status::no_fatbin)},
    {"VirtualSize 0", set(section_field(FATBIN, 8), 4, 0), is(Status::unpatched)},
    {"VirtualSize 0xFFFFFFFF", set(section_field(FATBIN, 8), 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"VirtualAddress 0xFFFFFFFF", set(section_field(FATBIN, 12), 4, 0xFFFFFFFF), is(Status::unpatched)},
    {"SizeOfRawData 0", set(section_field(FATBIN, 16), 4, 0), is(Status::unpatched)},
    {"SizeOfRawData to the very end", set(section_field(LAST, 16), 4, 512), is(Status::unpatched)},
    {"SizeOfRawData one byte past the end", set(section_field(LAST, 16), 4, 513),
     is_refused("ends at byte 4609, but the file has only 4608")},
    {"SizeOfRawData 0xFFFFFFFF", set(section_field(TEXT, 16), 4, 0xFFFFFFFF),
     is_refused("a section's raw data ends at byte 4294968319")},
    {"PointerToRawData past the end", set(section_field(TEXT, 20), 4, FILE_SIZE),
     is_refused("a section's raw data ends at byte 5120")},
    {"PointerToRawData whose section's end wraps in 32 bits", set(section_field(TEXT, 20), 4, 0xFFFFFFFF),
     is_refused("a section's raw data ends at byte 4294967807")},
    {"PointerToRawData past the end, of no data",
     both(set(section_field(TEXT, 16), 4, 0), set(section_field(TEXT, 20), 4, 0xFFFFFFFF)), is(Status::unpatched)},
    {"Characteristics without MEM_WRITE", set(section_field(FATBIN, 36), 4, SECTION_READ_ONLY), is(Status::not_needed)},
    {"Characteristics 0", set(section_field(FATBIN, 36), 4, 0), is(Status::not_needed)},
    {"Characteristics 0xFFFFFFFF", set(section_field(FATBIN, 36), 4, 0xFFFFFFFF), is(Status::unpatched)},
};

void check(const Reading& read, const Headers& headers, const Expected& expected) {
    if (expected.error) {
        INFO("expected: error " << to_string(*expected.error) << ": … " << expected.message << " …");
        INFO("got: " << describe(read));
        REQUIRE(read.error.has_value());
        CHECK(*read.error == *expected.error);
        CHECK_THAT(read.message, contains(std::string(expected.message)));
        return;
    }
    INFO("expected: " << to_string(*expected.status) << " " << expected.message);
    INFO("got: " << describe(read));
    REQUIRE(read.image.has_value());
    const Decided file = decided(*read.image, headers.file_size, AslrPolicy::automatic);
    CHECK(file.status == *expected.status);
    CHECK_THAT(words(file.refusal), contains(std::string(expected.message)));
}

}  // namespace

TEST_CASE("corruptions: the undamaged file is unpatched") {
    const Headers headers = good_file();
    REQUIRE(headers.file_size == FILE_SIZE);
    const Reading read = reading(read_pe_raw, headers);
    REQUIRE(read.image.has_value());
    REQUIRE(read.image->layout.section_table == TABLE);
    REQUIRE(read.image->layout.end() == TABLE_END);
    REQUIRE(read.image->sections[FATBIN].is_fatbin());
    check(read, headers, is(Status::unpatched));
}

TEST_CASE("corruptions: each single field damaged gives its named error, refusal or status") {
    STATIC_REQUIRE(std::size(CORRUPTIONS) >= 40);
    for (const Corruption& corruption : CORRUPTIONS) {
        Headers headers = good_file();
        corruption.damage.apply(headers);
        INFO("damage: " << corruption.what);
        check(reading(read_pe_raw, headers), headers, corruption.expected);
        check(reading(read_pe, headers), headers, corruption.expected);
    }
}

TEST_CASE("corruptions: a file cut anywhere in its headers is an error and never a crash") {
    const Headers good = good_file();
    for (std::uint64_t size = 0; size < TABLE_END; ++size) {
        Headers headers = good;
        cut(size).apply(headers);
        INFO("cut to " << size << " bytes");
        const Reading read = reading(read_pe, headers);
        REQUIRE(read.error.has_value());
        CHECK(*read.error == (size < 2 ? ErrorCode::not_pe : ErrorCode::truncated));
    }
}

TEST_CASE("corruptions: a window shorter than the headers is our bug, not the file's") {
    const Headers headers = good_file();
    const ByteView window(headers.bytes);
    for (const std::size_t size : {std::size_t{2}, std::size_t{64}, OPTIONAL, TABLE, TABLE_END - 1}) {
        INFO("a window of " << size << " bytes");
        try {
            (void)read_pe(window.first(size), headers.file_size);
            FAIL("no error");
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::internal);
        }
    }
}

}  // namespace fixnvpe::test
