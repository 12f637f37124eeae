#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/find/environment.hpp"
#include "fixnvpe/find/targets.hpp"

namespace fixnvpe {

/// Says of each file with which others one process can load it.
void part_into_scopes(Summary& summary, const std::vector<Target>& targets, Environments& environments);

/// Adds up each scope, as add_up() does all files.
void add_up_scopes(Summary& summary);

/// Patched files of one scope that share a preferred base collide in each process without ASLR.
void warn_of_shared_bases(Summary& summary);

}  // namespace fixnvpe
