#include "fixnvpe/ui/progress.hpp"

#include <fmt/format.h>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/process.hpp"

namespace fixnvpe {
namespace {

using namespace std::chrono_literals;

/// Before this a copy is too short to be worth a line.
constexpr auto QUIET_TIME = 500ms;
constexpr auto REDRAW_TIME = 100ms;
constexpr const char* ERASE_LINE = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled), started_(Clock::now()), last_drawn_(started_) {}

ProgressLine::~ProgressLine() {
    if (drawn_) {
        os::write(os::Stream::standard_error, ERASE_LINE);
    }
}

void ProgressLine::update(const std::filesystem::path& path, std::uint64_t done, std::uint64_t total) {
    if (!enabled_) {
        return;
    }
    const std::scoped_lock lock(mutex_);
    copies_[path] = {done, total};
    const auto now = Clock::now();
    if (now - started_ >= QUIET_TIME && now - last_drawn_ >= REDRAW_TIME) {
        last_drawn_ = now;
        draw(path);
    }
}

void ProgressLine::draw(const std::filesystem::path& path) {
    Copy sum;
    for (const auto& [name, copy] : copies_) {
        sum.done += copy.done;
        sum.total += copy.total;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    const double rate = static_cast<double>(sum.done) / seconds;
    const double left = rate > 0 ? static_cast<double>(sum.total - sum.done) / rate : 0;
    std::string line =
        fmt::format("copied {} of {}, {}/s, {:.0f} s left: {}", human_size(sum.done), human_size(sum.total),
                    human_size(static_cast<std::uint64_t>(rate)), left, printable_path(path.filename()));
    // A line that wraps can't be redrawn.
    const auto width = os::terminal_width(os::Stream::standard_error);
    if (width && line.size() >= *width) {
        line = fmt::format("copied {} of {}", human_size(sum.done), human_size(sum.total));
    }
    os::write(os::Stream::standard_error, ERASE_LINE + line);
    drawn_ = true;
}

}  // namespace fixnvpe
