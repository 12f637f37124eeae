#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {

/// What is looked at of one DLL.
[[nodiscard]] Query query_of(const Target& target, const Request& request);

/// One DLL, from the look at it to the last byte written: examine, decide, execute. Whatever goes wrong is in the
/// outcome; in a dry run nothing is executed.
[[nodiscard]] FileOutcome work_on(const Target& target, const Request& request, const CopyProgress& progress);

}  // namespace fixnvpe
