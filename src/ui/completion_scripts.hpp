#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fixnvpe/ui/command_words.hpp"

// What completion.cpp chooses from.
namespace fixnvpe {

[[nodiscard]] std::string bash_completion(const ProgramWords& program);
[[nodiscard]] std::string zsh_completion(const ProgramWords& program);
[[nodiscard]] std::string fish_completion(const ProgramWords& program);
[[nodiscard]] std::string powershell_completion(const ProgramWords& program);

/// The commands, and before them one without a name: what can be typed without a command.
[[nodiscard]] std::vector<CommandWords> with_own(const ProgramWords& program);

[[nodiscard]] std::vector<std::string> command_names(const ProgramWords& program);

/// "--dry-run", "-n": all that can be typed behind this command.
[[nodiscard]] std::vector<std::string> spellings_of(const CommandWords& command);
[[nodiscard]] std::vector<std::string> spellings_of(const OptionWords& option);

/// The options of any command behind which a value stands, each once.
[[nodiscard]] std::vector<std::string> options_with_value(const ProgramWords& program);

/// The operand that is one of a few words; null if the command has none.
[[nodiscard]] const OptionWords* choice_operand(const CommandWords& command);

/// The text with a backslash before each of these characters.
[[nodiscard]] std::string escaped(std::string_view text, std::string_view characters);

}  // namespace fixnvpe
