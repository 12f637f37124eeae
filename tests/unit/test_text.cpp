// Words for people: numbers, paths, what a terminal shows of them.

#include "fixnvpe/base/text.hpp"

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace fixnvpe::test {

TEST_CASE("text: sizes, with one digit behind the point from 1 KiB on, and never 1024 of a unit") {
    const std::vector<std::pair<std::uint64_t, std::string>> sizes{
        {0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {65024, "63.5 KiB"},
        {1048524, "1023.9 KiB"},
        {1048525, "1.0 MiB"},  // 1023.95 KiB, which would be shown as 1024.0
        {1048576, "1.0 MiB"},
        {2576980378, "2.4 GiB"},
        {std::uint64_t{1} << 40, "1.0 TiB"},
        {std::uint64_t{1} << 50, "1.0 PiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    for (const auto& [bytes, words] : sizes) {
        CHECK(human_size(bytes) == words);
    }
}

TEST_CASE("text: one is one, all else is many") {
    CHECK(plural(0, "file") == "0 files");
    CHECK(plural(1, "file") == "1 file");
    CHECK(plural(2, "file") == "2 files");
}

TEST_CASE("text: a code point is read from the shortest valid UTF-8, and from nothing else") {
    struct Row {
        std::string bytes;
        char32_t value;
    };
    const Row valid[] = {
        {std::string(1, '\0'), 0},
        {"A", U'A'},
        {"\x7F", 0x7F},
        {"\xC2\x80", 0x80},
        {"\xDF\xBF", 0x7FF},
        {"\xE0\xA0\x80", 0x800},
        {"\xE6\xA8\xA1", U'\u6A21'},
        {"\xED\x9F\xBF", 0xD7FF},
        {"\xEE\x80\x80", 0xE000},
        {"\xEF\xBF\xBF", 0xFFFF},
        {"\xF0\x90\x80\x80", 0x10000},
        {"\xF4\x8F\xBF\xBF", 0x10FFFF},
    };
    for (const Row& row : valid) {
        const CodePoint c = first_code_point(row.bytes + "rest");
        INFO(printable(row.bytes));
        CHECK(c.valid);
        CHECK(c.value == row.value);
        CHECK(c.length == row.bytes.size());
        CHECK(encode_utf8(std::u32string(1, row.value)) == row.bytes);
    }
    const std::string invalid[] = {
        "\x80",  // only goes on
        "\xBF",
        "\xC0\x80",  // longer than need be
        "\xC1\xBF",
        "\xE0\x9F\xBF",
        "\xF0\x8F\xBF\xBF",
        "\xED\xA0\x80",  // surrogates
        "\xED\xBF\xBF",
        "\xF4\x90\x80\x80",  // beyond U+10FFFF
        "\xF5\x80\x80\x80",
        "\xFF",
        "\xC3",  // cut off
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",  // does not go on
        "\xE2\x82(",
        "\xF0\x9F(\x80",
    };
    for (const std::string& bytes : invalid) {
        INFO(printable(bytes));
        CHECK_FALSE(first_code_point(bytes).valid);
        CHECK(first_code_point(bytes).length == 1);
    }
}

TEST_CASE("text: code points of UTF-8 and UTF-16, and of what is neither nothing is lost") {
    CHECK(code_points(std::string_view("a\xE6\xA8\xA1\xF0\x9F\x98\x80")) == U"a模😀");
    CHECK(code_points(std::string_view("\x80"
                                       "a\xFF")) == std::u32string{0xDC80, U'a', 0xDCFF});
    CHECK(code_points(std::u16string_view(u"a模😀")) == U"a模😀");
    const std::u16string stray{0xD83D, u'a', 0xDE00, 0xD83D};
    CHECK(code_points(std::u16string_view(stray)) == std::u32string{0xD83D, U'a', 0xDE00, 0xD83D});
    CHECK(code_points(std::wstring_view(L"a模")) == U"a模");
    CHECK(encode_utf8(std::u32string{0xD83D}) == "\xED\xA0\xBD");
    CHECK(encode_utf8(U"a模😀") == "a\xE6\xA8\xA1\xF0\x9F\x98\x80");
}

TEST_CASE("text: a path becomes valid UTF-8, whatever it is made of") {
    CHECK(to_utf8(std::filesystem::path(u8"模型/é.dll")) == reinterpret_cast<const char*>(u8"模型/é.dll"));
    CHECK(to_utf8(std::filesystem::path()).empty());
    if constexpr (sizeof(std::filesystem::path::value_type) == 1) {
        CHECK(to_utf8("a\xFF\xE2\x82.dll") == "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD.dll");
        CHECK(printable_path("a\xFF.dll") == "a\\xff.dll");
    }
    CHECK(printable_path(std::filesystem::path(u8"模型\u202E.dll")) ==
          reinterpret_cast<const char*>(u8"模型\\u202e.dll"));
}

TEST_CASE("text: what a terminal could take for a command is shown as what it is, and all else as it is") {
    const std::vector<std::pair<std::string, std::string>> texts{
        {"a b", "a b"},
        {"\xE6\xA8\xA1\xE5\x9E\x8B \xC3\xA9 \xF0\x9F\x98\x80", "\xE6\xA8\xA1\xE5\x9E\x8B \xC3\xA9 \xF0\x9F\x98\x80"},
        {"a\\b", "a\\b"},
        {"a\nb", "a\\nb"},
        {"a\rb\tc", "a\\x0db\\x09c"},
        {std::string("a\0b", 3), "a\\x00b"},
        {"\x1B[2J", "\\x1b[2J"},
        {"\x7F", "\\x7f"},
        {"\xC2\x9B", "\\x9b"},  // CSI as one character
        {"\xC2\x9F\xC2\xA0", "\\x9f\xC2\xA0"},
        {"\x9B", "\\x9b"},            // a byte that is no UTF-8
        {"\xE2\x80\xAE", "\\u202e"},  // from here on right to left
        {"\xE2\x80\xA8", "\\u2028"},  // a line's end
        {"\xE2\x80\x8F", "\\u200f"},
        {"\xD8\x9C", "\\u061c"},
        {"\xE2\x81\xA6", "\\u2066"},
        {"\xE2\x81\xA9", "\\u2069"},
        {"\xEF\xBB\xBF", "\\ufeff"},
        {"\xE2\x81\xA5\xE2\x81\xAA", "\xE2\x81\xA5\xE2\x81\xAA"},
        {"\xE6\xA8", "\\xe6\\xa8"},
    };
    for (const auto& [text, shown] : texts) {
        CHECK(printable(text) == shown);
        CHECK(printable(shown) == shown);
    }
}

TEST_CASE("text: columns on a terminal: two for a Chinese character, none for a combining mark") {
    const std::vector<std::pair<std::string, std::size_t>> widths{
        {"", 0},
        {"abc", 3},
        {"\xC3\xA9", 1},
        {"e\xCC\x81", 1},                 // e, and an acute accent upon it
        {"\xE6\xA8\xA1\xE5\x9E\x8B", 4},  // 模型
        {"\xED\x95\x9C", 2},              // Hangul
        {"\xE3\x81\x82", 2},              // Hiragana
        {"\xEF\xBC\xA1", 2},              // a full-width A
        {"\xEF\xBD\xB1", 1},              // a half-width Katakana
        {"\xF0\x9F\x98\x80", 2},
        {"\xE2\x80\x8B", 0},  // no space at all
        {"\xE2\x80\xA6", 1},  // …
        {"\xFF\xFE", 2},      // no UTF-8: a column a byte
    };
    for (const auto& [text, columns] : widths) {
        INFO(text);
        CHECK(display_width(text) == columns);
    }
}

TEST_CASE("text: what is too long loses its middle, and its end keeps the larger half") {
    const std::string models = "模型模型模型";  // 12 columns
    const std::vector<std::tuple<std::string, std::size_t, std::string>> rows{
        {"abcdefghij", 10, "abcdefghij"},
        {"abcdefghij", 9, "ab…efghij"},
        {"abcdefghij", 7, "ab…ghij"},
        {"abcdefghij", 2, "…j"},
        {"abcdefghij", 1, "…"},
        {"abcdefghij", 0, ""},
        {models, 12, models},
        {models, 11, "模型…型模型"},
        {models, 7, "模…模型"},
        {models, 6, "…模型"},
        {models, 2, "…"},
        {"", 0, ""},
    };
    for (const auto& [text, columns, shortened] : rows) {
        INFO(text << " in " << columns);
        CHECK(shorten_middle(text, columns) == shortened);
    }
    for (std::size_t columns = 0; columns < 20; ++columns) {
        INFO(columns);
        CHECK(display_width(shorten_middle("C:/环境/Lib/site-packages/e\xCC\x81\xFF.dll", columns)) <= columns);
        CHECK(display_width(shorten_middle("an/ascii/path/of/many/letters", columns)) == columns);
    }
}

TEST_CASE("text: lines are broken at spaces, and a word that is too long has a line of its own") {
    using Lines = std::vector<std::string>;
    CHECK(wrap("a bb ccc", 100) == Lines{"a bb ccc"});
    CHECK(wrap("a bb ccc", 8) == Lines{"a bb ccc"});
    CHECK(wrap("a bb ccc", 7) == Lines{"a bb", "ccc"});
    CHECK(wrap("a bb ccc", 4) == Lines{"a bb", "ccc"});
    CHECK(wrap("a bb ccc", 3) == Lines{"a", "bb", "ccc"});
    CHECK(wrap("a bb ccc", 0) == Lines{"a", "bb", "ccc"});
    CHECK(wrap("aaaaaa b", 3) == Lines{"aaaaaa", "b"});
    CHECK(wrap("b aaaaaa", 3) == Lines{"b", "aaaaaa"});
    CHECK(wrap("模型 模型", 8) == Lines{"模型", "模型"});
    CHECK(wrap("模型 模型", 9) == Lines{"模型 模型"});
    CHECK(wrap("", 5) == Lines{""});
}

TEST_CASE("text: what stands in quotation marks is one word, for it is there to be copied") {
    using Lines = std::vector<std::string>;
    CHECK(wrap("name \"a b c\" again", 5) == Lines{"name", "\"a b c\"", "again"});
    CHECK(wrap("\"a b c\", again", 5) == Lines{"\"a b c\",", "again"});
    CHECK(wrap("a \"b c d", 4) == Lines{"a \"b", "c d"});
    CHECK(quoted_path("a/b.dll") == "a/b.dll");
    CHECK(quoted_path("a b/c\x1b.dll") == "\"a b/c\\x1b.dll\"");
}

}  // namespace fixnvpe::test
