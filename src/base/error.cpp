#include "fixnvpe/base/error.hpp"

#include <utility>

namespace fixnvpe {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage: return "usage";
        case ErrorCode::no_match: return "no-match";
        case ErrorCode::not_found: return "not-found";
        case ErrorCode::missing: return "missing";
        case ErrorCode::access_denied: return "access-denied";
        case ErrorCode::not_regular_file: return "not-regular-file";
        case ErrorCode::link: return "link";
        case ErrorCode::not_pe: return "not-pe";
        case ErrorCode::truncated: return "truncated";
        case ErrorCode::malformed: return "malformed";
        case ErrorCode::readers_disagree: return "readers-disagree";
        case ErrorCode::refused: return "refused";
        case ErrorCode::busy: return "busy";
        case ErrorCode::changed: return "changed";
        case ErrorCode::disk_full: return "disk-full";
        case ErrorCode::no_backup: return "no-backup";
        case ErrorCode::stale_backup: return "stale-backup";
        case ErrorCode::bad_undo: return "bad-undo";
        case ErrorCode::verify_failed: return "verify-failed";
        case ErrorCode::io: return "io";
        case ErrorCode::interrupted: return "interrupted";
        case ErrorCode::internal: return "internal";
    }
    return "internal";
}

Error::Error(ErrorCode code, std::string message, std::string hint)
    : code_(code), message_(std::move(message)), hint_(std::move(hint)) {}

Error Error::at(std::filesystem::path path) && {
    path_ = std::move(path);
    return std::move(*this);
}

}  // namespace fixnvpe
