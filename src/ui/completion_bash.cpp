#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_scripts.hpp"

namespace fixnvpe {
namespace {

std::string action_of(const OptionWords& option) {
    switch (option.takes) {
        case Takes::choice: return fmt::format("words='{}'", fmt::join(option.choices, " "));
        case Takes::folder: return "compopt -o filenames -o dirnames";
        case Takes::file: return "compopt -o default";
        case Takes::nothing:
        case Takes::other: break;
    }
    return ":";
}

/// What completes the word behind an option that takes a value.
std::string value_cases(const ProgramWords& program) {
    std::string cases;
    for (const CommandWords& command : with_own(program)) {
        for (const OptionWords& option : command.options) {
            if (option.takes == Takes::nothing) {
                continue;
            }
            std::vector<std::string> patterns;
            for (const std::string& spelling : spellings_of(option)) {
                patterns.push_back(fmt::format("'{} {}'", command.name, spelling));
            }
            cases += fmt::format("        {}) {} ;;\n", fmt::join(patterns, " | "), action_of(option));
        }
    }
    return cases;
}

/// What completes any other word.
std::string word_cases(const ProgramWords& program) {
    std::string cases;
    for (const CommandWords& command : with_own(program)) {
        cases +=
            fmt::format("                {}/-*) words='{}' ;;\n", command.name, fmt::join(spellings_of(command), " "));
        if (const OptionWords* operand = choice_operand(command)) {
            cases +=
                fmt::format("                {}/*) words='{}' ;;\n", command.name, fmt::join(operand->choices, " "));
        }
    }
    return cases + fmt::format("                /*) words='{}' ;;\n", fmt::join(command_names(program), " "));
}

}  // namespace

std::string bash_completion(const ProgramWords& program) {
    return fmt::format(R"(# bash completion for fixnvpe

_fixnvpe() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' words='' i
    # bash has "--option=value" as three words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${{COMP_WORDS[i]}} in
            --) command=-- && break ;;
            {})
                ((++i))
                [[ ${{COMP_WORDS[i]}} == = ]] && ((++i)) ;;
            -*) ;;
            *) command=${{command:-${{COMP_WORDS[i]}}}} ;;
        esac
    done
    case "$command $before" in
{}        *)
            case $command/$word in
{}                *) compopt -o default ;;
            esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F _fixnvpe fixnvpe fixnvpe.exe
)",
                       fmt::join(options_with_value(program), " | "), value_cases(program), word_cases(program));
}

}  // namespace fixnvpe
