#pragma once

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/find/environment.hpp"
#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/patch/decide.hpp"

/// Backups whose DLL is gone: with its package, by an upgrade, or by a mishap.
namespace fixnvpe {

/// What the packages around it say of a DLL that is not there.
[[nodiscard]] Installed installed_around(const std::filesystem::path& dll, Environments& environments);

/// Makes targets of the DLLs that are missing beside a backup that was found; what they are is then decided.
void add_missing(Targets& targets, Environments& environments);

/// Moves what is decided to be gone for good from the files to the orphans.
void part_orphans(Summary& summary);

}  // namespace fixnvpe
