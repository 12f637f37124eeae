#include "windows.hpp"

#include <aclapi.h>
#include <sddl.h>
#include <winioctl.h>

#include "fixnvpe/os/names.hpp"
#include "make_copy.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

std::wstring permissions_of(const fs::path& path) {
    PSECURITY_DESCRIPTOR security = nullptr;
    LPWSTR text = nullptr;
    std::wstring name = win32::extended(path);
    REQUIRE(::GetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, nullptr,
                                    nullptr, &security) == ERROR_SUCCESS);
    REQUIRE(::ConvertSecurityDescriptorToStringSecurityDescriptorW(security, SDDL_REVISION_1, DACL_SECURITY_INFORMATION,
                                                                   &text, nullptr) != FALSE);
    std::wstring result = text;
    ::LocalFree(text);
    ::LocalFree(security);
    return result;
}

void set_permissions(const fs::path& path, const wchar_t* text) {
    PSECURITY_DESCRIPTOR security = nullptr;
    REQUIRE(::ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &security, nullptr) != FALSE);
    REQUIRE(::SetFileSecurityW(win32::extended(path).c_str(), DACL_SECURITY_INFORMATION, security) != FALSE);
    ::LocalFree(security);
}

}  // namespace

TEST_CASE("os/copy on Windows: a copy keeps the attributes") {
    const TempFolder folder;
    for (const DWORD marks : {DWORD{0}, DWORD{FILE_ATTRIBUTE_READONLY}, DWORD{FILE_ATTRIBUTE_HIDDEN}, MARKS}) {
        INFO(marks);
        const fs::path path = folder / "a.dll";
        REQUIRE(put(path, "12345"));
        set_marks(path, marks);
        REQUIRE(marks_of(path) == marks);
        make_copy(path, folder / "copy.dll");
        CHECK(marks_of(folder / "copy.dll") == marks);
        CHECK(marks_of(path) == marks);
        CHECK(get(folder / "copy.dll") == "12345");
        CHECK(os::remove(path));
        CHECK(os::remove(folder / "copy.dll"));
    }
}

TEST_CASE("os/copy on Windows: a copy keeps permissions that the folder does not give") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    make_copy(path, folder / "plain.dll");
    CHECK(permissions_of(folder / "plain.dll") == permissions_of(path));

    // For the owner alone, and nothing from the folder.
    set_permissions(path, L"D:P(A;;FA;;;OW)(A;;FA;;;BA)");
    const std::wstring permissions = permissions_of(path);
    CHECK(permissions != permissions_of(folder / "plain.dll"));
    make_copy(path, folder / "copy.dll");
    CHECK(permissions_of(folder / "copy.dll") == permissions);
}

TEST_CASE("os/copy on Windows: a copy keeps alternate streams") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    if (!put(folder / "a.dll:Zone.Identifier", "[ZoneTransfer]\r\nZoneId=3\r\n")) {
        WARN("not tested: this system has no alternate streams");
        CHECK(is_wine());
        return;
    }
    if (is_wine()) {
        WARN("not tested: Wine takes a stream for another file");
        return;
    }
    make_copy(path, folder / "copy.dll");
    CHECK(get(folder / "copy.dll") == "12345");
    CHECK(get(folder / "copy.dll:Zone.Identifier") == "[ZoneTransfer]\r\nZoneId=3\r\n");
}

TEST_CASE("os/copy on Windows: a copy of a sparse file keeps its holes") {
    const TempFolder folder;
    const fs::path path = folder / "a.dll";
    constexpr std::uint64_t size = std::uint64_t{64} << 20;
    {
        const Handle handle = open(path, GENERIC_READ | GENERIC_WRITE, win32::SHARE_ALL, CREATE_NEW);
        REQUIRE(handle);
        DWORD got = 0;
        if (::DeviceIoControl(native_of(handle), FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &got, nullptr) == FALSE ||
            is_wine()) {
            WARN("not tested: this system has no sparse files");
            CHECK(is_wine());
            return;
        }
        LARGE_INTEGER end{};
        end.QuadPart = static_cast<LONGLONG>(size - 1);
        REQUIRE(::SetFilePointerEx(native_of(handle), end, nullptr, FILE_BEGIN) != FALSE);
        REQUIRE(::WriteFile(native_of(handle), "x", 1, &got, nullptr) != FALSE);
    }
    make_copy(path, folder / "copy.dll");
    const os::FileInfo info = os::info_of(folder / "copy.dll");
    CHECK(info.size == size);
    CHECK(info.allocated < size / 8);
}

}  // namespace fixnvpe::test
