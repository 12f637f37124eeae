#pragma once

#include <string>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/style.hpp"

/// A summary as text. Nothing is decided here, and nothing is counted.
namespace fixnvpe {

/// For standard output.
[[nodiscard]] std::string report_text(const Summary& summary, const ReportStyle& style);

/// Is this file shown, or listed in JSON? What was merely found in a folder is not always.
[[nodiscard]] bool is_shown(const FileOutcome& file, const ReportStyle& style);
[[nodiscard]] bool is_shown(const CleanOutcome& file, const ReportStyle& style);

/// "12 files: 3 unpatched, 9 no-fatbin".
[[nodiscard]] std::string counted_statuses(const Totals& totals, const ReportStyle& style);

/// "2.3 GiB of disk", which the backups take; empty where that is not worth a word.
[[nodiscard]] std::string disk_needed(const std::vector<DiskNeed>& disk);

/// "(2.3 GiB less in 2 environments together)", where there is something to gain in several; else nothing.
[[nodiscard]] std::string in_all_scopes(const Summary& summary, const ReportStyle& style);

/// What `bytes` in one process are in all: the workers and the one that starts them.
[[nodiscard]] std::uint64_t in_all_processes(std::uint64_t bytes, const Summary& summary);

}  // namespace fixnvpe
