#pragma once

// What Windows does by an open handle. For the Windows sources of this folder alone.

#include <filesystem>
#include <functional>
#include <string>

#include "win32.hpp"

namespace fixnvpe::os::win32 {

[[nodiscard]] FileType type_of(DWORD attributes, DWORD reparse_tag);

/// Empty if the system can't tell, with GetLastError().
[[nodiscard]] std::wstring final_path(HANDLE handle);

/// Times and attributes. @param path for the error
[[nodiscard]] FILE_BASIC_INFO basic_info(HANDLE handle, const std::filesystem::path& path);

/// While it lives, the read-only mark of a file is off. It keeps only newcomers from writing: who has opened
/// the file may go on.
class WithoutReadOnly {
public:
    explicit WithoutReadOnly(const std::filesystem::path& path);
    WithoutReadOnly(const WithoutReadOnly&) = delete;
    WithoutReadOnly& operator=(const WithoutReadOnly&) = delete;
    ~WithoutReadOnly();
    [[nodiscard]] bool changed() const { return attributes_ != 0; }

private:
    Handle handle_;
    DWORD attributes_ = 0;
};

[[nodiscard]] bool is_read_only(const std::filesystem::path& path);

/// A virus scanner, an indexer or a synchroniser opens each new file and soon lets go of it: does `attempt` until its
/// code says something else, for up to some 5 s. Not where a program is known to have the file, or it is read-only, or
/// the folder may not be written to: then no time helps.
/// @param attempt returns ERROR_SUCCESS or the reason
/// @return what it returned last
[[nodiscard]] DWORD patiently(const std::filesystem::path& path, const std::function<DWORD()>& attempt);

/// Opens to rename or delete, patiently. @return no handle on failure, with GetLastError()
[[nodiscard]] Handle open_name(const std::filesystem::path& path, DWORD access);

/// @param handle opened with DELETE
void rename_by_handle(HANDLE handle, const std::filesystem::path& to, bool replace);

/// @param handle opened with DELETE and FILE_READ_ATTRIBUTES
/// @return ERROR_SUCCESS or the reason
[[nodiscard]] DWORD delete_by_handle(HANDLE handle, const std::filesystem::path& path);

/// Windows says "access denied", too, where only another program stands in the way.
[[noreturn]] void fail_on_name(const std::filesystem::path& path, const char* step, DWORD code);

}  // namespace fixnvpe::os::win32
