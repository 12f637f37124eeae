// The door to the file system, on whatever system this is. What only Windows has is in tests/win32/.

#include "fixnvpe/os/file.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/os/process.hpp"
#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::Claim;
using os::File;
using os::FileType;

/// Without reading anything by the code under test.
std::string content_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// The code of the Error that this throws; nothing if it throws none.
template <typename Step>
std::optional<ErrorCode> code_of(Step step) {
    try {
        step();
    } catch (const Error& error) {
        UNSCOPED_INFO(to_utf8(error.path()) << ": " << error.message() << " (" << words_of(error.hint(), error.detail()) << ")");
        CHECK_FALSE(error.path().empty());
        CHECK_THAT(error.message(), contains(": "));
        return error.code();
    }
    return std::nullopt;
}

void nothing(std::uint64_t) {}

std::string some_bytes(std::size_t count) {
    std::string text(count, '\0');
    std::uint32_t state = 1;
    for (char& c : text) {
        state = state * 1664525 + 1013904223;
        c = static_cast<char>(state >> 24);
    }
    return text;
}

ByteView view(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

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

TEST_CASE("os/file: names of any script") {
    const TempFolder folder;
    const std::vector<std::string> names{"页面文件太小.dll", "Größe ñ.dll", "модуль.pyd", "🦊.dll", "a b;c=d&e'f.dll"};
    for (const std::string& name : names) {
        INFO(name);
        const fs::path path = folder.path() / os::to_path(name);
        {
            Claim claim(path);
            claim.file().write_at(0, view(name));
            claim.rename_to(path);
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

TEST_CASE("os/file: a path of 500 characters") {
    const TempFolder folder;
    const fs::path deep = deep_folder(folder);
    const fs::path path = deep / "torch_cuda.dll";
    REQUIRE(path.native().size() > 400);
    {
        Claim claim(path);
        claim.file().write_at(0, view("original"));
        claim.rename_to(path);
    }
    CHECK(os::info_of(path).size == 8);
    CHECK(os::list_folder(deep).size() == 1);

    REQUIRE(os::make_hard_link(path, deep / "torch_cuda.dll.bak"));
    Claim claim(path);
    const File source = File::open_to_read(path);
    os::copy_contents(source, claim.file(), nothing);
    os::copy_metadata(source, claim.file());
    CHECK(claim.file().info().size == 8);
    CHECK(os::is_claimed(path));
    os::rename_over(deep / "torch_cuda.dll.bak", path);
    os::sync_folder(deep);
    CHECK(os::remove(path));
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

TEST_CASE("os/file: a claim is the only one, and takes its temporary with it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    const fs::path temporary = folder / "a.dll.fixnvpe-tmp";
    CHECK_FALSE(os::is_claimed(path));
    {
        const Claim claim(path);
        CHECK(os::is_claimed(path));
        CHECK(os::info_of(temporary).type == FileType::regular);
        CHECK(code_of([&] { const Claim second(path); }) == ErrorCode::busy);
        CHECK(os::is_claimed(path));
        const Claim other(folder / "b.dll");
    }
    CHECK_FALSE(os::is_claimed(path));
    CHECK(os::info_of(temporary).type == FileType::missing);
    CHECK(os::list_folder(folder.path()).size() == 1);
}

TEST_CASE("os/file: a leftover temporary is no claim, and the next claim removes it") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    folder.file("a.dll.fixnvpe-tmp", "left by a crash");
    CHECK_FALSE(os::is_claimed(path));
    Claim claim(path);
    CHECK(claim.file().info().size == 0);
    CHECK(os::is_claimed(path));
}

TEST_CASE("os/file: a folder where the temporary should be is left alone") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "a");
    folder.folder("a.dll.fixnvpe-tmp");
    CHECK(code_of([&] { const Claim claim(path); }) == ErrorCode::not_regular_file);
    CHECK(os::info_of(folder / "a.dll.fixnvpe-tmp").type == FileType::folder);
}

TEST_CASE("os/file: Claim::rename_to() replaces a file, and ends the claim") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    {
        Claim claim(path);
        claim.file().write_at(0, view("newer"));
        claim.rename_to(path);
        CHECK_FALSE(os::is_claimed(path));
        CHECK(content_of(path) == "newer");
        const Claim next(path);
    }
    CHECK(content_of(path) == "newer");
    CHECK(os::list_folder(folder.path()).size() == 1);
}

TEST_CASE("os/file: a copy has all bytes, tells how far it is, and can be stopped") {
    const TempFolder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, (std::size_t{5} << 20) + 17}) {
        INFO(size);
        const std::string bytes = some_bytes(size);
        const File source = File::open_to_read(folder.file("a.dll", bytes));
        {
            Claim claim(folder / "a.dll");
            std::uint64_t last = 0;
            os::copy_contents(source, claim.file(), [&](std::uint64_t done) {
                CHECK(done >= last);
                CHECK(done <= size);
                last = done;
            });
            CHECK(last == size);
            claim.rename_to(folder / "copy");
        }
        CHECK(content_of(folder / "copy") == bytes);
    }
    const File source = File::open_to_read(folder / "copy");
    Claim claim(folder / "a.dll");
    struct Stop {};
    CHECK_THROWS_AS(os::copy_contents(source, claim.file(), [](std::uint64_t) { throw Stop(); }), Stop);
}

TEST_CASE("os/file: a hard link is a second name") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "original");
    const fs::path backup = folder / "a.dll.bak";
    REQUIRE(os::make_hard_link(path, backup));
    CHECK(os::info_of(path).identity == os::info_of(backup).identity);
    CHECK(os::info_of(path).hard_links == 2);
    CHECK(code_of([&] { (void)os::make_hard_link(path, backup); }) == ErrorCode::io);
    CHECK(code_of([&] { (void)os::make_hard_link(folder / "none", folder / "new"); }) == ErrorCode::not_found);

    CHECK(os::can_be_replaced(path));
    Claim claim(path);
    claim.file().write_at(0, view("patched"));
    claim.rename_to(path);
    CHECK(content_of(path) == "patched");
    CHECK(content_of(backup) == "original");
    CHECK(os::info_of(backup).hard_links == 1);
}

TEST_CASE("os/file: rename_new() never replaces, rename_over() does") {
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

TEST_CASE("os/file: remove() takes files, not folders") {
    const TempFolder folder;
    const fs::path file = folder.file("a.dll");
    CHECK(os::remove(file));
    CHECK_FALSE(os::remove(file));
    CHECK(code_of([&] { os::remove(folder.folder("b.dll")); }).has_value());
    CHECK(os::info_of(folder / "b.dll").type == FileType::folder);
}

TEST_CASE("os/file: list_folder() has every name once, with its type") {
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

TEST_CASE("os/file: canonical() has no . and .. left") {
    const TempFolder folder;
    const fs::path file = folder.file("sub/a.dll");
    CHECK(os::canonical(folder / "sub" / "." / ".." / "sub" / "a.dll") == os::canonical(file));
    CHECK(os::canonical(file).is_absolute());
    CHECK(os::info_of(os::canonical(file)).identity == os::info_of(file).identity);
    CHECK(code_of([&] { (void)os::canonical(folder / "none"); }) == ErrorCode::not_found);
}

TEST_CASE("os/file: a folder can be flushed") {
    const TempFolder folder;
    os::sync_folder(folder.path());
    os::sync_folder({});
    CHECK(code_of([&] { os::sync_folder(folder / "none"); }) == ErrorCode::not_found);
}

}  // namespace fixnvpe::test
