#include "fixnvpe/os/names.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/copy.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/metadata.hpp"
#include "fixnvpe/os/process.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::File;
using os::FileType;
using os::Lock;

/// Some 400 characters, far beyond the 260 that Windows programs are held to without further ado.
fs::path deep_folder(const TempFolder& folder) {
    fs::path deep = folder.path();
    for (int i = 0; i < 4; ++i) {
        deep /= std::string(100, static_cast<char>('a' + i));
    }
#if defined(_WIN32)
    fs::create_directories(fs::path(L"\\\\?\\" + deep.native()));
#else
    fs::create_directories(deep);
#endif
    return deep;
}

}  // namespace

TEST_CASE("os/names: names of any script") {
    const TempFolder folder;
    const std::vector<std::string> names{"页面文件太小.dll", "Größe ñ.dll", "модуль.pyd", "🦊.dll",
                                         "a b;c=d&e'f.dll"};
    for (const std::string& name : names) {
        INFO(name);
        const fs::path path = folder.path() / os::to_path(name);
        {
            Lock lock(path);
            lock.temporary().write_at(0, view(name));
            lock.rename_to(path);
        }
        CHECK(os::from_path(path.filename()) == name);
        CHECK(to_utf8(path.filename()) == name);
        CHECK(os::info_of(path).size == name.size());
        CHECK(os::canonical(path).filename() == path.filename());
    }
    std::vector<std::string> listed;
    for (const os::FolderEntry& entry : os::list_folder(folder.path())) {
        CHECK(entry.type == FileType::regular);
        listed.push_back(os::from_path(entry.name));
    }
    std::sort(listed.begin(), listed.end());
    std::vector<std::string> expected = names;
    std::sort(expected.begin(), expected.end());
    CHECK(listed == expected);
    for (const std::string& name : names) {
        CHECK(os::remove(folder.path() / os::to_path(name)));
    }
}

TEST_CASE("os/names: a path of 500 characters") {
    const TempFolder folder;
    const fs::path deep = deep_folder(folder);
    const fs::path path = deep / "torch_cuda.dll";
    REQUIRE(path.native().size() > 400);
    {
        Lock lock(path);
        lock.temporary().write_at(0, view("original"));
        lock.rename_to(path);
    }
    CHECK(os::info_of(path).size == 8);
    CHECK(os::list_folder(deep).size() == 1);

    REQUIRE(os::make_hard_link(path, deep / "torch_cuda.dll.bak"));
    Lock lock(path);
    const File source = File::open_to_read(path);
    os::copy_contents(source, lock.temporary(), [](std::uint64_t) {});
    os::copy_metadata(source, lock.temporary());
    CHECK(lock.temporary().info().size == 8);
    CHECK(os::is_locked(path));
    os::rename_over(deep / "torch_cuda.dll.bak", path);
    os::sync_folder(deep);
    CHECK(os::remove(path));
}

TEST_CASE("os/names: a hard link is a second name") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "original");
    const fs::path backup = folder / "a.dll.bak";
    REQUIRE(os::make_hard_link(path, backup));
    CHECK(os::info_of(path).identity == os::info_of(backup).identity);
    CHECK(os::info_of(path).hard_links == 2);
    CHECK(code_of([&] { (void)os::make_hard_link(path, backup); }) == ErrorCode::io);
    CHECK(code_of([&] { (void)os::make_hard_link(folder / "none", folder / "new"); }) == ErrorCode::not_found);

    CHECK(os::can_be_replaced(path));
    Lock lock(path);
    lock.temporary().write_at(0, view("patched"));
    lock.rename_to(path);
    CHECK(content_of(path) == "patched");
    CHECK(content_of(backup) == "original");
    CHECK(os::info_of(backup).hard_links == 1);
}

TEST_CASE("os/names: rename_new() never replaces, rename_over() does") {
    const TempFolder folder;
    const fs::path a = folder.file("a.dll", "a");
    const fs::path b = folder.file("b.dll", "b");
    CHECK(code_of([&] { os::rename_new(a, b); }) == ErrorCode::io);
    CHECK(content_of(a) == "a");
    CHECK(content_of(b) == "b");
    os::rename_over(a, b);
    CHECK(content_of(b) == "a");
    CHECK(os::info_of(a).type == FileType::missing);
    CHECK(code_of([&] { os::rename_over(a, b); }) == ErrorCode::not_found);
    CHECK(code_of([&] { os::rename_new(a, b); }) == ErrorCode::not_found);
    CHECK(content_of(b) == "a");
}

TEST_CASE("os/names: remove() takes files, not folders") {
    const TempFolder folder;
    const fs::path file = folder.file("a.dll");
    CHECK(os::remove(file));
    CHECK_FALSE(os::remove(file));
    CHECK(code_of([&] { os::remove(folder.folder("b.dll")); }).has_value());
    CHECK(os::info_of(folder / "b.dll").type == FileType::folder);
}

TEST_CASE("os/names: list_folder() has every name once, with its type") {
    const TempFolder folder;
    folder.file("a.dll");
    folder.folder("b.dll");
    std::vector<os::FolderEntry> entries = os::list_folder(folder.path());
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "a.dll");
    CHECK(entries[0].type == FileType::regular);
    CHECK(entries[1].name == "b.dll");
    CHECK(entries[1].type == FileType::folder);
    CHECK(os::list_folder(folder / "b.dll").empty());
    CHECK(code_of([&] { (void)os::list_folder(folder / "c"); }) == ErrorCode::not_found);
}

TEST_CASE("os/names: canonical() has no . and .. left") {
    const TempFolder folder;
    const fs::path file = folder.file("sub/a.dll");
    CHECK(os::canonical(folder / "sub" / "." / ".." / "sub" / "a.dll") == os::canonical(file));
    CHECK(os::canonical(file).is_absolute());
    CHECK(os::info_of(os::canonical(file)).identity == os::info_of(file).identity);
    CHECK(code_of([&] { (void)os::canonical(folder / "none"); }) == ErrorCode::not_found);
}

TEST_CASE("os/names: a folder can be flushed") {
    const TempFolder folder;
    os::sync_folder(folder.path());
    os::sync_folder({});
    CHECK(code_of([&] { os::sync_folder(folder / "none"); }) == ErrorCode::not_found);
}

}  // namespace fixnvpe::test
