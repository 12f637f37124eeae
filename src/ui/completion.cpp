#include "fixnvpe/ui/completion.hpp"

#include <algorithm>
#include <set>

#include "completion_scripts.hpp"

namespace fixnvpe {

std::vector<CommandWords> with_own(const ProgramWords& program) {
    std::vector<CommandWords> commands{{"", program.help, program.options, {}, program.notes}};
    commands.insert(commands.end(), program.commands.begin(), program.commands.end());
    return commands;
}

std::vector<std::string> command_names(const ProgramWords& program) {
    std::vector<std::string> names;
    for (const CommandWords& command : program.commands) {
        names.push_back(command.name);
    }
    return names;
}

std::vector<std::string> spellings_of(const OptionWords& option) {
    return option.letter.empty() ? std::vector{option.name} : std::vector{option.letter, option.name};
}

std::vector<std::string> spellings_of(const CommandWords& command) {
    std::vector<std::string> names;
    for (const OptionWords& option : command.options) {
        const std::vector<std::string> spellings = spellings_of(option);
        names.insert(names.end(), spellings.begin(), spellings.end());
    }
    return names;
}

std::vector<std::string> options_with_value(const ProgramWords& program) {
    std::set<std::string> names;
    for (const CommandWords& command : with_own(program)) {
        for (const OptionWords& option : command.options) {
            if (option.takes != Takes::nothing) {
                const std::vector<std::string> spellings = spellings_of(option);
                names.insert(spellings.begin(), spellings.end());
            }
        }
    }
    return {names.begin(), names.end()};
}

const OptionWords* choice_operand(const CommandWords& command) {
    const auto found = std::find_if(command.operands.begin(), command.operands.end(),
                                    [](const OptionWords& operand) { return operand.takes == Takes::choice; });
    return found == command.operands.end() ? nullptr : &*found;
}

std::string escaped(std::string_view text, std::string_view characters) {
    std::string result;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) {
            result += '\\';
        }
        result += c;
    }
    return result;
}

std::string completion_script(Shell shell, const ProgramWords& program) {
    switch (shell) {
        case Shell::bash: return bash_completion(program);
        case Shell::zsh: return zsh_completion(program);
        case Shell::fish: return fish_completion(program);
        case Shell::powershell: return powershell_completion(program);
    }
    return {};
}

}  // namespace fixnvpe
