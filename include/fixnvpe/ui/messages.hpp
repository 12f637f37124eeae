#pragma once

#include <string>
#include <vector>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/style.hpp"

/// What belongs on standard error beside the report.
namespace fixnvpe {

struct Message {
    enum class Level { info, warning, error };
    Level level = Level::error;
    std::string text;  ///< "PATH: what failed: the system's reason", and a hint on a line of its own
};

[[nodiscard]] std::vector<Message> messages_of(const Summary& summary, const ReportStyle& style);

}  // namespace fixnvpe
