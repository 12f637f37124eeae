#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/pe_builder.hpp"

namespace fixnvpe::test {

/// What is known of the headers of one real CUDA DLL: a line of testdata/shapes.jsonl.
struct Shape {
    std::string name;  ///< package, version and file
    PeSpec spec;       ///< its headers; the sections hold nothing
    std::uint64_t file_size = 0;
    std::uint32_t check_sum = 0;
    bool check_sum_right = false;
    std::uint64_t commit_now = 0;  ///< bytes, counted by another program
    std::uint64_t commit_saved = 0;

    /// Its headers, and nothing behind them but its size.
    [[nodiscard]] TestFile file() const;
};

/// All of them. @throws std::exception
[[nodiscard]] std::vector<Shape> read_shapes();

}  // namespace fixnvpe::test
