#include "fixnvpe/os/copy.hpp"

#include <string>

#include "fixnvpe/os/lock.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::File;
using os::Lock;

std::string some_bytes(std::size_t count) {
    std::string text(count, '\0');
    std::uint32_t state = 1;
    for (char& c : text) {
        state = state * 1664525 + 1013904223;
        c = static_cast<char>(state >> 24);
    }
    return text;
}

}  // namespace

TEST_CASE("os/copy: a copy has all bytes, tells how far it is, and can be stopped") {
    const TempFolder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, (std::size_t{5} << 20) + 17}) {
        INFO(size);
        const std::string bytes = some_bytes(size);
        const File source = File::open_to_read(folder.file("a.dll", bytes));
        {
            Lock lock(folder / "a.dll");
            std::uint64_t last = 0;
            os::copy_contents(source, lock.temporary(), [&](std::uint64_t done) {
                CHECK(done >= last);
                CHECK(done <= size);
                last = done;
            });
            CHECK(last == size);
            lock.rename_to(folder / "copy");
        }
        CHECK(content_of(folder / "copy") == bytes);
    }
    const File source = File::open_to_read(folder / "copy");
    Lock lock(folder / "a.dll");
    struct Stop {};
    CHECK_THROWS_AS(os::copy_contents(source, lock.temporary(), [](std::uint64_t) { throw Stop(); }), Stop);
}

TEST_CASE("os/copy: a copy has the holes of a sparse file, and the bytes between them") {
    const TempFolder folder;
    constexpr std::uint64_t size = std::uint64_t{24} << 20;
    constexpr std::uint64_t step = std::uint64_t{8} << 20;
    const std::string bytes = some_bytes(5000);
    const bool at_end = GENERATE(false, true);
    const fs::path path = folder.file("a.dll", "");
    for (std::uint64_t offset = step; offset < size; offset += step) {
        File::open_to_edit(path).write_at(offset - 1, view(bytes));
    }
    if (at_end) {
        File::open_to_edit(path).write_at(size - bytes.size(), view(bytes));
    }
    fs::resize_file(path, size);

    const File source = File::open_to_read(path);
    Lock lock(path);
    std::uint64_t last = 0;
    os::copy_contents(source, lock.temporary(), [&](std::uint64_t done) {
        CHECK(done > last);
        last = done;
    });
    CHECK(last == size);
    CHECK(lock.temporary().info().size == size);
#if !defined(_WIN32)  // which wants to be told of holes: tests/win32
    if (source.info().allocated < size / 8) {
        CHECK(lock.temporary().info().allocated < size / 8);
    }
#endif
    lock.rename_to(folder / "copy");
    CHECK((content_of(folder / "copy") == content_of(path)));
}

TEST_CASE("os/copy: a file that grows or shrinks meanwhile is not taken for copied") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", some_bytes(5000));
    const std::uint64_t changed_size = GENERATE(std::uint64_t{4999}, std::uint64_t{5001});
    const File source = File::open_to_read(path);
    Lock lock(path);
    const auto change = [&](std::uint64_t) { fs::resize_file(path, changed_size); };
    CHECK(code_of([&] { os::copy_contents(source, lock.temporary(), change); }) == ErrorCode::changed);
}

}  // namespace fixnvpe::test
