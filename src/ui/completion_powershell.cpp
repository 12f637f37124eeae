#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_scripts.hpp"

namespace fixnvpe {
namespace {

std::string entry(const std::string& key, const std::vector<std::string>& words) {
    return fmt::format("        '{}' = '{}'\n", key, fmt::join(words, " "));
}

}  // namespace

std::string powershell_completion(const ProgramWords& program) {
    std::string options;
    std::string values;
    std::vector<std::string> folders;
    for (const CommandWords& command : with_own(program)) {
        options += entry(command.name, spellings_of(command));
        if (const OptionWords* operand = choice_operand(command)) {
            values += entry(command.name, operand->choices);
        }
        for (const OptionWords& option : command.options) {
            for (const std::string& spelling : spellings_of(option)) {
                const std::string key = command.name + " " + spelling;
                if (option.takes == Takes::choice) {
                    values += entry(key, option.choices);
                } else if (option.takes == Takes::folder) {
                    folders.push_back("'" + key + "'");
                }
            }
        }
    }
    // Where it returns nothing, PowerShell completes files.
    return fmt::format(R"(Register-ArgumentCompleter -Native -CommandName @('fixnvpe', 'fixnvpe.exe') -ScriptBlock {{
    param($word, $ast, $position)
    $options = @{{
{}    }}
    $values = @{{
{}    }}
    $folders = @({})
    $takesValue = '{}' -split ' '
    $command = ''
    $before = ''
    $typed = $ast.CommandElements | Select-Object -Skip 1 | Where-Object {{ $_.Extent.EndOffset -lt $position }}
    foreach ($element in $typed) {{
        $isValue = $takesValue -ccontains $before
        $before = if ($isValue) {{ '' }} else {{ $element.ToString() }}
        if (-not $isValue -and -not $command -and -not $before.StartsWith('-')) {{
            $command = $before
        }}
    }}
    $start = ''
    if ($word -match '^(--[a-z-]+)=(.*)$') {{
        $before = $Matches[1]
        $start = "$before="
        $word = $Matches[2]
    }}
    if ($values.ContainsKey("$command $before")) {{
        $words = $values["$command $before"]
    }} elseif (-not $start -and $folders -ccontains "$command $before") {{
        return [System.Management.Automation.CompletionCompleters]::CompleteFilename($word) |
            Where-Object ResultType -eq ProviderContainer
    }} elseif ($takesValue -ccontains $before) {{
        return
    }} elseif ($word.StartsWith('-')) {{
        $words = $options[$command]
    }} elseif (-not $command) {{
        $words = '{}'
    }} elseif ($values.ContainsKey($command)) {{
        $words = $values[$command]
    }} else {{
        return
    }}
    $words -split ' ' | Where-Object {{ $_.StartsWith($word) }} | ForEach-Object {{
        [System.Management.Automation.CompletionResult]::new("$start$_", $_, 'ParameterValue', $_)
    }}
}}
)",
                       options, values, fmt::join(folders, ", "), fmt::join(options_with_value(program), " "),
                       fmt::join(command_names(program), " "));
}

}  // namespace fixnvpe
