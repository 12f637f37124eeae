#include "fixnvpe/commands/outcome.hpp"

#include <algorithm>
#include <map>

namespace fixnvpe {
namespace {

template <typename Enum>
std::size_t index_of(Enum value) {
    const auto found = std::find_if(names_of<Enum>.begin(), names_of<Enum>.end(),
                                    [&](const auto& entry) { return entry.first == value; });
    return static_cast<std::size_t>(found - names_of<Enum>.begin());
}

/// Is what patching this file saves part of what the command speaks of?
bool counts_as_saved(const FileOutcome& file, Command command) {
    switch (command) {
        case Command::scan: return true;
        case Command::verify: return file.fails && file.status == Status::unpatched;
        case Command::patch: return file.patched();
        default: return false;
    }
}

bool was_stopped(const FileOutcome& file) {
    return file.error && file.error->code() == ErrorCode::interrupted;
}

/// A process loads DLLs of one scope and one machine. Of several, those with most to gain are spoken of.
void add_up_commit(const Summary& summary, Totals& totals) {
    struct Sum {
        CommitCharge commit;
        std::uint64_t saved = 0;
    };
    std::map<std::pair<std::size_t, std::uint16_t>, Sum> processes;
    for (const FileOutcome& file : summary.files) {
        Sum& sum = processes[{file.scope, file.headers ? file.headers->machine : std::uint16_t{0}}];
        sum.commit.now += file.commit.now;
        sum.commit.after += file.commit.after;
        sum.commit.saved += file.commit.saved;
        sum.saved += counts_as_saved(file, summary.command) ? file.commit.saved : 0;
    }
    for (const auto& [process, sum] : processes) {
        if (std::pair(sum.saved, sum.commit.now) > std::pair(totals.saved, totals.commit.now)) {
            totals.commit = sum.commit;
            totals.saved = sum.saved;
        }
    }
}

ExitStatus exit_status(const Summary& summary, bool interrupted) {
    const bool undone = summary.not_begun > 0 || (summary.files.empty() && summary.cleaned.empty()) ||
                        std::any_of(summary.files.begin(), summary.files.end(), was_stopped);
    if (interrupted && undone) {
        return ExitStatus::interrupted;
    }
    if (summary.totals.failed != 0) {
        return ExitStatus::error;
    }
    const bool needs_patch =
        std::any_of(summary.files.begin(), summary.files.end(), [](const FileOutcome& f) { return f.fails; });
    return needs_patch ? ExitStatus::needs_patch : ExitStatus::ok;
}

}  // namespace

std::size_t Totals::count(Status status) const {
    return by_status[index_of(status)];
}

std::size_t Totals::count(Action action) const {
    return by_action[index_of(action)];
}

void add_up(Summary& summary, bool interrupted) {
    Totals totals;
    for (const FileOutcome& file : summary.files) {
        ++totals.by_status[index_of(file.status)];
        ++totals.by_action[index_of(file.action)];
        totals.failed += file.failed() ? std::size_t{1} : 0;
    }
    add_up_commit(summary, totals);
    for (const CleanOutcome& file : summary.cleaned) {
        ++totals.by_status[index_of(file.dll_status)];
        ++totals.by_action[index_of(file.action)];
        totals.failed += file.error ? std::size_t{1} : 0;
        totals.freed += file.freed;
    }
    totals.files = summary.files.size() + summary.cleaned.size();
    totals.failed += summary.problems.size();
    totals.excluded = static_cast<std::size_t>(
        std::count_if(summary.passed_over.begin(), summary.passed_over.end(),
                      [](const Skipped& skipped) { return skipped.reason == SkipReason::excluded; }));
    summary.totals = totals;
    summary.exit_status = exit_status(summary, interrupted);
}

}  // namespace fixnvpe
