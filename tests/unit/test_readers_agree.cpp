// LIEF and our own reader give equal answers: on every fixture, on every shape of a real CUDA DLL,
// and on mutations of them. Compiled only where LIEF is in: without it there is one reader.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/headers.hpp"
#include "support/print.hpp"

namespace fixnvpe::test {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::stoull(text) : otherwise;
}

std::vector<Headers> fixtures_and_shapes() {
    std::vector<Headers> all = fixtures();
    for (Headers& shape : shapes()) {
        all.push_back(std::move(shape));
    }
    return all;
}

}  // namespace

TEST_CASE("readers: equal answers on every fixture and every shape") {
    for (const Headers& headers : fixtures_and_shapes()) {
        INFO(headers.name);
        CHECK(reading(read_pe_lief, headers) == reading(read_pe_raw, headers));
    }
}

TEST_CASE("readers: equal answers on random valid files") {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        INFO("random_pe(" << seed << ")");
        const Headers headers = headers_of(random_pe(seed));
        const Reading ours = reading(read_pe_raw, headers);
        CHECK(ours.image.has_value());
        CHECK(reading(read_pe_lief, headers) == ours);
    }
}

TEST_CASE("readers: equal answers where the headers overlap the MS-DOS header") {
    for (std::uint32_t e_lfanew = 4; e_lfanew < size_of::DosHeader; e_lfanew += 4) {
        PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
        spec.e_lfanew = e_lfanew;
        Headers headers = headers_of(spec);
        // The field itself lies inside the headers now, and has the last word.
        store_le(headers.bytes, offset::e_lfanew, sizeof(e_lfanew), e_lfanew);
        INFO("e_lfanew " << e_lfanew);
        CHECK(reading(read_pe_lief, headers) == reading(read_pe_raw, headers));
    }
}

// Equal answers are worth something only if one reader does not have them from the other.
TEST_CASE("readers: LIEF finds the optional header, its form and the number of directories by itself") {
    for (const Headers& headers : fixtures_and_shapes()) {
        const Reading right = reading(read_pe, headers);
        if (!right.image) {
            continue;
        }
        INFO(headers.name);
        const std::vector<std::uint8_t> bytes = headers.window();
        PeLayout wrong = right.image->layout;
        wrong.optional_header += 4;
        wrong.pe32_plus = !wrong.pe32_plus;
        PeImage theirs = read_pe_lief(bytes, wrong);
        CHECK(difference(read_pe_raw(bytes, wrong), theirs).has_value());
        CHECK(theirs.layout.optional_header == wrong.optional_header);
        theirs.layout.optional_header -= 4;
        CHECK(theirs == *right.image);
        wrong = right.image->layout;
        wrong.number_of_rva_and_sizes /= 2;
        CHECK(read_pe_lief(bytes, wrong).layout == right.image->layout);
    }
}

// FIXNVPE_MUTATIONS and FIXNVPE_SEED choose how many, and which.
TEST_CASE("readers: equal answers on 100,000 mutations of fixtures and shapes") {
    const std::uint64_t count = number_from_environment("FIXNVPE_MUTATIONS", 100'000);
    const std::uint64_t seed = number_from_environment("FIXNVPE_SEED", 20240101);
    std::vector<Headers> originals;
    for (Headers& headers : fixtures_and_shapes()) {
        if (headers.bytes.size() >= size_of::DosHeader) {
            originals.push_back(std::move(headers));
        }
    }
    Rng rng(seed);
    std::map<std::string, std::uint64_t> outcomes;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Headers& original = originals[i % originals.size()];
        Headers headers = original;
        mutate(headers.bytes, rng);
        if (headers.bytes.size() < original.bytes.size() && original.bytes.size() == original.file_size) {
            headers.file_size = headers.bytes.size();
        } else if (chance(rng, 5)) {
            headers.file_size = below(rng, headers.file_size + 1);
        }
        const Reading ours = reading(read_pe_raw, headers);
        const Reading theirs = reading(read_pe_lief, headers);
        if (!(theirs == ours)) {
            FAIL("seed " << seed << ", mutation " << i << " of " << headers.name << "\n  LIEF: " << describe(theirs)
                         << "\n  ours: " << describe(ours));
        }
        ++outcomes[ours.error ? std::string(to_string(*ours.error)) : "read"];
    }
    std::string text;
    for (const auto& [outcome, times] : outcomes) {
        text += " " + outcome + ": " + std::to_string(times);
    }
    // Mutations that all break the file at its first byte would prove nothing.
    INFO("seed " << seed << ", " << count << " mutations:" << text);
    std::printf("seed %llu, %llu mutations:%s\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(count), text.c_str());
    if (count >= 10'000) {
        CHECK(outcomes["read"] > count / 4);
        CHECK(outcomes["not-pe"] > count / 100);
        CHECK(outcomes["truncated"] > count / 100);
        CHECK(outcomes["malformed"] > count / 100);
    }
}

}  // namespace fixnvpe::test
