#include "fixnvpe/ui/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {

std::string words(const Reason& reason) {
    switch (reason.why) {
        case Why::nothing: return {};
        case Why::force_integrity: return "FORCE_INTEGRITY is set: Windows would not load it with an invalid signature";
        case Why::section_alignment:
            return fmt::format("SectionAlignment {} is under {}: its sections share pages", reason.value, reason.limit);
        case Why::raw_data_past_end:
            return fmt::format("a section's raw data ends at byte {}, but the file has only {}: a broken download",
                               reason.value, reason.limit);
        case Why::missing: return "the file is missing, but its backup is there";
        case Why::missing_for_good: return "the file is missing, and what has its backup's name is none";
        case Why::no_backup: return "it is patched, but there is no backup";
        case Why::no_valid_backup: return "no valid backup";
        case Why::broken: return "it is broken, and a backup is whole";
        case Why::broken_upgrade: return "it is cut short, and of another build than its backup";
        case Why::bad_backup: return "a backup can't be used";
        case Why::not_ours: return "not fixnvpe's";
        case Why::usable: return "restore could use it";
        case Why::equal: return "equal to its DLL";
        case Why::patched_itself: return "patched itself, no original";
        case Why::other_build: return "of another build";
        case Why::maybe_other_build: return "of another build, as far as can be told";
        case Why::nothing_to_undo: return "nothing to undo";
        case Why::bad_undo: return "it can't be used";
        case Why::half_done: return "an edit was broken off half way";
        case Why::dll_left_by_crash: return "a crash left it without its DLL: patch or restore puts it back";
        case Why::dll_gone: return "its DLL is gone";
        case Why::dll_dropped: return "its DLL is gone, and the packages beside it came later";
        case Why::dll_damaged: return "its DLL is damaged";
        case Why::left_by_crash: return "left by a crash";
        case Why::in_use: return "another fixnvpe works on it right now";
    }
    return {};
}

std::string words_for_clean(const CleanOutcome& outcome) {
    std::string text = words(outcome.reason);
    if (outcome.reason.why == Why::bad_undo && outcome.cause) {
        text += ": " + printable(outcome.cause->message());
    }
    if (outcome.reason.why == Why::half_done) {
        text += ": patch or restore it first";
    }
    if (!is_undo_kind(outcome.kind) && outcome.reason.why == Why::dll_gone) {
        text += ": it may be the only copy";
    }
    if (!is_undo_kind(outcome.kind) && outcome.reason.why == Why::dll_damaged) {
        text += ": it may be the only whole copy";
    }
    return text;
}

std::string words(const Note& note) {
    const std::string file = printable_path(note.file);
    const std::string cause = note.error ? printable(note.error->message()) : std::string();
    switch (note.code) {
        case NoteCode::half_done: return "an edit was broken off half way: patch finishes it, restore takes it back";
        case NoteCode::finished: return "an edit that had been broken off half way was finished";
        case NoteCode::taken_back: return "an edit that had been broken off half way was taken back";
        case NoteCode::patched_backup: return file + " is patched itself, no original";
        case NoteCode::stale_backup: return file + " belongs to another build";
        case NoteCode::unusable_backup: return fmt::format("{} can't be used: {}", file, cause);
        case NoteCode::moved_aside: return "an older backup was moved to " + file;
        case NoteCode::temporary_left: return "a temporary was left by a crash: patch removes it";
        case NoteCode::temporary_removed: return "a temporary that a crash had left was removed";
        case NoteCode::in_work:
            return note.error && note.error->hint() == Hint::remove_if_alone ? "another fixnvpe may be at work on it"
                                                                             : words({Why::in_use});
        case NoteCode::skipped_signed: return "signed: skipped";
        case NoteCode::broken_aside: return "the broken file was moved to " + file;
        case NoteCode::put_back: return "the file was missing and its backup was put back first";
        case NoteCode::still_loaded:
            return "it is still loaded by " + (note.by.empty() ? "another program" : printable(note.by));
        case NoteCode::relocations_unknown: return "its relocations can't be counted: " + cause;
    }
    return {};
}

std::string words(WhyNotSplit why) {
    switch (why) {
        case WhyNotSplit::nothing: return {};
        case WhyNotSplit::section_alignment: return "SectionAlignment is not 4096";
        case WhyNotSplit::file_alignment: return "an odd FileAlignment";
        case WhyNotSplit::raw_data: return "a section's data overlaps, or begins or ends at an odd place";
        case WhyNotSplit::sections: return "its sections leave holes";
        case WhyNotSplit::object_fields: return "a section has relocations or line numbers of its own";
        case WhyNotSplit::symbol_table: return "it has a COFF symbol table";
        case WhyNotSplit::equal_neighbours: return "two neighbouring sections have one name";
        case WhyNotSplit::not_joining: return "another program made a section .fixnv";
        case WhyNotSplit::header_bytes: return "something stands behind its section table";
        case WhyNotSplit::into_headers: return "something points into its headers";
        case WhyNotSplit::bound_imports: return "it has bound imports";
        case WhyNotSplit::dot_net: return "it is a .NET assembly";
        case WhyNotSplit::load_config: return "its load configuration knows sections by number";
        case WhyNotSplit::unreadable: return "what the loader uses of it can't be followed";
        case WhyNotSplit::force_integrity: return "FORCE_INTEGRITY is set";
        case WhyNotSplit::section_flags: return "its section is shared or executable";
        case WhyNotSplit::relocated: return "a relocation lies in it";
        case WhyNotSplit::taken: return "something that the loader knows lies in it";
        case WhyNotSplit::no_room: return "no room for more section headers";
    }
    return {};
}

std::string words(SkipReason reason) {
    switch (reason) {
        case SkipReason::link_to_folder: return "a link to a folder: not followed";
        case SkipReason::link_to_nothing: return "a link to no file";
        case SkipReason::not_regular_file: return "not a regular file";
        case SkipReason::left_by_pip: return "left behind by pip";
        case SkipReason::excluded: return "excluded";
    }
    return {};
}

std::string words(Warning warning) {
    switch (warning) {
        case Warning::is_signed: return "signed";
        case Warning::guard_cf_lost: return "loses CFG";
        case Warning::check_sum_impossible: return "wrong CheckSum";
        case Warning::same_image_base: return {};  // said once, of all of them
    }
    return {};
}

std::vector<std::string> remarks(const FileOutcome& file) {
    std::vector<std::string> remarks;
    for (const Warning warning : file.warnings) {
        remarks.push_back(words(warning));
    }
    for (const Note& note : file.notes) {
        const bool is_the_error = note.code == NoteCode::unusable_backup && file.failed();
        const bool is_said_below = note.code == NoteCode::still_loaded;  // once, of all files
        remarks.push_back(is_the_error || is_said_below ? "" : words(note));
    }
    std::erase(remarks, "");
    return remarks;
}

std::string words(const PythonEnvironment& environment) {
    std::string text = fmt::format("{} ({})", printable_path(environment.prefix), environment.chosen_by);
    if (environment.torch && !environment.torch->cuda) {
        text += fmt::format(", torch {}: a build without CUDA (CPU)", printable(environment.torch->version));
    }
    return text;
}

namespace {

Error error_of_broken(const FileOutcome& outcome) {
    const ErrorCode code = outcome.cause ? outcome.cause->code() : ErrorCode::truncated;
    const std::string message = outcome.cause ? outcome.cause->message() : "check the file: " + words(outcome.reason);
    if (outcome.undone.why == Why::broken_upgrade) {
        return Error(code, message, Hint::cut_short).at(outcome.path);
    }
    return Error(code, message,
                 fmt::format("{} beside it is whole: fixnvpe restore \"{}\" puts it back",
                             printable_path(outcome.backup->path.filename()), printable_path(outcome.path)))
        .at(outcome.path);
}

}  // namespace

std::optional<Error> error_of(const FileOutcome& outcome, Command command) {
    if (outcome.error || outcome.undone.why == Why::nothing) {
        return outcome.error;
    }
    const std::string why = words(outcome.undone);
    const auto error = [&](ErrorCode code, std::string_view step, auto hint) {
        return Error(code, fmt::format("{}: {}", step, why), hint).at(outcome.path);
    };
    switch (outcome.undone.why) {
        case Why::missing: return error(ErrorCode::missing, "look up", Hint::restore_puts_back);
        case Why::missing_for_good: return error(ErrorCode::not_found, "look up", Hint::none);
        case Why::broken:
        case Why::broken_upgrade: return error_of_broken(outcome);
        case Why::half_done: return error(ErrorCode::half_done, to_string(command), Hint::patch_finishes);
        case Why::no_backup: return error(ErrorCode::no_backup, to_string(command), Hint::install_again);
        default: return error(ErrorCode::refused, "refused", Hint::none);
    }
}

std::string hint_of(const Error& error, const Policy& policy) {
    std::string hint = words_of(error.hint(), error.detail());
    const bool no_room = error.hint() == Hint::free_space || error.hint() == Hint::size_limit;
    if (no_room && policy.command == Command::patch && policy.backup == BackupMode::full) {
        hint += ", or try --backup undo";
    }
    return hint;
}

}  // namespace fixnvpe
