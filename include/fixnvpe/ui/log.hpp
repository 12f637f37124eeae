#pragma once

#include <string_view>

/// What the program says on standard error. The only place that knows spdlog.
namespace fixnvpe::log {

/// Each line begins with "fixnvpe: ". @param color escape sequences for a terminal
void start(bool verbose, bool color);

void debug(std::string_view text);  ///< with -v
void info(std::string_view text);
void warning(std::string_view text);
void error(std::string_view text);

}  // namespace fixnvpe::log
