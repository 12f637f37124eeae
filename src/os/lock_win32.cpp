#include <fmt/format.h>

#include "by_handle.hpp"
#include "file_steps.hpp"
#include "fixnvpe/os/lock.hpp"
#include "lock_steps.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

/// Nobody else may write to it, rename it or delete it: that is the lock.
Handle create_new(const fs::path& temporary) {
    Handle handle;
    const fs::path file = fs::path(temporary).replace_extension();
    const DWORD attributes = ::GetFileAttributesW(win32::extended(file).c_str());
    const DWORD encrypted = attributes != INVALID_FILE_ATTRIBUTES ? attributes & FILE_ATTRIBUTE_ENCRYPTED : 0;
    // The owner and the permissions are copied later, as far as they may be.
    for (const DWORD more : {DWORD{WRITE_DAC | WRITE_OWNER}, DWORD{WRITE_DAC}, DWORD{0}}) {
        handle = win32::open(temporary, GENERIC_READ | GENERIC_WRITE | DELETE | more, FILE_SHARE_READ, CREATE_NEW,
                             FILE_ATTRIBUTE_NORMAL | encrypted | FILE_FLAG_OPEN_REPARSE_POINT);
        if (handle || ::GetLastError() != ERROR_ACCESS_DENIED) {
            break;
        }
    }
    return handle;
}

}  // namespace

Created create_locked(const fs::path& temporary) {
    Handle handle = create_new(temporary);
    if (handle) {
        return {std::move(handle), false};
    }
    const DWORD code = ::GetLastError();
    if (code == ERROR_FILE_EXISTS || code == ERROR_ALREADY_EXISTS) {
        return {Handle(), true};
    }
    if (code == ERROR_ACCESS_DENIED && info_of(temporary).type != FileType::missing) {
        ::Sleep(1);  // one is being deleted
        return {Handle(), false};
    }
    throw win32::system_error(temporary, "create", code);
}

Leftover remove_leftover(const fs::path& temporary) {
    constexpr const char* step = "remove the leftover temporary";
    if (why_held(temporary)) {
        return Leftover::locked;
    }
    const Handle handle = win32::open_name(temporary, DELETE | FILE_READ_ATTRIBUTES);
    if (!handle) {
        const DWORD code = ::GetLastError();
        if (why_held(temporary)) {
            return Leftover::locked;
        }
        if (!win32::is_missing(code)) {
            throw win32::system_error(temporary, step, code);  // a scanner, which does not write
        }
        return Leftover::gone;
    }
    const FileType type = info_by_handle(handle, temporary).type;
    if (type == FileType::link) {
        throw Error(ErrorCode::link, fmt::format("{}: it is a link", step), Hint::remove_by_hand).at(temporary);
    }
    if (type != FileType::regular) {
        throw not_regular(temporary, step, Hint::remove_by_hand);
    }
    if (const DWORD code = win32::delete_by_handle(native_of(handle), temporary); code != ERROR_SUCCESS) {
        throw win32::system_error(temporary, step, code);
    }
    return Leftover::removed;
}

std::optional<Error> why_held(const fs::path& temporary) {
    // The owner writes, which is not to be shared here.
    const Handle handle =
        win32::open(temporary, FILE_READ_DATA, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING, win32::NO_FOLLOW);
    return !handle && ::GetLastError() == ERROR_SHARING_VIOLATION ? std::optional(held(temporary)) : std::nullopt;
}

Lock::~Lock() {
    if (owned_) {
        static_cast<void>(win32::delete_by_handle(native_of(temporary_), temporary_.path()));
    }
}

void Lock::rename_to(const fs::path& to) {
    win32::rename_by_handle(native_of(temporary_), to, true);
    owned_ = false;
    ::FlushFileBuffers(native_of(temporary_));  // the name, too
    temporary_.handle_.close();                 // the loader wants no writer beside it
}

}  // namespace fixnvpe::os
