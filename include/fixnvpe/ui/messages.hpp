#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/style.hpp"

/// What belongs on standard error beside the report.
namespace fixnvpe {

struct Message {
    enum class Level { info, warning, error };
    Level level = Level::error;
    std::string path;  ///< that it is about; may be empty
    std::string text;  ///< "what failed: the system's reason"
    std::string hint;  ///< what the user can do; may be empty
};

[[nodiscard]] std::vector<Message> messages_of(const Summary& summary, const ReportStyle& style);

/// What went wrong with the whole request.
[[nodiscard]] Message message_of(const Error& error);

/// "PATH: text", and the hint on a line of its own, as log is to say it. @param width of the terminal; none: each is
/// one line
[[nodiscard]] std::string fitted(const Message& message, std::optional<unsigned> width);

}  // namespace fixnvpe
