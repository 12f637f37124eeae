#pragma once

#include <string>
#include <vector>

namespace fixnvpe {

/// What an option or an operand takes.
enum class Takes { nothing, choice, file, folder, other };

struct OptionWords {
    std::string name;    ///< "--dry-run"; of an operand, "TARGET"
    std::string letter;  ///< "-n"; empty: it has none
    std::string help;
    Takes takes = Takes::nothing;
    std::string value;                 ///< how the help calls what it takes: "DIR", "auto|keep|clear"
    std::vector<std::string> choices;  ///< those that it takes, where they are few
};

/// What can be typed behind one command.
struct CommandWords {
    std::string name;
    std::string help;
    std::vector<OptionWords> options;
    std::vector<OptionWords> operands;
    std::string
        notes;  ///< what its help has below the options: a line that ends in a colon heads those indented below it
};

/// What can be typed, and the help on it: what completion scripts and the manual page are made of.
struct ProgramWords {
    std::string help;
    std::vector<OptionWords> options;  ///< those that need no command
    std::vector<CommandWords> commands;
    std::string notes;
};

}  // namespace fixnvpe
