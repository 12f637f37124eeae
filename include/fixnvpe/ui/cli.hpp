#pragma once

#include <string>
#include <vector>

namespace fixnvpe {

/// The whole program from its arguments to its exit status. The only place that knows CLI11.
/// @param arguments without the program's name: UTF-8 on Windows, bytes elsewhere
/// @return an ExitStatus
[[nodiscard]] int run_cli(const std::vector<std::string>& arguments);

}  // namespace fixnvpe
