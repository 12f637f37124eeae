// Text fitted to the terminal.

#include "fixnvpe/ui/columns.hpp"

#include <string>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

ReportStyle columns(unsigned width) {
    ReportStyle style;
    style.width = width;
    return style;
}

Table table() {
    return Table({Align::left, Align::right, Align::left});
}

/// A row that takes 2 + 7 + 2 + 4 + 2 + 5 + 2 + 14 columns.
Table one_row(const std::string& name = "a.dll") {
    Table one = table();
    one.row({{"patched", "10 B", name}, {}, "some few words", {}});
    return one;
}

}  // namespace

TEST_CASE("columns: cells stand below one another, numbers to the right, and a line ends with its last word") {
    Table lines = table();
    lines.heading("torch 1.12", "torch/lib");
    lines.row({{"patched", "1000 B", "a.dll"}, {}, "signed", {}});
    lines.row({{"not-needed", "", "模型.dll"}, {}, "", {}});
    lines.heading("", "other");
    lines.row({{"patched", "1 B", "long.dll"}, {}, "signed", {"below"}});
    CHECK(lines.text({}) ==
          "torch 1.12, torch/lib\n"
          "  patched     1000 B  a.dll     signed\n"
          "  not-needed          模型.dll\n"
          "other\n"
          "  patched        1 B  long.dll  signed\n"
          "    below\n");
}

TEST_CASE("columns: where nothing stands in a column there is none, and where nothing is headed no heading") {
    Table lines = table();
    lines.heading("", "");
    CHECK(lines.empty());
    lines.row({{"restored", "", "a.dll"}, {}, "", {}});
    CHECK_FALSE(lines.empty());
    CHECK(lines.text({}) == "  restored  a.dll\n");
    Table wide({Align::left, Align::left});
    wide.row({{"环境", "a"}, {}, "", {}});
    wide.row({{"abcd", "b"}, {}, "", {}});
    CHECK(wide.text({}) == "  环境  a\n  abcd  b\n");
}

TEST_CASE("columns: a very long name pushes its own facts aside, and not those of all") {
    const std::string name(40, 'n');
    Table lines = table();
    lines.row({{"patched", "", name}, {}, "signed", {}});
    lines.row({{"patched", "", "a.dll"}, {}, "signed", {}});
    CHECK(lines.text({}) == "  patched  " + name + "  signed\n  patched  a.dll" + std::string(27, ' ') + "  signed\n");
    Table longest = table();
    longest.row({{"patched", "", name}, {}, "", {}});
    longest.row({{"patched", "", "a.dll"}, {}, "signed", {}});
    CHECK(longest.text({}) == "  patched  " + name + "\n  patched  a.dll  signed\n");
}

TEST_CASE("columns: facts are on the line if they fit to the last column, else below the name, or further left") {
    constexpr unsigned exactly = 2 + 7 + 2 + 4 + 2 + 5 + 2 + 14;
    const std::string line = "  patched  10 B  a.dll";
    CHECK(one_row().text({}) == line + "  some few words\n");
    CHECK(one_row().text(columns(exactly)) == line + "  some few words\n");
    CHECK(one_row().text(columns(exactly - 1)) == line + "\n    some few words\n");
    CHECK(one_row().text(columns(12)) == line + "\n    some few\n    words\n");
    const std::string name = "a-name-of-31-columns-on-it.dll1";
    const std::string long_line = "  patched  10 B  " + name;
    CHECK(one_row(name).text(columns(50)) == long_line + "\n" + std::string(19, ' ') + "some few words\n");
}

TEST_CASE("columns: a name and a folder are never cut or broken, whatever the width") {
    Table lines = table();
    lines.heading("torch 1.12", "C:/Program Files/torch/lib");
    lines.row({{"patched", "", "a long name.dll"}, {}, "", {}});
    CHECK(lines.text(columns(38)) == "torch 1.12, C:/Program Files/torch/lib\n  patched  a long name.dll\n");
    CHECK(lines.text(columns(37)) == "torch 1.12,\nC:/Program Files/torch/lib\n  patched  a long name.dll\n");
    CHECK(lines.text(columns(5)) == lines.text(columns(37)));
}

TEST_CASE("columns: a color is of the first cell alone, and takes no room") {
    Table lines = table();
    lines.row({{"patched", "", "a.dll"}, "\x1b[32m", "signed", {}});
    ReportStyle style = columns(2 + 7 + 2 + 5 + 2 + 6);
    CHECK(lines.text(style) == "  patched  a.dll  signed\n");
    style.color = true;
    CHECK(lines.text(style) == "  \x1b[32mpatched\x1b[0m  a.dll  signed\n");
}

TEST_CASE("columns: a paragraph is broken at spaces, and goes on behind its indent") {
    CHECK(paragraph("some words", {}) == "some words\n");
    CHECK(paragraph("some words of it", 16) == "some words of it\n");
    CHECK(paragraph("some words of it", 15) == "some words of\nit\n");
    CHECK(paragraph("some words of it", 3) == "some\nwords\nof\nit\n");
    CHECK(paragraph("some words of it", 14, 2) == "some words\n  of it\n");
    CHECK(paragraph("some words", 3, 8) == "some\n        words\n");
    CHECK(paragraph("", 3) == "\n");
}

}  // namespace fixnvpe::test
