#pragma once

#include <string>
#include <vector>

#include "fixnvpe/ui/messages.hpp"

namespace fixnvpe {

/// On standard error, fitted to the terminal.
void say(const Message& message);

/// The whole program from its arguments to its exit status.
/// @param arguments without the program's name: UTF-8 on Windows, bytes elsewhere
/// @return an ExitStatus
/// @throws Error usage, no_match, io: where JSON was asked for, it has been written already
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace fixnvpe
