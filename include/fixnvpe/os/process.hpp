#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/base/error.hpp"

/// The one door to the process's surroundings: arguments, environment, terminal, Ctrl-C.
namespace fixnvpe::os {

/// What main() has: wchar_t on Windows, where it is called wmain().
using NativeChar = std::filesystem::path::value_type;

/// The command line without the program's name, as UTF-8 on Windows and as the bytes given elsewhere.
[[nodiscard]] std::vector<std::string> arguments(int argc, const NativeChar* const* argv);

/// The file of the running program, without links; empty where the system does not tell.
[[nodiscard]] std::filesystem::path program_file();

/// A path from an argument or an environment variable, and back: UTF-8 on Windows, bytes elsewhere.
[[nodiscard]] std::filesystem::path to_path(const std::string& text);
[[nodiscard]] std::string from_path(const std::filesystem::path& path);

/// The value of an environment variable; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);

/// Started by a double click in Explorer, a program has a console window that ends with it: waits for Enter then.
void keep_window_open();

enum class Stream { standard_output, standard_error };
[[nodiscard]] bool is_terminal(Stream stream);
/// Columns of the terminal; nothing if the stream is none.
[[nodiscard]] std::optional<unsigned> terminal_width(Stream stream);
/// Has the user's locale, or the console's code page, the block elements of Unicode, and each in one column?
[[nodiscard]] bool has_block_elements();

/// Prepares the standard streams: UTF-8 and escape sequences on a Windows console; a reader that goes away
/// (fixnvpe verify | head), or a file that would grow beyond a limit (ulimit -f), is an error to be seen and not the
/// process's death.
void prepare_streams();

/// Writes all of `text` to the stream and flushes it. @return what went wrong, if the reader has gone or the disk is
/// full
std::optional<Error> write(Stream stream, const std::string& text);

/// From now on Ctrl-C (SIGINT, SIGTERM, SIGHUP; Ctrl-Break and a closing console on Windows) only sets a flag, and
/// the second ends the program. A signal that is ignored already, as nohup has it, stays ignored.
void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace fixnvpe::os
