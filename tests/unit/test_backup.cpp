// What a file beside a DLL is, held against it.

#include "fixnvpe/patch/backup.hpp"
#include "fixnvpe/patch/examine.hpp"

#include <functional>
#include <string>

#include "fixnvpe/os/lock.hpp"
#include "support/catch.hpp"
#include "support/dll_files.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using State = SidecarState;

const std::string& original() {
    static const std::string bytes = pe_file("x64-writable.dll");
    return bytes;
}

/// What a sidecar of this kind is beside a.dll. @param dll its bytes; empty: it is missing
Sidecar beside(const std::string& dll, SidecarKind kind, const std::string& content,
               const std::string& dll_name = "a.dll") {
    const TempFolder folder;
    const fs::path path = folder / dll_name;
    std::optional<Dll> read;
    if (!dll.empty()) {
        read = read_dll(folder.file(dll_name, dll));
    }
    const auto places = sidecars_of(path);
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const SidecarPlace& p) { return p.kind == kind; });
    folder.file(place->path.filename(), content);
    const auto sidecar = examine_sidecar(*place, path, read ? &*read : nullptr);
    REQUIRE(sidecar.has_value());
    CHECK(sidecar->kind == kind);
    CHECK(sidecar->path == place->path);
    CHECK(sidecar->info.size == content.size());
    const bool wrong = sidecar->state == State::stale || sidecar->state == State::unusable;
    CHECK(sidecar->error.has_value() == wrong);
    CHECK((!wrong || sidecar->error->path() == place->path));
    CHECK((!sidecar->holds_original() || !sidecar->original.empty()));
    return *sidecar;
}

std::string poked(std::string bytes, std::size_t offset, int flip) {
    bytes.at(offset) = static_cast<char>(bytes[offset] ^ flip);
    return bytes;
}

}  // namespace

TEST_CASE("backup: a whole copy is the original of a patched DLL, a copy of one that is not, or another build's") {
    for (const SidecarKind kind : {SidecarKind::full, SidecarKind::legacy}) {
        for (const AslrPolicy policy : {AslrPolicy::automatic, AslrPolicy::keep, AslrPolicy::clear}) {
            const Sidecar of_patched = beside(patched(original(), policy), kind, original());
            CHECK(of_patched.state == State::original);
            CHECK(of_patched.holds_original());
            CHECK((of_patched.original == header_bytes(original())));
            CHECK(of_patched.ours);
        }
        const Sidecar same = beside(original(), kind, original());
        CHECK(same.state == State::copy);
        CHECK_FALSE(same.holds_original());

        for (const std::string& other : {pe_file("x64-odd-size.dll"), original() + '\0', poked(original(), 0x88, 0x20),
                                         poked(original(), 0xDF, 0x20), poked(original(), 0x224, 0x20)}) {
            const Sidecar stale = beside(patched(original()), kind, other);
            CHECK(stale.state == State::stale);
            CHECK_FALSE(stale.holds_original());
            CHECK(stale.ours);
            CHECK(stale.error->code() == ErrorCode::stale_backup);
        }
    }
}

TEST_CASE("backup: what is no PE file under a backup's name can't be used, and is not ours") {
    const Sidecar notes = beside(original(), SidecarKind::full, "my notes");
    CHECK(notes.state == State::unusable);
    CHECK_FALSE(notes.ours);
    CHECK(notes.error->code() == ErrorCode::not_pe);
    CHECK(notes.error->hint() == Hint::move_away);

    const TempFolder folder;
    const Dll dll = read_dll(folder.file("a.dll", original()));
    folder.folder("a.dll.bak");
    const auto sidecar = examine_sidecar({SidecarKind::full, folder / "a.dll.bak"}, dll.path, &dll);
    REQUIRE(sidecar.has_value());
    CHECK(sidecar->state == State::unusable);
    CHECK_FALSE(sidecar->ours);
    CHECK_FALSE(examine_sidecar({SidecarKind::undo, folder / "a.dll.fixnvpe-undo"}, dll.path, &dll).has_value());
}

#if !defined(_WIN32)
TEST_CASE("backup: a link under a backup's name is what it leads to; one under that of an undo file can't be used") {
    struct Row {
        SidecarKind kind;
        const char* target;
        State state;
    };
    const Row rows[] = {
        {SidecarKind::full, "real", State::original},     {SidecarKind::legacy, "real", State::original},
        {SidecarKind::numbered, "real", State::original}, {SidecarKind::full, "nowhere", State::stale},
        {SidecarKind::full, "notes", State::unusable},    {SidecarKind::full, "folder", State::unusable},
        {SidecarKind::undo, "real", State::unusable},     {SidecarKind::undo, "nowhere", State::unusable},
    };
    for (const Row& row : rows) {
        INFO(to_string(row.kind) << ' ' << row.target);
        const TempFolder folder;
        const Dll dll = read_dll(folder.file("a.dll", patched(original())));
        folder.file("real", original());
        folder.file("notes", "my notes");
        folder.folder("folder");
        fs::create_symlink(row.target, folder / "link");
        const auto sidecar = examine_sidecar({row.kind, folder / "link"}, dll.path, &dll);
        REQUIRE(sidecar.has_value());
        CHECK(sidecar->state == row.state);
        CHECK(sidecar->is_link());
        CHECK((row.state != State::original || sidecar->contents.size == original().size()));
    }
}

#endif

TEST_CASE("backup: without its DLL, or beside one without GPU code, a copy is ours if it holds GPU code itself") {
    CHECK(beside("", SidecarKind::full, original()).state == State::alone);
    CHECK(beside("", SidecarKind::full, original()).ours);
    CHECK(beside("", SidecarKind::full, pe_file("x64-no-fatbin.dll")).state == State::alone);
    CHECK_FALSE(beside("", SidecarKind::full, pe_file("x64-no-fatbin.dll")).ours);
    const std::string plain = pe_file("x64-no-fatbin.dll");
    CHECK_FALSE(beside(plain, SidecarKind::full, plain).ours);
    CHECK(beside(plain, SidecarKind::full, original()).ours);
    CHECK(beside(plain, SidecarKind::full, original()).state == State::stale);
}

TEST_CASE("undo: how far its edits are carried out is its state, and it knows both ends") {
    const std::string undo = undo_file(original(), "a.dll");
    const std::string whole = patched(original());
    const std::vector<Edit> edits = edits_for(original());
    REQUIRE(edits.size() == 3);
    const auto check = [&](const std::string& dll, State state) {
        const Sidecar sidecar = beside(dll, SidecarKind::undo, undo);
        CHECK(sidecar.state == state);
        CHECK((sidecar.original == header_bytes(original())));
        CHECK((sidecar.edited == header_bytes(whole)));
        CHECK(sidecar.ours);
    };
    check(whole, State::original);
    check(original(), State::copy);
    for (const Edit& edit : edits) {
        check(edited(original(), {edit}), State::half_done);
    }
    check(edited(original(), {edits[0], edits[2]}), State::half_done);
}

TEST_CASE("undo: it holds the original's headers, and so all bits that another tool has cleared since, too") {
    const std::string undo = undo_file(original(), "a.dll");  // DYNAMIC_BASE, .nv_fatb, CheckSum
    std::string more = pe_file("x64-two-fatbins-one-writable.dll");
    const std::vector<Edit> edits = edits_for(more, AslrPolicy::keep);
    const std::string record = to_json({"a.dll", more.size(), {}, header_bytes(more), {}, edits});
    const std::string all_cleared = edited(edited(more, edits), {edits_for(more)[1]});
    REQUIRE(all_cleared != edited(more, edits));
    const Sidecar sidecar = beside(all_cleared, SidecarKind::undo, record);
    CHECK(sidecar.state == State::original);
    CHECK((sidecar.original == header_bytes(more)));
    CHECK(sidecar.bits == 3);
}

TEST_CASE("undo: schema 1, which holds no headers, is read by the DLL's own") {
    const auto fingerprint = header_fingerprint(header_bytes(original()), read_pe(header_bytes(original()), 4608));
    std::string text = undo_file(original(), "a.dll");
    const std::size_t headers = text.find("\"headers\"");
    text.replace(headers, text.find('"', headers + 12) + 1 - headers,
                 "\"fingerprint\": " + std::to_string(fingerprint));
    text.replace(text.find("\"schema\": 2"), 11, "\"schema\": 1");
    INFO(text);
    const Sidecar sidecar = beside(patched(original()), SidecarKind::undo, text);
    CHECK(sidecar.state == State::original);
    CHECK((sidecar.original == header_bytes(original())));
    CHECK(beside(original(), SidecarKind::undo, text).state == State::copy);
    CHECK(beside(edited(original(), {edits_for(original())[1]}), SidecarKind::undo, text).state == State::half_done);
    CHECK(beside(poked(original(), 0x90, 1), SidecarKind::undo, text).state == State::stale);
}

TEST_CASE("undo: one of another build is stale, a damaged one can't be used, and both are ours") {
    const std::string undo = undo_file(original(), "a.dll");
    const auto check = [&](const std::string& dll, const std::string& content, const char* name, State state,
                           ErrorCode code) {
        const Sidecar sidecar = beside(dll, SidecarKind::undo, content, name);
        INFO(content);
        CHECK(sidecar.state == state);
        CHECK(sidecar.ours);
        CHECK(sidecar.error->code() == code);
        CHECK(sidecar.error->hint() == (state == State::stale ? Hint::none : Hint::leave_backup));
    };
    CHECK(beside(original(), SidecarKind::undo, undo, "b.dll").state == State::copy);  // renamed together
    check(original() + '\0', undo, "a.dll", State::stale, ErrorCode::stale_backup);
    check(poked(original(), 0x88, 1), undo, "a.dll", State::stale, ErrorCode::stale_backup);
    check(poked(original(), 0xD8, 1), undo, "a.dll", State::stale, ErrorCode::stale_backup);  // a CheckSum of neither
    check(original(), "hello", "a.dll", State::unusable, ErrorCode::bad_undo);
    CHECK(beside("", SidecarKind::undo, undo).state == State::alone);
    check("", "hello", "a.dll", State::unusable, ErrorCode::bad_undo);
}

TEST_CASE("backup: a temporary is free once nobody holds it") {
    CHECK(beside(original(), SidecarKind::temporary, "half a copy").state == State::free);
    const TempFolder folder;
    const Dll dll = read_dll(folder.file("a.dll", original()));
    const SidecarPlace place{SidecarKind::temporary, temporary_path(dll.path)};
    {
        const os::Lock lock(dll.path);
        CHECK(examine_sidecar(place, dll.path, &dll)->state == State::locked);
    }
    CHECK_FALSE(examine_sidecar(place, dll.path, &dll).has_value());
}

TEST_CASE("backup: the earlier original is the first that shows a patch, and the next free number is taken") {
    Findings findings;
    std::vector<Sidecar>& sidecars = findings.sidecars;
    sidecars.resize(3);
    sidecars[0].state = State::copy;
    sidecars[0].kind = SidecarKind::full;
    sidecars[1].state = State::half_done;
    sidecars[1].kind = SidecarKind::undo;
    sidecars[2].state = State::original;
    sidecars[2].kind = SidecarKind::legacy;
    CHECK(earlier_original(findings) == &sidecars[1]);
    CHECK(of_kind(sidecars, SidecarKind::legacy) == &sidecars[2]);
    CHECK(of_kind(sidecars, SidecarKind::temporary) == nullptr);
    sidecars.resize(1);
    CHECK(earlier_original(findings) == nullptr);

    const TempFolder folder;
    CHECK(free_numbered_path(folder / "a.dll.bak") == folder / "a.dll.bak.1");
    folder.file("a.dll.bak.1");
    folder.folder("a.dll.bak.2");
    folder.file("a.dll.bak.4");
    CHECK(free_numbered_path(folder / "a.dll.bak") == folder / "a.dll.bak.3");
}

}  // namespace fixnvpe::test
