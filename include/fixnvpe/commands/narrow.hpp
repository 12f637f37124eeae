#pragma once

#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/find/environment.hpp"
#include "fixnvpe/find/targets.hpp"

namespace fixnvpe {

/// Leaves of the targets what --package asks for and --exclude does not name; what that names is among the skipped.
/// @throws Error no_match for a package that is not installed
void narrow(Targets& targets, const Request& request, Environments& environments);

}  // namespace fixnvpe
