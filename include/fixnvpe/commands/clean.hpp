#pragma once

#include "fixnvpe/commands/run.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/find/targets.hpp"

namespace fixnvpe {

/// Decides over one of our own files, and removes it if it is no longer needed: a backup or an undo file of
/// another build, an undo file none of whose edits is carried out, a leftover temporary. With `clean_all` also
/// what a patched file could be restored from. What may be the only whole copy of a DLL is only reported
/// without `clean_all`; what a half-done edit needs always stays.
/// @throws Error busy, link, changed, access_denied, io
void clean(Outcome& outcome, const OwnFile& own, const Request& request);

}  // namespace fixnvpe
