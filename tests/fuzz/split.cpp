// What a file of any bytes holds, and what a split makes of its headers.

#include <algorithm>
#include <vector>

#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/pe/survey.hpp"
#include "fuzz.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t PAGE = 4096;

/// What a page is made of: where its bytes come from in the file (0: zeros), and what may be done to it.
struct Page {
    std::uint64_t offset = 0;
    std::uint32_t characteristics = 0;
    friend bool operator==(const Page&, const Page&) = default;
};

Page page_at(const PeImage& image, std::uint64_t address) {
    for (const Section& s : image.sections) {
        if (address >= s.virtual_address && address < std::uint64_t{s.virtual_address} + s.virtual_size) {
            const std::uint64_t into = address - s.virtual_address;
            return {into < s.size_of_raw_data ? s.pointer_to_raw_data + into : 0, s.characteristics};
        }
    }
    return {};
}

void check_split(const Headers& file, const PeImage& image, const Split& split) {
    const Bytes after = split_headers(file.bytes, image, split);
    const PeImage now = read_pe(after, file.file_size);
    const auto joined = joined_headers(after, now);
    expect(joined.has_value(), "what was split joins");
    expect(*joined == (split.moves_nt_headers ? *moved_headers(file.bytes, image) : file.bytes),
           "joined again, the headers are those of before");
    expect(split_pages(now) == split.pages, "what was split is known by its sections");
    for (const Section& section : image.sections) {
        for (std::uint64_t into = 0; into < section.virtual_size; into += PAGE) {
            const std::uint64_t address = section.virtual_address + into;
            const Page before = page_at(image, address);
            Page expected = before;
            for (const Pages& pages : split.pages) {
                if (address >= pages.address && address < pages.end()) {
                    expect(section.writable() && before.offset != 0, "only writable data is split");
                    expected.characteristics &= ~IMAGE_SCN_MEM_WRITE;
                }
            }
            expect(page_at(now, address) == expected, "a page keeps its bytes, and what may be done to it elsewhere");
        }
    }
}

void run(const Headers& file, const ReadAt& read) {
    const PeImage image = read_pe(file.bytes, file.file_size);
    const auto joined = joined_headers(file.bytes, image);
    if (joined) {
        expect(split_pages(read_pe(*joined, file.file_size)).empty(), "what is joined is split no more");
    }
    const std::uint64_t in_memory = [&] {
        std::uint64_t bytes = 0;
        for (const Section& s : image.sections) {
            bytes += s.virtual_size;
        }
        return bytes;
    }();
    if (file.bytes.size() < HEADER_BYTES_MIN || in_memory > (std::uint64_t{1} << 26)) {
        return;  // would only cost time
    }
    const Survey seen = survey(file.bytes, image, file.file_size, read, PAGE);
    if (!seen.split.pages.empty()) {
        check_split(file, image, seen.split);
    }
}

}  // namespace
}  // namespace fixnvpe::test

/// The input is a size that is not looked at (mutate_headers.cpp), and the first bytes of a file of 64 KiB; those
/// behind it are fat binaries of two pages, one after another, so that there is something to find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fixnvpe;
    constexpr std::size_t file_size = std::size_t{1} << 16;
    constexpr std::size_t binary_size = 2 * 4096;
    std::vector<std::uint8_t> file(file_size);
    for (std::size_t at = 0; at < file_size; at += binary_size) {
        const ByteSpan header = ByteSpan(file).subspan(at);
        store_le(header, 0, 8, 0x00100001BA55ED50);
        store_le(header, 8, 8, binary_size - 16);
        store_le(header, 16, 8, 0x0000004001010002);
        store_le(header, 24, 8, binary_size - 80);
    }
    std::fill_n(file.begin(), 4096, std::uint8_t{0});
    const std::size_t begin = std::min(size, sizeof(std::uint64_t));
    std::copy_n(data + begin, std::min(size - begin, file_size), file.begin());
    const test::Headers headers{"input", {file.begin(), file.begin() + 4096}, file_size};
    const ReadAt read = [&](std::uint64_t offset, ByteSpan into) -> std::size_t {
        const std::size_t count = offset < file_size ? std::min<std::size_t>(into.size(), file_size - offset) : 0;
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(offset, file_size)), count,
                    into.begin());
        return count;
    };
    try {
        test::run(headers, read);
    } catch (const Error&) {
        return 0;  // no PE file, or one that is cut short
    }
    return 0;
}
