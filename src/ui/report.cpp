#include "fixnvpe/ui/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int SCHEMA = 1;
constexpr std::array ALL_STATUSES{Status::unpatched, Status::patched, Status::not_needed, Status::no_fatbin,
                                  Status::refused,   Status::not_pe,  Status::error};

/// Behind the first word of a file's line; the longest is "would-restore".
constexpr std::size_t PATH_COLUMN = 15;
/// What a table of one line a file needs.
constexpr unsigned TABLE_WIDTH = 100;

bool did_patch(const Outcome& o) {
    return o.action == Action::patched || o.action == Action::would_patch;
}

bool is_error(const Outcome& o) {
    return o.error.has_value();
}

/// What is shown of a file that was merely found in a folder.
bool is_shown(const Outcome& outcome, Command command, const ReportStyle& style) {
    if (style.quiet) {
        return outcome.fails || is_error(outcome);
    }
    const bool of_no_concern = command == Command::clean ? outcome.passed_over : outcome.status == Status::not_pe;
    return style.verbose || !of_no_concern || is_error(outcome);
}

std::uint64_t saved_by(const Result& result, bool (*counts)(const Outcome&)) {
    std::uint64_t saved = 0;
    for (const Outcome& o : result.files) {
        saved += counts(o) ? o.commit.saved : 0;
    }
    return saved;
}

/// All processes of a training run: the workers and the one that starts them.
std::uint64_t in_all_processes(std::uint64_t bytes, const ReportStyle& style) {
    return bytes * (std::uint64_t{style.workers} + 1);
}

std::string_view color_of(const Outcome& outcome) {
    if (is_error(outcome)) {
        return "\x1b[31m";
    }
    switch (outcome.status) {
        case Status::unpatched: return "\x1b[33m";
        case Status::patched: return "\x1b[32m";
        case Status::refused:
        case Status::error: return "\x1b[31m";
        default: return {};
    }
}

/// The first word of a file's line.
std::string_view headline(const Outcome& outcome, Command command) {
    if (outcome.action != Action::none || is_error(outcome)) {
        return outcome.action != Action::none ? to_string(outcome.action) : to_string(outcome.status);
    }
    if (command == Command::clean) {
        return outcome.passed_over ? "not-ours" : "kept";
    }
    return to_string(outcome.status);
}

void append(std::vector<std::string>& parts, std::string part) {
    if (!part.empty()) {
        parts.push_back(std::move(part));
    }
}

/// What stands in brackets behind a file's path.
std::vector<std::string> details(const Outcome& outcome, Command command) {
    std::vector<std::string> parts;
    if (outcome.status == Status::refused && command != Command::clean) {
        append(parts, (outcome.needs_patch ? "unpatched: " : "") + outcome.reason);
    } else {
        append(parts, outcome.reason);
    }
    if (outcome.freed != 0) {
        append(parts, human_size(outcome.freed));
    }
    const bool could_gain = command == Command::verify || command == Command::patch;
    if (could_gain && outcome.status == Status::unpatched && outcome.action == Action::none) {
        append(parts, outcome.commit.saved != 0
                          ? fmt::format("{} of commit to save in each process", human_size(outcome.commit.saved))
                          : "DYNAMIC_BASE is set");
    } else if (did_patch(outcome) && outcome.commit.saved != 0) {
        append(parts, fmt::format("{} less commit in each process", human_size(outcome.commit.saved)));
    }
    if (outcome.action == Action::patched && outcome.backup && outcome.backup->state == BackupState::valid) {
        append(parts, "backup: " + printable_path(outcome.backup->file.filename()));
    }
    for (const Warning warning : outcome.warnings) {
        if (warning != Warning::same_image_base) {  // said once, of all of them
            append(parts, std::string(to_string(warning)));
        }
    }
    parts.insert(parts.end(), outcome.notes.begin(), outcome.notes.end());
    return parts;
}

/// A path, and what there is to say of it: on one line if it fits, else on lines of its own below.
std::string fit(const std::string& path, const std::string& rest, std::size_t column, const ReportStyle& style) {
    const std::string on_one_line = rest.empty() ? path : path + "  " + rest;
    if (!style.width || column + display_width(on_one_line) <= *style.width) {
        return on_one_line + "\n";
    }
    const std::size_t room = *style.width > column ? *style.width - column : 1;
    std::string text = shorten_middle(path, room) + "\n";
    if (!rest.empty()) {
        for (const std::string& line : wrap(rest, room)) {
            text += std::string(column, ' ') + line + "\n";
        }
    }
    return text;
}

/// Text without columns, broken at spaces to fit the terminal.
std::string paragraph(const std::string& text, const ReportStyle& style) {
    if (!style.width) {
        return text + "\n";
    }
    return fmt::format("{}\n", fmt::join(wrap(text, *style.width), "\n"));
}

std::string line_of(const Outcome& outcome, Command command, const ReportStyle& style) {
    const std::string_view head = headline(outcome, command);
    const std::string_view color = style.color ? color_of(outcome) : std::string_view();
    const auto parts = details(outcome, command);
    const std::string rest = parts.empty() ? std::string() : fmt::format("({})", fmt::join(parts, "; "));
    std::string line = fmt::format("{}{}{}{}{}", color, head, color.empty() ? "" : "\x1b[0m",
                                   std::string(PATH_COLUMN - head.size(), ' '),
                                   fit(printable_path(outcome.path), rest, PATH_COLUMN, style));
    if (style.verbose || outcome.action == Action::would_patch || outcome.action == Action::would_restore) {
        for (const Edit& edit : outcome.edits) {
            line +=
                fmt::format("{:{}}{} at offset {:#x}: {:#0{}x} -> {:#0{}x}\n", "", PATH_COLUMN, to_string(edit.field),
                            edit.offset, edit.before, 2 + 2 * edit.width(), edit.after, 2 + 2 * edit.width());
        }
    }
    return line;
}

std::map<Status, std::size_t> count_statuses(const Result& result) {
    std::map<Status, std::size_t> counts;
    for (const Outcome& o : result.files) {
        ++counts[o.status];
    }
    counts[Status::error] += result.problems.size();
    return counts;
}

/// "12 files: 3 unpatched, 9 no-fatbin".
std::string summary_of_statuses(const Result& result) {
    std::vector<std::string> parts;
    auto counts = count_statuses(result);
    for (const Status status : ALL_STATUSES) {
        if (counts[status] != 0) {
            parts.push_back(fmt::format("{} {}", counts[status], to_string(status)));
        }
    }
    const std::size_t total = result.files.size() + result.problems.size();
    return parts.empty() ? plural(total, "file") : fmt::format("{}: {}", plural(total, "file"), fmt::join(parts, ", "));
}

bool failed(const Result& result) {
    return !result.problems.empty() || std::any_of(result.files.begin(), result.files.end(), is_error);
}

std::size_t count(const Result& result, Action action) {
    return static_cast<std::size_t>(
        std::count_if(result.files.begin(), result.files.end(), [&](const Outcome& o) { return o.action == action; }));
}

std::string summary_of_verify(const Result& result, const ReportStyle& style) {
    std::string text = paragraph(summary_of_statuses(result), style);
    const std::uint64_t saved = saved_by(result, [](const Outcome& o) { return o.fails && o.status == Status::unpatched; });
    if (saved != 0) {
        text += paragraph(
            fmt::format("to do: fixnvpe patch; each process would commit {} less ({} less with {} DataLoader workers)",
                        human_size(saved), human_size(in_all_processes(saved, style)), style.workers),
            style);
    }
    return text;
}

std::string summary_of_patch(const Result& result, const ReportStyle& style) {
    const std::size_t patched = count(result, Action::patched);
    const std::size_t would = count(result, Action::would_patch);
    const std::uint64_t saved = saved_by(result, did_patch);
    std::string gain;
    if (saved != 0) {
        gain = fmt::format(": each process {} {} less ({} less with {} DataLoader workers)",
                           would != 0 ? "would commit" : "commits", human_size(saved),
                           human_size(in_all_processes(saved, style)), style.workers);
    }
    if (would != 0) {
        return paragraph(fmt::format("{} would be patched{}", plural(would, "file"), gain), style);
    }
    if (patched != 0) {
        return paragraph(fmt::format("{} patched{}", plural(patched, "file"), gain), style);
    }
    return paragraph(fmt::format("{}: {}", failed(result) ? "nothing patched" : "nothing to patch", summary_of_statuses(result)),
                     style);
}

std::string summary_of_restore(const Result& result, const ReportStyle& style) {
    if (const std::size_t would = count(result, Action::would_restore); would != 0) {
        return paragraph(fmt::format("{} would be restored", plural(would, "file")), style);
    }
    if (const std::size_t restored = count(result, Action::restored); restored != 0) {
        return paragraph(fmt::format("{} restored", plural(restored, "file")), style);
    }
    return paragraph(
        fmt::format("{}: {}", failed(result) ? "nothing restored" : "nothing to restore", summary_of_statuses(result)),
        style);
}

std::string summary_of_clean(const Result& result, const ReportStyle& style) {
    const std::size_t would = count(result, Action::would_remove);
    const std::size_t removed = count(result, Action::removed);
    std::uint64_t freed = 0;
    for (const Outcome& o : result.files) {
        freed += o.action == Action::none ? 0 : o.freed;
    }
    if (would != 0) {
        return paragraph(fmt::format("{} would be removed, {} freed", plural(would, "file"), human_size(freed)), style);
    }
    if (removed != 0) {
        return paragraph(fmt::format("{} removed, {} freed", plural(removed, "file"), human_size(freed)), style);
    }
    return paragraph(failed(result) ? "nothing removed" : "nothing to remove", style);
}

// --- scan ---------------------------------------------------------------------------------------------------

struct Fatbin {
    std::uint64_t size = 0;  ///< bytes in memory, of all .nv_fatb sections
    bool writable = false;
};

Fatbin fatbin_of(const PeImage& image) {
    Fatbin fatbin;
    for (const Section& section : image.sections) {
        if (section.is_fatbin()) {
            fatbin.size += section.virtual_size;
            fatbin.writable = fatbin.writable || section.writable();
        }
    }
    return fatbin;
}

std::string_view yes_or_no(bool value) {
    return value ? "yes" : "no";
}

std::string scan_row(const Outcome& o, const ReportStyle& style) {
    const Fatbin fatbin = fatbin_of(*o.image);
    const std::string path = printable_path(o.path);
    const std::string saved = human_size(o.commit.saved);
    const std::string now = human_size(o.commit.now);
    const std::string after = human_size(o.commit.after);
    const std::string refused = o.status == Status::refused ? "refused: " + o.reason : std::string();
    if (style.width && *style.width < TABLE_WIDTH) {
        std::string facts = fmt::format("saved {} (now {}, after {}); CUDA {}, {}", saved, now, after,
                                        human_size(fatbin.size), fatbin.writable ? "writable" : "read-only");
        facts += o.image->dynamic_base() ? ", ASLR" : "";
        facts += o.image->is_signed() ? ", signed" : "";
        facts += refused.empty() ? "" : "; " + refused;
        std::string text = shorten_middle(path, *style.width) + "\n";
        for (const std::string& line : wrap(facts, *style.width - 4)) {
            text += "    " + line + "\n";
        }
        return text;
    }
    const std::string row = fmt::format("{:>9}  {:>9}  {:>9}  {:>9}  {:<8}  {:<4}  {:<6}  ", saved, now, after,
                                        human_size(fatbin.size), yes_or_no(fatbin.writable),
                                        yes_or_no(o.image->dynamic_base()), yes_or_no(o.image->is_signed()));
    return row + fit(path, refused.empty() ? "" : "(" + refused + ")", row.size(), style);
}

/// Files that have, or will have, the same preferred base and no ASLR.
std::string shared_bases(const std::vector<const Outcome*>& rows, const ReportStyle& style) {
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::vector<const Outcome*>> groups;
    for (const Outcome* o : rows) {
        if (o->relocated) {
            groups[{o->image->machine, o->image->image_base}].push_back(o);
        }
    }
    std::string text;
    for (const auto& [key, files] : groups) {
        if (files.size() < 2) {
            continue;
        }
        text += "\n" + paragraph(fmt::format("{} that lose ASLR share the preferred base {:#x}: in each process all but "
                                             "one are moved, and their pages with relocations become private memory:",
                                             plural(files.size(), "file"), key.second),
                                 style);
        for (const Outcome* o : files) {
            text += fmt::format("{:>9}  {}", human_size(*o->relocated), fit(printable_path(o->path), "", 11, style));
        }
    }
    return text;
}

std::string advice(const std::vector<const Outcome*>& rows, std::uint64_t saved, const ReportStyle& style) {
    if (saved != 0) {
        return paragraph(fmt::format("patch saves {} in each process, {} with {} workers", human_size(saved),
                                     human_size(in_all_processes(saved, style)), style.workers),
                         style);
    }
    const auto any = [&](Status status) {
        return std::any_of(rows.begin(), rows.end(), [&](const Outcome* o) { return o->status == status; });
    };
    std::string why;
    if (rows.empty()) {
        why = "no CUDA code in these DLLs: nothing to gain";
    } else if (any(Status::patched)) {
        why = "these DLLs are patched: nothing more to gain";
    } else if (any(Status::refused)) {
        why = "these DLLs can't be patched: nothing to gain";
    } else {
        why = "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain";
    }
    return paragraph(why + "; if WinError 1455 comes all the same, it has another cause:", style) +
           paragraph("  - the page file is too small: let Windows manage its size, or give it more", style) +
           paragraph("  - too many workers: each is a process of its own, so lower num_workers", style) +
           paragraph("  - other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed",
                     style);
}

std::string scan_text(const Result& result, const ReportStyle& style) {
    std::vector<const Outcome*> rows;
    std::uint64_t now = 0;
    std::uint64_t saved = 0;
    for (const Outcome& o : result.files) {
        if (o.image && o.image->has_fatbin()) {
            rows.push_back(&o);
        }
        now += o.commit.now;
        saved += o.status == Status::refused ? 0 : o.commit.saved;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Outcome* a, const Outcome* b) { return a->commit.saved > b->commit.saved; });

    std::string text;
    if (!rows.empty() && (!style.width || *style.width >= TABLE_WIDTH)) {
        text += fmt::format("{:>9}  {:>9}  {:>9}  {:>9}  {:<8}  {:<4}  {:<6}  {}\n", "SAVED", "NOW", "AFTER", "CUDA",
                            "WRITABLE", "ASLR", "SIGNED", "FILE");
    }
    for (const Outcome* o : rows) {
        text += scan_row(*o, style);
    }
    if (style.verbose) {
        for (const Outcome& o : result.files) {
            if (!o.image || !o.image->has_fatbin()) {
                text += line_of(o, result.command, style);
            }
        }
    }
    text += shared_bases(rows, style);
    text += text.empty() ? "" : "\n";
    text += paragraph(summary_of_statuses(result), style);
    text += paragraph(fmt::format("commit of each process: {} now, {} after patching; with {} workers: {} now, {} after",
                                  human_size(now), human_size(now - saved), style.workers,
                                  human_size(in_all_processes(now, style)),
                                  human_size(in_all_processes(now - saved, style))),
                      style);
    return text + advice(rows, saved, style);
}

std::string summary(const Result& result, const ReportStyle& style) {
    switch (result.command) {
        case Command::verify: return summary_of_verify(result, style);
        case Command::patch: return summary_of_patch(result, style);
        case Command::restore: return summary_of_restore(result, style);
        case Command::clean: return summary_of_clean(result, style);
        case Command::scan: break;  // has a form of its own
    }
    return {};
}

/// A warning that holds for several files is said once.
void add_warning(std::vector<Message>& messages, const Result& result, Warning warning, std::string_view one,
                 std::string_view many, std::string_view hint) {
    const auto n = std::count_if(result.files.begin(), result.files.end(), [&](const Outcome& o) {
        return std::find(o.warnings.begin(), o.warnings.end(), warning) != o.warnings.end();
    });
    if (n != 0) {
        messages.push_back({Message::Level::warning, fmt::format("warning: {} {}\n  hint: {}", plural(static_cast<std::uint64_t>(n), "file"),
                                                                 n == 1 ? one : many, hint)});
    }
}

Json to_json(const Error& error) {
    Json json{{"code", to_string(error.code())}, {"message", printable(error.message())}};
    if (const std::string hint = words_of(error.hint(), error.detail()); !hint.empty()) {
        json["hint"] = printable(hint);
    }
    return json;
}

Json to_json(const CommitCharge& commit) {
    return {{"now", commit.now}, {"after", commit.after}, {"saved", commit.saved}};
}

std::string_view json_name(Warning warning) {
    switch (warning) {
        case Warning::is_signed: return "signed";
        case Warning::guard_cf_lost: return "guard-cf-lost";
        case Warning::check_sum_impossible: return "check-sum-impossible";
        case Warning::same_image_base: return "same-image-base";
    }
    return "";
}

/// Every key is there for every file; what is not known of it is null.
Json to_json(const Outcome& o) {
    Json json{{"path", to_utf8(o.path)}, {"status", to_string(o.status)}, {"action", to_string(o.action)}};
    if (!o.reason.empty()) {
        json["reason"] = o.reason;
    }
    for (const char* key : {"machine", "size", "image_base", "dynamic_base", "high_entropy_va", "guard_cf", "signed"}) {
        json[key] = nullptr;
    }
    json["fatbin"] = Json::array();
    json["commit"] = nullptr;
    if (o.image) {
        json["machine"] = machine_name(o.image->machine);
        json["size"] = o.size;
        json["image_base"] = o.image->image_base;
        json["dynamic_base"] = o.image->dynamic_base();
        json["high_entropy_va"] = o.image->high_entropy_va();
        json["guard_cf"] = o.image->guard_cf();
        json["signed"] = o.image->is_signed();
        for (const Section& section : o.image->sections) {
            if (section.is_fatbin()) {
                json["fatbin"].push_back({{"virtual_size", section.virtual_size}, {"writable", section.writable()}});
            }
        }
        json["commit"] = to_json(o.commit);
    }
    json["edits"] = Json::array();
    for (const Edit& edit : o.edits) {
        json["edits"].push_back({{"field", to_string(edit.field)},
                                 {"offset", edit.offset},
                                 {"before", edit.before},
                                 {"after", edit.after}});
    }
    json["backup"] = nullptr;
    if (o.backup) {
        json["backup"] = {{"kind", to_string(o.backup->kind)},
                          {"path", to_utf8(o.backup->file)},
                          {"state", to_string(o.backup->state)}};
    }
    if (o.relocated) {
        json["relocated_bytes"] = *o.relocated;
    }
    if (o.action == Action::removed || o.action == Action::would_remove) {
        json["freed"] = o.freed;
    }
    json["warnings"] = Json::array();
    for (const Warning warning : o.warnings) {
        json["warnings"].push_back(json_name(warning));
    }
    json["notes"] = o.notes;
    if (o.error) {
        json["error"] = to_json(*o.error);
    }
    return json;
}

}  // namespace

std::string report_text(const Result& result, const ReportStyle& style) {
    if (result.command == Command::scan && !style.quiet) {
        return scan_text(result, style);
    }
    std::string text;
    for (const Outcome& outcome : result.files) {
        if (is_shown(outcome, result.command, style)) {
            text += line_of(outcome, result.command, style);
        }
    }
    if (!style.quiet) {
        for (const std::string& passed_over : style.verbose ? result.passed_over : std::vector<std::string>()) {
            text += fmt::format("{:<{}}{}\n", "passed-over", PATH_COLUMN, passed_over);
        }
        text += summary(result, style);
    }
    return text;
}

std::string report_json(const Result& result, const ReportStyle& style) {
    ReportStyle listed;
    listed.verbose = style.verbose;
    Json files = Json::array();
    CommitCharge total;
    std::uint64_t freed = 0;
    for (const Outcome& o : result.files) {
        if (is_shown(o, result.command, listed)) {
            files.push_back(to_json(o));
        }
        total.now += o.commit.now;
        total.after += o.commit.after;
        total.saved += o.commit.saved;
        freed += o.action == Action::none ? 0 : o.freed;
    }
    for (const Error& problem : result.problems) {
        Outcome outcome;
        outcome.path = problem.path();
        outcome.error = problem;
        files.push_back(to_json(outcome));
    }
    Json summary;
    auto counts = count_statuses(result);
    for (const Status status : ALL_STATUSES) {
        summary[std::string(to_string(status))] = counts[status];
    }
    summary["commit"] = to_json(total);
    summary["freed"] = freed;
    summary["workers"] = style.workers;
    const Json json{{"schema", SCHEMA},
                    {"tool", "fixnvpe"},
                    {"version", FIXNVPE_VERSION},
                    {"command", to_string(result.command)},
                    {"environment", result.environment.empty() ? Json() : Json(result.environment)},
                    {"files", std::move(files)},
                    {"summary", std::move(summary)},
                    {"exit_status", static_cast<int>(result.exit_status)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Message> report_messages(const Result& result, const ReportStyle& style) {
    std::vector<Message> messages;
    if (!style.quiet) {
        if (!result.environment.empty()) {
            messages.push_back({Message::Level::info, result.environment});
        }
        add_warning(messages, result, Warning::is_signed, "is signed, and patching makes its signature invalid",
                    "are signed, and patching makes their signatures invalid",
                    "Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed leaves "
                    "signed files alone");
        add_warning(messages, result, Warning::guard_cf_lost, "loses Control Flow Guard together with ASLR",
                    "lose Control Flow Guard together with ASLR", "--aslr keep keeps both");
        add_warning(messages, result, Warning::check_sum_impossible, "has a CheckSum that can't be right, and keeps it",
                    "have a CheckSum that can't be right, and keep it",
                    "it was wrong before; Windows looks at it only for drivers");
        add_warning(messages, result, Warning::same_image_base, "shares its preferred base with another patched one",
                    "are patched and share their preferred base with one another",
                    "in each process all but one are moved, which costs it the pages that hold relocations; --aslr keep "
                    "avoids that");
    }
    for (const std::filesystem::path& orphan : style.quiet ? std::vector<std::filesystem::path>() : result.orphans) {
        const std::string dll = printable_path(dll_of(orphan).value_or(orphan));
        messages.push_back({Message::Level::warning,
                            fmt::format("warning: {}: its DLL is gone\n  hint: fixnvpe restore {} puts it back, fixnvpe "
                                        "clean --all removes the backup",
                                        printable_path(orphan), dll)});
    }
    for (const Outcome& outcome : result.files) {
        if (outcome.error) {
            messages.push_back({Message::Level::error, describe(*outcome.error)});
        }
    }
    for (const Error& problem : result.problems) {
        messages.push_back({Message::Level::error, describe(problem)});
    }
    if (result.exit_status == ExitStatus::interrupted) {
        messages.push_back({Message::Level::error, fmt::format("interrupted: {} not begun, and what was done stays done\n"
                                                               "  hint: run it again for the rest",
                                                               plural(result.not_begun, "file"))});
    }
    return messages;
}

}  // namespace fixnvpe
