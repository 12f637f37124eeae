#include "fixnvpe/os/lock.hpp"

#include <string>

#include "fixnvpe/os/names.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::FileType;
using os::Lock;

}  // namespace

TEST_CASE("os/lock: a lock is the only one, and takes its temporary with it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder / "a.dll.fixnvpe-tmp";
    CHECK_FALSE(os::is_locked(path));
    {
        const Lock lock(path);
        CHECK_FALSE(lock.removed_leftover());
        CHECK(os::is_locked(path));
        CHECK(os::info_of(temporary).type == FileType::regular);
        CHECK(code_of([&] { const Lock second(path); }) == ErrorCode::busy);
        CHECK(os::is_locked(path));
        const Lock other(folder / "b.dll");
    }
    CHECK_FALSE(os::is_locked(path));
    CHECK(os::info_of(temporary).type == FileType::missing);
    CHECK(os::list_folder(folder.path()).size() == 1);
}

TEST_CASE("os/lock: a leftover temporary is no lock, and the next lock removes it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    folder.file("a.dll.fixnvpe-tmp", "left by a crash");
    CHECK_FALSE(os::is_locked(path));
    Lock lock(path);
    CHECK(lock.removed_leftover());
    CHECK(lock.temporary().info().size == 0);
    CHECK(os::is_locked(path));
}

TEST_CASE("os/lock: a folder where the temporary should be is left alone") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    folder.folder("a.dll.fixnvpe-tmp");
    CHECK(code_of([&] { const Lock lock(path); }) == ErrorCode::not_regular_file);
    CHECK(os::info_of(folder / "a.dll.fixnvpe-tmp").type == FileType::folder);
}

TEST_CASE("os/lock: Lock::rename_to() replaces a file, and ends the lock") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    {
        Lock lock(path);
        lock.temporary().write_at(0, view("newer"));
        lock.rename_to(path);
        CHECK_FALSE(os::is_locked(path));
        CHECK(content_of(path) == "newer");
        { const Lock next(path); }
        folder.file("a.dll.fixnvpe-tmp", "another's");
    }
    CHECK(content_of(path) == "newer");
    CHECK(content_of(folder / "a.dll.fixnvpe-tmp") == "another's");
    CHECK(os::list_folder(folder.path()).size() == 2);
}

}  // namespace fixnvpe::test
