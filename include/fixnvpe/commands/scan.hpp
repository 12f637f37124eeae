#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/patch/examine.hpp"

namespace fixnvpe {

/// Counts what the relocations of a DLL that loses its ASLR, or has lost it, cost each process: the one place that
/// reads more of a file than its headers.
void count_relocations(FileOutcome& outcome, const Findings& findings);

}  // namespace fixnvpe
