// Each row of the table of states, each refusal, each warning, under each policy.

#include "fixnvpe/patch/status.hpp"

#include <algorithm>
#include <map>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/decided.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint16_t X64 = IMAGE_FILE_MACHINE_AMD64;
constexpr AslrPolicy AUTO = AslrPolicy::automatic;
constexpr AslrPolicy KEEP = AslrPolicy::keep;
constexpr AslrPolicy CLEAR = AslrPolicy::clear;

PeSpec dll(std::uint32_t fatbin, bool dynamic_base) {
    PeSpec spec = cuda_dll(X64, fatbin);
    if (!dynamic_base) {
        spec.dll_characteristics = IMAGE_DLLCHARACTERISTICS_NX_COMPAT;
    }
    return spec;
}

Decided decided(const Headers& headers, AslrPolicy policy, bool was_patched = false) {
    return test::decided(read_pe(headers.window(), headers.file_size), headers.file_size, policy, was_patched);
}

Decided decided(const PeSpec& spec, AslrPolicy policy = AUTO, bool was_patched = false) {
    return decided(headers_of(spec), policy, was_patched);
}

bool warns(const Decided& file, Warning warning) {
    return std::count(file.warnings.begin(), file.warnings.end(), warning) == 1;
}

}  // namespace

TEST_CASE("status: .nv_fatb and DYNAMIC_BASE, under each policy, with and without a backup") {
    struct Row {
        const char* what;
        std::uint32_t fatbin;
        bool dynamic_base;
        AslrPolicy policy;
        bool kept_backup;
        Status expected;
    };
    const Row rows[] = {
        {"as shipped by CUDA 10", SECTION_WRITABLE, true, AUTO, false, Status::unpatched},
        {"as shipped by CUDA 10", SECTION_WRITABLE, true, KEEP, false, Status::unpatched},
        {"as shipped by CUDA 10", SECTION_WRITABLE, true, CLEAR, false, Status::unpatched},
        {"as shipped by CUDA 10, beside a backup", SECTION_WRITABLE, true, AUTO, true, Status::unpatched},
        {"as shipped by CUDA 10, beside a backup", SECTION_WRITABLE, true, KEEP, true, Status::unpatched},
        {"as shipped by CUDA 10, beside a backup", SECTION_WRITABLE, true, CLEAR, true, Status::unpatched},
        {"ASLR already off", SECTION_WRITABLE, false, AUTO, false, Status::unpatched},
        {"ASLR already off", SECTION_WRITABLE, false, KEEP, false, Status::unpatched},
        {"ASLR already off", SECTION_WRITABLE, false, CLEAR, false, Status::unpatched},
        {"as shipped by CUDA 12", SECTION_READ_ONLY, true, AUTO, false, Status::not_needed},
        {"as shipped by CUDA 12", SECTION_READ_ONLY, true, KEEP, false, Status::not_needed},
        {"as shipped by CUDA 12", SECTION_READ_ONLY, true, CLEAR, false, Status::unpatched},
        {"patched with --aslr keep", SECTION_READ_ONLY, true, AUTO, true, Status::patched},
        {"patched with --aslr keep", SECTION_READ_ONLY, true, KEEP, true, Status::patched},
        {"patched with --aslr keep, judged by clear", SECTION_READ_ONLY, true, CLEAR, true, Status::unpatched},
        {"patched", SECTION_READ_ONLY, false, AUTO, true, Status::patched},
        {"patched", SECTION_READ_ONLY, false, KEEP, true, Status::patched},
        {"patched", SECTION_READ_ONLY, false, CLEAR, true, Status::patched},
        {"patched, the backup is gone", SECTION_READ_ONLY, false, AUTO, false, Status::patched},
        {"patched, the backup is gone", SECTION_READ_ONLY, false, KEEP, false, Status::patched},
        {"patched, the backup is gone", SECTION_READ_ONLY, false, CLEAR, false, Status::patched},
    };
    for (const Row& row : rows) {
        const Decided file = decided(dll(row.fatbin, row.dynamic_base), row.policy, row.kept_backup);
        INFO(row.what << ", policy " << describe(row.policy));
        CHECK(file.status == row.expected);
        CHECK(file.needs_patch == (row.expected == Status::unpatched));
        CHECK(file.refusal == Reason{});
        CHECK(file.warnings.empty());
    }
}

TEST_CASE("status: a file without .nv_fatb is no-fatbin whatever else it is") {
    for (const AslrPolicy policy : {AUTO, KEEP, CLEAR}) {
        for (const bool kept_backup : {false, true}) {
            for (const char* name :
                 {"x64-no-fatbin.dll", "x86-no-fatbin.dll", "arm64-no-fatbin.dll", "x64-look-alikes.dll"}) {
                const Decided file = decided(fixture(name), policy, kept_backup);
                INFO(name);
                CHECK(file.status == Status::no_fatbin);
                CHECK_FALSE(file.needs_patch);
                CHECK(file.refusal == Reason{});
                CHECK(file.warnings.empty());
            }
        }
    }
}

TEST_CASE("status: one writable fatbin section of two is enough") {
    CHECK(decided(fixture("x64-two-fatbins.dll"), AUTO).status == Status::unpatched);
    CHECK(decided(fixture("x64-two-fatbins-one-writable.dll"), AUTO).status == Status::unpatched);
    CHECK(decided(fixture("x64-relocatable.dll"), AUTO).status == Status::unpatched);
}

TEST_CASE("status: every fixture is what testdata/README.md says") {
    const std::map<std::string, Status> expected{
        {"arm64-no-fatbin.dll", Status::no_fatbin},
        {"arm64-read-only.dll", Status::not_needed},
        {"arm64-writable.dll", Status::unpatched},
        {"empty.dll", Status::not_pe},
        {"not-pe.dll", Status::not_pe},
        {"x64-check-sum-impossible.dll", Status::unpatched},
        {"x64-check-sum-wrong.dll", Status::unpatched},
        {"x64-check-sum-zero.dll", Status::unpatched},
        {"x64-force-integrity-read-only.dll", Status::refused},
        {"x64-force-integrity.dll", Status::refused},
        {"x64-guard-cf.dll", Status::unpatched},
        {"x64-look-alikes.dll", Status::no_fatbin},
        {"x64-no-fatbin.dll", Status::no_fatbin},
        {"x64-odd-size.dll", Status::unpatched},
        {"x64-patched.dll", Status::patched},
        {"x64-read-only.dll", Status::not_needed},
        {"x64-relocatable-read-only.dll", Status::not_needed},
        {"x64-relocatable.dll", Status::unpatched},
        {"x64-section-alignment-512.dll", Status::refused},
        {"x64-signed-read-only.dll", Status::not_needed},
        {"x64-signed.dll", Status::unpatched},
        {"x64-truncated-data.dll", Status::refused},
        {"x64-truncated-headers.dll", Status::error},
        {"x64-two-fatbins-one-writable.dll", Status::unpatched},
        {"x64-two-fatbins.dll", Status::unpatched},
        {"x64-variables.dll", Status::unpatched},
        {"x64-writable-no-aslr.dll", Status::unpatched},
        {"x64-writable.dll", Status::unpatched},
        {"x64-writable.node", Status::unpatched},
        {"x64-writable.pyd", Status::unpatched},
        {"x86-no-fatbin.dll", Status::no_fatbin},
        {"x86-read-only.dll", Status::not_needed},
        {"x86-signed.dll", Status::unpatched},
        {"x86-writable.dll", Status::unpatched},
    };
    for (const Headers& headers : fixtures()) {
        INFO(headers.name);
        REQUIRE(expected.count(headers.name) == 1);
        const Reading read = reading(read_pe, headers);
        Status status = Status::error;
        if (read.image) {
            status = decided(headers, AUTO).status;
        } else if (*read.error == ErrorCode::not_pe) {
            status = Status::not_pe;
        } else {
            CHECK(*read.error == ErrorCode::truncated);
        }
        CHECK(status == expected.at(headers.name));
    }
    CHECK(fixtures().size() == expected.size());
}

TEST_CASE("status: real CUDA DLLs are unpatched where .nv_fatb saves commit, and not-needed else") {
    for (const Shape& shape : read_shapes()) {
        INFO(shape.name);
        const Headers headers{shape.name, shape.file().first(HEADER_BYTES_MIN), shape.file_size};
        const Decided file = decided(headers, AUTO);
        const PeImage image = read_pe(headers.bytes, headers.file_size);
        if (!image.has_fatbin()) {
            CHECK(file.status == Status::no_fatbin);
        } else if (shape.commit_saved > 0) {
            CHECK(file.status == Status::unpatched);
        } else {
            CHECK(file.status == (image.dynamic_base() ? Status::not_needed : Status::patched));
        }
    }
}

TEST_CASE("refusal: FORCE_INTEGRITY") {
    PeSpec spec = dll(SECTION_WRITABLE, true);
    spec.dll_characteristics |= IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY;
    const Decided file = decided(spec);
    CHECK(file.status == Status::refused);
    CHECK(file.refusal == Reason{Why::force_integrity});
}

TEST_CASE("refusal: SectionAlignment under a page") {
    for (const std::uint32_t alignment : {32U, 512U, 2048U}) {
        PeSpec spec = dll(SECTION_WRITABLE, true);
        spec.section_alignment = spec.file_alignment = alignment;
        const Decided file = decided(spec);
        CHECK(file.status == Status::refused);
        CHECK(file.refusal == Reason{Why::section_alignment, alignment, 4096});
    }
    PeSpec spec = dll(SECTION_WRITABLE, true);
    spec.section_alignment = 4096;
    CHECK(decided(spec).status == Status::unpatched);
}

TEST_CASE("refusal: a section's raw data past the end of the file, be it by one byte") {
    Headers headers = headers_of(dll(SECTION_WRITABLE, true));
    CHECK(decided(headers, AUTO).status == Status::unpatched);
    headers.file_size -= 1;
    const Decided file = decided(headers, AUTO);
    CHECK(file.status == Status::refused);
    CHECK(file.refusal == Reason{Why::raw_data_past_end, 4608, 4607});
}

TEST_CASE("refusal: a section without raw data may point anywhere") {
    PeSpec spec = dll(SECTION_WRITABLE, true);
    section(spec, ".data").size_of_raw_data = 0;
    section(spec, ".data").pointer_to_raw_data = 0xFFFFFFFF;
    CHECK(decided(spec).status == Status::unpatched);
}

TEST_CASE("refusal: needs_patch still tells whether it is also unpatched") {
    for (const AslrPolicy policy : {AUTO, KEEP, CLEAR}) {
        INFO("policy " << describe(policy));
        CHECK(decided(fixture("x64-force-integrity.dll"), policy).needs_patch);
        const Decided read_only = decided(fixture("x64-force-integrity-read-only.dll"), policy);
        CHECK(read_only.status == Status::refused);
        CHECK(read_only.needs_patch == (policy == CLEAR));
    }
}

TEST_CASE("warning: signed, where patching would break the signature and only there") {
    CHECK(warns(decided(fixture("x64-signed.dll"), AUTO), Warning::is_signed));
    CHECK(warns(decided(fixture("x86-signed.dll"), KEEP), Warning::is_signed));
    CHECK(warns(decided(fixture("x64-signed-read-only.dll"), CLEAR), Warning::is_signed));
    CHECK(decided(fixture("x64-signed-read-only.dll"), AUTO).warnings.empty());
    CHECK(decided(fixture("x64-writable.dll"), AUTO).warnings.empty());
}

TEST_CASE("warning: Control Flow Guard is lost with DYNAMIC_BASE, and only with it") {
    CHECK(warns(decided(fixture("x64-guard-cf.dll"), AUTO), Warning::guard_cf_lost));
    CHECK(warns(decided(fixture("x64-guard-cf.dll"), CLEAR), Warning::guard_cf_lost));
    CHECK_FALSE(warns(decided(fixture("x64-guard-cf.dll"), KEEP), Warning::guard_cf_lost));
    PeSpec aslr_off = dll(SECTION_WRITABLE, false);
    aslr_off.dll_characteristics |= IMAGE_DLLCHARACTERISTICS_GUARD_CF;
    CHECK_FALSE(warns(decided(aslr_off), Warning::guard_cf_lost));
}

TEST_CASE("warning: an impossible CheckSum, where something is patched") {
    CHECK(warns(decided(fixture("x64-check-sum-impossible.dll"), AUTO), Warning::check_sum_impossible));
    CHECK(decided(fixture("x64-check-sum-wrong.dll"), AUTO).warnings.empty());
    CHECK(decided(fixture("x64-check-sum-zero.dll"), AUTO).warnings.empty());
}

}  // namespace fixnvpe::test
