#include "fixnvpe/ui/report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/columns.hpp"
#include "fixnvpe/ui/groups.hpp"
#include "fixnvpe/ui/report_scan.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

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

/// Bytes that patching this file gains, or would; 0 where that is not what the command is about.
std::uint64_t gain_of(const FileOutcome& file, Command command) {
    const bool could_gain = command == Command::verify || command == Command::patch;
    return file.patched() || (could_gain && file.status == Status::unpatched) ? file.commit.saved : 0;
}

/// Why a file is unpatched that commits nothing for it.
std::string what_is_set(const FileOutcome& file) {
    if (file.status != Status::unpatched || file.action != Action::none || file.commit.saved != 0 ||
        file.edits.empty()) {
        return {};
    }
    const bool aslr = std::any_of(file.edits.begin(), file.edits.end(),
                                  [](const Edit& edit) { return edit.field == Field::dll_characteristics; });
    if (aslr || !file.headers) {
        return "DYNAMIC_BASE is set";
    }
    const auto& fatbins = file.headers->fatbins;
    const auto writable = std::find_if(fatbins.begin(), fatbins.end(), [](const Fatbin& f) { return f.writable; });
    return writable == fatbins.end() ? std::string() : writable->name + " is writable";
}

/// What is said of a file behind its name. What went wrong is an error, and said as one.
std::string facts_of(const FileOutcome& file) {
    std::vector<std::string> facts;
    if (!file.failed()) {
        append(facts, (file.status == Status::refused && file.needs_patch ? "unpatched: " : "") + words(file.reason));
    }
    append(facts, what_is_set(file));
    for (std::string& remark : remarks(file)) {
        facts.push_back(std::move(remark));
    }
    return fmt::format("{}", fmt::join(facts, ", "));
}

/// Made, or to be made.
std::vector<std::string> edits_of(const FileOutcome& file) {
    std::vector<std::string> lines;
    for (const Edit& edit : file.edits) {
        lines.push_back(fmt::format("{} at offset {:#x}: {:#0{}x} -> {:#0{}x}", to_string(edit.field), edit.offset,
                                    edit.before, 2 + 2 * edit.width(), edit.after, 2 + 2 * edit.width()));
    }
    for (const Pages& pages : file.splits ? file.split->pages : std::vector<Pages>()) {
        lines.push_back(fmt::format("{} from address {:#x} to {:#x}: {} read-only", SPLIT_SECTION, pages.address,
                                    pages.end(), human_size(pages.size)));
    }
    return lines;
}

Row row_of(const FileOutcome& file, const ReportStyle& style) {
    const std::string_view head = file.action != Action::none ? to_string(file.action) : to_string(file.status);
    return {{std::string(head), size_if_any(gain_of(file, style.policy.command)), printable_path(file.path.filename())},
            color_of(file.status, file.failed()),
            facts_of(file),
            style.verbose ? edits_of(file) : std::vector<std::string>()};
}

Row row_of(const CleanOutcome& file, const ReportStyle& /*style*/) {
    std::string_view head = to_string(file.action);
    if (file.action == Action::none) {
        head = file.error ? to_string(file.dll_status) : file.is_ours() ? "kept" : "not-ours";
    }
    return {{std::string(head), size_if_any(file.freed), printable_path(file.path.filename())},
            color_of(file.dll_status, file.error.has_value()),
            file.is_ours() ? words_for_clean(file) : "",
            {}};
}

Member member_of(const FileOutcome& file, const ReportStyle& style) {
    return {printable(file.package), file.path, gain_of(file, style.policy.command)};
}

Member member_of(const CleanOutcome& file, const ReportStyle& /*style*/) {
    return {printable(file.package), file.path, 0};
}

/// One that patching leaves as it is, and that nothing is to be said of, is only counted.
bool is_listed(const FileOutcome& file, const ReportStyle& style) {
    const bool only_counted = file.status == Status::no_fatbin && file.action == Action::none && !file.failed() &&
                              !file.fails && file.notes.empty();
    return is_shown(file, style) && (style.verbose || !only_counted);
}

bool is_listed(const CleanOutcome& file, const ReportStyle& style) {
    return is_shown(file, style);
}

template <typename Outcome>
void add_rows(Table& table, const std::vector<Outcome>& files, const Summary& summary, const ReportStyle& style) {
    std::vector<const Outcome*> listed;
    std::vector<Member> members;
    for (const Outcome& file : files) {
        if (is_listed(file, style)) {
            listed.push_back(&file);
            members.push_back(member_of(file, style));
        }
    }
    for (const Group& group : grouped(members, summary.environment)) {
        table.heading(group.package, group.folder);
        for (const std::size_t i : group.members) {
            table.row(row_of(*listed[i], style));
        }
    }
}

/// "nothing to patch", or "nothing patched" where something failed.
std::string nothing_done(const Summary& summary, std::string_view infinitive, std::string_view participle) {
    const Totals& totals = summary.totals;
    if (totals.failed != 0) {
        return fmt::format("nothing {}", participle);
    }
    return fmt::format("nothing to {}{}", infinitive,
                       totals.files == 0       ? ": no DLLs here"
                       : totals.without_cuda() ? ": no CUDA code in these DLLs"
                                               : "");
}

/// Of one process: what it can load at once is an upper bound.
std::string gain_of(const Totals& totals, std::string_view commits) {
    return fmt::format("each process {} up to {} less ({} -> {})", commits, human_size(totals.saved),
                       human_size(totals.commit.now), human_size(totals.commit.now - totals.saved));
}

/// What is said of more than one process.
std::string more_processes(const Summary& summary, const ReportStyle& style) {
    std::string text;
    if (summary.workers) {
        text = line(fmt::format("({} less with {})", human_size(in_all_processes(summary.totals.saved, summary)),
                                plural(*summary.workers, "DataLoader worker")),
                    style);
    }
    return text + in_all_scopes(summary, style);
}

std::string summary_of_verify(const Summary& summary, const ReportStyle& style) {
    const Totals& totals = summary.totals;
    if (totals.saved != 0) {
        return line(std::string("to do: fixnvpe patch") +
                        (style.policy.data == DataPolicy::split ? " --data split" : ""),
                    style) +
               line(gain_of(totals, "would commit"), style) + more_processes(summary, style);
    }
    return totals.without_cuda() ? line(nothing_done(summary, "patch", "patched"), style) : std::string();
}

std::string summary_of_restore(const Summary& summary, const ReportStyle& style) {
    const std::size_t restored = summary.totals.count(Action::restored);
    const std::size_t would = summary.totals.count(Action::would_restore);
    if (restored + would == 0) {
        return style.quiet ? "" : line(nothing_done(summary, "restore", "restored"), style);
    }
    return line(plural(restored + would, "file") + (would != 0 ? " would be restored" : " restored"), style);
}

/// Where the originals are that patch has kept.
std::string kept_backups(const Summary& summary) {
    std::set<std::string> names;
    std::size_t without = 0;
    bool undo = false;
    const bool several = summary.totals.count(Action::patched) > 1;
    for (const FileOutcome& file : summary.files) {
        if (file.action != Action::patched) {
            continue;
        }
        if (!file.backup || file.backup->state != BackupState::valid) {
            ++without;
        } else {
            const std::string name = printable_path(file.backup->path.filename());
            const std::string dll = printable_path(file.path.filename());
            undo = undo || file.backup->kind == SidecarKind::undo;
            names.insert(several && name.starts_with(dll) ? "NAME" + name.substr(dll.size()) : name);
        }
    }
    if (names.empty()) {
        return "no backup is kept";
    }
    return fmt::format("{} kept as {}{}",
                       undo      ? "what restore needs is"
                       : several ? "the originals are"
                                 : "the original is",
                       fmt::join(names, " or "),
                       without == 0 ? "" : fmt::format("; {} without a backup", plural(without, "file")));
}

std::string summary_of_patch(const Summary& summary, const ReportStyle& style) {
    const Totals& totals = summary.totals;
    const std::size_t patched = totals.count(Action::patched);
    const std::size_t would = totals.count(Action::would_patch);
    if (patched + would == 0) {
        // It may have put back a file that was missing.
        const bool restored = totals.count(Action::restored) + totals.count(Action::would_restore) != 0;
        return restored      ? summary_of_restore(summary, style)
               : style.quiet ? ""
                             : line(nothing_done(summary, "patch", "patched"), style) + may_be_split(summary, style);
    }
    std::string text = plural(patched + would, "file") + (would != 0 ? " would be patched" : " patched");
    if (totals.saved != 0) {
        text += ": " + gain_of(totals, would != 0 ? "would commit" : "commits");
    }
    text = line(text, style);
    if (style.quiet) {
        return text;
    }
    text += totals.saved != 0 ? more_processes(summary, style) : "";
    const std::string disk = disk_needed(summary.disk);
    return text +
           (patched != 0   ? line(kept_backups(summary), style)
            : disk.empty() ? ""
                           : line("the backups would take " + disk, style)) +
           may_be_split(summary, style);
}

std::string summary_of_clean(const Summary& summary, const ReportStyle& style) {
    const std::size_t removed = summary.totals.count(Action::removed);
    const std::size_t would = summary.totals.count(Action::would_remove);
    if (removed + would == 0) {
        return style.quiet ? "" : line(summary.totals.failed != 0 ? "nothing removed" : "nothing to remove", style);
    }
    return line(fmt::format("{} {}, {} freed", plural(removed + would, "file"),
                            would != 0 ? "would be removed" : "removed", human_size(summary.totals.freed)),
                style);
}

/// With --quiet only what was changed.
std::string last_lines(const Summary& summary, const ReportStyle& style) {
    const bool counts = summary.command != Command::clean && !style.quiet &&
                        (summary.totals.files != 0 || summary.totals.excluded != 0);
    const std::string counted = counts ? line(counted_statuses(summary.totals, style), style) : std::string();
    if (summary.totals.files == 0 && !summary.problems.empty()) {
        return {};  // the errors say it all
    }
    switch (summary.command) {
        case Command::verify: return style.quiet ? "" : counted + summary_of_verify(summary, style);
        case Command::patch: return counted + summary_of_patch(summary, style);
        case Command::restore: return counted + summary_of_restore(summary, style);
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

std::string counted_statuses(const Totals& totals, const ReportStyle& style) {
    std::vector<std::string> parts;
    for (const auto& [status, name] : names_of<Status>) {
        const std::size_t count = totals.count(status);
        if (count == 0) {
            continue;
        }
        const bool hidden = status == Status::no_fatbin && !style.verbose;
        parts.push_back((status == Status::error ? plural(count, name) : fmt::format("{} {}", count, name)) +
                        (!hidden      ? ""
                         : count == 1 ? " (-v lists it)"
                                      : " (-v lists them)"));
    }
    return plural(totals.files, "file") + (parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "))) +
           (totals.excluded == 0 ? "" : fmt::format("; {} passed over by --exclude", totals.excluded));
}

std::string disk_needed(const std::vector<DiskNeed>& disk) {
    constexpr std::uint64_t worth_a_word = std::uint64_t{1} << 20;
    std::uint64_t needed = 0;
    for (const DiskNeed& need : disk) {
        needed += need.needed;
    }
    return needed < worth_a_word ? std::string() : human_size(needed) + " of disk";
}

std::string in_all_scopes(const Summary& summary, const ReportStyle& style) {
    std::uint64_t saved = 0;
    std::size_t count = 0;
    bool environments = true;
    for (const Scope& scope : summary.scopes) {
        saved += scope.totals.saved;
        count += scope.totals.saved != 0 ? 1 : 0;
        environments = environments && scope.environment;
    }
    return count < 2 ? std::string()
                     : line(fmt::format("({} less in {} {} together)", human_size(saved), count,
                                        environments ? "environments" : "places"),
                            style);
}

std::uint64_t in_all_processes(std::uint64_t bytes, const Summary& summary) {
    return bytes * (std::uint64_t{summary.workers.value_or(0)} + 1);
}

std::string report_text(const Summary& summary, const ReportStyle& style) {
    std::string text;
    if (summary.environment && !style.quiet) {
        text = line(words(*summary.environment), style);
    }
    if (summary.command == Command::scan && !style.quiet) {
        return text + report_scan(summary, style);
    }
    Table table({Align::left, Align::right, Align::left});
    add_rows(table, summary.files, summary, style);
    add_rows(table, summary.cleaned, summary, style);
    for (const Skipped& skipped : style.verbose ? summary.passed_over : std::vector<Skipped>()) {
        table.row({{"passed-over", "", printable_path(skipped.path)}, {}, words(skipped.reason), {}});
    }
    return text + table.text(style) + last_lines(summary, style);
}

}  // namespace fixnvpe
