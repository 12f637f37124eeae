// The same build or another: by headers and CheckSum, as a backup is judged.

#include "fixnvpe/patch/build.hpp"

#include <string>
#include <vector>

#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/dll_files.hpp"
#include "support/fat_binaries.hpp"
#include "support/headers.hpp"

namespace fixnvpe::test {
namespace {

/// A file's headers, which own their bytes.
struct File {
    std::vector<std::uint8_t> bytes;
    std::uint64_t size = 0;
    PeImage image;

    File(std::vector<std::uint8_t> header_bytes, std::uint64_t file_size)
        : bytes(std::move(header_bytes)), size(file_size), image(read_pe(bytes, size)) {}
    explicit File(const Headers& headers) : File(headers.bytes, headers.file_size) {}

    [[nodiscard]] FileHeaders headers() const { return {bytes, size, image}; }
    [[nodiscard]] File patched(AslrPolicy policy) const {
        std::vector<std::uint8_t> result = bytes;
        apply_edits(make_plan(image, size, policy).edits, result);
        return {result, size};
    }
    [[nodiscard]] File with_check_sum(std::uint32_t value) const {
        std::vector<std::uint8_t> result = bytes;
        store_le(result, image.layout.check_sum(), 4, value);
        return {result, size};
    }
    [[nodiscard]] File with(std::size_t offset, std::size_t width, std::uint64_t value) const {
        std::vector<std::uint8_t> result = bytes;
        store_le(result, offset, width, value);
        return {result, size};
    }
};

Relation relate(const File& dll, const File& backup) {
    return fixnvpe::relate(dll.headers(), backup.headers());
}

std::string said(const Relation& r) {
    const std::string build = r.build == Build::same ? "same" : r.build == Build::other ? "other" : "signed-since";
    return build + (r.proven ? " proven" : "") + (r.has_more_bits ? " more" : "") + (r.lacks_bits ? " lacks" : "") +
           (r.shown_to_be_other ? " shown" : "");
}

const AslrPolicy KEEP = AslrPolicy::keep;
const AslrPolicy AUTO = AslrPolicy::automatic;

}  // namespace

TEST_CASE("build: an original, a copy and a backup that was patched itself, with a CheckSum that proves it") {
    const File original(fixture("x64-writable.dll"));
    REQUIRE(original.image.check_sum != 0);
    const File kept = original.patched(KEEP);
    const File patched = original.patched(AUTO);
    CHECK(said(relate(patched, original)) == "same proven more");
    CHECK(said(relate(kept, original)) == "same proven more");
    CHECK(said(relate(patched, kept)) == "same proven more");
    CHECK(said(relate(patched, patched)) == "same proven");
    CHECK(said(relate(original, original)) == "same proven");
    CHECK(said(relate(original, patched)) == "same proven lacks");
    CHECK(said(relate(kept, patched)) == "same proven lacks");
    CHECK(relate(patched, original).bits == 3);
    CHECK(relate(patched, kept).bits == 2);
    CHECK(relate(patched, patched).bits == 1);  // it is not split
}

TEST_CASE("build: CheckSum proves nothing where it is unset, or was left stale") {
    const File original = File(fixture("x64-writable.dll")).with_check_sum(0);
    CHECK(said(relate(original.patched(AUTO), original)) == "same more");
    CHECK(said(relate(original, original)) == "same");
    // As fixNvPe.py leaves it.
    const File set(fixture("x64-writable.dll"));
    const File stale = set.patched(AUTO).with_check_sum(set.image.check_sum);
    CHECK(said(relate(stale, set)) == "same more");
    CHECK(said(relate(set, stale)) == "same lacks");
}

TEST_CASE("build: any other CheckSum is one of another build, whose body differs") {
    const File a(fixture("x64-writable.dll"));
    const File patched = a.patched(AUTO);
    for (const std::uint32_t check_sum : {a.image.check_sum + 1, patched.image.check_sum + 1, 0U}) {
        INFO(check_sum);
        CHECK(said(relate(patched.with_check_sum(check_sum), a)) == "other");
        CHECK(said(relate(a.with_check_sum(check_sum), a)) == "other");
        CHECK(said(relate(a, a.with_check_sum(check_sum))) == "other");
    }
}

TEST_CASE("build: another size, or any other byte in the headers, makes two builds") {
    const File a(fixture("x64-writable.dll"));
    CHECK(said(fixnvpe::relate({a.bytes, a.size + 1, a.image}, a.headers())) == "other");
    for (std::size_t i = 0x40; i < a.image.layout.end(); ++i) {
        std::vector<std::uint8_t> bytes = a.bytes;
        bytes[i] ^= 0x04;  // no bit that a patch clears
        try {
            const File b(bytes, a.size);
            INFO("byte " << i);
            CHECK(relate(b, a).build == Build::other);
        } catch (const Error&) {
            // no PE file any more
        }
    }
}

TEST_CASE("build: Machine and TimeDateStamp show another build, unless a TimeDateStamp is zero") {
    const File a(fixture("x64-writable.dll"));
    const std::size_t machine = a.image.layout.nt_headers + offset::Machine;
    const std::size_t stamp = a.image.layout.nt_headers + offset::TimeDateStamp;
    const File other_time = a.with(stamp, 4, a.image.time_date_stamp + 1);
    CHECK(said(relate(a, a.with(machine, 2, 0xAA64))) == "other shown");
    CHECK(said(relate(a.with(stamp, 4, 7), a.with(stamp, 4, 8))) == "other shown");
    CHECK(said(relate(a.with(stamp, 4, 0), a.with(stamp, 4, 8))) == "other");
    CHECK(said(relate(a.with(stamp, 4, 8), a.with(stamp, 4, 0))) == "other");
}

TEST_CASE("build: a certificate table appended since is the same build, and nothing else is") {
    const File original(fixture("x64-writable.dll"));
    const std::size_t entry = original.image.layout.data_directory(IMAGE_DIRECTORY_ENTRY_SECURITY);
    const std::uint64_t padded = (original.size + 7) / 8 * 8;
    const auto signed_file = [&](std::uint64_t at, std::uint64_t size, std::uint64_t end) {
        std::vector<std::uint8_t> bytes = original.patched(AUTO).bytes;
        store_le(bytes, entry, 4, at);
        store_le(bytes, entry + 4, 4, size);
        store_le(bytes, original.image.layout.check_sum(), 4, 12345);
        return File(bytes, end);
    };
    CHECK(said(relate(signed_file(padded, 512, padded + 512), original)) == "signed-since more");
    CHECK(said(relate(signed_file(padded, 512, padded + 520), original)) == "other");      // something behind it
    CHECK(said(relate(signed_file(padded + 8, 512, padded + 520), original)) == "other");  // something before it
    CHECK(said(relate(signed_file(padded - 512, 512, padded), original)) == "other");
    CHECK(said(relate(original, signed_file(padded, 512, padded + 512))) == "other");  // the backup was signed
}

TEST_CASE("build: headers are recognised in a file that was cut short, too, as far as it goes") {
    const std::string whole = pe_file("x64-writable.dll");
    const std::string patched_file = patched(whole);
    const auto same_headers = [&](const std::string& dll, const std::string& backup) {
        return relate(File(header_bytes(dll), dll.size()), File(header_bytes(backup), backup.size())).same_headers;
    };
    CHECK(same_headers(whole.substr(0, 4200), whole));
    CHECK(same_headers(patched_file.substr(0, 700), whole));
    std::string other = whole;
    other[0x88] = 'x';  // TimeDateStamp
    CHECK_FALSE(same_headers(other.substr(0, 4200), whole));
}

TEST_CASE("build: splits are taken back before headers are compared, and CheckSum follows from all that differs") {
    for (const std::uint32_t e_lfanew : {0x80U, 0x120U}) {
        INFO(e_lfanew);
        std::vector<std::uint8_t> data(0x5000, 1);
        PeSpec spec = dll_with_data(data);
        spec.sections.insert(spec.sections.end() - 1,
                             {.name = ".nv_fatb", .characteristics = SECTION_WRITABLE, .data = {1}});
        spec.e_lfanew = e_lfanew;
        spec.check_sum = CheckSum::right;
        Headers headers = headers_of(spec);
        headers.bytes.resize(HEADER_BYTES_MIN);
        const File original(headers);
        const std::uint32_t begin = original.image.sections[2].virtual_address;
        const auto split_at = [&](const File& file, std::uint32_t address) {
            const Split split{{{address, 0x1000}}, e_lfanew > 0x80};
            const Plan plan = make_split_plan(file.headers(), file.image, file.headers(), split, AUTO);
            return File(plan.headers, file.size);
        };
        const File split = split_at(original, begin + 0x1000);
        const File elsewhere = split_at(original, begin + 0x2000);
        CHECK(said(relate(split, original)) == "same proven more");
        CHECK(said(relate(split, split)) == "same proven");
        CHECK(said(relate(original, split)) == "same proven lacks");
        CHECK(said(relate(split, elsewhere)) == "same proven lacks");
        CHECK(said(relate(split, original.patched(AUTO))) == "same proven more");
        CHECK(said(relate(original.patched(AUTO), split)) == "same proven lacks");
        CHECK(relate(split, original).bits > relate(split, split).bits);
        CHECK(relate(split, original).same_headers);

        const File other = original.with(original.image.layout.nt_headers + 8, 4, 0x12345678);  // TimeDateStamp
        CHECK(said(relate(split, other)) == "other shown");
        CHECK(said(relate(split, original.with_check_sum(original.image.check_sum + 1))) == "other");
        CHECK(said(relate(split.with_check_sum(0), original.with_check_sum(0))) == "same more");
        // Headers that stand elsewhere without a split are another build's.
        PeSpec moved = spec;
        moved.e_lfanew = 0x100;
        Headers moved_headers = headers_of(moved);
        moved_headers.bytes.resize(HEADER_BYTES_MIN);
        CHECK(relate(original, File(moved_headers)).build == Build::other);
        // The plan is the same whether it is made at once or over what is there, and ends there.
        const Plan again = make_split_plan(original.headers(), split.image, split.headers(),
                                           split_between(original.image, split.image), AUTO);
        CHECK(again.empty());
        const Plan without =
            make_split_plan(split.headers(), split.image, split.headers(), {{{begin + 0x1000, 0x1000}}, false}, AUTO);
        CHECK(without.empty());
    }
}

}  // namespace fixnvpe::test
