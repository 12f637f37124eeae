#include "support/fat_binaries.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fixnvpe/base/bytes.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::size_t HEADER = 16;
constexpr std::size_t ENTRY_HEADER = 64;

void put_header(ByteSpan bytes, std::uint64_t size) {
    store_le(bytes, 0, 4, 0xBA55ED50);
    store_le(bytes, 4, 2, 1);
    store_le(bytes, 6, 2, HEADER);
    store_le(bytes, 8, 8, size - HEADER);
}

void put_entry(ByteSpan bytes, std::uint64_t size) {
    store_le(bytes, 0, 2, 2);  // kind: ELF
    store_le(bytes, 2, 2, 0x0101);
    store_le(bytes, 4, 4, ENTRY_HEADER);
    store_le(bytes, 8, 8, size - ENTRY_HEADER);
}

}  // namespace

std::vector<std::uint8_t> fat_binary(std::size_t size, std::size_t entries) {
    if (size % 8 != 0 || size < HEADER + entries * ENTRY_HEADER) {
        throw std::logic_error("no fat binary has this size");
    }
    std::vector<std::uint8_t> bytes(size, 0xFB);
    put_header(bytes, size);
    std::size_t at = HEADER;
    for (std::size_t left = entries; left != 0; --left) {
        const std::size_t length = left == 1 ? size - at : std::max(ENTRY_HEADER, (size - HEADER) / entries / 8 * 8);
        put_entry(ByteSpan(bytes).subspan(at), length);
        at += length;
    }
    return bytes;
}

std::vector<std::uint8_t> fat_binary_headers(std::uint64_t size) {
    std::vector<std::uint8_t> bytes(HEADER + ENTRY_HEADER);
    put_header(bytes, size);
    put_entry(ByteSpan(bytes).subspan(HEADER), size - HEADER);
    return bytes;
}

ReadAt read_from(const TestFile& file) {
    return [&file](std::uint64_t offset, ByteSpan into) -> std::size_t {
        const std::uint64_t left = offset < file.size ? file.size - offset : 0;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size()));
        std::fill_n(into.begin(), count, std::uint8_t{0});
        for (const TestFile::Part& part : file.parts) {
            const std::uint64_t from = std::max(offset, part.offset);
            const std::uint64_t to = std::min(offset + count, part.offset + part.bytes.size());
            if (from < to) {
                std::copy_n(part.bytes.begin() + static_cast<std::ptrdiff_t>(from - part.offset),
                            static_cast<std::size_t>(to - from),
                            into.begin() + static_cast<std::ptrdiff_t>(from - offset));
            }
        }
        return count;
    };
}

PeSpec dll_with_data(std::vector<std::uint8_t> data, std::uint32_t zeros) {
    PeSpec spec = plain_dll(IMAGE_FILE_MACHINE_AMD64);
    TestSection& section = test::section(spec, ".data");
    section.virtual_size = static_cast<std::uint32_t>(data.size()) + zeros;
    section.data = std::move(data);
    test::section(spec, ".rdata").raw_size = 1024;  // room for more than exports
    return spec;
}

std::size_t append_aligned(std::vector<std::uint8_t>& data, const std::vector<std::uint8_t>& bytes) {
    data.resize((data.size() + 15) / 16 * 16);
    const std::size_t at = data.size();
    data.insert(data.end(), bytes.begin(), bytes.end());
    return at;
}

}  // namespace fixnvpe::test
