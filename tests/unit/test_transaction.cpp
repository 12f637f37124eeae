// One change of a DLL: under its lock, on what was seen, and else nothing.

#include "fixnvpe/patch/transaction.hpp"

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fixnvpe/os/lock.hpp"
#include "support/catch.hpp"
#include "support/dll_files.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

const std::string& original() {
    static const std::string bytes = pe_file("x64-writable.dll");
    return bytes;
}

const std::vector<std::uint8_t>& new_headers() {
    static const std::vector<std::uint8_t> headers = header_bytes(patched(original()));
    return headers;
}

void no_progress(std::uint64_t /*done*/, std::uint64_t /*total*/) {}

/// a.dll, unpatched, and a backup of another build.
struct Place {
    TempFolder folder;
    fs::path dll = folder.file("a.dll", original());
    fs::path stale = folder.file("a.dll.bak", pe_file("x64-odd-size.dll"));
    Findings seen = examine(query_of(dll));

    [[nodiscard]] std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> result;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) {
            result[entry.path().filename().string()] = content_of(entry.path());
        }
        return result;
    }
    [[nodiscard]] const Sidecar& backup() const { return seen.sidecars.at(0); }
};

/// As another program would, in the midst of it: the same bytes, another time.
void touch(const fs::path& path) {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
}

using Step = std::function<void(Transaction&, const Place&)>;

}  // namespace

TEST_CASE("transaction: a second one, and whoever else holds the lock, keeps it from beginning") {
    const Place place;
    const auto before = place.files();
    {
        const Transaction first(place.seen, no_progress);
        CHECK(os::is_locked(place.dll));
        CHECK(code_of([&] { const Transaction second(place.seen, no_progress); }) == ErrorCode::busy);
    }
    CHECK_FALSE(os::is_locked(place.dll));
    {
        const os::Lock other(place.dll);
        CHECK(code_of([&] { const Transaction second(place.seen, no_progress); }) == ErrorCode::busy);
    }
    CHECK((place.files() == before));
}

TEST_CASE("transaction: in a folder that is another one by now nothing is written, though it holds the same file") {
    const TempFolder temp;
    const fs::path dll = temp.file("lib/a.dll", original());
    temp.folder("other");
    fs::create_hard_link(dll, temp / "other/a.dll");
    Query query = query_of(dll);
    query.folder = os::info_of(temp / "lib").identity;
    const Findings seen = examine(query);
    fs::rename(temp / "lib", temp / "before");
    fs::rename(temp / "other", temp / "lib");
    CHECK(code_of([&] { const Transaction transaction(seen, no_progress); }) == ErrorCode::changed);
    CHECK(code_of([&] { static_cast<void>(examine(query)); }) == ErrorCode::changed);
    const auto entries = fs::directory_iterator(temp / "lib");
    CHECK(std::distance(begin(entries), end(entries)) == 1);
}

TEST_CASE("transaction: what changed since it was looked at is `changed`, and nothing is written") {
    const std::function<void(const Place&)> changes[] = {
        [](const Place& p) { p.folder.file("a.dll", patched(original())); },
        [](const Place& p) { touch(p.dll); },
        [](const Place& p) { touch(p.stale); },
        [](const Place& p) { fs::remove(p.stale); },
        [](const Place& p) { p.folder.file("a.dll.fixnvpe-undo", undo_file(original(), "a.dll")); },
    };
    for (const auto& change : changes) {
        INFO("change " << &change - changes);
        const Place place;
        change(place);
        const auto before = place.files();
        CHECK(code_of([&] { const Transaction late(place.seen, no_progress); }) == ErrorCode::changed);
        CHECK((place.files() == before));
    }
}

TEST_CASE("transaction: a change after it has begun is noticed by every step that writes, and nothing is written") {
    const Step steps[] = {
        [](Transaction& t, const Place&) { t.replace(new_headers()); },
        [](Transaction& t, const Place&) { t.replace_and_keep(new_headers(), [] { FAIL("no room was to be made"); }); },
        [](Transaction& t, const Place&) { t.edit(new_headers()); },
        [](Transaction& t, const Place&) { t.write_undo(new_headers()); },
        [](Transaction& t, const Place& p) { t.copy_back(p.backup()); },
        [](Transaction& t, const Place& p) { t.rename_back(p.backup()); },
    };
    for (const Step& step : steps) {
        INFO("step " << &step - steps);
        const Place place;
        const auto before = place.files();
        {
            Transaction transaction(place.seen, no_progress);
            touch(place.dll);
            CHECK(code_of([&] { step(transaction, place); }) == ErrorCode::changed);
        }
        CHECK((place.files() == before));
    }
    const Step steps_on_backups[] = {
        [](Transaction& t, const Place& p) { t.copy_back(p.backup()); },
        [](Transaction& t, const Place& p) { t.rename_back(p.backup()); },
        [](Transaction& t, const Place& p) { static_cast<void>(t.move_aside(p.backup())); },
        [](Transaction& t, const Place& p) { t.remove(p.backup()); },
    };
    for (const Step& step : steps_on_backups) {
        INFO("step on a backup " << &step - steps_on_backups);
        const Place place;
        const auto before = place.files();
        {
            Transaction transaction(place.seen, no_progress);
            touch(place.stale);
            CHECK(code_of([&] { step(transaction, place); }) == ErrorCode::changed);
        }
        CHECK((place.files() == before));
    }
}

TEST_CASE("transaction: a DLL that changes while it is copied is `changed`, and the copy goes") {
    const Place place;
    const auto before = place.files();
    {
        Transaction transaction(place.seen, [&](std::uint64_t, std::uint64_t) { touch(place.dll); });
        CHECK(code_of([&] { transaction.replace(new_headers()); }) == ErrorCode::changed);
    }
    CHECK((place.files() == before));
}

TEST_CASE("transaction: who watches the progress can stop it, and nothing is left") {
    const Place place;
    const auto before = place.files();
    std::uint64_t seen_total = 0;
    {
        Transaction transaction(place.seen, [&](std::uint64_t, std::uint64_t total) {
            seen_total = total;
            throw Error(ErrorCode::interrupted, "copy: interrupted").at(place.dll);
        });
        CHECK(code_of([&] { transaction.replace(new_headers()); }) == ErrorCode::interrupted);
    }
    CHECK(seen_total == original().size());
    CHECK((place.files() == before));
}

TEST_CASE("transaction: the temporary of an undo file that a crash left is removed") {
    const Place place;
    const auto before = place.files();
    place.folder.file("a.dll.fixnvpe-undo.fixnvpe-tmp", "half an undo file");
    place.folder.file("a.dll.fixnvpe-tmp", "half a copy");
    { const Transaction transaction(place.seen, no_progress); }
    CHECK((place.files() == before));
}

TEST_CASE("transaction: replace and edit write the new headers and nothing else, and other names keep their bytes") {
    for (const bool in_place : {false, true}) {
        for (const bool has_other_name : {false, true}) {
            INFO(in_place << has_other_name);
            Place place;
            if (has_other_name) {
                fs::create_hard_link(place.dll, place.folder / "other-name");
                place.seen = examine(query_of(place.dll));
            }
            auto expected = place.files();
            expected["a.dll"] = patched(original());
            const os::FileIdentity identity = place.seen.dll.info.identity;
            {
                Transaction transaction(place.seen, no_progress);
                in_place ? transaction.edit(new_headers()) : transaction.replace(new_headers());
            }
            CHECK((place.files() == expected));
            CHECK((os::info_of(place.dll).identity == identity) == (in_place && !has_other_name));
        }
    }
}

TEST_CASE("transaction: replace_and_keep makes the very DLL its own backup, after room was made for it") {
    const Place place;
    const os::FileIdentity identity = place.seen.dll.info.identity;
    {
        Transaction transaction(place.seen, no_progress);
        transaction.replace_and_keep(new_headers(), [&] {
            CHECK((content_of(place.dll) == original()));
            CHECK(transaction.move_aside(place.backup()) == place.folder / "a.dll.bak.1");
        });
    }
    CHECK(place.files() == std::map<std::string, std::string>{{"a.dll", patched(original())},
                                                              {"a.dll.bak", original()},
                                                              {"a.dll.bak.1", pe_file("x64-odd-size.dll")}});
    CHECK(os::info_of(place.folder / "a.dll.bak").identity == identity);
}

TEST_CASE("transaction: it goes on under its lock, and only with the headers that it wrote") {
    const Place place;
    Transaction transaction(place.seen, no_progress);
    transaction.replace(new_headers());
    CHECK_FALSE(os::is_locked(place.dll));
    transaction.go_on_with(new_headers());
    CHECK(os::is_locked(place.dll));
    CHECK((transaction.dll().headers == new_headers()));
    transaction.edit(header_bytes(original()));
    CHECK(os::is_locked(place.dll));
    CHECK(code_of([&] { transaction.go_on_with(new_headers()); }) == ErrorCode::changed);
    transaction.go_on_with(header_bytes(original()));
    transaction.replace(new_headers());
    {
        const os::Lock other(place.dll);
        CHECK(code_of([&] { transaction.go_on_with(new_headers()); }) == ErrorCode::busy);
    }
}

TEST_CASE("transaction: the undo file holds what takes the edits back, and goes once none is carried out") {
    const TempFolder folder;
    const fs::path dll = folder.file("a.dll", original());
    const fs::path undo = undo_path(dll);
    {
        Transaction transaction(examine(query_of(dll)), no_progress);
        transaction.write_undo(new_headers());
        CHECK(content_of(undo) == undo_file(original(), "a.dll", os::info_of(dll).modified));
        CHECK((content_of(dll) == original()));
        transaction.edit(new_headers());
        transaction.go_on_with(new_headers());
        transaction.remove_spent_undo({SidecarKind::undo, undo});
        CHECK(fs::exists(undo));  // its edits are carried out
        transaction.edit(header_bytes(original()));
        transaction.go_on_with(header_bytes(original()));
        transaction.remove_spent_undo({SidecarKind::undo, undo});
        CHECK_FALSE(fs::exists(undo));
    }
    CHECK(os::info_of(temporary_path(dll)).type == os::FileType::missing);
}

TEST_CASE("transaction: copy_back leaves the backup, rename_back is the very file") {
    for (const bool copies : {true, false}) {
        INFO(copies);
        const TempFolder folder;
        const fs::path dll = folder.file("a.dll", patched(original()));
        const fs::path backup = folder.file("a.dll.bak", original());
        const os::FileIdentity identity = os::info_of(backup).identity;
        const Findings seen = examine(query_of(dll));
        {
            Transaction transaction(seen, no_progress);
            copies ? transaction.copy_back(seen.sidecars.at(0)) : transaction.rename_back(seen.sidecars.at(0));
        }
        CHECK((content_of(dll) == original()));
        CHECK(fs::exists(backup) == copies);
        CHECK((os::info_of(dll).identity == identity) == !copies);
    }
    // After a crash between two names of one file.
    const TempFolder folder;
    const fs::path dll = folder.file("a.dll", original());
    fs::create_hard_link(dll, folder / "a.dll.bak");
    const Findings seen = examine(query_of(dll));
    Transaction(seen, no_progress).rename_back(seen.sidecars.at(0));
    CHECK((content_of(dll) == original()));
    CHECK_FALSE(fs::exists(folder / "a.dll.bak"));
}

TEST_CASE("transaction: a leftover temporary is removed on its own, and a held one stays") {
    const TempFolder folder;
    const fs::path dll = folder.file("a.dll", original());
    CHECK_FALSE(remove_leftover_temporary(dll));
    folder.file("a.dll.fixnvpe-tmp", "half a copy");
    CHECK(remove_leftover_temporary(dll));
    CHECK_FALSE(fs::exists(temporary_path(dll)));
    const os::Lock other(dll);
    CHECK(code_of([&] { static_cast<void>(remove_leftover_temporary(dll)); }) == ErrorCode::busy);
    CHECK(fs::exists(temporary_path(dll)));
}

}  // namespace fixnvpe::test
