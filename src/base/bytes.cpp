#include "fixnvpe/base/bytes.hpp"

#include <charconv>

namespace fixnvpe {

std::string to_hex(ByteView bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits) {
    constexpr int base = 16;
    if (digits.size() % 2 != 0) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(digits.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* const begin = digits.data() + 2 * i;
        const auto [end, error] = std::from_chars(begin, begin + 2, bytes[i], base);
        if (error != std::errc() || end != begin + 2) {
            return std::nullopt;
        }
    }
    return bytes;
}

}  // namespace fixnvpe
