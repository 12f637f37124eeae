#include "fixnvpe/ui/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/ui/columns.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

/// How log begins each message.
constexpr std::string_view BEGIN = "fixnvpe: ";
constexpr std::string_view HINT = "  hint: ";

struct WarningWords {
    Warning warning;
    std::string_view one;
    std::string_view many;
    std::string_view hint;
};

/// A warning that holds for several files is said once.
constexpr WarningWords WARNINGS[] = {
    {Warning::is_signed, "is signed, and patching makes its signature invalid",
     "are signed, and patching makes their signatures invalid",
     "Windows loads such a DLL all the same, unless Smart App Control or WDAC is on; --skip-signed leaves signed files "
     "alone"},
    {Warning::guard_cf_lost, "loses Control Flow Guard together with ASLR",
     "lose Control Flow Guard together with ASLR", "--aslr keep keeps both"},
    {Warning::check_sum_impossible, "has a CheckSum that can't be right, and keeps it",
     "have a CheckSum that can't be right, and keep it", "it was wrong before; Windows looks at it only for drivers"},
    {Warning::same_image_base, "shares its preferred base with another patched one",
     "are patched and share their preferred base with one another",
     "in each process all but one are moved, which costs it the pages that hold relocations; --aslr keep avoids that"},
};

void add_warnings(std::vector<Message>& messages, const Summary& summary) {
    for (const WarningWords& w : WARNINGS) {
        const auto count = std::count_if(summary.files.begin(), summary.files.end(), [&](const FileOutcome& file) {
            return std::find(file.warnings.begin(), file.warnings.end(), w.warning) != file.warnings.end();
        });
        if (count != 0) {
            messages.push_back(
                {Message::Level::warning,
                 {},
                 plural(static_cast<std::uint64_t>(count), "file") + " " + std::string(count == 1 ? w.one : w.many),
                 std::string(w.hint)});
        }
    }
}

/// The user may mean another one; scan alone goes on then.
void add_rivals(std::vector<Message>& messages, const Summary& summary) {
    if (summary.environment && !summary.environment->rivals.empty()) {
        messages.push_back({Message::Level::warning,
                            {},
                            "the current folder has another Python environment",
                            env_lines(summary.environment->rivals)});
    }
}

/// Backups whose DLL is gone are no fault, and are said in one line.
void add_orphans(std::vector<Message>& messages, const Summary& summary) {
    const std::size_t count = summary.orphans.size();
    if (count == 0) {
        return;
    }
    const bool needed =
        std::any_of(summary.orphans.begin(), summary.orphans.end(), [](const Orphan& o) { return o.needed; });
    messages.push_back(
        {Message::Level::info, printable_path(summary.orphans.front().path),
         "left behind: its DLL is gone" + (count == 1 ? "" : fmt::format(", and {} like it", count - 1)),
         fmt::format("fixnvpe clean{} removes {}", needed ? " --backups" : "", count == 1 ? "it" : "them")});
}

/// Nobody is to believe that a running program has gained anything.
void add_still_loaded(std::vector<Message>& messages, const Summary& summary) {
    std::set<std::string> programs;
    std::vector<std::string> names;
    for (const FileOutcome& file : summary.files) {
        for (const Note& note : file.notes) {
            if (note.code == NoteCode::still_loaded) {
                names.push_back(printable_path(note.file));
                programs.insert(note.by.empty() ? "another program" : printable(note.by));
            }
        }
    }
    if (!names.empty()) {
        messages.push_back(
            {Message::Level::info,
             {},
             fmt::format("{} still loaded by {}",
                         names.size() == 1 ? names.front() + " is" : fmt::format("{} of these DLLs are", names.size()),
                         fmt::join(programs, ", ")),
             fmt::format("a program keeps the old {} until it is started again", names.size() == 1 ? "one" : "ones")});
    }
}

/// The environment that was chosen has no CUDA code; perhaps another one was meant.
void add_elsewhere(std::vector<Message>& messages, const Summary& summary) {
    if (!summary.elsewhere.empty()) {
        messages.push_back({Message::Level::info,
                            {},
                            fmt::format("{} nearby {} CUDA code",
                                        summary.elsewhere.size() == 1
                                            ? "another Python environment"
                                            : fmt::format("{} other Python environments", summary.elsewhere.size()),
                                        summary.elsewhere.size() == 1 ? "has" : "have"),
                            env_lines(summary.elsewhere)});
    }
}

Message message_of(const Error& error, const std::string& hint) {
    return {Message::Level::error, printable_path(error.path()), printable(error.message()),
            error.code() == ErrorCode::ambiguous ? printable_lines(hint) : printable(hint)};
}

}  // namespace

std::vector<Message> messages_of(const Summary& summary, const ReportStyle& style) {
    static const std::vector<std::string> no_words;
    std::vector<Message> messages;
    if (!style.quiet) {
        for (const std::string& passed_over : summary.environment ? summary.environment->passed_over : no_words) {
            messages.push_back({Message::Level::info, {}, "passed over: " + printable(passed_over), {}});
        }
        add_rivals(messages, summary);
        add_warnings(messages, summary);
        add_orphans(messages, summary);
        add_elsewhere(messages, summary);
        add_still_loaded(messages, summary);
    }
    const auto add_error = [&](const Error& error) {
        messages.push_back(message_of(error, hint_of(error, style.policy)));
    };
    for (const FileOutcome& file : summary.files) {
        if (const auto error = error_of(file, summary.command)) {
            add_error(*error);
        }
    }
    for (const CleanOutcome& file : summary.cleaned) {
        if (file.error) {
            add_error(*file.error);
        }
    }
    for (const Error& problem : summary.problems) {
        add_error(problem);
    }
    if (summary.exit_status == ExitStatus::interrupted) {
        const std::string rest = summary.not_begun == 0 ? "" : plural(summary.not_begun, "file") + " not begun, and ";
        messages.push_back({Message::Level::error,
                            {},
                            fmt::format("interrupted: {}what was done stays done", rest),
                            "run it again for the rest"});
    }
    return messages;
}

Message message_of(const Error& error) {
    return message_of(error, words_of(error.hint(), error.detail()));
}

std::string fitted(const Message& message, std::optional<unsigned> width) {
    const std::string indent(BEGIN.size(), ' ');
    const std::string begin = message.level == Message::Level::warning ? "warning: " : "";
    const std::string head = begin + message.path + (message.path.empty() ? "" : ": ") + message.text;
    std::string text;
    if (message.path.empty() || !width || BEGIN.size() + display_width(head) <= *width) {
        text = paragraph(head, width, BEGIN.size());
    } else {
        text = begin + message.path + ":\n" + indent + paragraph(message.text, width, BEGIN.size());
    }
    if (!message.hint.empty()) {
        std::istringstream lines(message.hint);
        std::string begin_of_line(HINT);
        for (std::string line; std::getline(lines, line); begin_of_line.assign(HINT.size(), ' ')) {
            text += begin_of_line + paragraph(line, width, HINT.size());
        }
    }
    text.pop_back();
    return text;
}

}  // namespace fixnvpe
