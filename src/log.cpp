#include "fixnvpe/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace fixnvpe::log {
namespace {

/// Made at the first word, and not before main().
spdlog::logger& logger() {
    static const auto instance = [] {
        auto made = std::make_shared<spdlog::logger>("fixnvpe", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
                                                                    spdlog::color_mode::never));
        made->set_pattern("fixnvpe: %^%v%$");
        return made;
    }();
    return *instance;
}

}  // namespace

void start(bool verbose, bool color) {
    auto& sink = static_cast<spdlog::sinks::stderr_color_sink_mt&>(*logger().sinks().front());
    sink.set_color_mode(color ? spdlog::color_mode::always : spdlog::color_mode::never);
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
