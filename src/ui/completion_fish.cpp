#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_scripts.hpp"

namespace fixnvpe {
namespace {

std::string in_quotes(std::string_view text) {
    return "'" + escaped(text, "\\'") + "'";
}

std::string line(std::string_view command, const std::string& rest) {
    return fmt::format("complete -c fixnvpe -n '__fixnvpe_command_is {}' {}\n", command.empty() ? "\"\"" : command,
                       rest);
}

std::string action_of(const OptionWords& word) {
    switch (word.takes) {
        case Takes::nothing: return "";
        case Takes::choice: return fmt::format(" -x -a {}", in_quotes(fmt::format("{}", fmt::join(word.choices, " "))));
        case Takes::folder: return " -x -a '(__fish_complete_directories)'";
        case Takes::file: return " -r -F";
        case Takes::other: return " -x";
    }
    return {};
}

std::string option_line(const CommandWords& command, const OptionWords& option) {
    const std::string letter = option.letter.empty() ? "" : fmt::format("-s {} ", option.letter.substr(1));
    return line(command.name, fmt::format("{}-l {}{} -d {}", letter, option.name.substr(2), action_of(option),
                                          in_quotes(option.help)));
}

}  // namespace

std::string fish_completion(const ProgramWords& program) {
    std::string lines;
    for (const CommandWords& command : program.commands) {
        lines += line("", fmt::format("-f -a {} -d {}", command.name, in_quotes(command.help)));
    }
    for (const CommandWords& command : with_own(program)) {
        if (const OptionWords* operand = choice_operand(command)) {
            lines += line(command.name, "-f -a " + in_quotes(fmt::format("{}", fmt::join(operand->choices, " "))));
        }
        for (const OptionWords& option : command.options) {
            lines += option_line(command, option);
        }
    }
    return fmt::format(R"(# fish completion for fixnvpe

# Is this the command that was typed? "": none was.
function __fixnvpe_command_is
    set -l words (commandline -opc)
    set -l command ''
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case {}
                set -e words[1]
            case '-*'
            case '*'
                set command $words[1]
                break
        end
        set -e words[1]
    end
    test "$command" = "$argv[1]"
end

{})",
                       fmt::join(options_with_value(program), " "), lines);
}

}  // namespace fixnvpe
