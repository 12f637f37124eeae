#include "fixnvpe/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

namespace fixnvpe {
namespace {

constexpr char32_t STRAY_BYTE = 0xDC00;  // plus the byte; valid UTF-8 never gives a surrogate

/// Control characters, line separators, and what changes the direction of writing.
bool is_command(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

struct Range {
    char32_t first;
    char32_t last;
};

bool is_in(char32_t c, std::span<const Range> ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return c >= r.first && c <= r.last; });
}

/// Columns of one character, by the blocks of Unicode that file names are made of (UAX #11, East Asian Width).
std::size_t columns_of(char32_t c) {
    static constexpr std::array<Range, 6> combining{
        {{0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
    static constexpr std::array<Range, 10> wide{{{0x1100, 0x115F},
                                                 {0x2E80, 0x303E},
                                                 {0x3041, 0x33FF},
                                                 {0x3400, 0x4DBF},
                                                 {0x4E00, 0x9FFF},
                                                 {0xA000, 0xA4CF},
                                                 {0xAC00, 0xD7A3},
                                                 {0xF900, 0xFAFF},
                                                 {0xFE30, 0xFE6F},
                                                 {0xFF00, 0xFF60}}};
    static constexpr std::array<Range, 3> wide_beyond{{{0xFFE0, 0xFFE6}, {0x1F300, 0x1F9FF}, {0x20000, 0x3FFFD}}};
    if (c < 0x0300) {
        return 1;
    }
    return is_in(c, combining) ? 0 : is_in(c, wide) || is_in(c, wide_beyond) ? 2 : 1;
}

/// A path's own bytes, or UTF-8 made of its UTF-16.
template <class Char>
std::string native_utf8(const std::basic_string<Char>& native) {
    if constexpr (sizeof(Char) == 1) {
        return native;
    } else {
        return encode_utf8(code_points(std::basic_string_view<Char>(native)));
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
    const std::string text = native_utf8(path.native());
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

std::string printable_lines(std::string_view text) {
    std::string result;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        result += printable(text.substr(0, end)) + '\n';
        text.remove_prefix(end + 1);
    }
    return result + printable(text);
}

std::string printable_path(const std::filesystem::path& path) {
    return printable(std::string_view(native_utf8(path.native())));
}

std::size_t display_width(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        columns += c.valid ? columns_of(c.value) : 1;
        text.remove_prefix(c.length);
    }
    return columns;
}

std::string shorten_middle(std::string_view text, std::size_t columns) {
    if (display_width(text) <= columns) {
        return std::string(text);
    }
    if (columns == 0) {
        return {};
    }
    std::vector<std::string_view> characters;
    for (std::string_view rest = text; !rest.empty();) {
        const CodePoint c = first_code_point(rest);
        characters.push_back(rest.substr(0, c.length));
        rest.remove_prefix(c.length);
    }
    // The end of a path says most: it gets the larger half.
    const std::size_t room = columns - 1;
    std::string tail;
    std::size_t tail_width = 0;
    std::size_t last = characters.size();
    while (last > 0 && tail_width + display_width(characters[last - 1]) <= room - room / 3) {
        --last;
        tail_width += display_width(characters[last]);
        tail.insert(0, characters[last]);
    }
    std::string head;
    std::size_t head_width = 0;
    for (std::size_t i = 0; i < last && head_width + display_width(characters[i]) <= room - tail_width; ++i) {
        head_width += display_width(characters[i]);
        head += characters[i];
    }
    return head + "\u2026" + tail;
}

std::string quoted_path(const std::filesystem::path& path) {
    const std::string text = printable_path(path);
    return text.find(' ') == std::string::npos ? text : '"' + text + '"';
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const std::size_t close = text.front() == '"' ? text.find('"', 1) : std::string_view::npos;
        const std::string_view word = text.substr(0, text.find(' ', close == std::string_view::npos ? 0 : close));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        std::string& line = lines.back();
        if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
            lines.emplace_back(word);
        } else {
            line += (line.empty() ? "" : " ") + std::string(word);
        }
    }
    return lines;
}

}  // namespace fixnvpe
