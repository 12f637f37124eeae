#pragma once

#include <string>
#include <vector>

namespace fixnvpe {

/// What can be typed behind one command.
struct CommandWords {
    std::string name;
    std::vector<std::string> options;  ///< "--dry-run" and the like
};

/// A script for bash: eval "$(fixnvpe completion bash)".
[[nodiscard]] std::string bash_completion(const std::vector<CommandWords>& commands);

/// A script for PowerShell: fixnvpe completion powershell | Out-String | Invoke-Expression.
[[nodiscard]] std::string powershell_completion(const std::vector<CommandWords>& commands);

}  // namespace fixnvpe
