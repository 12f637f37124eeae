#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/commands/request.hpp"

namespace fixnvpe {

/// What is told while a request is carried out.
struct Listener {
    /// From several threads at once, during long copies: the file, its bytes done and in all.
    std::function<void(const std::filesystem::path& path, std::uint64_t done, std::uint64_t total)> progress =
        [](const auto&...) {};
    /// Once, before the first copy: what the backups take.
    std::function<void(const std::vector<DiskNeed>& disk)> before_copies = [](const auto&...) {};
};

/// Carries out a request: finds the files, works on each, adds everything up. A file's failure is its outcome, and the
/// others are worked on all the same. After Ctrl-C the files not yet begun are not in the summary, but counted.
/// @throws Error no_match if there is no Python environment where one is needed
[[nodiscard]] Summary run(const Request& request, const Listener& listener);

}  // namespace fixnvpe
