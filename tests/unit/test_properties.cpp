// What must hold for every PE file: seeded, so that a case that failed can be run again alone.
//
//   FIXNVPE_TEST_SEED=123 FIXNVPE_TEST_CASES=1 fixnvpe_unit_tests "property: *"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "fixnvpe/commands/run.hpp"
#include "fixnvpe/os/process.hpp"
#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint32_t load(const Bytes& bytes, std::size_t offset, std::size_t width) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
        value |= std::uint32_t{bytes.at(offset + i)} << (8 * i);
    }
    return value;
}

void store(Bytes& bytes, std::size_t offset, std::size_t width, std::uint32_t value) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes.at(offset + i) = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

/// What a patch must make of a file, by the specification and from the whole file: no code of the program's.
Bytes expected_patch(const Bytes& original, AslrPolicy aslr) {
    Bytes bytes = original;
    const std::size_t nt = load(bytes, 0x3C, 4);
    const std::size_t optional = nt + 24;
    const std::size_t check_sum = optional + 64;
    const std::size_t dll_characteristics = optional + 70;
    bool has_fatbin = false;
    bool was_writable = false;
    for (std::size_t i = 0; i < load(bytes, nt + 6, 2); ++i) {
        const std::size_t section = optional + load(bytes, nt + 20, 2) + 40 * i;
        const std::string name(bytes.begin() + static_cast<std::ptrdiff_t>(section),
                               bytes.begin() + static_cast<std::ptrdiff_t>(section) + 8);
        if (name == ".nv_fatb" || name == "__nv_rel") {
            has_fatbin = true;
            was_writable = was_writable || (load(bytes, section + 36, 4) & 0x80000000U) != 0;
            store(bytes, section + 36, 4, load(bytes, section + 36, 4) & 0x7FFFFFFFU);
        }
    }
    const bool clear_aslr = aslr == AslrPolicy::clear ? has_fatbin : aslr == AslrPolicy::automatic && was_writable;
    if (clear_aslr) {
        store(bytes, dll_characteristics, 2, load(bytes, dll_characteristics, 2) & ~0x40U);
    }
    const std::uint32_t stored = load(original, check_sum, 4);
    const std::uint32_t sum = stored - static_cast<std::uint32_t>(original.size());
    if (bytes != original && stored != 0 && sum >= 1 && sum <= 0xFFFF) {
        // As far from the right one as it was, in the arithmetic of the sum.
        constexpr std::uint32_t modulus = 0xFFFF;
        const std::uint32_t off = (stored + modulus - compute_check_sum(original) % modulus) % modulus;
        const auto size = static_cast<std::uint32_t>(bytes.size());
        const std::uint32_t right = compute_check_sum(bytes) - size;
        store(bytes, check_sum, 4, (right + off - 1) % modulus + 1 + size);
    }
    return bytes;
}

Bytes bytes_of(const fs::path& path) {
    const std::string text = read_file(path);
    return {text.begin(), text.end()};
}

FileOutcome run_on(const fs::path& dll, Command command, BackupMode backup, AslrPolicy aslr) {
    Request request;
    request.policy.command = command;
    request.targets = {os::from_path(dll)};
    request.policy.backup = backup;
    request.policy.aslr = aslr;
    Summary summary = run(request, {});
    REQUIRE(summary.problems.empty());
    REQUIRE(summary.files.size() == 1);
    return std::move(summary.files.front());
}

/// One case; the seed decides over everything.
/// @return true if there was something to patch
bool check_case(const Session& session, std::uint64_t seed) {
    const std::vector<std::string> backup_names{"full", "undo", "none"};
    const std::vector<std::string> aslr_names{"auto", "keep", "clear"};
    const auto backup = static_cast<BackupMode>(seed % 3);
    const auto aslr = static_cast<AslrPolicy>(seed / 3 % 3);
    INFO("seed " << seed << ", --backup " << backup_names[seed % 3] << ", --aslr " << aslr_names[seed / 3 % 3]);
    Rng rng(seed);

    const fs::path dll = session.dll("env/a.dll", random_pe(seed));
    const Bytes original = bytes_of(dll);
    const bool cached = chance(rng, 40);
    if (cached) {
        fs::create_directories(session / "cache");
        fs::create_hard_link(dll, session / "cache/a.dll");
    }
    constexpr unsigned modes[] = {0644, 0600, 0755, 0664};
    fs::permissions(dll, fs::perms(modes[below(rng, 4)]));
    session.age();
    const FileState before = state_of(dll);
    const Bytes expected = expected_patch(original, aslr);
    const bool changes = expected != original;
    const std::string alone = cached ? "cache/a.dll env/a.dll" : "env/a.dll";
    const std::string backup_name = backup == BackupMode::full ? " env/a.dll.bak" : " env/a.dll.fixnvpe-undo";
    const std::string beside = changes && backup != BackupMode::none ? backup_name : "";
    const auto check_cache = [&] { CHECK((!cached || bytes_of(session / "cache/a.dll") == original)); };

    const FileOutcome patched = run_on(dll, Command::patch, backup, aslr);
    CHECK_FALSE(patched.failed());
    CHECK((patched.action == Action::patched) == changes);
    CHECK((bytes_of(dll) == expected));
    CHECK(session.names() == alone + beside);
    CHECK(state_of(dll).mode == before.mode);
    check_cache();

    fs::last_write_time(dll, fs::file_time_type::clock::now() - std::chrono::hours(48));
    const Snapshot after = session.snapshot();
    const FileOutcome again = run_on(dll, Command::patch, backup, aslr);
    CHECK_FALSE(again.failed());
    CHECK(again.action == Action::none);
    CHECK(session.snapshot() == after);  // nothing was written: the same time and inode

    const FileOutcome restored = run_on(dll, Command::restore, backup, aslr);
    check_cache();
    if (changes && backup == BackupMode::none) {
        CHECK(restored.action == Action::none);
        // With DYNAMIC_BASE still set, nothing shows that the file was patched.
        CHECK(restored.failed() == (restored.status == Status::patched));
        CHECK((!restored.failed() || restored.undone.why == Why::no_backup));
        CHECK(session.snapshot() == after);
    } else {
        CHECK((!restored.failed() || restored.undone.why == Why::no_backup));
        CHECK((restored.action == Action::restored) == changes);
        CHECK((bytes_of(dll) == original));
        CHECK(state_of(dll).mode == before.mode);
        CHECK(session.names() == alone);
        if (changes && backup == BackupMode::full) {
            CHECK(state_of(dll) == before);  // the very file: inode, hard links and time
        }
    }
    fs::remove_all(session / "env");
    fs::remove_all(session / "cache");
    return changes;
}

}  // namespace

TEST_CASE("property: patch, patch again and restore give back every byte, mode and hard link") {
    const std::uint64_t first = number_from("FIXNVPE_TEST_SEED", 1);
#if defined(_WIN32)
    constexpr std::uint64_t default_count = 27;  // Wine takes ten times as long to start a program
#else
    constexpr std::uint64_t default_count = 450;
#endif
    const std::uint64_t count = number_from("FIXNVPE_TEST_CASES", FIXNVPE_LONG_TESTS != 0 ? 20'000 : default_count);
    const Session session;
    std::uint64_t changed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        changed += check_case(session, seed) ? 1U : 0U;
    }
    WARN("seeds " << first << " to " << first + count - 1 << ": " << changed << " of " << count
                  << " files were patched");
    CHECK((count < 100 || changed > count / 4));
}

}  // namespace fixnvpe::test
