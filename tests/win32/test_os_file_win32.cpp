// What only Windows has: share modes, loaded DLLs, attributes, permissions, streams, and its paths.

#include "os/win32.hpp"

#include <aclapi.h>
#include <sddl.h>
#include <winioctl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
namespace win32 = os::win32;
using os::Claim;
using os::File;
using os::FileType;
using win32::Handle;

bool is_wine() {
    return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

Handle open(const fs::path& path, DWORD access, DWORD share, DWORD disposition = OPEN_EXISTING) {
    return Handle(::CreateFileW(win32::extended(path).c_str(), access, share, nullptr, disposition, 0, nullptr));
}

bool put(const fs::path& path, const std::string& text) {
    const Handle handle = open(path, GENERIC_WRITE, win32::SHARE_ALL, CREATE_ALWAYS);
    DWORD written = 0;
    return handle && ::WriteFile(handle.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != FALSE;
}

std::string get(const fs::path& path) {
    const Handle handle = open(path, GENERIC_READ, win32::SHARE_ALL);
    std::string text(4096, '\0');
    DWORD got = 0;
    if (!handle || ::ReadFile(handle.get(), text.data(), static_cast<DWORD>(text.size()), &got, nullptr) == FALSE) {
        return "unreadable";
    }
    return text.substr(0, got);
}

constexpr DWORD MARKS = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM;

void set_marks(const fs::path& path, DWORD attributes) {
    REQUIRE(::SetFileAttributesW(win32::extended(path).c_str(), attributes == 0 ? FILE_ATTRIBUTE_NORMAL : attributes) != FALSE);
}

DWORD marks_of(const fs::path& path) {
    return ::GetFileAttributesW(win32::extended(path).c_str()) & MARKS;
}

template <typename Step>
std::optional<ErrorCode> code_of(Step step) {
    try {
        step();
    } catch (const Error& error) {
        UNSCOPED_INFO(to_utf8(error.path()) << ": " << error.message() << " (" << words_of(error.hint(), error.detail()) << ")");
        if (error.code() == ErrorCode::busy && error.message().find("another fixnvpe") == std::string::npos) {
            CHECK_THAT(words_of(error.hint(), error.detail()), contains("in use by "));
        }
        return error.code();
    }
    return std::nullopt;
}

void nothing(std::uint64_t) {}

/// A copy of a file, made as patch makes it.
void make_copy(const fs::path& from, const fs::path& to) {
    const File source = File::open_to_read(from);
    Claim claim(to);
    os::copy_contents(source, claim.file(), nothing);
    os::copy_metadata(source, claim.file());
    claim.file().flush();
    claim.rename_to(to);
}

fs::path loadable_dll(const TempFolder& folder) {
    const fs::path path = folder / "loaded.dll";
    fs::copy_file(fs::path(FIXNVPE_TESTDATA_DIR) / "pe" / "x64-writable.dll", path);
    set_marks(path, 0);
    return path;
}

struct Unloader {
    void operator()(HMODULE module) const { ::FreeLibrary(module); }
};

std::unique_ptr<std::remove_pointer_t<HMODULE>, Unloader> load(const fs::path& path) {
    return std::unique_ptr<std::remove_pointer_t<HMODULE>, Unloader>(::LoadLibraryExW(path.c_str(), nullptr, 0));
}

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

TEST_CASE("os/file on Windows: every path becomes one from the root on, with \\\\?\\") {
    const std::wstring here = win32::without_prefix(win32::extended(L"."));
    const std::wstring drive = here.substr(0, 2);
    REQUIRE(drive[1] == L':');
    const auto check = [](const wchar_t* path, const std::wstring& expected) { CHECK(win32::extended(path) == expected); };
    check(L"C:\\a\\b.dll", L"\\\\?\\C:\\a\\b.dll");
    check(L"C:/a\\b.dll", L"\\\\?\\C:\\a\\b.dll");
    check(L"c:/a//./x/../b.dll", L"\\\\?\\c:\\a\\b.dll");
    check(L"C:/../../b.dll", L"\\\\?\\C:\\b.dll");
    check(L"C:\\", L"\\\\?\\C:\\");
    check(L"C:\\a\\..", L"\\\\?\\C:\\");
    check(L"\\\\server\\share\\a\\b.dll", L"\\\\?\\UNC\\server\\share\\a\\b.dll");
    check(L"//server/share/a/../../b.dll", L"\\\\?\\UNC\\server\\share\\b.dll");
    check(L"\\\\server\\share", L"\\\\?\\UNC\\server\\share\\");
    check(L"\\\\?\\C:\\a\\b.dll", L"\\\\?\\C:\\a\\b.dll");
    check(L"//?/C:\\a", L"\\\\?\\C:\\a");
    check(L"\\\\.\\pipe\\x", L"\\\\.\\pipe\\x");
    check(L"a.dll", L"\\\\?\\" + here + L"\\a.dll");
    check(L"", L"\\\\?\\" + here);
    check(L"./x/../a.dll", L"\\\\?\\" + here + L"\\a.dll");
    check((drive + L"a.dll").c_str(), L"\\\\?\\" + here + L"\\a.dll");
    check(L"\\a.dll", L"\\\\?\\" + drive + L"\\a.dll");
    check(L"/a/b.dll", L"\\\\?\\" + drive + L"\\a\\b.dll");
    // Windows itself would cut these down, or take the last two for devices.
    check(L"C:\\a\\dot.", L"\\\\?\\C:\\a\\dot.");
    check(L"C:\\a\\blank ", L"\\\\?\\C:\\a\\blank ");
    check(L"C:\\a\\nul.dll", L"\\\\?\\C:\\a\\nul.dll");
    check(L"C:\\a\\con", L"\\\\?\\C:\\a\\con");

    CHECK(win32::without_prefix(L"\\\\?\\C:\\a") == L"C:\\a");
    CHECK(win32::without_prefix(L"\\\\?\\UNC\\server\\share\\a") == L"\\\\server\\share\\a");
    CHECK(win32::without_prefix(L"\\\\?\\Volume{1}\\a") == L"\\\\?\\Volume{1}\\a");
    CHECK(win32::without_prefix(L"a\\b") == L"a\\b");
}

TEST_CASE("os/file on Windows: UTF-16 survives UTF-8, half characters and all") {
    for (const std::wstring text : {L"", L"a.dll", L"页面文件太小", L"\xD83E\xDD8A", L"\xD800", L"a\xDC00z", L"\xDC00\xD800"}) {
        CHECK(win32::to_wide(win32::from_wide(text)) == text);
    }
    CHECK(win32::from_wide(L"\xD83E\xDD8A") == "\xF0\x9F\xA6\x8A");
    CHECK(win32::to_wide("a\xFFz") == L"a\xFFFDz");
    CHECK(to_utf8(fs::path(L"a\xD800.dll")) == "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD.dll");
    CHECK(printable_path(fs::path(L"a\xD800.dll")) == "a\\xed\\xa0\\x80.dll");
}

TEST_CASE("os/file on Windows: names that other programs can't reach") {
    const TempFolder folder;
    for (const wchar_t* name : {L"dot.dll.", L"blank.dll ", L"nul.dll", L"con"}) {
        const fs::path path = folder / name;
        REQUIRE(put(path, "x"));
        INFO(to_utf8(path));
        CHECK(os::info_of(path).type == FileType::regular);
        const auto entries = os::list_folder(folder.path());
        REQUIRE(entries.size() == 1);
        CHECK(entries[0].name == name);
        CHECK(os::remove(folder.path() / entries[0].name));
    }
}

TEST_CASE("os/file on Windows: upper and lower case are one name") {
    const TempFolder folder;
    const fs::path path = folder.file("Torch.dll");
    CHECK(os::info_of(folder / "TORCH.DLL").identity == os::info_of(path).identity);
    CHECK(os::fold_case(U'a') == U'A');
    CHECK(os::fold_case(U'ä') == os::fold_case(U'Ä'));
    CHECK(os::fold_case(U'ж') == os::fold_case(U'Ж'));
    CHECK(os::fold_case(U'ω') == os::fold_case(U'Ω'));
    CHECK(os::fold_case(U'ß') == U'ß');
    CHECK(os::fold_case(U'1') == U'1');
    CHECK(os::fold_case(U'页') == U'页');
    CHECK(os::fold_case(U'🦊') == U'🦊');
}

TEST_CASE("os/file on Windows: a file that others read, write or delete can be read") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    for (const DWORD access : {DWORD{GENERIC_READ}, DWORD{GENERIC_WRITE}, DWORD{DELETE}}) {
        const Handle other = open(path, access, win32::SHARE_ALL);
        REQUIRE(other);
        CHECK(File::open_to_read(path).info().size == 5);
    }
    const Handle reader = open(path, GENERIC_READ, FILE_SHARE_READ);
    CHECK(File::open_to_read(path).info().size == 5);
    CHECK(code_of([&] { (void)File::open_to_edit(path); }) == ErrorCode::busy);
}

TEST_CASE("os/file on Windows: a file that is opened for nobody else is busy") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    const fs::path other = folder.file("b.dll", "b");
    const Handle alone = open(path, GENERIC_READ, 0);
    REQUIRE(alone);
    CHECK(os::info_of(path).size == 5);
    CHECK_FALSE(os::can_be_replaced(path));
    CHECK(code_of([&] { (void)File::open_to_read(path); }) == ErrorCode::busy);
    CHECK(code_of([&] { (void)File::open_to_edit(path); }) == ErrorCode::busy);
    CHECK(code_of([&] { os::rename_new(path, folder / "c.dll"); }) == ErrorCode::busy);
    CHECK(code_of([&] { os::rename_over(other, path); }) == ErrorCode::busy);
    CHECK(code_of([&] { os::remove(path); }) == ErrorCode::busy);
    CHECK(get(other) == "b");
}

TEST_CASE("os/file on Windows: while a file is edited in place nobody else may write to it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    const File edited = File::open_to_edit(path);
    CHECK(open(path, GENERIC_READ, win32::SHARE_ALL));
    CHECK_FALSE(open(path, GENERIC_WRITE, win32::SHARE_ALL));
}

TEST_CASE("os/file on Windows: nobody may write to a claim's temporary, rename it or delete it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder / "a.dll.fixnvpe-tmp";
    const Claim claim(path);
    for (const DWORD access : {DWORD{GENERIC_WRITE}, DWORD{DELETE}}) {
        CHECK_FALSE(open(temporary, access, win32::SHARE_ALL));
        CHECK(::GetLastError() == ERROR_SHARING_VIOLATION);
    }
    CHECK(::DeleteFileW(temporary.c_str()) == FALSE);
    CHECK(::MoveFileW(temporary.c_str(), (folder / "b").c_str()) == FALSE);
    CHECK(open(temporary, GENERIC_READ, win32::SHARE_ALL));
    CHECK(os::is_claimed(path));
}

TEST_CASE("os/file on Windows: a leftover temporary that someone holds open is a claim") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder.file("a.dll.fixnvpe-tmp", "left");
    {
        const Handle holder = open(temporary, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ);
        REQUIRE(holder);
        CHECK(os::is_claimed(path));
        CHECK(code_of([&] { const Claim claim(path); }) == ErrorCode::busy);
        CHECK(os::info_of(temporary).type == FileType::regular);
    }
    set_marks(temporary, FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN);
    CHECK_FALSE(os::is_claimed(path));
    { const Claim claim(path); }
    CHECK(os::info_of(temporary).type == FileType::missing);
}

TEST_CASE("os/file on Windows: a read-only file is edited, replaced, renamed and removed, and others keep the mark") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "12345");
    set_marks(path, FILE_ATTRIBUTE_READONLY);
    {
        File file = File::open_to_edit(path);
        file.write_at(0, ByteView(reinterpret_cast<const std::uint8_t*>("xy"), 2));
        file.flush();
        CHECK(marks_of(path) == FILE_ATTRIBUTE_READONLY);
    }
    CHECK(get(path) == "xy345");
    CHECK(marks_of(path) == FILE_ATTRIBUTE_READONLY);

    CHECK_FALSE(os::can_be_replaced(path));  // but renamed
    os::rename_new(path, folder / "a.dll.bak");
    CHECK(marks_of(folder / "a.dll.bak") == FILE_ATTRIBUTE_READONLY);
    make_copy(folder / "a.dll.bak", path);
    CHECK(marks_of(path) == FILE_ATTRIBUTE_READONLY);
    CHECK(get(path) == "xy345");

    os::rename_over(folder / "a.dll.bak", path);
    CHECK(marks_of(path) == FILE_ATTRIBUTE_READONLY);
    REQUIRE(os::make_hard_link(path, folder / "b.dll"));
    CHECK(os::remove(folder / "b.dll"));
    CHECK(marks_of(path) == FILE_ATTRIBUTE_READONLY);
    CHECK(os::remove(path));
    CHECK(os::list_folder(folder.path()).empty());
}

TEST_CASE("os/file on Windows: a copy keeps the attributes") {
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

TEST_CASE("os/file on Windows: a copy keeps permissions that the folder does not give") {
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

TEST_CASE("os/file on Windows: a copy keeps alternate streams") {
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

TEST_CASE("os/file on Windows: a copy of a sparse file keeps its holes") {
    const TempFolder folder;
    const fs::path path = folder / "a.dll";
    constexpr std::uint64_t size = std::uint64_t{64} << 20;
    {
        const Handle handle = open(path, GENERIC_READ | GENERIC_WRITE, win32::SHARE_ALL, CREATE_NEW);
        REQUIRE(handle);
        DWORD got = 0;
        if (::DeviceIoControl(handle.get(), FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &got, nullptr) == FALSE || is_wine()) {
            WARN("not tested: this system has no sparse files");
            CHECK(is_wine());
            return;
        }
        LARGE_INTEGER end{};
        end.QuadPart = static_cast<LONGLONG>(size - 1);
        REQUIRE(::SetFilePointerEx(handle.get(), end, nullptr, FILE_BEGIN) != FALSE);
        REQUIRE(::WriteFile(handle.get(), "x", 1, &got, nullptr) != FALSE);
    }
    make_copy(path, folder / "copy.dll");
    const os::FileInfo info = os::info_of(folder / "copy.dll");
    CHECK(info.size == size);
    CHECK(info.allocated < size / 8);
}

TEST_CASE("os/file on Windows: a loaded DLL can be read, linked and renamed, and nothing else") {
    const TempFolder folder;
    const fs::path path = loadable_dll(folder);
    const fs::path other = folder.file("other.dll", "other");
    CHECK(os::can_be_replaced(path));
    {
        const auto module = load(path);
        REQUIRE(module);
        CHECK(File::open_to_read(path).info().type == FileType::regular);
        CHECK_FALSE(os::can_be_replaced(path));
        CHECK(code_of([&] { (void)File::open_to_edit(path); }) == ErrorCode::busy);
        if (!is_wine()) {  // which asks for open handles only
            CHECK(code_of([&] { os::rename_over(other, path); }) == ErrorCode::busy);
            CHECK(code_of([&] { os::remove(path); }) == ErrorCode::busy);
            Claim claim(path);
            CHECK(code_of([&] { claim.rename_to(path); }) == ErrorCode::busy);
            CHECK(os::is_claimed(path));
        }
        os::rename_new(path, folder / "loaded.dll.bak");
        Claim claim(path);
        claim.rename_to(path);
        CHECK(os::info_of(path).size == 0);
        CHECK(os::info_of(folder / "loaded.dll.bak").size != 0);
    }
    os::rename_over(folder / "loaded.dll.bak", path);
    CHECK(load(path));
}

TEST_CASE("os/file on Windows: an open file can be renamed away and replaced") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    const File open_file = File::open_to_read(path);
    os::rename_new(path, folder / "b.dll");
    os::rename_new(folder / "b.dll", path);
    CHECK(open_file.info().size == 3);
}

}  // namespace fixnvpe::test
