#include "fixnvpe/ui/columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

constexpr std::size_t MARGIN = 2;
constexpr std::size_t GAP = 2;
/// The last column. A longer name pushes its own facts aside, and not those of all.
constexpr std::size_t WIDEST_NAME = 32;
/// With less room below the last column, facts begin further left.
constexpr std::size_t NARROWEST_FACTS = 24;

std::string blanks(std::size_t count) {
    return std::string(count, ' ');
}

bool fits(const std::string& line, const ReportStyle& style) {
    return !style.width || display_width(line) <= *style.width;
}

std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

void Table::heading(const std::string& package, const std::string& folder) {
    if (!package.empty() || !folder.empty()) {
        lines_.push_back({package, folder, {}});
    }
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths(columns_.size());
    for (const Line& line : lines_) {
        for (std::size_t i = 0; line.row && i < columns_.size(); ++i) {
            std::size_t width = display_width(line.row->cells[i]);
            if (i + 1 == columns_.size()) {
                width = line.row->facts.empty() ? 0 : std::min(width, WIDEST_NAME);
            }
            widths[i] = std::max(widths[i], width);
        }
    }
    return widths;
}

std::string Table::text_of(const Row& row, const std::vector<std::size_t>& widths, const ReportStyle& style) const {
    std::string line = blanks(MARGIN);
    std::size_t start = MARGIN;  // of the last cell
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool last = i + 1 == columns_.size();
        if (widths[i] == 0 && !last) {
            continue;
        }
        const std::string padding = blanks(widths[i] - std::min(widths[i], display_width(row.cells[i])));
        line += columns_[i] == Align::right ? padding + row.cells[i] : row.cells[i] + padding;
        line += last ? "" : blanks(GAP);
        start += last ? 0 : widths[i] + GAP;
    }
    std::string text = line + blanks(GAP) + row.facts;
    if (!row.facts.empty() && !fits(text, style)) {
        const std::size_t room = *style.width - std::min<std::size_t>(*style.width, start + GAP);
        const std::size_t indent = room >= NARROWEST_FACTS ? start + GAP : 2 * MARGIN;
        text = trimmed(line) + "\n" + blanks(indent) + paragraph(row.facts, style.width, indent);
    } else {
        text = trimmed(text) + "\n";
    }
    if (style.color && !row.color.empty()) {
        text.insert(MARGIN + row.cells[0].size(), "\x1b[0m");
        text.insert(MARGIN, row.color);
    }
    for (const std::string& below : row.below) {
        text += blanks(2 * MARGIN) + paragraph(below, style.width, 3 * MARGIN);
    }
    return text;
}

std::string Table::text(const ReportStyle& style) const {
    const std::vector<std::size_t> columns = widths();
    std::string text;
    for (const Line& line : lines_) {
        if (line.row) {
            text += text_of(*line.row, columns, style);
            continue;
        }
        const std::string separator = line.package.empty() || line.folder.empty() ? "" : ", ";
        const bool one_line = separator.empty() || fits(line.package + separator + line.folder, style);
        text += line.package + (one_line ? separator : ",\n") + line.folder + "\n";
    }
    return text;
}

std::string paragraph(const std::string& text, std::optional<unsigned> width, std::size_t indent) {
    if (!width) {
        return text + "\n";
    }
    const std::size_t room = *width > indent ? *width - indent : 1;
    return fmt::format("{}\n", fmt::join(wrap(text, room), "\n" + blanks(indent)));
}

std::string line(const std::string& text, const ReportStyle& style) {
    return paragraph(text, style.width);
}

std::string size_if_any(std::uint64_t bytes) {
    return bytes != 0 ? human_size(bytes) : std::string();
}

}  // namespace fixnvpe
