#pragma once

#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/transaction.hpp"

namespace fixnvpe {

/// Carries out a decision to restore.
/// @param moved gets the new name of a broken DLL
/// @throws Error as patch_file
void restore_file(const Findings& seen, const Decision& decision, const CopyProgress& progress,
                  std::vector<std::filesystem::path>& moved);

/// The DLL is missing, and its backup is there: a crash between two renames. Renames it back.
/// @throws Error no_backup, link, busy, access_denied, io
void put_back_missing(const std::filesystem::path& dll);

}  // namespace fixnvpe
