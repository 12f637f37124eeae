#pragma once

#include <string>

#include "fixnvpe/ui/style.hpp"

/// Text fitted to the terminal.
namespace fixnvpe {

/// A path, and what there is to say of it, behind `column` columns: on one line if it fits, else on lines of its own
/// below. Ends with a line break.
[[nodiscard]] std::string fit(const std::string& path, const std::string& rest, std::size_t column,
                              const ReportStyle& style);

/// Text without columns, broken at spaces. Ends with a line break.
[[nodiscard]] std::string paragraph(const std::string& text, const ReportStyle& style);

}  // namespace fixnvpe
