#include "fixnvpe/ui/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "fixnvpe/commands/run.hpp"
#include "fixnvpe/ui/completion.hpp"
#include "fixnvpe/ui/log.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/ui/progress.hpp"
#include "fixnvpe/ui/report.hpp"
#include "fixnvpe/base/text.hpp"

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
    bool clean_stale = false;  // the default; only there to be said
    std::string completion_shell;
};

constexpr const char* DESCRIPTION =
    "Makes CUDA DLLs stop eating the Windows page file: patches the DLLs whose GPU code lies in a writable\n"
    "section (.nv_fatb), so that each process no longer commits memory for it.\n";

constexpr const char* TARGET_HELP =
    "A file, a folder (searched to the bottom for *.dll, *.pyd and *.node) or a glob (*, ?, [...], **). None: the DLLs "
    "in torch/lib of the active Python environment";

constexpr const char* EXIT_STATUS_HELP =
    "Exit status:\n"
    "  0    done, or nothing to do\n"
    "  1    verify found a file that needs patching\n"
    "  2    an error: usage, no match, or at least one file failed or was refused\n"
    "  130  interrupted\n";

/// Fits the help into 80 columns.
std::string wrapped(const std::string& help) {
    constexpr std::size_t columns = 50;
    return fmt::format("{}", fmt::join(wrap(help, columns), "\n"));
}

/// An option with one of a few words. @param text the words as the help shows them: "auto|keep|clear"
template <typename Enum>
void add_choice(CLI::App& app, const std::string& name, Enum& value, const std::map<std::string, Enum>& choices,
                const std::string& text, const std::string& help) {
    const auto choose = [&value, choices, name, text](const std::string& word) {
        const auto choice = choices.find(word);
        if (choice == choices.end()) {
            throw CLI::ValidationError(name, fmt::format("\"{}\" is none of {}", word, text));
        }
        value = choice->second;
    };
    app.add_option_function<std::string>(name, choose, wrapped(help))->option_text(text);
}

void add_common(CLI::App& app, Options& options) {
    app.add_flag("--json", options.json, "Print one JSON document instead of text");
    app.add_flag("-v,--verbose", options.style.verbose, wrapped("Also show what was passed over, and each changed field"));
    app.add_flag("-q,--quiet", options.style.quiet, "Show only what is a problem");
    add_choice(app, "--color", options.color,
               {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}}, "auto|always|never",
               "Colors; auto: on a terminal, unless NO_COLOR is set");
    app.add_flag("--no-progress", options.no_progress, "No progress line during long copies");
}

void add_targets(CLI::App& app, Options& options) {
    app.add_option("TARGET", options.request.targets, wrapped(TARGET_HELP))->option_text("...");
    app.add_option("--env", options.request.env,
                   wrapped("Without a TARGET: the Python environment (venv, conda or plain), instead of the active one"))
        ->option_text("DIR");
    app.add_option("--input", options.inputs, wrapped("Another way to give a target, as fixNvPe.py has it"))->option_text("GLOB");
}

void add_all_packages(CLI::App& app, Options& options) {
    app.add_flag("--all", options.request.all_packages,
                 wrapped("Without a TARGET: every DLL of the environment's site-packages, not only torch/lib"));
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
                                  "  fixnvpe patch\n"
                                  "  fixnvpe patch \"C:\\Python310\\Lib\\site-packages\\torch\\lib\\*.dll\"\n"
                                  "  fixnvpe patch --dry-run torch/lib\n"
                                  "  fixnvpe patch --backup undo --aslr keep torch/lib\n");
    add_all_packages(patch, options);
    patch.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    add_aslr(patch, options,
             "auto (default): clear DYNAMIC_BASE in the files whose .nv_fatb is writable; keep: never touch it; "
             "clear: clear it in every file that has .nv_fatb, as fixNvPe.py did");
    add_choice(patch, "--backup", request.backup,
               {{"full", BackupMode::full}, {"undo", BackupMode::undo}, {"none", BackupMode::none}}, "full|undo|none",
               "full (default): NAME.bak, the original file; undo: NAME.fixnvpe-undo, a few hundred bytes that hold "
               "the changed fields, and the file is edited in place; none: neither");
    patch.add_flag("--skip-signed", request.skip_signed, "Leave signed files alone");
    patch.add_option("-j,--jobs", request.jobs, "Files worked on at once (default: 4)")
        ->check(CLI::Range(1U, 64U))
        ->option_text("N");

    CLI::App& verify = add_command(app, options, Command::verify, "Report each file's status; write nothing",
                                   "  fixnvpe verify\n"
                                   "  fixnvpe verify --json torch/lib\n"
                                   "  fixnvpe verify --require-backup torch/lib\n");
    add_aslr(verify, options, "Judge by this policy: auto (default), keep or clear; see fixnvpe patch --help");
    add_all_packages(verify, options);
    verify.add_flag("--skip-signed", request.skip_signed, "Do not ask for signed files to be patched");
    verify.add_flag("--require-backup", request.require_backup, wrapped("A patched file without a valid backup fails, too"));

    CLI::App& restore = add_command(app, options, Command::restore, "Put the originals back",
                                    "  fixnvpe restore\n"
                                    "  fixnvpe restore --keep-backup torch/lib/torch_cuda.dll\n");
    add_all_packages(restore, options);
    restore.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    restore.add_flag("--keep-backup", request.keep_backup, "Keep the backup");

    CLI::App& scan = add_command(app, options, Command::scan,
                                 "What the DLLs cost per process, and what patching would save; write nothing",
                                 "  fixnvpe scan\n"
                                 "  fixnvpe scan --workers 16 torch/lib\n");
    add_aslr(scan, options, "Judge by this policy: auto (default), keep or clear; see fixnvpe patch --help");
    add_all_packages(scan, options);
    scan.add_option("--workers", options.style.workers, wrapped("DataLoader workers, each a process beside the first (default: 8)"))
        ->check(CLI::Range(0U, 4096U))
        ->option_text("N");

    CLI::App& clean = add_command(app, options, Command::clean,
                                  "Remove backups that are no longer needed",
                                  "  fixnvpe clean --dry-run\n"
                                  "  fixnvpe clean --all torch/lib\n");
    clean.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    CLI::Option* stale = clean.add_flag("--stale", options.clean_stale, "Only what no DLL needs any more (default)");
    clean.add_flag("--all", request.clean_all, "Also the backups that restore could use")->excludes(stale);
}

/// Not a command that works on files, so not one of Command.
void add_completion(CLI::App& app, Options& options) {
    CLI::App& completion = *app.add_subcommand("completion", "Print a completion script for bash or powershell");
    completion.add_option("SHELL", options.completion_shell, "bash or powershell")
        ->required()
        ->check(CLI::IsMember(std::set<std::string>{"bash", "powershell"}));
    completion.footer("Examples:\n"
                      "  eval \"$(fixnvpe completion bash)\"\n"
                      "  fixnvpe completion powershell | Out-String | Invoke-Expression\n");
}

[[noreturn]] void usage(const std::string& message, const std::string& hint) {
    throw Error(ErrorCode::usage, message, hint);
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

/// How many letters have to be put in, left out or changed to get from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row[b.size()];
}

/// "did you mean --json?", or nothing if no word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
    constexpr std::size_t near = 2;
    const auto nearest = std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) {
        return distance(word, a) < distance(word, b);
    });
    return nearest != words.end() && distance(word, *nearest) <= near ? fmt::format("did you mean {}?", *nearest)
                                                                      : std::string();
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
    }
    return names;
}

/// "--dry-run" and the like.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
    std::vector<CommandWords> commands;
    for (const CLI::App* command : commands_of(app)) {
        commands.push_back({command->get_name(), option_names(*command)});
    }
    return shell == "bash" ? bash_completion(commands) : powershell_completion(commands);
}

/// The first word that is no option decides over what all others mean, so it is looked at before CLI11 does:
/// `help COMMAND` is `COMMAND --help`, and fixNvPe.py's `--input GLOB` alone is `patch --input GLOB`.
std::vector<std::string> with_command(const CLI::App& app, std::vector<std::string> arguments) {
    const std::vector<std::string> names = command_names(app);
    const auto is_name = [&](const std::string& word) {
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    const auto is_input = [](const std::string& word) { return word == "--input" || word.rfind("--input=", 0) == 0; };
    if (std::none_of(arguments.begin(), arguments.end(), is_name) &&
        std::any_of(arguments.begin(), arguments.end(), is_input)) {
        arguments.insert(arguments.begin(), std::string(to_string(Command::patch)));
        return arguments;
    }
    if (!arguments.empty() && arguments.front() == "help") {
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    if (!arguments.empty() && arguments.front().rfind('-', 0) != 0 && !is_name(arguments.front())) {
        const std::string& word = arguments.front();
        std::string hint = suggestion(word, names);
        if (hint.empty()) {
            hint = fmt::format("the commands are {}; to patch a file: fixnvpe patch FILE", fmt::join(names, ", "));
        }
        usage(fmt::format("there is no command \"{}\"", word), hint);
    }
    return arguments;
}

/// CLI11 names the words that it did not expect behind a colon.
std::string hint_for(const CLI::App& app, const std::vector<std::string>& arguments) {
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    const std::vector<std::string> known = option_names(command);
    for (const std::string& argument : arguments) {
        const std::string word = argument.substr(0, argument.find('='));
        if (word.rfind("--", 0) == 0 && std::find(known.begin(), known.end(), word) == known.end()) {
            if (const std::string hint = suggestion(word, known); !hint.empty()) {
                return hint;
            }
        }
    }
    return chosen.empty() ? "see fixnvpe --help" : fmt::format("see fixnvpe {} --help", command.get_name());
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
    add_completion(app, options);

    std::vector<std::string> words = with_command(app, arguments);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(words);
    } catch (const CLI::CallForVersion& version) {
        os::write(os::Stream::standard_output, std::string(version.what()) + "\n");
        return ExitStatus::ok;
    } catch (const CLI::CallForHelp&) {
        os::write(os::Stream::standard_output, app.help());
        return ExitStatus::ok;
    } catch (const CLI::ParseError& error) {
        usage(error.what(), hint_for(app, arguments));
    }
    if (app.get_subcommands().empty()) {
        os::write(os::Stream::standard_error, app.help());
        return ExitStatus::error;
    }
    if (!options.completion_shell.empty()) {
        os::write(os::Stream::standard_output, completion_script(app, options.completion_shell));
        return ExitStatus::ok;
    }
    auto& targets = options.request.targets;
    targets.insert(targets.end(), options.inputs.begin(), options.inputs.end());
    if (!targets.empty() && (options.request.env || options.request.all_packages)) {
        usage("a TARGET and an environment (--env, --all) exclude each other", "leave one of them out");
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
    options.style.width = os::terminal_width(os::Stream::standard_output);
    log::start(options.style.verbose, use_color(options.color, os::Stream::standard_error));
    log::debug("reader: " + reader_name());

    Result result;
    {
        ProgressLine line(!options.no_progress && !options.style.quiet && os::is_terminal(os::Stream::standard_error));
        result = run(options.request, [&](const auto& path, auto done, auto total) { line.update(path, done, total); });
    }
    for (const Message& message : report_messages(result, options.style)) {
        switch (message.level) {
            case Message::Level::info: log::info(message.text); break;
            case Message::Level::warning: log::warning(message.text); break;
            case Message::Level::error: log::error(message.text); break;
        }
    }
    const std::string report =
        options.json ? report_json(result, options.style) : report_text(result, options.style);
    if (!os::write(os::Stream::standard_output, report)) {
        throw Error(ErrorCode::io, "standard output: write failed", "is the disk full?");
    }
    return static_cast<int>(result.exit_status);
}

}  // namespace fixnvpe
