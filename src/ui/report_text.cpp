#include "fixnvpe/ui/report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/columns.hpp"
#include "fixnvpe/ui/report_scan.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

/// Behind the first word of a file's line; the longest is "would-restore".
constexpr std::size_t PATH_COLUMN = 15;

constexpr std::string_view RED = "\x1b[31m";
constexpr std::string_view GREEN = "\x1b[32m";
constexpr std::string_view YELLOW = "\x1b[33m";

std::string_view color_of(Status status, bool failed) {
    if (failed) {
        return RED;
    }
    switch (status) {
        case Status::unpatched: return YELLOW;
        case Status::patched: return GREEN;
        case Status::refused:
        case Status::error: return RED;
        default: return {};
    }
}

void append(std::vector<std::string>& parts, std::string part) {
    if (!part.empty()) {
        parts.push_back(std::move(part));
    }
}

/// What patching this file gains, or would.
std::string gain_of(const FileOutcome& file, Command command) {
    const bool could_gain = command == Command::verify || command == Command::patch;
    if (could_gain && file.status == Status::unpatched && file.action == Action::none) {
        return file.commit.saved != 0 ? human_size(file.commit.saved) + " of commit to save in each process"
                                      : "DYNAMIC_BASE is set";
    }
    return file.patched() && file.commit.saved != 0 ? human_size(file.commit.saved) + " less commit in each process"
                                                    : std::string();
}

/// What stands in brackets behind a file's path.
std::vector<std::string> details(const FileOutcome& file, Command command) {
    std::vector<std::string> parts;
    append(parts, (file.status == Status::refused && file.needs_patch ? "unpatched: " : "") + words(file.reason));
    append(parts, gain_of(file, command));
    if (file.action == Action::patched && file.backup && file.backup->state == BackupState::valid) {
        append(parts, "backup: " + printable_path(file.backup->path.filename()));
    }
    for (const Warning warning : file.warnings) {
        append(parts, words(warning));
    }
    for (const Note& note : file.notes) {
        append(parts, words(note));
    }
    return parts;
}

std::string line(std::string_view head, std::string_view color, const std::filesystem::path& path,
                 const std::vector<std::string>& parts, const ReportStyle& style) {
    const std::string rest = parts.empty() ? std::string() : fmt::format("({})", fmt::join(parts, "; "));
    const bool colored = style.color && !color.empty();
    return fmt::format("{}{}{}{}{}", colored ? color : "", head, colored ? "\x1b[0m" : "",
                       std::string(PATH_COLUMN - head.size(), ' '),
                       fit(printable_path(path), rest, PATH_COLUMN, style));
}

std::string line_of(const CleanOutcome& file, const ReportStyle& style) {
    std::string_view head = to_string(file.action);
    if (file.action == Action::none) {
        head = file.error ? to_string(file.dll_status) : file.is_ours() ? "kept" : "not-ours";
    }
    std::vector<std::string> parts;
    append(parts, file.is_ours() ? words_for_clean(file) : std::string());
    append(parts, file.freed != 0 ? human_size(file.freed) : std::string());
    return line(head, color_of(file.dll_status, file.error.has_value()), file.path, parts, style);
}

std::string gain_in_words(const Summary& summary) {
    return fmt::format("{} less ({} less with {} DataLoader workers)", human_size(summary.totals.saved),
                       human_size(in_all_processes(summary.totals.saved, summary)), summary.workers);
}

std::string summary_of_verify(const Summary& summary, const ReportStyle& style) {
    std::string text = paragraph(counted_statuses(summary.totals), style);
    if (summary.totals.saved != 0) {
        text += paragraph("to do: fixnvpe patch; each process would commit " + gain_in_words(summary), style);
    }
    return text;
}

/// "nothing to patch", or "nothing patched" where something failed.
std::string nothing_done(const Summary& summary, std::string_view infinitive, std::string_view participle) {
    return summary.totals.failed != 0 ? fmt::format("nothing {}", participle)
                                      : fmt::format("nothing to {}", infinitive);
}

std::string summary_of_restore(const Summary& summary, const ReportStyle& style) {
    const std::size_t restored = summary.totals.count(Action::restored);
    const std::size_t would = summary.totals.count(Action::would_restore);
    if (restored + would == 0) {
        return paragraph(nothing_done(summary, "restore", "restored") + ": " + counted_statuses(summary.totals), style);
    }
    return paragraph(plural(restored + would, "file") + (would != 0 ? " would be restored" : " restored"), style);
}

std::string summary_of_patch(const Summary& summary, const ReportStyle& style) {
    const std::size_t patched = summary.totals.count(Action::patched);
    const std::size_t would = summary.totals.count(Action::would_patch);
    if (patched + would == 0 &&
        summary.totals.count(Action::restored) + summary.totals.count(Action::would_restore) != 0) {
        return summary_of_restore(summary, style);  // a file that was missing
    }
    if (patched + would == 0) {
        return paragraph(nothing_done(summary, "patch", "patched") + ": " + counted_statuses(summary.totals), style);
    }
    std::string text = plural(patched + would, "file") + (would != 0 ? " would be patched" : " patched");
    if (summary.totals.saved != 0) {
        text += fmt::format(": each process {} {}", would != 0 ? "would commit" : "commits", gain_in_words(summary));
    }
    return paragraph(text, style);
}

std::string summary_of_clean(const Summary& summary, const ReportStyle& style) {
    const std::size_t removed = summary.totals.count(Action::removed);
    const std::size_t would = summary.totals.count(Action::would_remove);
    if (removed + would == 0) {
        return paragraph(nothing_done(summary, "remove", "removed"), style);
    }
    return paragraph(fmt::format("{} {}, {} freed", plural(removed + would, "file"),
                                 would != 0 ? "would be removed" : "removed", human_size(summary.totals.freed)),
                     style);
}

std::string last_lines(const Summary& summary, const ReportStyle& style) {
    switch (summary.command) {
        case Command::verify: return summary_of_verify(summary, style);
        case Command::patch: return summary_of_patch(summary, style);
        case Command::restore: return summary_of_restore(summary, style);
        case Command::clean: return summary_of_clean(summary, style);
        case Command::scan: break;  // has a form of its own
    }
    return {};
}

}  // namespace

bool is_shown(const FileOutcome& file, const ReportStyle& style) {
    if (style.quiet) {
        return file.fails || file.failed();
    }
    return style.verbose || file.status != Status::not_pe || file.failed();
}

bool is_shown(const CleanOutcome& file, const ReportStyle& style) {
    if (style.quiet) {
        return file.error.has_value();
    }
    return style.verbose || file.is_ours() || file.error;
}

std::string line_of(const FileOutcome& file, const ReportStyle& style) {
    const bool done = file.action != Action::none;
    std::string text =
        line(done ? to_string(file.action) : to_string(file.status), color_of(file.status, file.failed()), file.path,
             details(file, style.policy.command), style);
    if (style.verbose || file.action == Action::would_patch || file.action == Action::would_restore) {
        for (const Edit& edit : file.edits) {
            text +=
                fmt::format("{:{}}{} at offset {:#x}: {:#0{}x} -> {:#0{}x}\n", "", PATH_COLUMN, to_string(edit.field),
                            edit.offset, edit.before, 2 + 2 * edit.width(), edit.after, 2 + 2 * edit.width());
        }
    }
    return text;
}

std::string counted_statuses(const Totals& totals) {
    std::vector<std::string> parts;
    for (const auto& [status, name] : names_of<Status>) {
        if (totals.count(status) != 0) {
            parts.push_back(fmt::format("{} {}", totals.count(status), name));
        }
    }
    const std::string files = plural(totals.files, "file");
    return parts.empty() ? files : fmt::format("{}: {}", files, fmt::join(parts, ", "));
}

std::uint64_t in_all_processes(std::uint64_t bytes, const Summary& summary) {
    return bytes * (std::uint64_t{summary.workers} + 1);
}

std::string report_text(const Summary& summary, const ReportStyle& style) {
    if (summary.command == Command::scan && !style.quiet) {
        return report_scan(summary, style);
    }
    std::string text;
    for (const FileOutcome& file : summary.files) {
        text += is_shown(file, style) ? line_of(file, style) : std::string();
    }
    for (const CleanOutcome& file : summary.cleaned) {
        text += is_shown(file, style) ? line_of(file, style) : std::string();
    }
    if (style.quiet) {
        return text;
    }
    for (const Skipped& skipped : style.verbose ? summary.passed_over : std::vector<Skipped>()) {
        text += fmt::format("{:<{}}{}  ({})\n", "passed-over", PATH_COLUMN, printable_path(skipped.path),
                            words(skipped.reason));
    }
    return text + last_lines(summary, style);
}

}  // namespace fixnvpe
