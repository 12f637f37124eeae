#include "windows.hpp"

#include "fixnvpe/os/lock.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

using os::FileType;
using os::Lock;

}  // namespace

TEST_CASE("os/lock on Windows: nobody may write to a lock's temporary, rename it or delete it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder / "a.dll.fixnvpe-tmp";
    const Lock lock(path);
    for (const DWORD access : {DWORD{GENERIC_WRITE}, DWORD{DELETE}}) {
        CHECK_FALSE(open(temporary, access, win32::SHARE_ALL));
        CHECK(::GetLastError() == ERROR_SHARING_VIOLATION);
    }
    CHECK(::DeleteFileW(temporary.c_str()) == FALSE);
    CHECK(::MoveFileW(temporary.c_str(), (folder / "b").c_str()) == FALSE);
    CHECK(open(temporary, GENERIC_READ, win32::SHARE_ALL));
    CHECK(os::is_locked(path));
}

TEST_CASE("os/lock on Windows: a leftover temporary that someone holds open is a lock") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder.file("a.dll.fixnvpe-tmp", "left");
    {
        const Handle holder = open(temporary, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ);
        REQUIRE(holder);
        CHECK(os::is_locked(path));
        CHECK(code_of([&] { const Lock lock(path); }) == ErrorCode::busy);
        CHECK(os::info_of(temporary).type == FileType::regular);
    }
    set_marks(temporary, FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN);
    CHECK_FALSE(os::is_locked(path));
    { const Lock lock(path); }
    CHECK(os::info_of(temporary).type == FileType::missing);
}

}  // namespace fixnvpe::test
