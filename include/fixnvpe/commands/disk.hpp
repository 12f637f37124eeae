#pragma once

#include <vector>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/find/targets.hpp"

namespace fixnvpe {

/// What the backups of this patch will take on each file system. Where one clones, they take nothing.
/// @throws Error disk_full where one has less: nothing is begun then
void look_up_disk(const std::vector<Target>& targets, const Request& request, Summary& summary);

}  // namespace fixnvpe
