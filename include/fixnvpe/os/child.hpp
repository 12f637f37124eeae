#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fixnvpe::os {

/// A program that was started, with all that it starts. Windows alone knows them (a job); elsewhere none can be
/// started.
class Child {
public:
    /// @param words the program, looked for as the shell does, and its arguments; no shell sees them
    /// @param output_to_error its standard output goes where its standard error goes
    /// @throws Error not_found, access_denied, io
    Child(const std::vector<std::string>& words, bool output_to_error);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Of it and of those that it started, as far as they still run.
    [[nodiscard]] std::vector<std::uint32_t> processes() const;
    /// @return whether it has ended by then
    bool wait(std::chrono::milliseconds limit);
    /// Once it has ended.
    [[nodiscard]] int exit_status() const;
    /// The most that all together had committed at one time, in bytes.
    [[nodiscard]] std::uint64_t peak_commit() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fixnvpe::os
