// One look at a DLL and at what stands beside it, and whether a second one sees the same.

#include "fixnvpe/patch/examine.hpp"

#include <chrono>
#include <functional>
#include <string>

#include "fixnvpe/os/lock.hpp"
#include "support/catch.hpp"
#include "support/dll_files.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Presence = DllFacts::Presence;

const std::string& original() {
    static const std::string bytes = pe_file("x64-writable.dll");
    return bytes;
}

/// a.dll, patched, and its backup.
struct Place {
    TempFolder folder;
    fs::path dll = folder.file("a.dll", patched(original()));
    fs::path backup = folder.file("a.dll.bak", original());

    [[nodiscard]] Findings look() const { return examine(query_of(dll)); }
};

/// The same file with other bytes.
void rewrite(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::in) << bytes << std::flush;
}

/// Another file of the same bytes and the same time takes its name.
void replace_by_twin(const fs::path& path) {
    fs::copy_file(path, path.string() + ".twin");
    at_the_same_time(path, [&] { fs::rename(path.string() + ".twin", path); });
}

}  // namespace

TEST_CASE("examine: a second look sees the same, until anything that the decision rests on has changed") {
    struct Row {
        const char* what;
        std::function<void(const Place&)> change;
        bool same;
    };
    const auto later = [](const fs::path& path) {
        fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
    };
    const Row rows[] = {
        {"nothing", [](const Place&) {}, true},
        {"a byte of the headers, at the same time",
         [](const Place& p) { at_the_same_time(p.dll, [&] { rewrite(p.dll, original()); }); }, false},
        {"a byte more, at the same time",
         [](const Place& p) { at_the_same_time(p.dll, [&] { rewrite(p.dll, patched(original()) + "x"); }); }, false},
        {"the time of the last write", [&](const Place& p) { later(p.dll); }, false},
        {"another file of the same bytes and time", [](const Place& p) { replace_by_twin(p.dll); }, false},
        {"the backup's time", [&](const Place& p) { later(p.backup); }, false},
        {"the backup is another file", [](const Place& p) { replace_by_twin(p.backup); }, false},
        {"the backup is another build's, at the same time",
         [](const Place& p) {
             std::string other = original();
             other[0x88] ^= 1;
             at_the_same_time(p.backup, [&] { rewrite(p.backup, other); });
         },
         false},
        {"the backup went", [](const Place& p) { fs::remove(p.backup); }, false},
        {"an undo file came", [](const Place& p) { p.folder.file("a.dll.fixnvpe-undo"); }, false},
        {"an older backup came", [](const Place& p) { p.folder.file("a.dll_bak", original()); }, false},
        {"a temporary came", [](const Place& p) { p.folder.file("a.dll.fixnvpe-tmp"); }, true},
        {"a file beside it came", [](const Place& p) { p.folder.file("b.dll"); }, true},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const Place place;
        const Findings before = place.look();
        row.change(place);
        CHECK(same(before, place.look()) == row.same);
        CHECK(same(place.look(), before) == row.same);
        CHECK(code_of([&] { static_cast<void>(examine_again(before)); }) ==
              (row.same ? std::nullopt : std::optional(ErrorCode::changed)));
    }
}

TEST_CASE("examine: each value of a sidecar and of the DLL counts by itself") {
    const Place place;
    const Findings before = place.look();
    REQUIRE(before.sidecars.size() == 1);
    const std::function<void(Findings&)> changes[] = {
        [](Findings& f) { f.presence = Presence::damaged; },
        [](Findings& f) { f.dll.headers.back() ^= 1; },
        [](Findings& f) { f.dll.info.size ^= 1; },
        [](Findings& f) { f.dll.info.modified ^= 1; },
        [](Findings& f) { f.dll.info.identity.file ^= 1; },
        [](Findings& f) { f.dll.info.identity.volume ^= 1; },
        [](Findings& f) { f.dll.info.type = os::FileType::link; },
        [](Findings& f) { f.sidecars[0].by_headers = SidecarState::copy; },
        [](Findings& f) { f.sidecars[0].original.back() ^= 1; },
        [](Findings& f) { f.sidecars[0].info.modified ^= 1; },
        [](Findings& f) { f.sidecars[0].path = "other"; },
        [](Findings& f) { f.sidecars.push_back(f.sidecars[0]); },
        [](Findings& f) { f.sidecars.clear(); },
    };
    for (const auto& change : changes) {
        INFO("change " << &change - changes);
        Findings after = before;
        CHECK(same(before, after));
        change(after);
        CHECK_FALSE(same(before, after));
        CHECK_FALSE(same(after, before));
    }
    Findings linked = before;
    linked.dll.info.hard_links = 2;  // another name of the same file
    CHECK(same(before, linked));
}

TEST_CASE("examine: where there is something to do, the plan starts from the original that a backup holds") {
    const TempFolder folder;
    const fs::path dll = folder.file("a.dll", patched(original(), AslrPolicy::keep));
    folder.file("a.dll.bak", original());
    Query query = query_of(dll);
    query.aslr = AslrPolicy::clear;
    CHECK((examine(query).planned_headers() == header_bytes(patched(original()))));
    CHECK(examine(query).plan.edits.size() == 2);
    for (const AslrPolicy policy : {AslrPolicy::automatic, AslrPolicy::keep}) {  // .nv_fatb is read-only by now
        query.aslr = policy;
        CHECK(examine(query).plan.edits.empty());
    }
    // CheckSum follows from the original's, even where fixNvPe.py has left that as it was.
    constexpr std::size_t check_sum = 0xD8;
    std::string stale = patched(original(), AslrPolicy::keep);
    stale.replace(check_sum, 4, original(), check_sum, 4);
    folder.file("a.dll", stale);
    query.aslr = AslrPolicy::clear;
    CHECK((examine(query).planned_headers() == header_bytes(patched(original()))));
}

TEST_CASE("examine: a half-done edit is planned to its end, whatever is asked for now") {
    const TempFolder folder;
    const std::vector<Edit> edits = edits_for(original());
    folder.file("a.dll.fixnvpe-undo", undo_file(original(), "a.dll"));
    for (const Edit& done : edits) {
        const fs::path dll = folder.file("a.dll", edited(original(), {done}));
        for (const AslrPolicy policy : {AslrPolicy::automatic, AslrPolicy::keep, AslrPolicy::clear}) {
            Query query = query_of(dll);
            query.aslr = policy;
            const Findings findings = examine(query);
            CHECK((findings.planned_headers() == header_bytes(patched(original()))));
            CHECK(findings.plan.edits.size() == edits.size() - 1);
        }
    }
}

TEST_CASE("examine: beside a DLL without GPU code nothing is looked at but what is surely ours") {
    const TempFolder folder;
    const fs::path dll = folder.file("a.dll", pe_file("x64-no-fatbin.dll"));
    folder.file("a.dll.bak", "my notes");
    folder.file("a.dll.fixnvpe-tmp", "left");
    CHECK(examine(query_of(dll)).sidecars.empty());
    folder.file("a.dll.bak", original());
    CHECK(examine(query_of(dll)).sidecars.size() == 1);
    folder.file("a.dll", original());
    CHECK(examine(query_of(dll)).sidecars.size() == 2);
}

TEST_CASE("examine: a DLL that is missing or damaged is an error, unless it is looked at for clean, or has a backup") {
    const TempFolder folder;
    folder.file("a.dll.bak", original());
    Query query = query_of(folder / "a.dll");
    CHECK(code_of([&] { static_cast<void>(examine(query)); }) == ErrorCode::not_found);
    query.lenient = true;
    CHECK(examine(query).presence == Presence::missing);
    CHECK(examine(query).sidecars.at(0).state == SidecarState::alone);
    const Findings missing = examine(query);
    folder.file("a.dll", "damaged");
    CHECK(examine(query).presence == Presence::damaged);
    CHECK(examine(query).sidecars.at(0).state == SidecarState::alone);
    CHECK_FALSE(same(missing, examine(query)));
    query.lenient = false;
    CHECK(examine(query).presence == Presence::damaged);
    CHECK(examine(query).why_damaged->code() == ErrorCode::not_pe);
    CHECK(examine(query).sidecars.at(0).whole);
    folder.file("a.dll.bak", original().substr(0, original().size() - 1));
    CHECK(code_of([&] { static_cast<void>(examine(query)); }) == ErrorCode::not_pe);
}

TEST_CASE("examine: what decides over a DLL is what its headers and its plan say") {
    const auto facts = [](const char* name) {
        const TempFolder folder;
        return examine(query_of(folder.file("a.dll", pe_file(name)))).dll_facts();
    };
    CHECK(facts("x64-writable.dll").has_fatbin);
    CHECK(facts("x64-writable.dll").dynamic_base);
    CHECK_FALSE(facts("x64-writable.dll").plan_is_empty);
    CHECK_FALSE(facts("x64-writable.dll").is_signed);
    CHECK(facts("x64-signed.dll").is_signed);
    CHECK(facts("x64-patched.dll").plan_is_empty);
    CHECK_FALSE(facts("x64-patched.dll").dynamic_base);
    CHECK_FALSE(facts("x64-no-fatbin.dll").has_fatbin);
    CHECK(facts("x64-force-integrity.dll").refusal == Reason{Why::force_integrity});
}

}  // namespace fixnvpe::test
