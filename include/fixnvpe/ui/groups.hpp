#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/find/python_env.hpp"

/// Files by the package and the folder that they belong to.
namespace fixnvpe {

/// One of them.
struct Member {
    std::string package;         ///< with its version; empty: of none
    std::filesystem::path path;  ///< of the file
    std::uint64_t weight = 0;
};

struct Group {
    std::string package;
    std::string folder;                ///< in an environment below its site-packages or prefix, else as it was named
    std::vector<std::size_t> members;  ///< their places in what was given
    std::uint64_t weight = 0;          ///< of all
};

/// The heaviest group first, and in it the heaviest member; else in the order given.
[[nodiscard]] std::vector<Group> grouped(const std::vector<Member>& members,
                                         const std::optional<PythonEnvironment>& environment);

}  // namespace fixnvpe
