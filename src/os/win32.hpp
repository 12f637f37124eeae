#pragma once

// What the sources of this folder for Windows share. Included by them alone: <windows.h> defines the names of
// pe/headers.hpp as macros.

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/file.hpp"

namespace fixnvpe::os {

[[nodiscard]] inline HANDLE native_of(const Handle& handle) {
    return reinterpret_cast<HANDLE>(handle.native());
}
[[nodiscard]] inline HANDLE native_of(const File& file) {
    return native_of(file.handle());
}

namespace win32 {

// Names that older SDKs, or newer ones for older systems, do not have.
inline constexpr auto FILE_DISPOSITION_INFO_EX = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
inline constexpr auto FILE_RENAME_INFO_EX = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
inline constexpr DWORD STOPPED_ON_LINK = 681;  // ERROR_STOPPED_ON_SYMLINK

inline constexpr DWORD SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// The folder or link itself, too.
inline constexpr DWORD NO_FOLLOW = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;

/// From now on it closes itself. Null is none, too.
[[nodiscard]] inline Handle owned(HANDLE native) {
    return native == nullptr ? Handle() : Handle(reinterpret_cast<std::intptr_t>(native));
}

/// UTF-8 to UTF-16 and back. A lone surrogate, which a Windows name may hold, has its own three bytes
/// ("WTF-8") and comes back as it was; any other byte that is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::wstring to_wide(std::string_view text);
[[nodiscard]] std::string from_wide(std::wstring_view text);

/// The path from the root on, with the prefix \\?\ that lifts the limit of 260 characters and takes each name
/// as it is. Slashes, "." and ".." are resolved here.
[[nodiscard]] std::wstring extended(const std::filesystem::path& path);

/// Without the prefix \\?\, where the rest is a path of its own.
[[nodiscard]] std::wstring without_prefix(std::wstring_view path);

/// "python.exe (1234) and 2 more": the other processes that have the file open or loaded; empty if none is
/// found.
[[nodiscard]] std::string users_of(const std::filesystem::path& path);

[[nodiscard]] Error system_error(const std::filesystem::path& path, std::string_view step, DWORD code);
/// Of GetLastError().
[[noreturn]] void fail(const std::filesystem::path& path, std::string_view step);

/// The file, or the way to it, is not there.
[[nodiscard]] bool is_missing(DWORD code);
/// The system, or the file system, does not know this call.
[[nodiscard]] bool is_unsupported(DWORD code);

/// True for a file that is loaded as a program or DLL, or that another program lets nobody write to.
[[nodiscard]] bool keeps_writers_out(const std::filesystem::path& path);

/// What keeps a file from being linked under a name keeps it from being renamed to it, too.
[[nodiscard]] bool stops_renaming(DWORD code);

/// Another program's use of the file keeps us from it.
[[nodiscard]] Error busy_error(const std::filesystem::path& path, std::string_view step, DWORD code);

/// Opens by the extended path. @return no handle on failure, with GetLastError()
[[nodiscard]] Handle open(const std::filesystem::path& path, DWORD access, DWORD share, DWORD disposition, DWORD flags);

}  // namespace win32
}  // namespace fixnvpe::os
