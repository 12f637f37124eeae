#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

namespace fixnvpe {

/// One line on standard error that tells how far the copies are, redrawn a few times a second: all files
/// that are being copied at once taken together. Shows nothing unless it is enabled.
class ProgressLine {
public:
    explicit ProgressLine(bool enabled);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Thread-safe. @param done, total bytes
    void update(const std::filesystem::path& path, std::uint64_t done, std::uint64_t total);

private:
    using Clock = std::chrono::steady_clock;
    struct Copy {
        std::uint64_t done = 0;
        std::uint64_t total = 0;
    };

    void draw(const std::filesystem::path& path);

    bool enabled_;
    bool drawn_ = false;
    std::mutex mutex_;
    std::map<std::filesystem::path, Copy> copies_;
    Clock::time_point started_;
    Clock::time_point last_drawn_;
};

}  // namespace fixnvpe
