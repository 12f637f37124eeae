#pragma once

#include <string>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/style.hpp"

namespace fixnvpe {

/// What `scan` prints: a table of the DLLs with GPU code, the biggest saving first, and in words what to do.
[[nodiscard]] std::string report_scan(const Summary& summary, const ReportStyle& style);

/// For patch: one line where files keep much that a split may free, which only scan knows. By the headers alone.
[[nodiscard]] std::string may_be_split(const Summary& summary, const ReportStyle& style);

}  // namespace fixnvpe
