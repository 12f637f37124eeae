// What is written, where, and that nothing else ever is.

#include "fixnvpe/patch/plan.hpp"

#include <algorithm>

#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

constexpr AslrPolicy AUTO = AslrPolicy::automatic;
constexpr AslrPolicy KEEP = AslrPolicy::keep;
constexpr AslrPolicy CLEAR = AslrPolicy::clear;
constexpr AslrPolicy POLICIES[] = {AUTO, KEEP, CLEAR};

// In the fixtures, from the specification: e_lfanew 128.
constexpr std::uint32_t CHECK_SUM_AT = 128 + 24 + 64;
constexpr std::uint32_t DLL_CHARACTERISTICS_AT = 128 + 24 + 70;
constexpr std::uint32_t characteristics_at(std::uint32_t section, std::uint32_t optional_header_size = 240) {
    return 128 + 24 + optional_header_size + 40 * section + 36;
}

Plan plan_for(const Headers& headers, AslrPolicy policy) {
    return make_plan(read_pe(headers.window(), headers.file_size), headers.file_size, policy);
}

/// The offsets of all bytes in which two files differ.
std::vector<std::size_t> differences(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    REQUIRE(a.size() == b.size());
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) {
            offsets.push_back(i);
        }
    }
    return offsets;
}

/// All the files with which the promises below are tried.
std::vector<Headers> readable_files() {
    std::vector<Headers> files;
    for (Headers& headers : fixtures()) {
        if (reading(read_pe, headers).image) {
            files.push_back(std::move(headers));
        }
    }
    for (Headers& headers : shapes()) {
        files.push_back(std::move(headers));
    }
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        files.push_back(headers_of(random_pe(seed)));
        files.back().name = "random_pe(" + std::to_string(seed) + ")";
    }
    return files;
}

}  // namespace

TEST_CASE("plan: x64, writable, signed: DllCharacteristics, .nv_fatb and CheckSum") {
    const Headers headers = fixture("x64-signed.dll");
    const Plan plan = plan_for(headers, AUTO);
    std::vector<std::uint8_t> patched = headers.bytes;
    apply_edits(plan.edits, patched);
    CHECK(plan.check_sum == CheckSumState::plausible);
    CHECK(plan.edits ==
          std::vector<Edit>{
              {Field::check_sum, CHECK_SUM_AT, compute_check_sum(headers.bytes), compute_check_sum(patched)},
              {Field::dll_characteristics, DLL_CHARACTERISTICS_AT, 0x0160, 0x0120},
              {Field::section_characteristics, characteristics_at(3), 0xC0000040, 0x40000040},
          });
}

TEST_CASE("plan: x86 has the same fields at the offsets of PE32") {
    const Headers headers = fixture("x86-writable.dll");
    const Plan plan = plan_for(headers, AUTO);
    REQUIRE(plan.edits.size() == 3);
    CHECK(plan.edits[0].offset == CHECK_SUM_AT);
    CHECK(plan.edits[1] == Edit{Field::dll_characteristics, DLL_CHARACTERISTICS_AT, 0x0140, 0x0100});
    CHECK(plan.edits[2] == Edit{Field::section_characteristics, characteristics_at(3, 224), 0xC0000040, 0x40000040});
}

TEST_CASE("plan: arm64 as x64") {
    const Plan plan = plan_for(fixture("arm64-writable.dll"), AUTO);
    REQUIRE(plan.edits.size() == 3);
    CHECK(plan.edits[2].offset == characteristics_at(3));
}

TEST_CASE("plan: --aslr keep leaves DllCharacteristics alone") {
    const Plan plan = plan_for(fixture("x64-check-sum-zero.dll"), KEEP);
    CHECK(plan.edits ==
          std::vector<Edit>{{Field::section_characteristics, characteristics_at(3), 0xC0000040, 0x40000040}});
}

TEST_CASE("plan: --aslr clear clears DYNAMIC_BASE in read-only files too") {
    CHECK(plan_for(fixture("x64-read-only.dll"), AUTO).edits.empty());
    CHECK(plan_for(fixture("x64-read-only.dll"), KEEP).edits.empty());
    const Plan plan = plan_for(fixture("x64-read-only.dll"), CLEAR);
    REQUIRE(plan.edits.size() == 2);
    CHECK(plan.edits[0].field == Field::check_sum);
    CHECK(plan.edits[1] == Edit{Field::dll_characteristics, DLL_CHARACTERISTICS_AT, 0x0160, 0x0120});
}

TEST_CASE("plan: nothing to do in a patched file or one without .nv_fatb, whatever the policy") {
    for (const AslrPolicy policy : POLICIES) {
        for (const char* name : {"x64-patched.dll", "x64-no-fatbin.dll", "x64-look-alikes.dll", "x86-no-fatbin.dll"}) {
            INFO(name << ", policy " << describe(policy));
            CHECK(plan_for(fixture(name), policy).edits.empty());
        }
    }
}

TEST_CASE("plan: every .nv_fatb that is writable, and no other section") {
    const Plan two = plan_for(fixture("x64-two-fatbins.dll"), KEEP);
    REQUIRE(two.edits.size() == 3);
    CHECK(two.edits[1].offset == characteristics_at(3));
    CHECK(two.edits[2].offset == characteristics_at(5));

    const Plan one = plan_for(fixture("x64-two-fatbins-one-writable.dll"), KEEP);
    REQUIRE(one.edits.size() == 2);
    CHECK(one.edits[1].offset == characteristics_at(5));
}

TEST_CASE("plan: flags other than MEM_WRITE and DYNAMIC_BASE stay as they are") {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, 0xFFFFFFFF);
    spec.dll_characteristics = 0xFFFF;
    const Plan plan = plan_for(headers_of(spec), AUTO);
    REQUIRE(plan.edits.size() == 2);
    CHECK(plan.edits[0].after == 0xFFBF);
    CHECK(plan.edits[1].after == 0x7FFFFFFF);
}

TEST_CASE("plan: CheckSum zero stays zero, impossible stays as it is, wrong stays off by as much") {
    const Plan zero = plan_for(fixture("x64-check-sum-zero.dll"), AUTO);
    CHECK(zero.check_sum == CheckSumState::unset);
    CHECK(zero.edits.size() == 2);

    const Plan impossible = plan_for(fixture("x64-check-sum-impossible.dll"), AUTO);
    CHECK(impossible.check_sum == CheckSumState::impossible);
    CHECK(impossible.edits.size() == 2);

    Headers wrong = fixture("x64-check-sum-wrong.dll");
    const Plan plan = plan_for(wrong, AUTO);
    CHECK(plan.check_sum == CheckSumState::plausible);
    REQUIRE(plan.edits.size() == 3);
    apply_edits(plan.edits, wrong.bytes);
    CHECK(plan.edits[0].after == compute_check_sum(wrong.bytes) + 1);
}

TEST_CASE("plan: edits are sorted by offset, do not overlap, and each changes something") {
    for (const Headers& headers : readable_files()) {
        for (const AslrPolicy policy : POLICIES) {
            INFO(headers.name << ", policy " << describe(policy));
            std::uint32_t end = 0;
            for (const Edit& edit : plan_for(headers, policy).edits) {
                CHECK(edit.offset >= end);
                end = edit.offset + edit.width();
                CHECK(edit.before != edit.after);
            }
        }
    }
}

TEST_CASE("plan: `before` is what stands in the file, and editable_fields covers every edit") {
    for (const Headers& headers : readable_files()) {
        const std::vector<std::uint8_t> window = headers.window();
        const std::vector<Edit> fields = editable_fields(read_pe(window, headers.file_size));
        INFO(headers.name);
        std::vector<std::uint8_t> copy = window;
        apply_edits(fields, copy);
        CHECK(copy == window);
        CHECK(std::is_sorted(fields.begin(), fields.end(),
                             [](const Edit& a, const Edit& b) { return a.offset < b.offset; }));
        for (const AslrPolicy policy : POLICIES) {
            for (const Edit& edit : plan_for(headers, policy).edits) {
                INFO(describe(edit));
                CHECK(std::any_of(fields.begin(), fields.end(), [&](const Edit& field) {
                    return field.field == edit.field && field.offset == edit.offset && field.before == edit.before;
                }));
            }
        }
    }
}

TEST_CASE("plan: applied, there is nothing more to do; reverted, every byte is back") {
    for (const Headers& headers : readable_files()) {
        for (const AslrPolicy policy : POLICIES) {
            INFO(headers.name << ", policy " << describe(policy));
            Headers patched = headers;
            patched.bytes = headers.window();
            const std::vector<std::uint8_t> original = patched.bytes;
            const Plan plan = plan_for(headers, policy);
            apply_edits(plan.edits, patched.bytes);
            CHECK((patched.bytes == original) == plan.edits.empty());
            CHECK(plan_for(patched, policy).edits.empty());
            revert_edits(plan.edits, patched.bytes);
            CHECK(patched.bytes == original);
        }
    }
}

TEST_CASE("plan: no byte outside the planned fields changes, and none of .nvFatBi ever") {
    for (const Headers& headers : readable_files()) {
        for (const AslrPolicy policy : POLICIES) {
            INFO(headers.name << ", policy " << describe(policy));
            const std::vector<std::uint8_t> original = headers.window();
            const PeImage image = read_pe(original, headers.file_size);
            const Plan plan = make_plan(image, headers.file_size, policy);
            std::vector<std::uint8_t> patched = original;
            apply_edits(plan.edits, patched);
            for (const std::size_t offset : differences(original, patched)) {
                INFO("byte " << offset);
                CHECK(std::any_of(plan.edits.begin(), plan.edits.end(), [&](const Edit& edit) {
                    return offset >= edit.offset && offset < edit.offset + edit.width();
                }));
            }
            const PeImage after = read_pe(patched, headers.file_size);
            REQUIRE(after.sections.size() == image.sections.size());
            for (std::size_t i = 0; i < image.sections.size(); ++i) {
                if (!image.sections[i].is_fatbin()) {
                    CHECK(after.sections[i] == image.sections[i]);
                }
            }
        }
    }
}

TEST_CASE(
    "plan: over an earlier patch, what was done stays, what is asked now is judged by the original, and so is "
    "CheckSum") {
    // Each of these policies clears what the one before it clears, and more.
    const std::vector<AslrPolicy> by_strength{KEEP, AUTO, CLEAR};
    for (const Headers& headers : readable_files()) {
        const std::vector<std::uint8_t> original = headers.window();
        const PeImage image = read_pe(original, headers.file_size);
        for (std::size_t first = 0; first < by_strength.size(); ++first) {
            const std::vector<Edit> edits = make_plan(image, headers.file_size, by_strength[first]).edits;
            std::vector<std::uint8_t> begun = original;
            apply_edits(edits, begun);
            const PeImage begun_image = read_pe(begun, headers.file_size);
            // The earlier patch, whole and broken off behind or before any of its edits.
            std::vector<std::vector<std::uint8_t>> states{begun};
            for (const Edit& edit : edits) {
                states.push_back(original);
                apply_edits({edit}, states.back());
                states.push_back(begun);
                revert_edits({edit}, states.back());
            }
            for (std::size_t second = 0; second < by_strength.size(); ++second) {
                INFO(headers.name << ", " << describe(by_strength[first]) << ", then "
                                  << describe(by_strength[second]));
                std::vector<std::uint8_t> expected = original;
                const AslrPolicy stronger = by_strength[std::max(first, second)];
                apply_edits(make_plan(image, headers.file_size, stronger).edits, expected);
                for (const std::vector<std::uint8_t>& state : states) {
                    const PeImage present = read_pe(state, headers.file_size);
                    const Plan plan =
                        make_plan_over(image, begun_image, present, headers.file_size, by_strength[second]);
                    std::vector<std::uint8_t> result = state;
                    apply_edits(plan.edits, result);
                    CHECK((result == expected));
                    revert_edits(plan.edits, result);
                    CHECK((result == state));
                    CHECK(plan.edits.empty() == (state == expected));
                    CHECK(plan.check_sum == check_sum_state(image.check_sum, headers.file_size));
                }
            }
        }
    }
}

TEST_CASE("plan: over a file that was not patched it is the plan of the file itself") {
    for (const Headers& headers : readable_files()) {
        const PeImage image = read_pe(headers.window(), headers.file_size);
        for (const AslrPolicy policy : POLICIES) {
            INFO(headers.name << ", policy " << describe(policy));
            CHECK(make_plan_over(image, image, image, headers.file_size, policy).edits ==
                  make_plan(image, headers.file_size, policy).edits);
        }
    }
}

TEST_CASE("plan: a patched file costs what was promised") {
    for (const Headers& headers : readable_files()) {
        for (const AslrPolicy policy : POLICIES) {
            INFO(headers.name << ", policy " << describe(policy));
            std::vector<std::uint8_t> window = headers.window();
            const PeImage image = read_pe(window, headers.file_size);
            apply_edits(make_plan(image, headers.file_size, policy).edits, window);
            CHECK(commit_charge(read_pe(window, headers.file_size)).now == commit_charge(image).after);
        }
    }
}

TEST_CASE("plan: an edit outside the window is an error and writes nothing there") {
    std::vector<std::uint8_t> window(100, 0);
    const std::vector<Edit> outside{{Field::check_sum, 98, 0, 0xFFFFFFFF}};
    CHECK_THROWS_AS(apply_edits(outside, window), Error);
    CHECK_THROWS_AS(revert_edits(outside, window), Error);
    CHECK(window == std::vector<std::uint8_t>(100, 0));
}

TEST_CASE("plan: fields are named as in winnt.h") {
    CHECK(to_string(Field::dll_characteristics) == "DllCharacteristics");
    CHECK(to_string(Field::section_characteristics) == "Characteristics");
    CHECK(to_string(Field::check_sum) == "CheckSum");
}

}  // namespace fixnvpe::test
