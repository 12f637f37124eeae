#include "fixnvpe/base/error.hpp"

#include <utility>

namespace fixnvpe {

Error::Error(ErrorCode code, std::string message, Hint hint, std::string detail)
    : code_(code), message_(std::move(message)), hint_(hint), detail_(std::move(detail)) {}

Error::Error(ErrorCode code, std::string message, std::string hint)
    : code_(code),
      message_(std::move(message)),
      hint_(hint.empty() ? Hint::none : Hint::words),
      detail_(std::move(hint)) {}

Error Error::at(std::filesystem::path path) && {
    path_ = std::move(path);
    return std::move(*this);
}

Error Error::with_number(long number) && {
    number_ = number;
    return std::move(*this);
}

std::string words_of(Hint hint, std::string_view detail) {
    switch (hint) {
        case Hint::none: return {};
        case Hint::words: return std::string(detail);
        case Hint::run_again: return "run it again";
        case Hint::wait: return "wait until it is done";
        case Hint::report: return "this is a bug in fixnvpe: please report it";
        case Hint::be_owner_or_root: return "run it as the file's owner or as root";
        case Hint::be_administrator: return "run it as administrator";
        case Hint::allow_program:
            return "run it as administrator; if that does not help, Windows Security, Controlled folder access, may "
                   "block "
                   "it: allow it there";
        case Hint::be_in_group: return "you are not in the file's group: run it as a member of it, or as root";
        case Hint::take_mark_away: return "a mark keeps even root from this: " + std::string(detail) + " takes it away";
        case Hint::mounted_read_only: return "the file system is mounted read-only";
        case Hint::write_protected: return "the disk is write-protected";
        case Hint::blocked_by_antivirus: return "an antivirus program blocks the file";
        case Hint::free_space: return "free some space";
        case Hint::size_limit:
            return "this file system, or a limit of this session (ulimit -f), allows no file of that size";
        case Hint::close_program: {
            const bool several = detail.find(',') != std::string_view::npos;
            return "in use by " + (detail.empty() ? std::string("another program") : std::string(detail)) + ": close " +
                   (several ? "them" : "it");
        }
        case Hint::leased: return "a file server, or another such program, holds it: run it again when that is done";
        case Hint::name_the_file: return "name the file itself, not a link to it";
        case Hint::put_file_there: return "remove it, or put the file itself there";
        case Hint::remove_by_hand: return "remove it yourself";
        case Hint::remove_if_alone: {
            const std::string dll(detail);
            return "if no other fixnvpe runs, " +
                   (dll.empty() ? "" : "rename " + dll + ".bak back to " + dll + ", then ") + "remove it yourself";
        }
        case Hint::move_away: return "move it away, or remove it";
        case Hint::leave_backup: return "it is not used; if the DLL must go back, install its package again";
        case Hint::use_full_backup: return "use --backup full";
        case Hint::install_again: return "install the file's package again to get the original";
        case Hint::cut_short: return "the file is cut short: install it again";
        case Hint::restore_and_check: return "fixnvpe restore puts the original back; check the disk";
        case Hint::under_backup_name:
            return "the file is now called " + std::string(detail) + ": fixnvpe restore puts it back";
        case Hint::restore_puts_back: return "fixnvpe restore puts it back";
        case Hint::patch_finishes: return "fixnvpe patch finishes it, fixnvpe restore takes it back";
        case Hint::unchanged: return "the file is as it was";
        case Hint::ambiguous_headers: return "this file's headers are ambiguous and it is left alone: please report it";
    }
    return {};
}

}  // namespace fixnvpe
