#include "fixnvpe/pe/checksum.hpp"

#include <algorithm>

#include "fixnvpe/patch/plan.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/pe_builder.hpp"
#include "support/print.hpp"

namespace fixnvpe::test {
namespace {

Edit edit(std::uint32_t offset, std::uint32_t width, std::uint32_t before, std::uint32_t after) {
    return {width == 2 ? Field::dll_characteristics : Field::section_characteristics, offset, before, after};
}

/// A file of words that has no headers but e_lfanew 0: compute_check_sum leaves bytes 88 to 91 out.
std::vector<std::uint8_t> words(std::size_t size) {
    return std::vector<std::uint8_t>(size, 0);
}

}  // namespace

TEST_CASE("checksum: zero is unset, and what no sum of words can give is impossible") {
    constexpr std::uint64_t size = 1'000'000;
    CHECK(check_sum_state(0, size) == CheckSumState::unset);
    CHECK(check_sum_state(size, size) == CheckSumState::impossible);
    CHECK(check_sum_state(size + 1, size) == CheckSumState::plausible);
    CHECK(check_sum_state(size + 0xFFFF, size) == CheckSumState::plausible);
    CHECK(check_sum_state(size + 0x10000, size) == CheckSumState::impossible);
    CHECK(check_sum_state(size - 1, size) == CheckSumState::impossible);
    CHECK(check_sum_state(1, size) == CheckSumState::impossible);
    CHECK(check_sum_state(0xFFFFFFFF, size) == CheckSumState::impossible);
}

TEST_CASE("checksum: in a file of 4 GiB and more the sum wraps and stays plausible") {
    constexpr std::uint64_t size = 0x1'0000'1000;
    CHECK(check_sum_state(0x1001, size) == CheckSumState::plausible);
    CHECK(check_sum_state(0x1000 + 0xFFFF, size) == CheckSumState::plausible);
    CHECK(check_sum_state(0x1000 + 0x10000, size) == CheckSumState::impossible);
    CHECK(check_sum_state(0x1000, size) == CheckSumState::impossible);
    CHECK(updated_check_sum(0x1001, size, {edit(512, 4, 0x00000000, 0x00000001)}) == 0x1002);
    // The size's low 32 bits are just under the wrap, and the sum passes it.
    CHECK(check_sum_state(0x0000FFFE, 0xFFFFFFFF) == CheckSumState::plausible);
    CHECK(updated_check_sum(0x00000001, 0xFFFFFFFF, {edit(512, 4, 0x00000000, 0x00000001)}) == 0x00000002);
}

TEST_CASE("checksum: every shape's is what its file says: right ones are plausible, zero is unset") {
    for (const Headers& shape : shapes()) {
        INFO(shape.name);
        const PeImage image = read_pe_raw(shape.bytes, shape.file_size);
        CHECK(check_sum_state(image.check_sum, shape.file_size) ==
              (image.check_sum == 0 ? CheckSumState::unset : CheckSumState::plausible));
    }
}

TEST_CASE("checksum: of a whole file, in pieces of any length") {
    for (const std::size_t size : {std::size_t{1'024}, std::size_t{5'001}}) {
        std::vector<std::uint8_t> bytes = words(size);
        CheckSummer zeros;
        zeros.add(bytes);
        CHECK(zeros.check_sum() == size);
        for (std::size_t i = 128; i < size; ++i) {
            bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
        }
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4'096}}) {
            CheckSummer summer;
            for (std::size_t at = 0; at < size; at += piece) {
                summer.add(ByteView(bytes).subspan(at, std::min(piece, size - at)));
            }
            CHECK(summer.check_sum() == compute_check_sum(bytes));
        }
    }
}

TEST_CASE("checksum: no edit, no change") {
    CHECK(updated_check_sum(0x12345, 0x12000, {}) == 0x12345);
    CHECK(updated_check_sum(0x12345, 0x12000, {edit(512, 4, 7, 7)}) == 0x12345);
}

TEST_CASE("checksum: a sum that comes to 0xFFFF is 0xFFFF and not zero") {
    std::vector<std::uint8_t> file = words(512);
    store_le(file, 200, 4, 0x00010001);
    const std::uint32_t before = compute_check_sum(file);
    REQUIRE(before - 512 == 2);
    for (const std::uint32_t after : {0xFFFF0000U, 0x0000FFFFU, 0xFFFFFFFFU, 0x8000'7FFFU, 0xFFFE'0001U, 0x00000001U}) {
        store_le(file, 200, 4, after);
        INFO("the file's only words become " << std::hex << after);
        CHECK(updated_check_sum(before, 512, {edit(200, 4, 0x00010001, after)}) == compute_check_sum(file));
    }
    // And from 0xFFFF on to any other.
    store_le(file, 200, 4, 0xFFFFFFFF);
    const std::uint32_t full = compute_check_sum(file);
    REQUIRE(full - 512 == 0xFFFF);
    for (const std::uint32_t after : {0x00000001U, 0x7FFFFFFFU, 0xFFFF0000U, 0x12345678U}) {
        store_le(file, 200, 4, after);
        CHECK(updated_check_sum(full, 512, {edit(200, 4, 0xFFFFFFFF, after)}) == compute_check_sum(file));
    }
}

TEST_CASE("checksum: any edits of any bytes, by the full algorithm") {
    Rng rng(42);
    for (int round = 0; round < 5000; ++round) {
        const std::size_t size = 200 + below(rng, 900);  // odd ones too
        std::vector<std::uint8_t> file = random_bytes(rng, size);
        store_le(file, offset::e_lfanew, 4, 64);  // the CheckSum is at 64 + 24 + 64
        if (chance(rng, 20)) {
            std::fill(file.begin() + 64, file.end(), static_cast<std::uint8_t>(chance(rng, 50) ? 0xFF : 0));
        }
        const std::uint32_t before = compute_check_sum(file);
        std::vector<Edit> edits;
        for (std::size_t at = 156; at + 4 < size && edits.size() < 6; at += 4 + below(rng, 60)) {
            const auto width = static_cast<std::uint32_t>(chance(rng, 50) ? 2 : 4);
            const auto old = width == 2 ? load_le<std::uint16_t>(file, at) : load_le<std::uint32_t>(file, at);
            auto after = static_cast<std::uint32_t>(chance(rng, 20) ? ~old : rng());
            after = width == 2 ? after & 0xFFFF : after;
            edits.push_back(edit(static_cast<std::uint32_t>(at), width, old, after));
            store_le(file, at, width, after);
        }
        INFO("round " << round << ", " << size << " bytes, " << edits.size() << " edits");
        REQUIRE(updated_check_sum(before, size, edits) == compute_check_sum(file));
    }
}

TEST_CASE("checksum: after a plan on random PE files a right one is right, and a wrong one as wrong as before") {
    int plans = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        PeSpec spec = random_pe(seed);
        spec.check_sum = seed % 4 == 0 ? CheckSum::wrong : CheckSum::right;
        std::vector<std::uint8_t> file = build(spec).bytes();
        const PeImage image = read_pe_raw(file, file.size());
        const Plan plan = make_plan(image, file.size(), AslrPolicy::clear);
        const std::uint32_t error_before = image.check_sum - compute_check_sum(file);
        apply_edits(plan.edits, file);
        const std::uint32_t stored = load_le<std::uint32_t>(file, image.layout.check_sum());
        INFO("random_pe(" << seed << "), " << file.size() << " bytes, " << plan.edits.size() << " edits");
        // The sum is modulo 0xFFFF: that is how far off it may be counted.
        CHECK((stored - compute_check_sum(file)) % 0xFFFF == error_before % 0xFFFF);
        if (spec.check_sum == CheckSum::right) {
            CHECK(stored == compute_check_sum(file));
        }
        plans += plan.edits.empty() ? 0 : 1;
    }
    CHECK(plans > 1000);
}

}  // namespace fixnvpe::test
