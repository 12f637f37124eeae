#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/os/memory.hpp"
#include "fixnvpe/patch/status.hpp"

/// What running processes have committed, and what follows from it. Pure: values of os/memory.hpp in, words of ui out.
namespace fixnvpe {

/// One image of a process that has GPU code, or much in writable pages.
struct MeasuredImage {
    std::filesystem::path file;
    std::uint64_t writable = 0;       ///< bytes in writable pages: as the system counts, else as the regions say
    std::uint64_t gpu_writable = 0;   ///< bytes of them in sections of GPU code
    std::uint64_t gpu_read_only = 0;  ///< bytes of such sections that cost nothing
    std::optional<Status> on_disk;    ///< of the file as it is now; nothing where it can't be read
    /// Patched on disk, but loaded before.
    [[nodiscard]] bool needs_restart() const { return on_disk == Status::patched && gpu_writable != 0; }
};

struct MeasuredProcess {
    std::uint32_t id = 0;
    std::string name;                   ///< "python.exe"
    std::string script;                 ///< "train.py", "-m torch.distributed.run"; empty: not known
    std::uint64_t private_commit = 0;   ///< bytes
    std::uint64_t peak_commit = 0;      ///< bytes
    std::vector<MeasuredImage> images;  ///< the largest gain first

    [[nodiscard]] std::uint64_t gpu_writable() const;
    /// Bytes, as far as the system tells: some count no images (Wine).
    [[nodiscard]] std::uint64_t committed() const;
    [[nodiscard]] bool has_gpu_code() const;
};

struct Measurement {
    os::SystemMemory system;
    std::vector<MeasuredProcess> processes;     ///< the largest first, by committed()
    std::size_t unreadable = 0;                 ///< processes that may not be read
    std::optional<int> command_exit_status;     ///< of COMMAND, once it has ended
    std::optional<std::uint64_t> command_peak;  ///< bytes that COMMAND and what it started had committed at once
};

/// What all that means.
struct Verdict {
    std::uint64_t left = 0;            ///< bytes of the limit
    std::uint64_t patching_frees = 0;  ///< bytes in all processes, once patched and started again
    std::uint64_t restart_frees = 0;   ///< bytes of DLLs that are patched already
    std::uint64_t freed = 0;           ///< bytes that patched DLLs do not cost
    std::uint64_t largest_rest = 0;    ///< bytes that the largest process has committed beside writable CUDA code
    /// How many more processes like the largest fit; nothing without processes.
    std::optional<std::uint64_t> more_now;
    std::optional<std::uint64_t> more_after;  ///< once all is patched and started again
};
[[nodiscard]] Verdict judge(const Measurement& measurement);

/// The images of a process that matter, and what of them lies in sections of GPU code. `on_disk` is left empty.
[[nodiscard]] MeasuredProcess measured(const os::ProcessMemory& memory);

/// What a command line of python's runs: "train.py", "-m torch.distributed.run", "-c"; empty if it can't be told.
[[nodiscard]] std::string script_of(const std::string& command_line);

}  // namespace fixnvpe
