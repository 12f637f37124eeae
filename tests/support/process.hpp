#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// Other programs, run as a user's shell would: src/os has no door for that, since fixnvpe runs none.
namespace fixnvpe::test {

/// Where a program's standard output goes.
enum class Sink {
    captured,
    closed_pipe,  ///< a pipe whose reader has gone
    full_disk,    ///< /dev/full
    none,         ///< there is no standard output at all
};

struct ProcessRequest {
    std::vector<std::string> words;                       ///< the program and its arguments; no shell sees them
    std::filesystem::path folder = {};                    ///< where it runs; empty: here
    std::map<std::string, std::string> environment = {};  ///< beside our own; an empty value takes the variable away
    Sink standard_output = Sink::captured;
    std::chrono::seconds limit{120};  ///< then it is killed
};

struct ProcessResult {
    int exit_status = 0;  ///< 128 and the signal's number where a signal ended it; 127 where it could not be started
    std::string out;
    std::string err;
    /// Bytes of memory at the most, 0 where the system does not tell. On Linux never less than what we had
    /// ourselves when we started it.
    std::uint64_t peak_memory = 0;
};

/// Runs a program to its end, with nothing on its standard input.
/// @throws std::system_error if there are no pipes or processes to be had
[[nodiscard]] ProcessResult run_process(const ProcessRequest& request);

}  // namespace fixnvpe::test
