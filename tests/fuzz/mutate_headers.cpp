// How libFuzzer makes an input with headers from another one. Its own ways break most of them at their first field, so
// more often than not ours is taken: some fields get values that break things, and the others stay.

#include <algorithm>
#include <vector>

#include "support/pe_builder.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    constexpr std::size_t size_field = sizeof(std::uint64_t);  // as headers_from() has it
    fixnvpe::test::Rng rng(seed);
    if (size <= size_field || fixnvpe::test::chance(rng, 30)) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    std::vector<std::uint8_t> headers(data + size_field, data + size);
    fixnvpe::test::mutate(headers, rng);
    std::copy(headers.begin(), headers.end(), data + size_field);
    return size_field + headers.size();
}
