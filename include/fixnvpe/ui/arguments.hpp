#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The words of the command line, before CLI11 reads them. Pure.
namespace fixnvpe {

/// What can be said.
struct Grammar {
    std::vector<std::string> commands;  ///< all of them, and which take files
    std::function<bool(std::string_view)> takes_files;
    std::function<bool(std::string_view)> takes_value;  ///< of an option: "--input", "-j"
    bool quotes_in_names = true;                        ///< false on Windows: a path with one was cut wrongly
};

/// Stands before each word that is a path: CLI11 splits and strips words in brackets, and ends a list at "++".
inline constexpr char PATH_MARK = '\x01';

/// Puts the command first, wherever it stands, and marks the TARGETs and the values of --input and --env. `help
/// COMMAND` is `COMMAND --help`; fixNvPe.py's `--input GLOB` without a command is `patch --input GLOB`.
/// @throws Error usage: the first word that is no option is no command, with the nearest one as its hint; or what
/// Windows made of "C:\my files\" -n, which is one word
[[nodiscard]] std::vector<std::string> prepared_for_cli11(const std::vector<std::string>& arguments,
                                                          const Grammar& grammar);

/// Takes the words behind "--" off a command line whose command takes a command of its own.
[[nodiscard]] std::vector<std::string> take_command_of_measure(std::vector<std::string>& arguments,
                                                               const Grammar& grammar);

/// Was this option given, and not as some option's value or behind "--"?
[[nodiscard]] bool has_flag(const std::vector<std::string>& arguments, std::string_view flag, const Grammar& grammar);

/// "did you mean --json?", or nothing if no word is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& words);

}  // namespace fixnvpe
