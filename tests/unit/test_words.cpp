// The words for what the other rooms say as values.

#include "fixnvpe/ui/words.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/error.hpp"
#include "support/summary.hpp"
#include "support/values.hpp"

namespace fixnvpe::test {
namespace {

Policy policy_of(Command command, BackupMode backup = BackupMode::full) {
    Policy policy;
    policy.command = command;
    policy.backup = backup;
    return policy;
}

/// Each value but those excepted has words, and no two the same.
template <typename Enum, typename Words>
void check_all(Words words_for, const std::set<Enum>& silent) {
    std::set<std::string> all;
    for (const Enum value : values_of<Enum>()) {
        INFO("value " << static_cast<int>(value) << ": " << words_for(value));
        CHECK(words_for(value).empty() == silent.contains(value));
        CHECK((silent.contains(value) || all.insert(words_for(value)).second));
    }
}

}  // namespace

TEST_CASE("words: every reason, note, warning and kind of what is passed over has its own") {
    check_all<Why>([](Why why) { return words(Reason{why, 1, 2}); }, {Why::nothing});
    check_all<NoteCode>(
        [](NoteCode code) {
            return words(Note{code, "a.dll.bak", Error(ErrorCode::io, "read: failed")});
        },
        {});
    check_all<Warning>([](Warning warning) { return words(warning); },
                       {Warning::same_image_base});  // said once, of all
    check_all<SkipReason>([](SkipReason reason) { return words(reason); }, {});
}

TEST_CASE("words: reasons and notes name their numbers, their files and their causes") {
    CHECK(words({Why::section_alignment, 512, 4096}) == "SectionAlignment 512 is under 4096: its sections share pages");
    CHECK(words({Why::raw_data_past_end, 4096, 4000}) ==
          "a section's raw data ends at byte 4096, but the file has only 4000: a broken download");
    CHECK(words(Note{NoteCode::moved_aside, "a.dll.bak.3", {}}) == "an older backup was moved to a.dll.bak.3");
    CHECK(words(Note{NoteCode::stale_backup, "a\x1b.bak", {}}) == "a\\x1b.bak belongs to another build");
    CHECK(words(Note{NoteCode::unusable_backup, "a.bak", Error(ErrorCode::io, "read\n: failed")}) ==
          "a.bak can't be used: read\\n: failed");
    CHECK(words(Note{NoteCode::relocations_unknown, {}, Error(ErrorCode::io, "read: failed")}) ==
          "its relocations can't be counted: read: failed");
}

TEST_CASE("words: clean says of a whole copy that it may be the only one, and why a damaged undo file can't be used") {
    const auto said = [](SidecarKind kind, Why why) {
        return words_for_clean(clean_outcome("a", kind, Action::none, why));
    };
    CHECK(said(SidecarKind::full, Why::dll_gone) == "its DLL is gone: it may be the only copy");
    CHECK(said(SidecarKind::legacy, Why::dll_gone) == "its DLL is gone: it may be the only copy");
    CHECK(said(SidecarKind::undo, Why::dll_gone) == "its DLL is gone");
    CHECK(said(SidecarKind::numbered, Why::dll_damaged) == "its DLL is damaged: it may be the only whole copy");
    CHECK(said(SidecarKind::undo, Why::dll_damaged) == "its DLL is damaged");
    CleanOutcome damaged = clean_outcome("a", SidecarKind::undo, Action::none, Why::bad_undo);
    CHECK(words_for_clean(damaged) == "it can't be used");
    damaged.cause = Error(ErrorCode::bad_undo, "read the undo file: it holds no edits");
    CHECK(words_for_clean(damaged) == "it can't be used: read the undo file: it holds no edits");
}

TEST_CASE("words: --backup undo is recommended to those who make full backups, and to nobody else") {
    const Error full_disk = Error(ErrorCode::disk_full, "write: no space", Hint::free_space).at("a.dll");
    for (const Command command : values_of<Command>()) {
        for (const BackupMode backup : values_of<BackupMode>()) {
            INFO(to_string(command) << " --backup " << to_string(backup));
            const bool helps = command == Command::patch && backup == BackupMode::full;
            CHECK(hint_of(full_disk, policy_of(command, backup)) ==
                  (helps ? "free some space, or try --backup undo" : "free some space"));
        }
    }
    for (const Hint hint : values_of<Hint>()) {
        const Error error = Error(ErrorCode::io, "read: failed", hint, "detail").at("a.dll");
        CHECK(hint_of(error, policy_of(Command::verify)) == words_of(hint, "detail"));
    }
}

TEST_CASE("words: what was refused is an error, too, with the code of its reason") {
    FileOutcome file = cuda_outcome("lib/a.dll", Status::unpatched, 4096);
    CHECK_FALSE(error_of(file, Command::patch).has_value());
    const auto error = [&](Why why) {
        file.undone = {why};
        REQUIRE(error_of(file, Command::restore).has_value());
        CHECK(error_of(file, Command::restore)->path() == "lib/a.dll");
        return *error_of(file, Command::restore);
    };
    CHECK(error(Why::is_link).code() == ErrorCode::link);
    CHECK(describe(error(Why::is_link)) ==
          "lib/a.dll: restore: it is a link to another file\n  hint: name that file itself to restore it");
    CHECK(error(Why::missing).code() == ErrorCode::missing);
    CHECK(error(Why::missing).hint() == Hint::restore_puts_back);
    CHECK(error(Why::missing_for_good).code() == ErrorCode::not_found);
    CHECK(error(Why::no_backup).code() == ErrorCode::no_backup);
    CHECK(error(Why::no_backup).hint() == Hint::install_again);
    CHECK(error(Why::force_integrity).code() == ErrorCode::refused);
    CHECK(error(Why::force_integrity).message() == "refused: " + words({Why::force_integrity}));
    file.error = Error(ErrorCode::busy, "lock: busy").at("a.dll");
    CHECK(error_of(file, Command::patch)->code() == ErrorCode::busy);  // what was thrown is what happened
}

TEST_CASE("words: an environment is named with what chose it, and that its torch is built without CUDA") {
    PythonEnvironment environment;
    environment.prefix = "ve\x1bnv";
    environment.chosen_by = "VIRTUAL_ENV";
    CHECK(words(environment) == "ve\\x1bnv (VIRTUAL_ENV)");
    environment.torch = Torch{"1.12.1+cu113", "venv/torch/lib", true};
    CHECK(words(environment) == "ve\\x1bnv (VIRTUAL_ENV)");
    environment.torch = Torch{"2.0+cpu\x1b", "venv/torch/lib", false};
    CHECK(words(environment) == "ve\\x1bnv (VIRTUAL_ENV), torch 2.0+cpu\\x1b: a build without CUDA (CPU)");
}

TEST_CASE("words: what else there is to say of a file is its warnings and its notes") {
    FileOutcome file = cuda_outcome("a.dll", Status::unpatched, 4096);
    CHECK(remarks(file).empty());
    file.warnings = {Warning::same_image_base, Warning::is_signed};
    file.notes = {{NoteCode::skipped_signed, {}, {}}};
    CHECK(remarks(file) == std::vector<std::string>{"signed", "signed: skipped"});
    file.notes = {{NoteCode::unusable_backup, "a.bak", Error(ErrorCode::io, "read: failed")}};
    CHECK(remarks(file) == std::vector<std::string>{"signed", "a.bak can't be used: read: failed"});
    file.error = Error(ErrorCode::io, "read: failed").at("a.bak");  // which says it
    CHECK(remarks(file) == std::vector<std::string>{"signed"});
}

}  // namespace fixnvpe::test
