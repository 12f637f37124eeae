#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_scripts.hpp"

namespace fixnvpe {
namespace {

std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

/// ":N:_files" and the like.
std::string action_of(const OptionWords& word) {
    const std::string message = ":" + escaped(word.takes == Takes::choice ? word.name : word.value, "\\:");
    switch (word.takes) {
        case Takes::nothing: return "";
        case Takes::choice: return fmt::format("{}:({})", message, fmt::join(word.choices, " "));
        case Takes::folder: return message + ":_files -/";
        case Takes::file: return message + ":_files";
        case Takes::other: return message + ": ";
    }
    return {};
}

/// An argument of _arguments for each spelling: '(-j --jobs)-j+[Files worked on at once]:N: '.
std::string specs_of(const OptionWords& option) {
    const bool takes_value = option.takes != Takes::nothing;
    // One that takes a file can be given again.
    const std::string excluded = option.takes == Takes::file ? "*"
                                 : option.letter.empty()     ? ""
                                                             : fmt::format("({} {})", option.letter, option.name);
    const std::string rest = fmt::format("[{}]{}", escaped(option.help, "\\[]:"), action_of(option));
    std::string specs;
    if (!option.letter.empty()) {
        specs += " \\\n        " + in_quotes(excluded + option.letter + (takes_value ? "+" : "") + rest);
    }
    return specs + " \\\n        " + in_quotes(excluded + option.name + (takes_value ? "=" : "") + rest);
}

/// A call of _arguments.
std::string arguments_of(const CommandWords& command) {
    std::string call = "_arguments -s -S";
    for (const OptionWords& option : command.options) {
        call += specs_of(option);
    }
    for (const OptionWords& operand : command.operands) {
        call += " \\\n        " + in_quotes((operand.takes == Takes::file ? "*" : "") + action_of(operand));
    }
    return call;
}

}  // namespace

std::string zsh_completion(const ProgramWords& program) {
    std::string described;
    std::string cases;
    for (const CommandWords& command : program.commands) {
        described += "        " + in_quotes(command.name + ":" + escaped(command.help, "\\:")) + "\n";
        cases += fmt::format("    {}) {} ;;\n", command.name, arguments_of(command));
    }
    return fmt::format(R"(#compdef fixnvpe

_fixnvpe() {{
    local curcontext=$curcontext state line
    local -a commands=(
{}    )
    {} \
        -C '1:command:->command' '*:: :->rest' && return
    if [[ $state == command ]]; then
        _describe command commands
        return
    fi
    case $line[1] in
{}    esac
}}

# Run as the function of this name, from a folder of $fpath; or read by source or eval.
if [[ $funcstack[1] == _fixnvpe ]]; then
    _fixnvpe "$@"
else
    compdef _fixnvpe fixnvpe
fi
)",
                       described, arguments_of({"", "", program.options, {}, ""}), cases);
}

}  // namespace fixnvpe
