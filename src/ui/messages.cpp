#include "fixnvpe/ui/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

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
            messages.push_back({Message::Level::warning, fmt::format("warning: {} {}\n  hint: {}",
                                                                     plural(static_cast<std::uint64_t>(count), "file"),
                                                                     count == 1 ? w.one : w.many, w.hint)});
        }
    }
}

/// The user may mean another one; scan alone goes on then.
void add_rivals(std::vector<Message>& messages, const Summary& summary) {
    if (summary.environment && !summary.environment->rivals.empty()) {
        messages.push_back(
            {Message::Level::warning, "warning: the current folder has another Python environment\n  hint: " +
                                          env_lines(summary.environment->rivals)});
    }
}

/// What was chosen, where there is nothing in it to be done.
void add_nothing(std::vector<Message>& messages, const Summary& summary) {
    if (!summary.environment || !summary.cleaned.empty() || summary.command == Command::clean) {
        return;
    }
    const bool cuda = std::any_of(summary.files.begin(), summary.files.end(), [](const FileOutcome& file) {
        return file.failed() || (file.headers && !file.headers->fatbins.empty());
    });
    if (!cuda && summary.problems.empty()) {
        messages.push_back({Message::Level::info, "no CUDA code in this environment: nothing to patch"});
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
    const std::string what = count == 1 ? printable_path(summary.orphans.front().path) + " is left: its DLL is gone"
                                        : plural(count, "backup") + " are left whose DLLs are gone, such as " +
                                              printable_path(summary.orphans.front().path);
    messages.push_back({Message::Level::info, fmt::format("{}\n  hint: fixnvpe clean{} removes {}", what,
                                                          needed ? " --backups" : "", count == 1 ? "it" : "them")});
}

}  // namespace

std::vector<Message> messages_of(const Summary& summary, const ReportStyle& style) {
    std::vector<Message> messages;
    if (!style.quiet) {
        if (summary.environment) {
            messages.push_back({Message::Level::info, words(*summary.environment)});
        }
        add_rivals(messages, summary);
        add_nothing(messages, summary);
        add_warnings(messages, summary);
        add_orphans(messages, summary);
    }
    const auto add_error = [&](const Error& error) {
        messages.push_back({Message::Level::error, words(error, style.policy)});
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
        messages.push_back({Message::Level::error, fmt::format("interrupted: {}what was done stays done\n"
                                                               "  hint: run it again for the rest",
                                                               rest)});
    }
    return messages;
}

}  // namespace fixnvpe
