#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fixnvpe/commands/measured.hpp"

namespace fixnvpe {

struct MeasureRequest {
    std::vector<std::uint32_t> processes;  ///< their ids; none: all that have GPU code loaded
    std::vector<std::string> command;      ///< to be run and measured; none: what runs already
    bool watch = false;                    ///< once more every second, until Ctrl-C
};

/// One look at the system and at these processes. @throws Error no_match, where one that was named can't be read;
/// refused, where the system keeps no commit charge
[[nodiscard]] Measurement measure(const MeasureRequest& request);

/// Runs the command to its end. Each process is as it was when it had committed most.
/// @param output_to_error what the command prints goes to standard error
/// @throws Error as measure() and os::Child
[[nodiscard]] Measurement measure_command(const MeasureRequest& request, bool output_to_error);

}  // namespace fixnvpe
