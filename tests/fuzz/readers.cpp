// Input: a file's size and its headers. LIEF, where it is in, and our own reader give equal answers.

#include "fixnvpe/pe/reader.hpp"
#include "fuzz.hpp"

namespace fixnvpe::test {
namespace {

void run(ByteView input) {
    const std::optional<Headers> headers = headers_from(input);
    if (!headers) {
        return;
    }
    const Reading ours = reading(read_pe_raw, *headers);
    const Reading shipped = reading(read_pe, *headers);
    expect(shipped.image == ours.image, "both readers read the same, or nothing: " + shipped.message);
    expect(shipped.error == ours.error, "both readers fail for the same reason: " + shipped.message);
    if (ours.image) {
        expect(ours.image->layout.end() <= headers->bytes.size(), "all headers lie in what was read");
        expect(ours.image->sections.size() == ours.image->layout.number_of_sections, "every section was read");
#if FIXNVPE_WITH_LIEF
        // Told of another place, our own reader would take its fields from there.
        PeLayout elsewhere = ours.image->layout;
        elsewhere.optional_header += 4;
        PeImage theirs = read_pe_lief(headers->bytes, elsewhere);
        theirs.layout.optional_header -= 4;
        expect(theirs == *ours.image, "LIEF finds the optional header by itself");
#endif
    }
}

}  // namespace
}  // namespace fixnvpe::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fixnvpe::test::run({data, size});
    return 0;
}
