#include "fixnvpe/os/metadata.hpp"

#include <chrono>
#include <thread>

#include "fixnvpe/patch/examine.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::File;

}  // namespace

TEST_CASE("os/metadata: set_modified() gives a file the time that another has") {
    const TempFolder folder;
    const fs::path old = folder.file("old.dll");
    const fs::path path = folder.file("a.dll");
    const auto before_1970 = fs::file_time_type::clock::now() - std::chrono::hours(24 * 365 * 80);
    for (const auto time : {fs::file_time_type::clock::now() - std::chrono::milliseconds(12345678), before_1970}) {
        fs::last_write_time(old, time);
        File file = File::open_to_edit(path);
        file.write_at(0, view("y"));
        REQUIRE(os::info_of(path).modified != os::info_of(old).modified);
        os::set_modified(file, os::info_of(old).modified);
        CHECK(os::info_of(path).modified == os::info_of(old).modified);
        CHECK(fs::last_write_time(path) == fs::last_write_time(old));
    }
}

TEST_CASE("os/metadata: FileInfo::changed tells of a change whose time was put back") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    const os::FileInfo before = os::info_of(path);
    CHECK(before.changed != 0);
    CHECK(File::open_to_read(path).info().changed == before.changed);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // longer than a tick of any clock
    {
        File file = File::open_to_edit(path);
        file.write_at(0, view("new"));
        os::set_modified(file, before.modified);
    }
    const os::FileInfo after = os::info_of(path);
    CHECK(after.modified == before.modified);
    CHECK(after.changed != before.changed);
    CHECK_FALSE(same_file(after, before));
}

TEST_CASE("os/metadata: one name more or less is no change of a file") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll");
    const os::FileInfo alone = os::info_of(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fs::create_hard_link(path, folder / "b.dll");
    const os::FileInfo linked = os::info_of(path);
    CHECK(same_file(linked, alone));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fs::remove(folder / "b.dll");
    CHECK(same_file(os::info_of(path), linked));
}

}  // namespace fixnvpe::test
