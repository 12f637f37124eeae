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

const std::string PATH = "lib/a-long-name.dll";  // 19 columns
const std::string REST = "(some words of it)";   // 18 columns

}  // namespace

TEST_CASE("columns: without a terminal a line is as long as it is") {
    CHECK(fit(PATH, REST, 5, {}) == PATH + "  " + REST + "\n");
    CHECK(fit(PATH, "", 5, {}) == PATH + "\n");
    CHECK(paragraph("some words", {}) == "some words\n");
}

TEST_CASE("columns: a path and its words are on one line if they fit to the last column") {
    constexpr unsigned exactly = 5 + 19 + 2 + 18;
    CHECK(fit(PATH, REST, 5, columns(exactly)) == PATH + "  " + REST + "\n");
    CHECK(fit(PATH, REST, 5, columns(exactly - 1)) == PATH + "\n     " + REST + "\n");
    CHECK(fit(PATH, "", 5, columns(24)) == PATH + "\n");
}

TEST_CASE("columns: on a narrow terminal a path loses its middle, and the words take several lines") {
    CHECK(fit(PATH, REST, 5, columns(23)) == "lib/a…ong-name.dll\n     (some words of it)\n");
    CHECK(fit(PATH, REST, 5, columns(16)) == "lib…ame.dll\n     (some words\n     of it)\n");
    CHECK(fit(PATH, "", 5, columns(16)) == "lib…ame.dll\n");
    CHECK(fit(PATH, REST, 5, columns(5)) == "…\n     (some\n     words\n     of\n     it)\n");
    CHECK(fit(PATH, "", 5, columns(1)) == "…\n");
    CHECK(fit("模型模型模型", "(模型 模型)", 2, columns(9)) == "模…模型\n  (模型\n  模型)\n");
}

TEST_CASE("columns: a paragraph is broken at spaces") {
    CHECK(paragraph("some words of it", columns(16)) == "some words of it\n");
    CHECK(paragraph("some words of it", columns(15)) == "some words of\nit\n");
    CHECK(paragraph("some words of it", columns(3)) == "some\nwords\nof\nit\n");
    CHECK(paragraph("", columns(3)) == "\n");
}

}  // namespace fixnvpe::test
