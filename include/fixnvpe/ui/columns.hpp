#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixnvpe/ui/style.hpp"

/// Text fitted to the terminal. What can be copied from it, a path or a name, is never cut or broken.
namespace fixnvpe {

enum class Align { left, right };

struct Row {
    std::vector<std::string> cells;  ///< one for each column
    std::string_view color;          ///< of the first cell: an escape sequence, or nothing
    std::string facts;               ///< behind the last cell; below it where there is no room
    std::vector<std::string> below;  ///< lines of their own
};

/// Rows whose cells stand below one another, and headings between them. A column in which nothing stands is left out.
class Table {
public:
    explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

    /// Two words, each of which may be empty: on one line if they fit.
    void heading(const std::string& package, const std::string& folder);
    void row(Row row) { lines_.push_back({{}, {}, std::move(row)}); }

    [[nodiscard]] bool empty() const { return lines_.empty(); }
    [[nodiscard]] std::string text(const ReportStyle& style) const;

private:
    struct Line {
        std::string package;
        std::string folder;
        std::optional<Row> row;  ///< empty: a heading
    };
    [[nodiscard]] std::vector<std::size_t> widths() const;
    [[nodiscard]] std::string text_of(const Row& row, const std::vector<std::size_t>& widths,
                                      const ReportStyle& style) const;

    std::vector<Align> columns_;
    std::vector<Line> lines_;
};

/// Text without columns, broken at spaces, the further lines behind `indent` columns. Ends with a line break.
[[nodiscard]] std::string paragraph(const std::string& text, std::optional<unsigned> width, std::size_t indent = 0);

/// The same as wide as the terminal is.
[[nodiscard]] std::string line(const std::string& text, const ReportStyle& style);

/// "2.4 GiB"; nothing of nothing. @param bytes a number of bytes
[[nodiscard]] std::string size_if_any(std::uint64_t bytes);

}  // namespace fixnvpe
