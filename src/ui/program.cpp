#include "fixnvpe/ui/program.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "fixnvpe/commands/measure.hpp"
#include "fixnvpe/commands/run.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/ui/cli.hpp"
#include "fixnvpe/ui/log.hpp"
#include "fixnvpe/ui/progress.hpp"
#include "fixnvpe/ui/report_json.hpp"
#include "fixnvpe/ui/report_measure.hpp"
#include "fixnvpe/ui/report_text.hpp"

namespace fixnvpe {
namespace {

/// What could not be written can't be told there either.
struct OutputError : Error {
    using Error::Error;
};

void must_be_written(const std::optional<Error>& error) {
    if (error) {
        throw OutputError(ErrorCode::io, "standard output: " + error->message(), error->hint());
    }
}

void print(const std::string& text) {
    must_be_written(os::write(os::Stream::standard_output, text));
}

void print_json(const Summary& summary, const ReportStyle& style) {
    constexpr std::size_t enough = std::size_t{1} << 16;
    std::string buffer;
    report_json(summary, style, [&](std::string_view piece) {
        buffer += piece;
        if (buffer.size() >= enough) {
            print(buffer);
            buffer.clear();
        }
    });
    print(buffer);
}

bool use_color(Color color, os::Stream stream) {
    switch (color) {
        case Color::always: return true;
        case Color::never: return false;
        case Color::automatic: return os::is_terminal(stream) && !os::environment("NO_COLOR");
    }
    return false;
}

void say_all(const Summary& summary, const ReportStyle& style) {
    for (const Message& message : messages_of(summary, style)) {
        say(message);
    }
}

ExitStatus carry_out(CommandLine& line) {
    line.style.color = use_color(line.color, os::Stream::standard_output);
    line.style.width = os::terminal_width(os::Stream::standard_output);
    line.style.blocks = os::has_block_elements();
    log::start(line.style.verbose, use_color(line.color, os::Stream::standard_error));
    log::debug("reader: " + reader_name());

    Summary summary;
    {
        ProgressLine progress(!line.no_progress && !line.style.quiet && os::is_terminal(os::Stream::standard_error));
        const auto say_disk = [&](const std::vector<DiskNeed>& disk) {
            if (const std::string needed = disk_needed(disk); !line.style.quiet && !needed.empty()) {
                say({Message::Level::info, {}, "the backups take " + needed, {}});
            }
        };
        summary = run(line.request,
                      {[&](const auto& path, auto done, auto total) { progress.update(path, done, total); }, say_disk});
    }
    if (line.json) {
        say_all(summary, line.style);
        print_json(summary, line.style);
        return summary.exit_status;
    }
    // What went wrong is said below the report, and also where that can't be written.
    const auto unwritten = os::write(os::Stream::standard_output, report_text(summary, line.style));
    say_all(summary, line.style);
    must_be_written(unwritten);
    return summary.exit_status;
}

/// Once more every second, in place on a terminal.
int watch(const CommandLine& line) {
    using namespace std::chrono_literals;
    constexpr std::string_view home_and_erase = "\x1b[H\x1b[J";
    const bool in_place = os::is_terminal(os::Stream::standard_output);
    while (!os::interrupted()) {
        const std::string text = report_measure(measure(*line.measure), line.style);
        print(in_place ? std::string(home_and_erase) + text : text + "\n");
        for (int i = 0; i < 10 && !os::interrupted(); ++i) {
            std::this_thread::sleep_for(100ms);
        }
    }
    return static_cast<int>(ExitStatus::interrupted);
}

int carry_out_measure(CommandLine& line) {
    line.style.width = os::terminal_width(os::Stream::standard_output);
    log::start(line.style.verbose, use_color(line.color, os::Stream::standard_error));
    if (line.measure->watch) {
        return watch(line);
    }
    const Measurement measurement =
        line.measure->command.empty() ? measure(*line.measure) : measure_command(*line.measure, line.json);
    const int status = measurement.command_exit_status.value_or(static_cast<int>(ExitStatus::ok));
    print(line.json ? measure_json(measurement, status) : report_measure(measurement, line.style));
    return status;
}

ExitStatus status_of_failure() {
    return os::interrupted() ? ExitStatus::interrupted : ExitStatus::error;
}

}  // namespace

void say(const Message& message) {
    const std::string text = fitted(message, os::terminal_width(os::Stream::standard_error));
    switch (message.level) {
        case Message::Level::info: log::info(text); break;
        case Message::Level::warning: log::warning(text); break;
        case Message::Level::error: log::error(text); break;
    }
}

int run_program(const std::vector<std::string>& arguments) {
    std::string command;
    try {
        CommandLine line = parse_command_line(arguments);
        if (line.no_command) {
            os::write(os::Stream::standard_error, line.text);
            os::keep_window_open();
            if (line.json) {
                print(json_of_failure({}, Error(ErrorCode::usage, "no command"), ExitStatus::error));
            }
            return static_cast<int>(ExitStatus::error);
        }
        if (!line.text.empty()) {
            print(line.text);
            return static_cast<int>(ExitStatus::ok);
        }
        if (line.measure) {
            command = "measure";
            return carry_out_measure(line);
        }
        command = to_string(line.request.policy.command);
        return static_cast<int>(carry_out(line));
    } catch (const OutputError&) {
        throw;
    } catch (const Error& error) {
        if (wants_json(arguments)) {
            print(json_of_failure(command, error, status_of_failure()));
        }
        throw;
    }
}

}  // namespace fixnvpe
