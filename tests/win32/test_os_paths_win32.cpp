#include "windows.hpp"

#include <string>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe::test {

TEST_CASE("os/paths on Windows: every path becomes one from the root on, and has the prefix for long ones") {
    const std::wstring here = win32::without_prefix(win32::extended(L"."));
    const std::wstring drive = here.substr(0, 2);
    REQUIRE(drive[1] == L':');
    const auto check = [](const wchar_t* path, const std::wstring& expected) {
        CHECK(win32::extended(path) == expected);
    };
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

TEST_CASE("os/paths on Windows: UTF-16 survives UTF-8, half characters and all") {
    for (const std::wstring text :
         {L"", L"a.dll", L"页面文件太小", L"\xD83E\xDD8A", L"\xD800", L"a\xDC00z", L"\xDC00\xD800"}) {
        CHECK(win32::to_wide(win32::from_wide(text)) == text);
    }
    CHECK(win32::from_wide(L"\xD83E\xDD8A") == "\xF0\x9F\xA6\x8A");
    CHECK(win32::to_wide("a\xFFz") == L"a\xFFFDz");
    CHECK(to_utf8(fs::path(L"a\xD800.dll")) == "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD.dll");
    CHECK(printable_path(fs::path(L"a\xD800.dll")) == "a\\xed\\xa0\\x80.dll");
}

}  // namespace fixnvpe::test
