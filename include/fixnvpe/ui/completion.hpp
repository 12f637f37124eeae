#pragma once

#include <string>
#include <vector>

namespace fixnvpe {

struct OptionWords {
    std::string name;                 ///< "--dry-run" and the like
    std::string help;
    std::vector<std::string> values;  ///< those that it takes, where they are few
    bool takes_value = false;
};

/// What can be typed behind one command.
struct CommandWords {
    std::string name;
    std::string help;
    std::vector<OptionWords> options;
};

/// A script for bash: eval "$(fixnvpe completion bash)".
[[nodiscard]] std::string bash_completion(const std::vector<CommandWords>& commands);

/// A script for PowerShell: fixnvpe completion powershell | Out-String | Invoke-Expression.
[[nodiscard]] std::string powershell_completion(const std::vector<CommandWords>& commands);

}  // namespace fixnvpe
