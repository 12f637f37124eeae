#include "fixnvpe/ui/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <string>

#include "fixnvpe/os/process.hpp"

namespace fixnvpe::log {
namespace {

/// The streams that spdlog has sinks for take bytes, and a Windows console wants characters: so each line goes
/// out by the same door as all other output. Lines end alike everywhere.
class StandardErrorSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    StandardErrorSink()
        : base_sink(
              std::make_unique<spdlog::pattern_formatter>("fixnvpe: %^%v%$", spdlog::pattern_time_type::local, "\n")) {}

    void set_color(bool color) { color_ = color; }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        std::string text(line.data(), line.size());
        if (color_ && message.color_range_end > message.color_range_start) {
            text.insert(message.color_range_end, "\x1b[0m");
            text.insert(message.color_range_start, color_of(message.level));
        }
        os::write(os::Stream::standard_error, text);
    }
    void flush_() override {}

private:
    static const char* color_of(spdlog::level::level_enum level) {
        switch (level) {
            case spdlog::level::err: return "\x1b[31m\x1b[1m";
            case spdlog::level::warn: return "\x1b[33m\x1b[1m";
            default: return "\x1b[36m";
        }
    }

    bool color_ = false;
};

/// Made at the first word, and not before main().
spdlog::logger& logger() {
    static const auto instance = std::make_shared<spdlog::logger>("fixnvpe", std::make_shared<StandardErrorSink>());
    return *instance;
}

}  // namespace

void start(bool verbose, bool color) {
    static_cast<StandardErrorSink&>(*logger().sinks().front()).set_color(color);
    logger().set_level(verbose ? spdlog::level::debug : spdlog::level::info);
}

void debug(std::string_view text) {
    logger().debug(text);
}

void info(std::string_view text) {
    logger().info(text);
}

void warning(std::string_view text) {
    logger().warn(text);
}

void error(std::string_view text) {
    logger().error(text);
}

}  // namespace fixnvpe::log
