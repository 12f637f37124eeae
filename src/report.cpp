#include "fixnvpe/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "fixnvpe/text.hpp"

namespace fixnvpe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int SCHEMA = 1;
constexpr std::array ALL_STATUSES{Status::unpatched, Status::patched, Status::not_needed, Status::no_fatbin,
                                  Status::refused,   Status::not_pe,  Status::error};

bool did_patch(const Outcome& o) {
    return o.action == Action::patched || o.action == Action::would_patch;
}

bool is_error(const Outcome& o) {
    return o.error.has_value();
}

/// What is shown of a file that was merely found in a folder.
bool is_shown(const Outcome& outcome, const ReportStyle& style) {
    if (style.quiet) {
        return outcome.fails || is_error(outcome);
    }
    return style.verbose || outcome.status != Status::not_pe || is_error(outcome);
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
std::string_view headline(const Outcome& outcome) {
    return outcome.action == Action::none ? to_string(outcome.status) : to_string(outcome.action);
}

void append(std::vector<std::string>& parts, std::string part) {
    if (!part.empty()) {
        parts.push_back(std::move(part));
    }
}

/// What stands in brackets behind a file's path.
std::vector<std::string> details(const Outcome& outcome) {
    std::vector<std::string> parts;
    if (outcome.status == Status::refused) {
        append(parts, (outcome.needs_patch ? "unpatched: " : "") + outcome.reason);
    } else {
        append(parts, outcome.reason);
    }
    if (outcome.status == Status::unpatched && outcome.action == Action::none) {
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

std::string line_of(const Outcome& outcome, const ReportStyle& style) {
    constexpr std::size_t column = 13;  // the longest headline, "would-restore"
    const std::string_view head = headline(outcome);
    const std::string_view color = style.color ? color_of(outcome) : std::string_view();
    std::string line = fmt::format("{}{}{}{}  {}", color, head, color.empty() ? "" : "\x1b[0m",
                                   std::string(column - std::min(column, head.size()), ' '), printable_path(outcome.path));
    if (const auto parts = details(outcome); !parts.empty()) {
        line += fmt::format("  ({})", fmt::join(parts, "; "));
    }
    line += '\n';
    if (style.verbose || outcome.action == Action::would_patch || outcome.action == Action::would_restore) {
        for (const Edit& edit : outcome.edits) {
            line += fmt::format("{:15}{} at offset {:#x}: {:#0{}x} -> {:#0{}x}\n", "", to_string(edit.field), edit.offset,
                                edit.before, 2 + 2 * edit.width, edit.after, 2 + 2 * edit.width);
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

std::size_t count(const Result& result, Action action) {
    return static_cast<std::size_t>(
        std::count_if(result.files.begin(), result.files.end(), [&](const Outcome& o) { return o.action == action; }));
}

std::string summary_of_verify(const Result& result, const ReportStyle& style) {
    std::string text = summary_of_statuses(result) + "\n";
    const std::uint64_t saved = saved_by(result, [](const Outcome& o) { return o.fails && o.status == Status::unpatched; });
    if (saved != 0) {
        text += fmt::format("to do: fixnvpe patch; each process would commit {} less ({} less with {} DataLoader workers)\n",
                            human_size(saved), human_size(in_all_processes(saved, style)), style.workers);
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
        return fmt::format("{} would be patched{}\n", plural(would, "file"), gain);
    }
    if (patched != 0) {
        return fmt::format("{} patched{}\n", plural(patched, "file"), gain);
    }
    const bool failed = !result.problems.empty() || std::any_of(result.files.begin(), result.files.end(), is_error);
    return fmt::format("{}: {}\n", failed ? "nothing patched" : "nothing to patch", summary_of_statuses(result));
}

std::string summary_of_restore(const Result& result) {
    if (const std::size_t would = count(result, Action::would_restore); would != 0) {
        return fmt::format("{} would be restored\n", plural(would, "file"));
    }
    if (const std::size_t restored = count(result, Action::restored); restored != 0) {
        return fmt::format("{} restored\n", plural(restored, "file"));
    }
    const bool failed = !result.problems.empty() || std::any_of(result.files.begin(), result.files.end(), is_error);
    return fmt::format("{}: {}\n", failed ? "nothing restored" : "nothing to restore", summary_of_statuses(result));
}

std::string summary(const Result& result, const ReportStyle& style) {
    switch (result.command) {
        case Command::verify: return summary_of_verify(result, style);
        case Command::patch: return summary_of_patch(result, style);
        case Command::restore: return summary_of_restore(result);
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
    if (!error.hint().empty()) {
        json["hint"] = printable(error.hint());
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

std::string describe(const Error& error) {
    std::string text = error.path().empty() ? std::string() : printable_path(error.path()) + ": ";
    text += printable(error.message());
    if (!error.hint().empty()) {
        text += "\n  hint: " + printable(error.hint());
    }
    return text;
}

std::string report_text(const Result& result, const ReportStyle& style) {
    std::string text;
    for (const Outcome& outcome : result.files) {
        if (is_shown(outcome, style)) {
            text += line_of(outcome, style);
        }
    }
    if (!style.quiet) {
        if (style.verbose) {
            for (const std::string& remark : result.remarks) {
                text += remark + "\n";
            }
        }
        text += summary(result, style);
    }
    return text;
}

std::string report_json(const Result& result, const ReportStyle& style) {
    Json files = Json::array();
    CommitCharge total;
    for (const Outcome& o : result.files) {
        if (is_shown(o, {.verbose = style.verbose})) {
            files.push_back(to_json(o));
        }
        total.now += o.commit.now;
        total.after += o.commit.after;
        total.saved += o.commit.saved;
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
    summary["workers"] = style.workers;
    const Json json{{"schema", SCHEMA},
                    {"tool", "fixnvpe"},
                    {"version", FIXNVPE_VERSION},
                    {"command", to_string(result.command)},
                    {"files", std::move(files)},
                    {"summary", std::move(summary)},
                    {"exit_status", static_cast<int>(result.exit_status)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Message> report_messages(const Result& result, const ReportStyle& style) {
    std::vector<Message> messages;
    if (!style.quiet) {
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
    for (const Outcome& outcome : result.files) {
        if (outcome.error) {
            messages.push_back({Message::Level::error, describe(*outcome.error)});
        }
    }
    for (const Error& problem : result.problems) {
        messages.push_back({Message::Level::error, describe(problem)});
    }
    return messages;
}

}  // namespace fixnvpe
