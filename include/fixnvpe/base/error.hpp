#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "fixnvpe/base/names.hpp"

namespace fixnvpe {

/// What went wrong, for a program that reads the JSON output.
enum class ErrorCode {
    usage,             ///< the command line makes no sense
    no_match,          ///< a target matched no file
    ambiguous,         ///< more than one Python environment may be meant
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
    half_done,         ///< an edit was broken off half way
    bad_undo,          ///< the undo file is damaged or not one of ours
    verify_failed,     ///< what was read back is not what was written
    io,                ///< any other failure of the system
    interrupted,       ///< Ctrl-C
    internal,          ///< a bug in fixnvpe
};

/// As the code stands in the JSON output.
template <>
inline constexpr auto names_of<ErrorCode> = names<ErrorCode>({
    {ErrorCode::usage, "usage"},
    {ErrorCode::no_match, "no-match"},
    {ErrorCode::ambiguous, "ambiguous"},
    {ErrorCode::not_found, "not-found"},
    {ErrorCode::missing, "missing"},
    {ErrorCode::access_denied, "access-denied"},
    {ErrorCode::not_regular_file, "not-regular-file"},
    {ErrorCode::link, "link"},
    {ErrorCode::not_pe, "not-pe"},
    {ErrorCode::truncated, "truncated"},
    {ErrorCode::malformed, "malformed"},
    {ErrorCode::readers_disagree, "readers-disagree"},
    {ErrorCode::refused, "refused"},
    {ErrorCode::busy, "busy"},
    {ErrorCode::changed, "changed"},
    {ErrorCode::disk_full, "disk-full"},
    {ErrorCode::no_backup, "no-backup"},
    {ErrorCode::stale_backup, "stale-backup"},
    {ErrorCode::half_done, "half-done"},
    {ErrorCode::bad_undo, "bad-undo"},
    {ErrorCode::verify_failed, "verify-failed"},
    {ErrorCode::io, "io"},
    {ErrorCode::interrupted, "interrupted"},
    {ErrorCode::internal, "internal"},
});

/// What the user can do about an error. The words are in error.cpp, or with whoever knows the command line better.
enum class Hint {
    none,
    words,  ///< those of Error::detail(), as they are
    run_again,
    wait,    ///< until another fixnvpe is done
    report,  ///< a bug
    be_owner_or_root,
    be_administrator,
    allow_program,   ///< Windows' controlled folder access may stop it
    be_in_group,     ///< the file's: its owner is not
    take_mark_away,  ///< immutable or append-only, which stops even root; detail: "chattr -i FILE"
    mounted_read_only,
    write_protected,
    blocked_by_antivirus,
    free_space,
    size_limit,       ///< of the file system, or ulimit -f
    close_program,    ///< detail: "python.exe (1234)"; empty if it is not known
    leased,           ///< to another program, such as a file server
    name_the_file,    ///< not a link to it
    put_file_there,   ///< remove the link under a backup's name, or put the file itself there
    remove_by_hand,   ///< something else stands under the name of a temporary
    remove_if_alone,  ///< a temporary whose lock can't be asked for; detail: the DLL, if that is missing
    move_away,        ///< something else stands under the name of a backup
    leave_backup,     ///< a damaged undo file is not used
    use_full_backup,
    install_again,      ///< the package
    cut_short,          ///< the file: install it again
    restore_and_check,  ///< the disk
    under_backup_name,  ///< where the file is now, after two failures; detail: that name
    restore_puts_back,  ///< a missing file
    patch_finishes,     ///< a half-done edit
    unchanged,          ///< the file is as it was
    ambiguous_headers,  ///< left alone
};

/// The one exception type of this program: one file, or the command line, failed.
class Error : public std::exception {
public:
    /// @param message what failed, a colon, and the reason: "read: Input/output error"
    /// @param detail  for a hint that has one
    Error(ErrorCode code, std::string message, Hint hint = Hint::none, std::string detail = {});
    /// @param hint words; may be empty
    Error(ErrorCode code, std::string message, std::string hint);

    /// The same error, said of this file: throw Error(…).at(path).
    [[nodiscard]] Error at(std::filesystem::path path) &&;
    /// The same error, for which the system had this number (errno, GetLastError()).
    [[nodiscard]] Error with_number(long number) &&;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// Empty where the thrower did not know it: functions over plain values do not.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] Hint hint() const noexcept { return hint_; }
    [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
    /// The system's; 0: it did not come from there.
    [[nodiscard]] long number() const noexcept { return number_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

private:
    ErrorCode code_;
    std::filesystem::path path_;
    std::string message_;
    Hint hint_;
    std::string detail_;
    long number_ = 0;
};

/// Takes back what was begun before an error, which is the one that is told and not what fails now.
/// @return whether it could be done
template <typename Step>
bool take_back(Step step) {
    try {
        step();
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// The hint in words; empty if there is none.
[[nodiscard]] std::string words_of(Hint hint, std::string_view detail = {});

}  // namespace fixnvpe
