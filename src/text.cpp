#include "fixnvpe/text.hpp"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace fixnvpe {
namespace {

constexpr char32_t STRAY_BYTE = 0xDC00;  // plus the byte; valid UTF-8 never gives a surrogate

/// Control characters, line separators, and what changes the direction of writing.
bool is_command(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/// A path's own bytes, or UTF-8 made of its UTF-16.
std::string native_utf8(const std::filesystem::path& path) {
    if constexpr (sizeof(std::filesystem::path::value_type) == 1) {
        return std::string(path.native().begin(), path.native().end());
    } else {
        return encode_utf8(code_points(std::basic_string_view<std::filesystem::path::value_type>(path.native())));
    }
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return {first, 1, true};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return {};
    }
    char32_t value = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return {};
        }
        value = value << 6 | (byte(i) & 0x3F);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < smallest[length] || surrogate || value > 0x10FFFF) {
        return {};
    }
    return {value, length, true};
}

template <class Char>
std::u32string code_points(std::basic_string_view<Char> text) {
    std::u32string result;
    result.reserve(text.size());
    while (!text.empty()) {
        char32_t c = static_cast<std::make_unsigned_t<Char>>(text.front());
        std::size_t length = 1;
        if constexpr (sizeof(Char) == 1) {
            const CodePoint first = first_code_point(text);
            c = first.valid ? first.value : STRAY_BYTE + c;
            length = first.length;
        } else if (c >= 0xD800 && c <= 0xDBFF && text.size() > 1 && text[1] >= 0xDC00 && text[1] <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(text[1]) - 0xDC00);
            length = 2;
        }
        result.push_back(c);
        text.remove_prefix(length);
    }
    return result;
}

template std::u32string code_points(std::string_view);
template std::u32string code_points(std::u16string_view);
template std::u32string code_points(std::wstring_view);

std::string encode_utf8(std::u32string_view text) {
    std::string result;
    for (const char32_t c : text) {
        const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
        if (c < 0x80) {
            result += static_cast<char>(c);
        } else if (c < 0x800) {
            result += {static_cast<char>(0xC0 | c >> 6), tail(0)};
        } else if (c < 0x10000) {
            result += {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
        } else {
            result += {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
        }
    }
    return result;
}

std::string human_size(std::uint64_t bytes) {
    constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    constexpr double step = 1024;
    constexpr double rounds_up = 1023.95;  // would be shown as 1024.0
    std::size_t unit = 0;
    auto value = static_cast<double>(bytes);
    while (value >= rounds_up && unit + 1 < units.size()) {
        value /= step;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string to_utf8(const std::filesystem::path& path) {
    const std::string text = native_utf8(path);
    std::string result;
    for (std::string_view rest = text; !rest.empty();) {
        const CodePoint c = first_code_point(rest);
        result += c.valid ? rest.substr(0, c.length) : "\xEF\xBF\xBD";
        rest.remove_prefix(c.length);
    }
    return result;
}

std::string printable(std::string_view text) {
    std::string result;
    for (std::string_view rest = text; !rest.empty();) {
        const CodePoint c = first_code_point(rest);
        if (!c.valid) {
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[0]));
        } else if (c.value == '\n') {
            result += "\\n";
        } else if (is_command(c.value)) {
            result += c.value < 0x100 ? fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c.value))
                                      : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.value));
        } else {
            result += rest.substr(0, c.length);
        }
        rest.remove_prefix(c.length);
    }
    return result;
}

std::string printable_path(const std::filesystem::path& path) {
    return printable(std::string_view(native_utf8(path)));
}

}  // namespace fixnvpe
