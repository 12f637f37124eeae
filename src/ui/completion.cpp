#include "fixnvpe/ui/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fixnvpe {
namespace {

std::string names_of(const std::vector<CommandWords>& commands) {
    std::string names;
    for (const CommandWords& command : commands) {
        names += (names.empty() ? "" : " ") + command.name;
    }
    return names;
}

std::string options_of(const CommandWords& command) {
    std::string names;
    for (const OptionWords& option : command.options) {
        names += (names.empty() ? "" : " ") + option.name;
    }
    return names;
}

}  // namespace

std::string bash_completion(const std::vector<CommandWords>& commands) {
    std::string cases;
    for (const CommandWords& command : commands) {
        cases += fmt::format("        {}) options='{}' ;;\n", command.name, options_of(command));
    }
    return fmt::format(R"(_fixnvpe() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} options=--help
    if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then
        COMPREPLY=($(compgen -W '{}' -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    else
        local IFS=$'\n'
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _fixnvpe fixnvpe
)",
                       names_of(commands), cases);
}

std::string powershell_completion(const std::vector<CommandWords>& commands) {
    std::string table;
    for (const CommandWords& command : commands) {
        table += fmt::format("        '{}' = '{}'\n", command.name, options_of(command));
    }
    return fmt::format(R"(Register-ArgumentCompleter -Native -CommandName fixnvpe, fixnvpe.exe -ScriptBlock {{
    param($word, $ast, $position)
    $options = @{{
{}    }}
    $typed = @($ast.CommandElements | ForEach-Object {{ $_.ToString() }})
    $known = $typed.Count -gt 1 -and $options.ContainsKey($typed[1])
    if ($known -and $word.StartsWith('-')) {{
        $words = $options[$typed[1]] -split ' '
    }} elseif (-not $known) {{
        $words = '{}' -split ' '
    }} else {{
        return
    }}
    $words | Where-Object {{ $_ -like "$word*" }} | ForEach-Object {{
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }}
}}
)",
                       table, names_of(commands));
}

}  // namespace fixnvpe
