// Input: a file's size and its headers. What patch would do, carried out on the bytes in memory and taken back.

#include "fixnvpe/patch/plan.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fuzz.hpp"
#include "support/decided.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// What the bits are that this policy asks to clear, from the specification: all others must stay.
Bytes expected_but_check_sum(const PeImage& image, AslrPolicy policy, Bytes bytes) {
    const auto is_fatbin = [](const Section& s) { return s.name == ".nv_fatb" || s.name == "__nv_rel"; };
    const auto is_writable_fatbin = [&](const Section& s) { return is_fatbin(s) && s.characteristics >> 31 == 1; };
    const auto any = [&](const auto& predicate) {
        return std::any_of(image.sections.begin(), image.sections.end(), predicate);
    };
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (is_writable_fatbin(image.sections[i])) {
            bytes[image.layout.section_table + 40 * i + 39] &= 0x7F;
        }
    }
    if (policy == AslrPolicy::clear ? any(is_fatbin) : policy == AslrPolicy::automatic && any(is_writable_fatbin)) {
        bytes[image.layout.optional_header + 70] &= 0xBF;
    }
    return bytes;
}

Status expected_status(const PeImage& image, const Plan& plan) {
    return !image.has_fatbin()    ? Status::no_fatbin
           : !plan.edits.empty()  ? Status::unpatched
           : image.dynamic_base() ? Status::not_needed
                                  : Status::patched;
}

/// CheckSum as it has to be. What lies behind `window` is zeros, which add nothing but the size.
std::uint32_t right_check_sum(const Bytes& window, std::uint64_t file_size) {
    return compute_check_sum(window) + static_cast<std::uint32_t>(file_size - window.size());
}

void run(const Bytes& original, std::uint64_t file_size, AslrPolicy policy) {
    const PeImage image = read_pe_raw(original, file_size);
    const Plan plan = make_plan(image, file_size, policy);
    const std::size_t check_sum_at = image.layout.check_sum();
    Bytes patched = original;
    apply_edits(plan.edits, patched);

    // Nothing changes but what this policy is for, and CheckSum.
    Bytes expected = expected_but_check_sum(image, policy, original);
    store_le(expected, check_sum_at, 4, load_le<std::uint32_t>(patched, check_sum_at));
    expect(patched == expected, "a plan clears MEM_WRITE and DYNAMIC_BASE where its policy says so, and no other bit");
    const bool changes = patched != original;
    expect(changes == !plan.edits.empty(), "a plan without edits is one that changes nothing");
    expect(std::is_sorted(plan.edits.begin(), plan.edits.end(),
                          [](const Edit& a, const Edit& b) { return a.offset < b.offset; }),
           "the edits are sorted");

    // CheckSum stays as far from the right one as it was, and so right if it was.
    const PeImage after = read_pe_raw(patched, file_size);
    if (plan.check_sum == CheckSumState::plausible) {
        constexpr std::uint32_t modulus = 0xFFFF;
        const std::uint32_t off = image.check_sum - right_check_sum(original, file_size) + modulus;
        const std::uint32_t still_off = after.check_sum - right_check_sum(patched, file_size) + modulus;
        expect(off % modulus == still_off % modulus, "CheckSum is as right, or as wrong, as it was");
        expect(off != modulus || still_off == modulus, "a right CheckSum stays right");
    } else {
        expect(after.check_sum == image.check_sum, "a CheckSum that is unset or can't be right is left alone");
    }

    // The status says the same as the plan.
    const Decided before = decided(image, file_size, policy, false);
    const Decided done = decided(after, file_size, policy, changes);
    expect(before.needs_patch == changes, "a file needs to be patched if there is something to do");
    expect(before.status == Status::refused || before.status == expected_status(image, plan),
           "the status is that of the plan");
    expect(!done.needs_patch, "a patched file needs no patch");
    expect(!changes || done.status == Status::patched || done.status == Status::refused, "a patched file is `patched`");
    expect(commit_charge(after).now == commit_charge(image).after, "a patched file costs what was promised");

    // Twice is once, and back is back.
    expect(make_plan(after, file_size, policy).edits.empty(), "a second patch has nothing to do");
    revert_edits(plan.edits, patched);
    expect(patched == original, "the plan taken back gives every byte");
}

void run(ByteView input) {
    const std::optional<Headers> headers = headers_from(input);
    const std::optional<PeImage> image = headers ? reading(read_pe_raw, *headers).image : std::nullopt;
    if (!image) {
        return;
    }
    const Bytes& as_given = headers->bytes;
    Bytes with_right_check_sum = as_given;
    store_le(with_right_check_sum, image->layout.check_sum(), 4, right_check_sum(as_given, headers->file_size));
    for (const AslrPolicy policy : {AslrPolicy::automatic, AslrPolicy::keep, AslrPolicy::clear}) {
        run(as_given, headers->file_size, policy);
        run(with_right_check_sum, headers->file_size, policy);
    }
}

}  // namespace
}  // namespace fixnvpe::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fixnvpe::test::run({data, size});
    return 0;
}
