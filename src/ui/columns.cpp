#include "fixnvpe/ui/columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {

std::string fit(const std::string& path, const std::string& rest, std::size_t column, const ReportStyle& style) {
    const std::string on_one_line = rest.empty() ? path : path + "  " + rest;
    if (!style.width || column + display_width(on_one_line) <= *style.width) {
        return on_one_line + "\n";
    }
    const std::size_t room = *style.width > column ? *style.width - column : 1;
    std::string text = shorten_middle(path, room) + "\n";
    if (!rest.empty()) {
        for (const std::string& line : wrap(rest, room)) {
            text += std::string(column, ' ') + line + "\n";
        }
    }
    return text;
}

std::string paragraph(const std::string& text, const ReportStyle& style) {
    if (!style.width) {
        return text + "\n";
    }
    return fmt::format("{}\n", fmt::join(wrap(text, *style.width), "\n"));
}

}  // namespace fixnvpe
