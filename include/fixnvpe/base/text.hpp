#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Words for people: numbers, paths, plurals.
namespace fixnvpe {

/// One code point at the start of a text, or what stands there instead.
struct CodePoint {
    char32_t value = 0;
    std::size_t length = 1;  ///< bytes
    bool valid = false;      ///< shortest form, no surrogate, at most U+10FFFF
};

/// @param text not empty; UTF-8 if it is valid
[[nodiscard]] CodePoint first_code_point(std::string_view text);

/// The code points of UTF-8 (char) or UTF-16 (char16_t, wchar_t). What is neither is kept apart and not lost:
/// a stray byte 0xNN becomes U+DCNN, a stray surrogate stays itself; so different texts give different results.
template <class Char>
[[nodiscard]] std::u32string code_points(std::basic_string_view<Char> text);

/// UTF-8; a surrogate gets three bytes as if it were a character, which first_code_point() does not take for one.
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// "448 B", "63.5 KiB", "2.4 GiB". @param bytes a number of bytes
[[nodiscard]] std::string human_size(std::uint64_t bytes);

/// "1 file", "5 files".
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view noun);

/// A path as valid UTF-8. Bytes that are none become U+FFFD.
[[nodiscard]] std::string to_utf8(const std::filesystem::path& path);

/// Any bytes as text that a terminal can't take for a command: control characters (also those that turn the
/// direction of writing around) and invalid UTF-8 become \n, \x1b, \u202e and the like.
[[nodiscard]] std::string printable(std::string_view text);
/// The same of each line, and the lines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
[[nodiscard]] std::string printable_path(const std::filesystem::path& path);

/// Columns that printable text takes on a terminal: a Chinese character takes two, a combining mark none.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The text with its middle replaced by "…", so that it takes at most `columns`.
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t columns);

/// A path as a word of a command line: in quotation marks where it has a space.
[[nodiscard]] std::string quoted_path(const std::filesystem::path& path);

/// Lines of at most `columns`, broken at spaces, but not in a word "in quotation marks": it is there to be copied. A
/// word that is longer has a line of its own.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t columns);

}  // namespace fixnvpe
