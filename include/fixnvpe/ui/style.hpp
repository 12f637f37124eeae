#pragma once

#include <optional>

#include "fixnvpe/patch/policy.hpp"

namespace fixnvpe {

/// How a summary is shown.
struct ReportStyle {
    Policy policy;                  ///< that was asked for
    bool verbose = false;           ///< also what was passed over, and every edit
    bool quiet = false;             ///< only what is a problem
    bool color = false;             ///< escape sequences for a terminal
    std::optional<unsigned> width;  ///< columns of the terminal; without one, lines are as long as they are
    bool blocks = false;            ///< it has the block elements of Unicode
};

}  // namespace fixnvpe
