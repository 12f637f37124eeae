#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/find/environment.hpp"

namespace fixnvpe {

/// Commit from which on a file without GPU code is worth a line, too: bytes in each process.
inline constexpr std::uint64_t LARGE_COMMIT = std::uint64_t{8} << 20;

/// Says of each file that is worth a line which package lists it. Where none is, no record is read.
void attribute(Summary& summary, Environments& environments);

}  // namespace fixnvpe
