#include "fixnvpe/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "fixnvpe/commands.hpp"
#include "fixnvpe/log.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/pe_reader.hpp"
#include "fixnvpe/progress.hpp"
#include "fixnvpe/report.hpp"

namespace fixnvpe {
namespace {

enum class Color { automatic, always, never };

/// Everything that the command line can say.
struct Options {
    Request request;
    ReportStyle style;
    std::vector<std::string> inputs;
    Color color = Color::automatic;
    bool json = false;
    bool no_progress = false;
};

constexpr const char* DESCRIPTION =
    "Makes CUDA DLLs stop eating the Windows page file: patches the DLLs whose GPU code lies in a writable\n"
    "section (.nv_fatb), so that each process no longer commits memory for it.\n";

constexpr const char* TARGET_HELP =
    "A file, a folder (searched to the bottom for *.dll, *.pyd and *.node) or a glob (*, ?, [...], **)";

constexpr const char* EXIT_STATUS_HELP =
    "Exit status:\n"
    "  0    done, or nothing to do\n"
    "  1    verify found a file that needs patching\n"
    "  2    an error: usage, no match, or at least one file failed or was refused\n"
    "  130  interrupted\n";

template <typename Enum>
void add_choice(CLI::App& app, const std::string& name, Enum& value, const std::map<std::string, Enum>& choices,
                const std::string& text, const std::string& help) {
    app.add_option(name, value, help)->transform(CLI::CheckedTransformer(choices))->option_text(text);
}

void add_common(CLI::App& app, Options& options) {
    app.add_flag("--json", options.json, "Print one JSON document instead of text");
    app.add_flag("-v,--verbose", options.style.verbose, "Also show what was passed over, and each changed field");
    app.add_flag("-q,--quiet", options.style.quiet, "Show only what is a problem");
    add_choice(app, "--color", options.color,
               {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}}, "auto|always|never",
               "Colors; auto: on a terminal, unless NO_COLOR is set");
    app.add_flag("--no-progress", options.no_progress, "No progress line during long copies");
}

void add_targets(CLI::App& app, Options& options) {
    app.add_option("TARGET", options.request.targets, TARGET_HELP)->option_text("...");
    app.add_option("--input", options.inputs, "Another way to give a target, as fixNvPe.py has it")->option_text("GLOB");
}

void add_aslr(CLI::App& app, Options& options, const std::string& help) {
    add_choice(app, "--aslr", options.request.aslr,
               {{"auto", AslrPolicy::automatic}, {"keep", AslrPolicy::keep}, {"clear", AslrPolicy::clear}},
               "auto|keep|clear", help);
}

CLI::App& add_command(CLI::App& app, Options& options, Command command, const std::string& help,
                      const std::string& examples) {
    CLI::App& sub = *app.add_subcommand(std::string(to_string(command)), help);
    sub.callback([&options, command] { options.request.command = command; });
    sub.footer("Examples:\n" + examples + "\n" + EXIT_STATUS_HELP);
    add_targets(sub, options);
    add_common(sub, options);
    return sub;
}

void add_commands(CLI::App& app, Options& options) {
    Request& request = options.request;

    CLI::App& patch = add_command(app, options, Command::patch,
                                  "Clear DYNAMIC_BASE, drop MEM_WRITE on .nv_fatb, keep a backup",
                                  "  fixnvpe patch \"C:\\Python310\\Lib\\site-packages\\torch\\lib\\*.dll\"\n"
                                  "  fixnvpe patch --dry-run torch/lib\n"
                                  "  fixnvpe patch --backup undo --aslr keep torch/lib\n");
    patch.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    add_aslr(patch, options,
             "auto (default): clear DYNAMIC_BASE in the files whose .nv_fatb is writable; keep: never touch it; "
             "clear: clear it in every file that has .nv_fatb, as fixNvPe.py did");
    add_choice(patch, "--backup", request.backup,
               {{"full", BackupMode::full}, {"undo", BackupMode::undo}, {"none", BackupMode::none}}, "full|undo|none",
               "full (default): NAME.bak, the original file; undo: NAME.fixnvpe-undo, a few hundred bytes that hold "
               "the changed fields, and the file is edited in place; none: neither");
    patch.add_flag("--skip-signed", request.skip_signed, "Leave signed files alone");
    patch.add_option("-j,--jobs", request.jobs, "Files worked on at once")
        ->check(CLI::Range(1U, 64U))
        ->option_text("N");

    CLI::App& verify = add_command(app, options, Command::verify, "Report each file's status; write nothing",
                                   "  fixnvpe verify torch/lib\n"
                                   "  fixnvpe verify --json torch/lib\n"
                                   "  fixnvpe verify --require-backup torch/lib\n");
    add_aslr(verify, options, "Judge by this policy: auto (default), keep or clear; see fixnvpe patch --help");
    verify.add_flag("--skip-signed", request.skip_signed, "Do not ask for signed files to be patched");
    verify.add_flag("--require-backup", request.require_backup, "A patched file without a valid backup fails, too");

    CLI::App& restore = add_command(app, options, Command::restore, "Put the originals back",
                                    "  fixnvpe restore torch/lib\n"
                                    "  fixnvpe restore --keep-backup torch/lib/torch_cuda.dll\n");
    restore.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    restore.add_flag("--keep-backup", request.keep_backup, "Keep the backup");
}

/// fixNvPe.py has no commands: `fixnvpe --input GLOB` means patch.
std::vector<std::string> with_command(const CLI::App& app, std::vector<std::string> arguments) {
    const auto is_command = [&](const std::string& argument) {
        const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
        return std::any_of(subcommands.begin(), subcommands.end(),
                           [&](const CLI::App* sub) { return sub->get_name() == argument; });
    };
    const auto is_input = [](const std::string& argument) {
        return argument == "--input" || argument.rfind("--input=", 0) == 0;
    };
    if (std::any_of(arguments.begin(), arguments.end(), is_input) &&
        std::none_of(arguments.begin(), arguments.end(), is_command)) {
        arguments.insert(arguments.begin(), std::string(to_string(Command::patch)));
    }
    return arguments;
}

[[noreturn]] void usage(const std::string& message, const std::string& hint) {
    throw Error(ErrorCode::usage, message, hint);
}

/// Reads the command line into options. @return the exit status if there is nothing more to do
std::optional<ExitStatus> parse(const std::vector<std::string>& arguments, Options& options) {
    CLI::App app(DESCRIPTION, "fixnvpe");
    app.set_version_flag("--version", fmt::format("fixnvpe {} ({})", FIXNVPE_VERSION, reader_name()));
    app.allow_windows_style_options(false);  // "/models/x.dll" is a path, there as here
    app.require_subcommand(0, 1);
    app.footer("`fixnvpe COMMAND --help` has the options of each. `fixnvpe --input GLOB` means patch.\n\n" +
               std::string(EXIT_STATUS_HELP));
    add_common(app, options);
    add_commands(app, options);

    std::vector<std::string> words = with_command(app, arguments);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(words);
    } catch (const CLI::CallForVersion& version) {
        os::write(os::Stream::standard_output, std::string(version.what()) + "\n");
        return ExitStatus::ok;
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        os::write(os::Stream::standard_output, chosen.empty() ? app.help() : chosen.front()->help());
        return ExitStatus::ok;
    } catch (const CLI::ParseError& error) {
        const auto chosen = app.get_subcommands();
        usage(error.what(), fmt::format("see fixnvpe {}--help", chosen.empty() ? "" : chosen.front()->get_name() + " "));
    }
    if (app.get_subcommands().empty()) {
        os::write(os::Stream::standard_error, app.help());
        return ExitStatus::error;
    }
    auto& targets = options.request.targets;
    targets.insert(targets.end(), options.inputs.begin(), options.inputs.end());
    if (targets.empty()) {
        usage(fmt::format("{}: no target", to_string(options.request.command)),
              "name a file, a folder or a glob, such as torch/lib");
    }
    if (options.style.quiet && options.style.verbose) {
        usage("--quiet and --verbose exclude each other", "leave one of them out");
    }
    return std::nullopt;
}

bool use_color(Color color, os::Stream stream) {
    switch (color) {
        case Color::always: return true;
        case Color::never: return false;
        case Color::automatic: return os::is_terminal(stream) && !os::environment("NO_COLOR");
    }
    return false;
}

}  // namespace

int run_cli(const std::vector<std::string>& arguments) {
    Options options;
    if (const auto status = parse(arguments, options)) {
        return static_cast<int>(*status);
    }
    options.style.color = use_color(options.color, os::Stream::standard_output);
    log::start(options.style.verbose, use_color(options.color, os::Stream::standard_error));
    log::debug("reader: " + reader_name());

    Result result;
    {
        ProgressLine line(!options.no_progress && !options.style.quiet && os::is_terminal(os::Stream::standard_error));
        result = run(options.request, [&](const auto& path, auto done, auto total) { line.update(path, done, total); });
    }
    for (const Message& message : report_messages(result, options.style)) {
        message.level == Message::Level::error ? log::error(message.text) : log::warning(message.text);
    }
    const std::string report =
        options.json ? report_json(result, options.style) : report_text(result, options.style);
    if (!os::write(os::Stream::standard_output, report)) {
        throw Error(ErrorCode::io, "standard output: write failed", "is the disk full?");
    }
    return static_cast<int>(result.exit_status);
}

}  // namespace fixnvpe
