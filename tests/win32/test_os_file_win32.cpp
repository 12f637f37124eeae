#include "windows.hpp"

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/os/names.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

using os::File;

}  // namespace

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

}  // namespace fixnvpe::test
