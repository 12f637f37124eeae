// Files, on whatever system this is. What only Windows has is in tests/win32/.

#include "fixnvpe/os/file.hpp"

#include <string>
#include <vector>

#include "fixnvpe/os/names.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::File;
using os::FileType;

}  // namespace

TEST_CASE("os/file: info_of() tells what a name stands for") {
    const TempFolder folder;
    const fs::path file = folder.file("a.dll", "12345");
    const os::FileInfo info = os::info_of(file);
    CHECK(info.type == FileType::regular);
    CHECK(info.size == 5);
    CHECK(info.hard_links == 1);
    CHECK(info.modified != 0);
    CHECK(os::info_of(folder.path()).type == FileType::folder);
    CHECK(os::info_of(folder / "b.dll").type == FileType::missing);
    CHECK(os::info_of(folder / "no" / "b.dll").type == FileType::missing);
    CHECK(os::info_of(file / "b.dll").type == FileType::missing);
}

TEST_CASE("os/file: a file's identity is its own, whatever its name") {
    const TempFolder folder;
    const fs::path a = folder.file("a.dll", "a");
    const fs::path b = folder.file("b.dll", "a");
    CHECK(os::info_of(a).identity == os::info_of(a).identity);
    CHECK(os::info_of(a).identity != os::info_of(b).identity);
    CHECK(os::info_of(a).identity != os::info_of(folder.path()).identity);
    CHECK(os::info_of(a).identity == File::open_to_read(a).info().identity);

    const os::FileIdentity before = os::info_of(a).identity;
    os::rename_new(a, folder / "c.dll");
    CHECK(os::info_of(folder / "c.dll").identity == before);
}

TEST_CASE("os/file: open_to_read() and open_to_edit() take regular files only") {
    const TempFolder folder;
    const fs::path file = folder.file("a.dll", "12345");
    CHECK(code_of([&] { (void)File::open_to_read(folder / "b.dll"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { (void)File::open_to_edit(folder / "b.dll"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { (void)File::open_to_read(folder.path()); }) == ErrorCode::not_regular_file);
    CHECK(code_of([&] { (void)File::open_to_edit(folder.path()); }).has_value());
    File opened = File::open_to_edit(file);
    opened.write_at(1, view("xy"));
    opened.flush();
    CHECK(content_of(file) == "1xy45");
    CHECK(opened.info().size == 5);
}

TEST_CASE("os/file: read_at() stops at the file's end") {
    const TempFolder folder;
    const File file = File::open_to_read(folder.file("a.dll", "12345"));
    std::vector<std::uint8_t> buffer(4, 0);
    CHECK(file.read_at(3, buffer) == 2);
    CHECK(buffer == std::vector<std::uint8_t>{'4', '5', 0, 0});
    CHECK(file.read_at(5, buffer) == 0);
    CHECK(file.read_at(std::uint64_t{1} << 40, buffer) == 0);
}

TEST_CASE("os/file: an open file moves") {
    const TempFolder folder;
    File a = File::open_to_read(folder.file("a.dll", "a"));
    File b = File::open_to_read(folder.file("b.dll", "bb"));
    b = std::move(a);
    CHECK(b.info().size == 1);
    const File c(std::move(b));
    CHECK(c.info().size == 1);
    CHECK(c.opened_as().size == 1);
    CHECK(c.path() == folder / "a.dll");
}

}  // namespace fixnvpe::test
