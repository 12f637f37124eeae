#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/pe_builder.hpp"

namespace fixnvpe::test {

/// What is known of one section besides its header.
struct ShapeSection {
    /// An unbroken chain of fat binaries, from offset 0 of the section.
    struct Run {
        std::uint32_t offset = 0;
        std::uint32_t size = 0;  ///< bytes
    };
    std::uint32_t relocations = 0;  ///< how many base relocations lie in it
    std::vector<Run> runs;          ///< those of 64 KiB and more
};

/// What is known of one real CUDA DLL: a line of testdata/shapes.jsonl or testdata/real.jsonl. The latter know of each
/// section what ShapeSection says; of the former it is not known.
struct Shape {
    std::string name;  ///< package, version and file
    std::string file_name;
    PeSpec spec;                         ///< its headers; the sections hold nothing
    std::vector<ShapeSection> sections;  ///< as spec.sections
    std::uint64_t file_size = 0;
    std::uint32_t check_sum = 0;
    bool check_sum_right = false;
    std::uint64_t commit_now = 0;    ///< bytes, counted by another program
    std::uint64_t commit_saved = 0;  ///< what .nv_fatb and __nv_rel contribute to that

    /// Its headers and size, and where the real file has them fat binaries (each run is one, with the header that
    /// makes it so, and zeros) and base relocations (as many in each section, outside of the runs; not the same
    /// places). All else is zeros.
    [[nodiscard]] TestFile file() const;
};

/// All of them. @throws std::exception
[[nodiscard]] std::vector<Shape> read_shapes();

}  // namespace fixnvpe::test
