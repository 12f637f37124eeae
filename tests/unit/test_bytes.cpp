#include "fixnvpe/base/bytes.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::array<std::uint8_t, 8> COUNTING{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};

template <typename Function>
void fails_as_malformed(Function function) {
    try {
        function();
        FAIL("no error");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::malformed);
        CHECK_THAT(e.message(), contains("past the end of what was read"));
    }
}

}  // namespace

TEST_CASE("bytes: load_le reads the least significant byte first, at any offset") {
    CHECK(load_le<std::uint8_t>(COUNTING, 7) == 0x08);
    CHECK(load_le<std::uint16_t>(COUNTING, 0) == 0x0201);
    CHECK(load_le<std::uint16_t>(COUNTING, 5) == 0x0706);
    CHECK(load_le<std::uint32_t>(COUNTING, 1) == 0x05040302);
    CHECK(load_le<std::uint64_t>(COUNTING, 0) == 0x0807060504030201);
}

TEST_CASE("bytes: load_le never reads past the end, however large the offset") {
    fails_as_malformed([] { (void)load_le<std::uint8_t>(COUNTING, 8); });
    fails_as_malformed([] { (void)load_le<std::uint16_t>(COUNTING, 7); });
    fails_as_malformed([] { (void)load_le<std::uint32_t>(COUNTING, 5); });
    fails_as_malformed([] { (void)load_le<std::uint64_t>(COUNTING, 1); });
    fails_as_malformed([] { (void)load_le<std::uint32_t>(COUNTING, std::numeric_limits<std::size_t>::max()); });
    fails_as_malformed([] { (void)load_le<std::uint32_t>(COUNTING, std::numeric_limits<std::size_t>::max() - 3); });
    fails_as_malformed([] { (void)load_le<std::uint8_t>({}, 0); });
}

TEST_CASE("bytes: store_le changes the bytes it names and no other") {
    std::array<std::uint8_t, 8> bytes = COUNTING;
    store_le(bytes, 2, 4, 0xAABBCCDD);
    CHECK(bytes == std::array<std::uint8_t, 8>{0x01, 0x02, 0xDD, 0xCC, 0xBB, 0xAA, 0x07, 0x08});
    store_le(bytes, 7, 1, 0x1234);
    CHECK(bytes == std::array<std::uint8_t, 8>{0x01, 0x02, 0xDD, 0xCC, 0xBB, 0xAA, 0x07, 0x34});
}

TEST_CASE("bytes: store_le writes nothing where not all of it fits") {
    std::array<std::uint8_t, 8> bytes = COUNTING;
    fails_as_malformed([&] { store_le(bytes, 5, 4, 0); });
    fails_as_malformed([&] { store_le(bytes, 8, 1, 0); });
    fails_as_malformed([&] { store_le(bytes, std::numeric_limits<std::size_t>::max(), 4, 0); });
    CHECK(bytes == COUNTING);
}

TEST_CASE("bytes: store_le and load_le are inverse") {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t offset = 0; offset <= 8; ++offset) {
        store_le(bytes, offset, 8, 0xFEDCBA9876543210);
        CHECK(load_le<std::uint64_t>(bytes, offset) == 0xFEDCBA9876543210);
    }
}

TEST_CASE("bytes: hexadecimal digits and back; what are none is nothing") {
    CHECK(to_hex(COUNTING) == "0102030405060708");
    CHECK(to_hex({}).empty());
    CHECK(from_hex("00fF1a") == std::vector<std::uint8_t>{0x00, 0xFF, 0x1A});
    CHECK(from_hex("") == std::vector<std::uint8_t>{});
    for (const char* text : {"0", "0g", "g0", "-1", "+1", " 1", "0x", "0 ", "001"}) {
        INFO(text);
        CHECK_FALSE(from_hex(text).has_value());
    }
}

}  // namespace fixnvpe::test
