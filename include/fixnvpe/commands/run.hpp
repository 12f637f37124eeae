#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"

namespace fixnvpe {

/// Carries out a request: finds the files, works on each, adds everything up. A file's failure is its outcome, and the
/// others are worked on all the same. After Ctrl-C the files not yet begun are not in the summary, but counted.
/// @throws Error no_match if there is no Python environment where one is needed
[[nodiscard]] Summary run(const Request& request, const Progress& progress);

}  // namespace fixnvpe
