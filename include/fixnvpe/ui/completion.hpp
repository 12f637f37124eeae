#pragma once

#include <string>

#include "fixnvpe/base/names.hpp"
#include "fixnvpe/ui/command_words.hpp"

namespace fixnvpe {

enum class Shell { bash, zsh, fish, powershell };

template <>
inline constexpr auto names_of<Shell> = names<Shell>({
    {Shell::bash, "bash"},
    {Shell::zsh, "zsh"},
    {Shell::fish, "fish"},
    {Shell::powershell, "powershell"},
});

/// The script by which a shell completes commands, options, the values of options that have few, and files elsewhere.
[[nodiscard]] std::string completion_script(Shell shell, const ProgramWords& program);

}  // namespace fixnvpe
