#pragma once

#include <filesystem>
#include <vector>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {

/// All that was found of ours beside one DLL.
struct SidecarGroup {
    std::filesystem::path dll;
    std::optional<os::FileIdentity> folder;  ///< where they were found
    Installed installed;                     ///< where the DLL is missing
    std::vector<SidecarPlace> sidecars;
};

/// Removes what decide() lets go, under the DLL's lock. Whatever goes wrong is in the outcomes.
[[nodiscard]] std::vector<CleanOutcome> clean(const SidecarGroup& group, const Request& request,
                                              const CopyProgress& progress);

}  // namespace fixnvpe
