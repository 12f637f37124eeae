#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/patch/policy.hpp"

namespace fixnvpe {

/// What the user asks for.
struct Request {
    Policy policy;
    std::vector<std::string> targets;   ///< files, folders and globs, as given; none: all DLLs of a Python environment
    std::optional<std::string> env;     ///< without targets: the environment to take, not the active one
    std::vector<std::string> packages;  ///< without targets: only what these list; none: all
    std::vector<std::string> excluded;  ///< patch, verify, scan: globs and packages that are passed over
    bool dry_run = false;               ///< patch, restore, clean: decide, and write nothing
    unsigned jobs = 4;                  ///< patch: files worked on at once; of 1, 2 and 4 the fastest
    std::optional<unsigned> workers;    ///< DataLoader workers, each a process beside the first; empty: not asked about
};

}  // namespace fixnvpe
