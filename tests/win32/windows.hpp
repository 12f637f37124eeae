#pragma once

// Files, without the code under test.

#include "os/win32.hpp"

#include <filesystem>
#include <string>

#include "support/catch.hpp"

namespace fixnvpe::test {

namespace fs = std::filesystem;
namespace win32 = os::win32;
using os::Handle;
inline bool is_wine() {
    return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

inline Handle open(const fs::path& path, DWORD access, DWORD share, DWORD disposition = OPEN_EXISTING) {
    return win32::owned(::CreateFileW(win32::extended(path).c_str(), access, share, nullptr, disposition, 0, nullptr));
}

inline bool put(const fs::path& path, const std::string& text) {
    const Handle handle = open(path, GENERIC_WRITE, win32::SHARE_ALL, CREATE_ALWAYS);
    DWORD written = 0;
    return handle &&
           ::WriteFile(native_of(handle), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != FALSE;
}

inline std::string get(const fs::path& path) {
    const Handle handle = open(path, GENERIC_READ, win32::SHARE_ALL);
    std::string text(4096, '\0');
    DWORD got = 0;
    if (!handle ||
        ::ReadFile(native_of(handle), text.data(), static_cast<DWORD>(text.size()), &got, nullptr) == FALSE) {
        return "unreadable";
    }
    return text.substr(0, got);
}

inline constexpr DWORD MARKS = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM;

inline void set_marks(const fs::path& path, DWORD attributes) {
    REQUIRE(::SetFileAttributesW(win32::extended(path).c_str(), attributes == 0 ? FILE_ATTRIBUTE_NORMAL : attributes) !=
            FALSE);
}

inline DWORD marks_of(const fs::path& path) {
    return ::GetFileAttributesW(win32::extended(path).c_str()) & MARKS;
}

}  // namespace fixnvpe::test
