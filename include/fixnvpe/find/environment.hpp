#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "fixnvpe/find/python_env.hpp"
#include "fixnvpe/find/record.hpp"

namespace fixnvpe {

/// The Python environments that files lie in, found by looking upwards from their folders. Each folder is looked at
/// once, and records are read only when they are asked for.
class Environments {
public:
    /// @param chosen the one that all files are of, where no target was named
    explicit Environments(std::optional<PythonEnvironment> chosen = {}) : chosen_(std::move(chosen)) {}

    /// The prefix of the environment that a folder lies in; empty if it lies in none.
    [[nodiscard]] std::filesystem::path around(const std::filesystem::path& folder);
    /// The records of that environment; empty ones if it lies in none.
    [[nodiscard]] const Records& records_around(const std::filesystem::path& folder);

private:
    const std::filesystem::path& look_upwards(const std::filesystem::path& folder);

    std::optional<PythonEnvironment> chosen_;
    std::map<std::filesystem::path, std::filesystem::path> prefixes_;  ///< of folders, without links
    std::map<std::filesystem::path, Records> records_;                 ///< by prefix
};

}  // namespace fixnvpe
