#include "windows.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/names.hpp"
#include "make_copy.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {

TEST_CASE("os/names on Windows: what a virus scanner holds for a moment is waited for") {
    const TempFolder temp;
    const fs::path file = temp / "a.dll";
    const fs::path other = temp / "b.dll";
    const auto held_for = [](const fs::path& path, int milliseconds) {
        Handle handle = open(path, GENERIC_READ, FILE_SHARE_READ);
        REQUIRE(handle);
        return std::jthread([handle = std::move(handle), milliseconds] {
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        });
    };
    REQUIRE(put(file, "new"));
    {
        const std::jthread scanner = held_for(file, 300);
        os::rename_new(file, other);
    }
    CHECK(get(other) == "new");
    REQUIRE(put(file, "newer"));
    {
        const std::jthread scanner = held_for(other, 300);
        os::rename_over(file, other);
    }
    CHECK(get(other) == "newer");
    {
        const std::jthread scanner = held_for(other, 300);
        CHECK(os::remove(other));
    }
    CHECK(os::info_of(other).type == os::FileType::missing);
}

TEST_CASE("os/names on Windows: where the file system has no hard links, or none here, a file is renamed") {
    for (const DWORD code : {DWORD{396} /* a folder of OneDrive's */, DWORD{ERROR_INVALID_FUNCTION},
                             DWORD{ERROR_ACCESS_DENIED}, DWORD{ERROR_TOO_MANY_LINKS}, DWORD{ERROR_NOT_SUPPORTED}}) {
        CHECK_FALSE(win32::stops_renaming(code));
    }
    for (const DWORD code : {DWORD{ERROR_ALREADY_EXISTS}, DWORD{ERROR_FILE_NOT_FOUND}, DWORD{ERROR_PATH_NOT_FOUND},
                             DWORD{ERROR_DISK_FULL}}) {
        CHECK(win32::stops_renaming(code));
    }
}

TEST_CASE("os/names on Windows: an error carries the system's number") {
    const TempFolder temp;
    try {
        os::rename_new(temp / "nowhere" / "a.dll", temp / "b.dll");
        FAIL("renamed");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::not_found);
        CHECK(error.number() == ERROR_PATH_NOT_FOUND);
        CHECK(error.message().ends_with(" (3)"));
    }
}

TEST_CASE("os/names on Windows: the root of a path is a drive, or a server's share") {
    const auto check = [](const wchar_t* path, const wchar_t* root, const wchar_t* rest) {
        INFO(win32::from_wide(path));
        CHECK(os::split_root(path).root.native() == root);
        CHECK(os::split_root(path).rest.native() == rest);
    };
    check(L"C:\\a\\b.dll", L"C:\\", L"a\\b.dll");
    check(L"C:a\\b.dll", L"C:", L"a\\b.dll");
    check(L"C:\\", L"C:\\", L"");
    check(L"\\a\\b.dll", L"\\", L"a\\b.dll");
    check(L"a\\b.dll", L"", L"a\\b.dll");
    check(L"", L"", L"");
    check(L"\\\\srv\\share\\env\\*.dll", L"\\\\srv\\share\\", L"env\\*.dll");
    check(L"//srv/share/env/*.dll", L"//srv/share/", L"env/*.dll");
    check(L"\\\\srv\\share", L"\\\\srv\\share", L"");
    check(L"\\\\srv\\share\\", L"\\\\srv\\share\\", L"");
    check(L"\\\\srv", L"\\\\srv", L"");
    check(L"\\\\?\\UNC\\srv\\share\\a", L"\\\\?\\UNC\\srv\\share\\", L"a");
    check(L"\\\\?\\C:\\a", L"\\\\?\\C:\\", L"a");
    check(L"\\\\?\\Volume{1}\\a", L"\\\\?\\Volume{1}\\", L"a");
    check(L"\\\\.\\pipe\\x", L"\\\\.\\pipe\\", L"x");
}
namespace {

using os::File;
using os::FileType;
using os::Lock;

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

}  // namespace

TEST_CASE("os/names on Windows: names that other programs can't reach") {
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

TEST_CASE("os/names on Windows: upper and lower case are one name") {
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

TEST_CASE("os/names on Windows: a read-only file is edited, replaced, renamed and removed, and others keep the mark") {
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

TEST_CASE("os/names on Windows: a loaded DLL can be read, linked and renamed, and nothing else") {
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
            Lock lock(path);
            CHECK(code_of([&] { lock.rename_to(path); }) == ErrorCode::busy);
            CHECK(os::is_locked(path));
        }
        os::rename_new(path, folder / "loaded.dll.bak");
        Lock lock(path);
        lock.rename_to(path);
        CHECK(os::info_of(path).size == 0);
        CHECK(os::info_of(folder / "loaded.dll.bak").size != 0);
    }
    os::rename_over(folder / "loaded.dll.bak", path);
    CHECK(load(path));
}

TEST_CASE("os/names on Windows: an open file can be renamed away and replaced") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    const File open_file = File::open_to_read(path);
    os::rename_new(path, folder / "b.dll");
    os::rename_new(folder / "b.dll", path);
    CHECK(open_file.info().size == 3);
}

}  // namespace fixnvpe::test
