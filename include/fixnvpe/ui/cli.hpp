#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/commands/measure.hpp"
#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/ui/command_words.hpp"
#include "fixnvpe/ui/style.hpp"

namespace fixnvpe {

enum class Color { automatic, always, never };

template <>
inline constexpr auto names_of<Color> = names<Color>({
    {Color::automatic, "auto"},
    {Color::always, "always"},
    {Color::never, "never"},
});

/// Everything that the command line can say.
struct CommandLine {
    Request request;
    std::optional<MeasureRequest> measure;  ///< asked for, and no request
    ReportStyle style;
    Color color = Color::automatic;
    bool json = false;
    bool no_progress = false;
    std::string text;         ///< to be printed, and nothing else to be done: help, a version, a completion script
    bool no_command = false;  ///< the text is the help, and an error
};

/// All that the command line can be made of.
[[nodiscard]] ProgramWords program_words();

/// Was JSON asked for? To be known also of a command line that makes no sense.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

/// Reads the command line. The only place that knows CLI11.
/// @param arguments without the program's name: UTF-8 on Windows, bytes elsewhere
/// @throws Error usage
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace fixnvpe
