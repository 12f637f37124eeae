#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/commands/run.hpp"

/// A result as text or JSON. Both come from the same values; neither decides anything.
namespace fixnvpe {

struct ReportStyle {
    bool verbose = false;   ///< also what was passed over, and every edit
    bool quiet = false;     ///< only what is a problem
    bool color = false;     ///< escape sequences for a terminal
    unsigned workers = 8;   ///< DataLoader workers that a training run is thought to have
    std::optional<unsigned> width;  ///< columns of the terminal; without one, lines are as long as they are
};

/// The result, for standard output.
[[nodiscard]] std::string report_text(const Result& result, const ReportStyle& style);

/// The same as one JSON document. Always valid UTF-8.
[[nodiscard]] std::string report_json(const Result& result, const ReportStyle& style);

/// What belongs on standard error beside it.
struct Message {
    enum class Level { info, warning, error };
    Level level = Level::error;
    std::string text;  ///< "PATH: what failed: the system's reason", and a hint on a line of its own
};

[[nodiscard]] std::vector<Message> report_messages(const Result& result, const ReportStyle& style);

}  // namespace fixnvpe
