#include "fixnvpe/ui/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/ui/arguments.hpp"
#include "fixnvpe/ui/completion.hpp"
#include "help_texts.hpp"

// Last: with CLI11 2.6 it brings Windows's macros.
#include <CLI/CLI.hpp>

namespace fixnvpe {
namespace {

/// Where CLI11 puts what it has read.
struct Reading {
    CommandLine line;
    std::vector<std::string> inputs;
    std::string env;
    MeasureRequest measure;
    Shell shell = Shell::bash;
};

/// Fits the help into 80 columns.
class Help : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override {
        constexpr std::size_t columns = 50;
        return fmt::format("{}", fmt::join(wrap(option->get_description(), columns), "\n"));
    }
};

/// CLI11 2.5 and later would break the lines of our examples anew.
template <typename Formatter>
std::shared_ptr<Formatter> with_own_lines(std::shared_ptr<Formatter> formatter) {
    if constexpr (requires { formatter->enable_footer_formatting(false); }) {
        formatter->enable_footer_formatting(false);
        formatter->enable_description_formatting(false);
    }
    return formatter;
}

/// An option with one of an enum's words.
template <typename Enum>
CLI::Option& add_choice(CLI::App& app, const std::string& name, Enum& value, const std::string& help) {
    std::string text;
    for (const auto& [choice, word] : names_of<Enum>) {
        text += text.empty() ? "" : "|";
        text += word;
    }
    const auto check = [text](const std::string& word) {
        return from_string<Enum>(word) ? std::string() : fmt::format("\"{}\" is none of {}", word, text);
    };
    const auto take = [&value](const std::string& word) { value = *from_string<Enum>(word); };
    return *app.add_option_function<std::string>(name, take, help)->check(CLI::Validator(check, ""))->option_text(text);
}

void add_common(CLI::App& app, Reading& reading) {
    app.add_flag("--json", reading.line.json, "Print one JSON document instead of text");
    app.add_flag("-v,--verbose", reading.line.style.verbose, "Also show what was passed over, and each changed field");
    app.add_flag("-q,--quiet", reading.line.style.quiet,
                 "Show only what is a problem, and in one line what was changed");
    add_choice(app, "--color", reading.line.color, "Colors; auto: on a terminal, unless NO_COLOR is set");
    app.add_flag("--no-progress", reading.line.no_progress, "No progress line during long copies");
}

void add_targets(CLI::App& app, Reading& reading) {
    app.add_option("TARGET", reading.line.request.targets, TARGET_HELP)->option_text("...");
    app.add_option("--env", reading.env,
                   "Without a TARGET: the Python environment (venv, conda or plain), instead of the active one")
        ->option_text("DIR");
    app.add_option("--package", reading.line.request.packages,
                   "Without a TARGET: only the files that this package lists; may be repeated")
        ->allow_extra_args(false)
        ->option_text("NAME");
    app.add_option("--input", reading.inputs, "Another way to give a target, as fixNvPe.py has it")
        ->option_text("GLOB");
}

void add_exclude(CLI::App& app, Reading& reading) {
    app.add_option("--exclude", reading.line.request.excluded, EXCLUDE_HELP)
        ->allow_extra_args(false)
        ->option_text("WORD");
}

void add_workers(CLI::App& app, Reading& reading) {
    app.add_option_function<unsigned>(
           "--workers", [&reading](unsigned count) { reading.line.request.workers = count; },
           "Also say what that is with N DataLoader workers, each a process beside the first")
        ->check(CLI::Range(0U, 4096U))
        ->option_text("N");
}

CLI::App& add_command(CLI::App& app, Reading& reading, Command command, const std::string& help,
                      const std::string& examples) {
    CLI::App& sub = *app.add_subcommand(std::string(to_string(command)), help);
    sub.callback([&reading, command] { reading.line.request.policy.command = command; });
    sub.footer("Examples:\n" + examples + "\n" + EXIT_STATUS_HELP);
    add_targets(sub, reading);
    add_common(sub, reading);
    return sub;
}

void add_commands(CLI::App& app, Reading& reading) {
    Request& request = reading.line.request;

    CLI::App& patch =
        add_command(app, reading, Command::patch,
                    "Clear DYNAMIC_BASE, drop MEM_WRITE on .nv_fatb and __nv_rel, keep a backup", PATCH_EXAMPLES);
    add_exclude(patch, reading);
    patch.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    add_choice(patch, "--aslr", request.policy.aslr, ASLR_HELP);
    add_choice(patch, "--data", request.policy.data, DATA_HELP);
    add_choice(patch, "--backup", request.policy.backup, BACKUP_HELP);
    patch.add_flag("--skip-signed", request.policy.skip_signed, "Leave signed files alone");
    add_workers(patch, reading);
    patch.add_option("-j,--jobs", request.jobs, "Files worked on at once (default: 4)")
        ->check(CLI::Range(1U, 64U))
        ->option_text("N");

    CLI::App& verify =
        add_command(app, reading, Command::verify, "Report each file's status; write nothing", VERIFY_EXAMPLES);
    add_choice(verify, "--aslr", request.policy.aslr, JUDGE_BY_ASLR_HELP);
    add_choice(verify, "--data", request.policy.data,
               "Judge by this policy: keep (default) or split; see fixnvpe patch --help");
    add_exclude(verify, reading);
    verify.add_flag("--skip-signed", request.policy.skip_signed, "Do not ask for signed files to be patched");
    add_workers(verify, reading);
    verify.add_flag("--require-backup", request.policy.require_backup,
                    "A patched file without a valid backup fails, too");

    CLI::App& restore = add_command(app, reading, Command::restore, "Put the originals back", RESTORE_EXAMPLES);
    restore.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    restore.add_flag("--keep-backup", request.policy.keep_backup, "Keep the backup");

    CLI::App& scan =
        add_command(app, reading, Command::scan,
                    "What the DLLs cost per process, and what patching would save; write nothing", SCAN_EXAMPLES);
    add_choice(scan, "--aslr", request.policy.aslr, JUDGE_BY_ASLR_HELP);
    add_exclude(scan, reading);
    add_workers(scan, reading);

    CLI::App& clean =
        add_command(app, reading, Command::clean, "Remove backups that are no longer needed", CLEAN_EXAMPLES);
    clean.add_flag("-n,--dry-run", request.dry_run, "Say what would be done, write nothing");
    clean.add_flag("--backups", request.policy.clean_usable,
                   "Also the backups that restore could use, and all that may be of another build");
}

/// Not a command that works on files, so not one of Command.
void add_completion(CLI::App& app, Reading& reading) {
    CLI::App& completion =
        *app.add_subcommand("completion", "Print the script by which a shell completes commands, options and values");
    add_choice(completion, "SHELL", reading.shell, "The shell that reads the script").required();
    completion.footer(COMPLETION_HELP);
}

/// Of processes, and not of files.
void add_measure(CLI::App& app, Reading& reading) {
    CLI::App& measure = *app.add_subcommand("measure", "What running processes really commit (Windows)");
    measure.add_option("PID", reading.measure.processes, "A process. None: all that have CUDA DLLs loaded")
        ->option_text("...");
    measure.add_flag("--watch", reading.measure.watch, "Once more every second, until Ctrl-C");
    measure.footer(MEASURE_HELP);
    add_common(measure, reading);
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
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

Takes takes_of(const CLI::Option& option) {
    const std::string& value = option.get_option_text();
    if (option.get_items_expected_max() == 0) {
        return Takes::nothing;
    }
    if (value.find('|') != std::string::npos) {
        return Takes::choice;
    }
    if (value == "DIR") {
        return Takes::folder;
    }
    return value == "GLOB" || option.get_positional() ? Takes::file : Takes::other;
}

OptionWords words_of(const CLI::Option& option) {
    OptionWords words;
    words.help = option.get_description();
    words.takes = takes_of(option);
    if (words.takes == Takes::choice) {
        words.choices = CLI::detail::split(option.get_option_text(), '|');
    }
    if (option.get_positional()) {
        words.name = option.get_name(true, false);
        words.value = Help().make_option_usage(&option);
        return words;
    }
    words.name = "--" + option.get_lnames().front();
    words.letter = option.get_snames().empty() ? "" : "-" + option.get_snames().front();
    words.value = option.get_option_text();
    return words;
}

CommandWords words_of(const CLI::App& command) {
    CommandWords words{command.get_name(), command.get_description(), {}, {}, command.get_footer()};
    for (const CLI::Option* option : command.get_options()) {
        (option->get_positional() ? words.operands : words.options).push_back(words_of(*option));
    }
    return words;
}

ProgramWords program_words_of(const CLI::App& app) {
    const CommandWords own = words_of(app);
    ProgramWords program{own.help, own.options, {}, own.notes};
    for (const CLI::App* command : commands_of(app)) {
        program.commands.push_back(words_of(*command));
    }
    return program;
}

/// CLI11 names the words that it did not expect behind a colon.
std::string hint_for(const CLI::App& app, const std::vector<std::string>& arguments) {
    if (std::find(arguments.begin(), arguments.end(), "--all") != arguments.end()) {
        return "without a TARGET all packages of the environment are taken; fixnvpe clean --backups also removes the "
               "backups that restore could use";
    }
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    const std::vector<std::string> known = option_names(command);
    for (const std::string& argument : arguments) {
        const std::string word = argument.substr(0, argument.find('='));
        if (word.rfind("--", 0) == 0 && std::find(known.begin(), known.end(), word) == known.end()) {
            if (std::string hint = suggestion(word, known); !hint.empty()) {
                return hint;
            }
        }
    }
    return chosen.empty() ? "see fixnvpe --help" : fmt::format("see fixnvpe {} --help", command.get_name());
}

void build(CLI::App& app, Reading& reading) {
    app.formatter(with_own_lines(std::make_shared<Help>()));
    app.set_version_flag("--version", fmt::format("fixnvpe {} ({})", FIXNVPE_VERSION, reader_name()));
    app.allow_windows_style_options(false);  // "/models/x.dll" is a path, there as here
    app.require_subcommand(0, 1);
    app.footer(
        "`fixnvpe COMMAND --help` has the options of each. `fixnvpe --input GLOB` means patch.\n"
        "`fixnvpe completion --help` says how to have the Tab key complete them.\n\n" +
        std::string(EXIT_STATUS_HELP));
    add_common(app, reading);
    add_commands(app, reading);
    add_measure(app, reading);
    add_completion(app, reading);
}

bool takes_value(const CLI::App& app, std::string_view name) {
    const auto found = app.get_options([&](const CLI::Option* option) {
        return option->get_items_expected_max() > 0 && option->check_name(std::string(name));
    });
    return !found.empty();
}

Grammar grammar_of(const CLI::App& app) {
    Grammar grammar;
    grammar.quotes_in_names = std::filesystem::path::preferred_separator != '\\';
    grammar.commands = command_names(app);
    grammar.takes_files = [](std::string_view command) { return from_string<Command>(command).has_value(); };
    grammar.takes_value = [&app](std::string_view name) {
        const auto commands = commands_of(app);
        return takes_value(app, name) || std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
                   return takes_value(*command, name);
               });
    };
    return grammar;
}

std::string unmarked(std::string text) {
    std::erase(text, PATH_MARK);
    return text;
}

/// A path, as it was typed.
std::string taken(const std::string& marked) {
    return marked.starts_with(PATH_MARK) ? marked.substr(1) : marked;
}

[[noreturn]] void usage(const std::string& message, const std::string& hint) {
    throw Error(ErrorCode::usage, message, hint);
}

/// What CLI11 can't say of options.
CommandLine finished(Reading reading) {
    CommandLine& line = reading.line;
    std::vector<std::string>& targets = line.request.targets;
    targets.insert(targets.end(), reading.inputs.begin(), reading.inputs.end());
    if (!reading.env.empty()) {
        line.request.env = taken(reading.env);
    }
    for (std::vector<std::string>* words : {&targets, &line.request.packages, &line.request.excluded}) {
        std::transform(words->begin(), words->end(), words->begin(), taken);
    }
    if (!targets.empty() && (line.request.env || !line.request.packages.empty())) {
        usage("a TARGET and an environment (--env, --package) exclude each other", "leave one of them out");
    }
    if (line.style.quiet && line.style.verbose) {
        usage("--quiet and --verbose exclude each other", "leave one of them out");
    }
    line.style.policy = line.request.policy;
    return std::move(reading.line);
}

CommandLine finished_measure(Reading reading) {
    const MeasureRequest& measure = reading.measure;
    if (!measure.command.empty() && (!measure.processes.empty() || measure.watch)) {
        usage("a COMMAND, and a PID or --watch, exclude each other", "leave one of them out");
    }
    if (measure.watch && reading.line.json) {
        usage("--watch and --json exclude each other", "leave one of them out");
    }
    reading.line.measure = std::move(reading.measure);
    return std::move(reading.line);
}

}  // namespace

bool wants_json(const std::vector<std::string>& arguments) {
    Reading reading;
    CLI::App app;
    build(app, reading);
    return has_flag(arguments, "--json", grammar_of(app));
}

ProgramWords program_words() {
    Reading reading;
    CLI::App app(DESCRIPTION, "fixnvpe");
    build(app, reading);
    return program_words_of(app);
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
    Reading reading;
    CLI::App app(DESCRIPTION, "fixnvpe");
    build(app, reading);
    std::vector<std::string> own = arguments;
    reading.measure.command = take_command_of_measure(own, grammar_of(app));
    std::vector<std::string> words = prepared_for_cli11(own, grammar_of(app));
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(words);
    } catch (const CLI::CallForVersion& version) {
        reading.line.text = std::string(version.what()) + "\n";
        return reading.line;
    } catch (const CLI::CallForHelp&) {
        reading.line.text = app.help();
        return reading.line;
    } catch (const CLI::ParseError& error) {
        usage(unmarked(error.what()), hint_for(app, arguments));
    }
    if (app.get_subcommands().empty()) {
        reading.line.text = app.help();
        reading.line.no_command = true;
        return reading.line;
    }
    if (app.got_subcommand("completion")) {
        reading.line.text = completion_script(reading.shell, program_words_of(app));
        return reading.line;
    }
    return app.got_subcommand("measure") ? finished_measure(std::move(reading)) : finished(std::move(reading));
}

}  // namespace fixnvpe
