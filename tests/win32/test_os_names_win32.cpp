#include "windows.hpp"

#include <memory>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/names.hpp"
#include "make_copy.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
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
