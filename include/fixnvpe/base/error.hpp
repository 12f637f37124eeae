#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace fixnvpe {

/// What went wrong, for a program that reads the JSON output.
enum class ErrorCode {
    usage,             ///< the command line makes no sense
    no_match,          ///< a target matched no file
    not_found,         ///< the file is not there
    missing,           ///< the file is not there, but its backup is
    access_denied,     ///< the system does not let us
    not_regular_file,  ///< a folder, a device, a pipe, …
    link,              ///< a symbolic link where we do not follow one
    not_pe,            ///< no Windows PE file
    truncated,         ///< the file ends inside its own headers
    malformed,         ///< the headers contradict themselves or a limit
    readers_disagree,  ///< two readings of the same headers differ
    refused,           ///< the file must not be patched
    busy,              ///< another process works on the file, or has it open
    changed,           ///< the file changed while we worked on it
    disk_full,         ///< not enough space
    no_backup,         ///< a patched file without a backup
    stale_backup,      ///< the backup belongs to another build of the file
    bad_undo,          ///< the undo file is damaged or not one of ours
    verify_failed,     ///< what was read back is not what was written
    io,                ///< any other failure of the system
    interrupted,       ///< Ctrl-C
    internal,          ///< a bug in fixnvpe
};

/// The code as it stands in the JSON output, such as "access-denied".
[[nodiscard]] std::string_view to_string(ErrorCode code);

/// The one exception type of this program: one file, or the command line, failed.
class Error : public std::exception {
public:
    /// @param message what failed, a colon, and the reason: "read: Input/output error"
    /// @param hint    what the user can do about it; may be empty
    Error(ErrorCode code, std::string message, std::string hint = {});

    /// The same error, said of this file: throw Error(…).at(path).
    [[nodiscard]] Error at(std::filesystem::path path) &&;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// Empty where the thrower did not know it: functions over plain values do not.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

private:
    ErrorCode code_;
    std::filesystem::path path_;
    std::string message_;
    std::string hint_;
};

}  // namespace fixnvpe
