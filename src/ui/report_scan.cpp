#include "fixnvpe/ui/report_scan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/commands/packages.hpp"
#include "fixnvpe/ui/columns.hpp"
#include "fixnvpe/ui/groups.hpp"
#include "fixnvpe/ui/report_text.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

using Files = std::vector<const FileOutcome*>;

/// A terminal that is narrower has no room for bars.
constexpr unsigned NARROWEST_WITH_BARS = 80;
constexpr unsigned WIDEST_BAR = 32;

/// How what stays and what patching frees is drawn.
struct Ink {
    std::string_view stays;
    std::string_view freed;
};

Ink ink_of(const ReportStyle& style) {
    return style.blocks ? Ink{"\u2588", "\u2592"} : Ink{"#", "="};
}

std::string repeated(std::string_view text, std::uint64_t count) {
    std::string result;
    for (std::uint64_t i = 0; i < count; ++i) {
        result += text;
    }
    return result;
}

/// What a file commits in each process, drawn in columns of which the largest file takes all.
class Bars {
public:
    Bars(const Files& files, const ReportStyle& style) : ink_(ink_of(style)) {
        for (const FileOutcome* file : files) {
            largest_ = std::max(largest_, file->commit.now);
        }
        if (style.width && *style.width >= NARROWEST_WITH_BARS && largest_ != 0) {
            columns_ = std::min(*style.width / 5, WIDEST_BAR);
        }
    }

    [[nodiscard]] std::string legend() const {
        return columns_ == 0 ? "" : fmt::format("{} stays {} freed", ink_.stays, ink_.freed);
    }
    [[nodiscard]] std::string of(const CommitCharge& commit) const {
        const std::uint64_t stays = columns_of(commit.after);
        return repeated(ink_.stays, stays) + repeated(ink_.freed, columns_of(commit.now) - stays);
    }

private:
    [[nodiscard]] std::uint64_t columns_of(std::uint64_t bytes) const {
        return columns_ == 0 ? 0 : (bytes * columns_ + largest_ / 2) / largest_;
    }

    Ink ink_;
    std::uint64_t largest_ = 0;
    std::uint64_t columns_ = 0;
};

/// Bytes in writable sections that are no fatbin sections: they stay whatever is patched.
std::uint64_t data_of(const FileOutcome& file) {
    return !file.headers ? 0
                         : std::accumulate(file.headers->data.begin(), file.headers->data.end(), std::uint64_t{0},
                                           [](std::uint64_t sum, const WritableData& d) { return sum + d.bytes; });
}

/// "229.0 MiB in .data stay", where that is much.
std::string what_stays(const FileOutcome& file) {
    if (data_of(file) < LARGE_COMMIT) {
        return {};
    }
    const auto& data = file.headers->data;
    const auto largest = std::max_element(
        data.begin(), data.end(), [](const WritableData& a, const WritableData& b) { return a.bytes < b.bytes; });
    return fmt::format("{} in {} stay", human_size(largest->bytes), printable(largest->name));
}

/// What a split would free of it, and what not.
std::vector<std::string> what_splits(const FileOutcome& file) {
    std::vector<std::string> facts;
    if (file.split && file.split->freed != 0) {
        facts.push_back(fmt::format("--data split frees {}", human_size(file.split->freed)));
    }
    if (file.split && file.split->left != 0) {
        facts.push_back(fmt::format("{} of GPU code can't be split: {}", human_size(file.split->left),
                                    words(file.split->why_left)));
    }
    return facts;
}

/// What -v adds.
std::vector<std::string> more_of(const FileOutcome& file) {
    std::vector<std::string> facts;
    std::uint64_t cuda = 0;
    for (const Fatbin& fatbin : file.headers->fatbins) {
        cuda += fatbin.virtual_size;
    }
    if (cuda != 0) {
        facts.push_back(human_size(cuda) + " of CUDA code");
    }
    if (file.relocated) {
        facts.push_back(human_size(*file.relocated) + " relocated");
    }
    return facts;
}

Row row_of(const FileOutcome& file, const Bars& bars, const ReportStyle& style) {
    std::vector<std::string> facts;
    if (file.status != Status::unpatched) {
        facts.emplace_back(to_string(file.status));
    }
    if (file.status == Status::refused) {
        facts.back() += ": " + words(file.reason);
    }
    if (const std::string stays = what_stays(file); !stays.empty()) {
        facts.push_back(stays);
    }
    for (std::string& fact : what_splits(file)) {
        facts.push_back(std::move(fact));
    }
    for (std::string& remark : remarks(file)) {
        facts.push_back(std::move(remark));
    }
    for (std::string& fact : style.verbose&& file.headers ? more_of(file) : std::vector<std::string>()) {
        facts.push_back(std::move(fact));
    }
    return {{file.headers ? human_size(file.commit.now) : "", file.headers ? human_size(file.commit.after) : "",
             bars.of(file.commit), printable_path(file.path.filename())},
            {},
            fmt::format("{}", fmt::join(facts, ", ")),
            {}};
}

/// With GPU code, or with much that stays; -v: all.
bool is_listed(const FileOutcome& file, const ReportStyle& style) {
    const bool concerns =
        file.headers && (!file.headers->fatbins.empty() || data_of(file) >= LARGE_COMMIT || file.split);
    return concerns || (style.verbose && is_shown(file, style));
}

std::string table_of(const Files& files, const Summary& summary, const ReportStyle& style) {
    if (files.empty()) {
        return {};
    }
    const Bars bars(files, style);
    std::vector<Member> members;
    members.reserve(files.size());
    for (const FileOutcome* file : files) {
        members.push_back({printable(file->package), file->path, file->commit.saved});
    }
    Table table({Align::right, Align::right, Align::left, Align::left});
    table.row({{"NOW", "AFTER", bars.legend(), ""}, {}, {}, {}});
    for (const Group& group : grouped(members, summary.environment)) {
        table.heading(group.package, group.folder);
        for (const std::size_t i : group.members) {
            table.row(row_of(*files[i], bars, style));
        }
    }
    return table.text(style);
}

/// Files that have, or will have, the same preferred base and no ASLR.
std::string shared_bases(const Files& files, const ReportStyle& style) {
    struct Sharing {
        std::size_t files = 0;
        std::uint64_t bytes = 0;
        std::uint64_t least = 0;  ///< of the one that may stay
    };
    std::map<std::tuple<std::size_t, std::uint16_t, std::uint64_t>, Sharing> bases;
    for (const FileOutcome* file : files) {
        if (file->relocated) {
            Sharing& base = bases[{file->scope, file->headers->machine, file->headers->image_base}];
            base.least = base.files == 0 ? *file->relocated : std::min(base.least, *file->relocated);
            base.bytes += *file->relocated;
            ++base.files;
        }
    }
    std::string text;
    for (const auto& [key, base] : bases) {
        if (base.files > 1) {
            text += line(fmt::format("{} without ASLR share the base {:#x}: each process moves all but one, which "
                                     "costs it up to {}",
                                     plural(base.files, "file"), std::get<2>(key), human_size(base.bytes - base.least)),
                         style);
        }
    }
    return text;
}

std::string_view why_nothing(const Summary& summary) {
    const Totals& totals = summary.totals;
    if (totals.without_cuda()) {
        return "no CUDA code in these DLLs: nothing to gain";
    }
    if (totals.count(Status::patched) != 0) {
        return "these DLLs are patched: nothing more to gain";
    }
    return totals.count(Status::refused) != 0 ? "these DLLs can't be patched: nothing to gain"
                                              : "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain";
}

constexpr std::string_view OTHER_CAUSES[] = {
    "the page file is too small: let Windows manage its size, or give it more",
    "too many workers: each is a process of its own, so lower num_workers",
    "a model of many GB is loaded or mapped at once: what is read into memory counts in full",
    "GPU memory spills into main memory: see Task Manager, Performance, GPU, \"Shared GPU memory\"",
    "CUDA loads all kernels into each process: set CUDA_MODULE_LOADING=LAZY (CUDA 11.7+; the default from 12.3 on)",
    "other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed",
};

/// What splits would free.
std::uint64_t gain_of_splits(const Summary& summary) {
    return std::accumulate(
        summary.files.begin(), summary.files.end(), std::uint64_t{0},
        [](std::uint64_t sum, const FileOutcome& file) { return sum + (file.split ? file.split->freed : 0); });
}

std::string advice(const Summary& summary, const ReportStyle& style) {
    if (summary.totals.saved != 0) {
        return line(fmt::format("to do: fixnvpe patch; each process would commit up to {} less",
                                human_size(summary.totals.saved)),
                    style) +
               in_all_scopes(summary, style);
    }
    if (gain_of_splits(summary) != 0) {
        return line("to do: fixnvpe patch --data split, if you accept what its help says of it", style);
    }
    std::string text = line(
        fmt::format("{}; if WinError 1455 comes all the same, it has another cause:", why_nothing(summary)), style);
    for (const std::string_view cause : OTHER_CAUSES) {
        text += "  - " + paragraph(std::string(cause), style.width, 4);
    }
    return text;
}

std::string sums(const Summary& summary, const ReportStyle& style) {
    const CommitCharge& commit = summary.totals.commit;
    std::string text = line(fmt::format("a process that loads them all commits {} now, {} after patching",
                                        human_size(commit.now), human_size(commit.after)),
                            style);
    if (summary.workers) {
        text += line(fmt::format("({} now, {} after with {})", human_size(in_all_processes(commit.now, summary)),
                                 human_size(in_all_processes(commit.after, summary)),
                                 plural(*summary.workers, "DataLoader worker")),
                     style);
    }
    std::uint64_t stays = 0;
    for (const FileOutcome& file : summary.files) {
        stays += data_of(file) >= LARGE_COMMIT ? data_of(file) : 0;
    }
    if (stays != 0) {
        text +=
            line(fmt::format("patching can't free {}: writable data that is no section of GPU code", human_size(stays)),
                 style);
    }
    if (const std::uint64_t bytes = gain_of_splits(summary); bytes != 0) {
        text +=
            line(fmt::format("patch --data split would free {} of GPU code among variables", human_size(bytes)), style);
    }
    return text;
}

}  // namespace

std::string report_scan(const Summary& summary, const ReportStyle& style) {
    if (summary.totals.files == 0) {
        return !summary.problems.empty()      ? ""
               : summary.totals.excluded != 0 ? line(counted_statuses(summary.totals, style), style)
                                              : "no DLLs here\n";
    }
    Files files;
    for (const FileOutcome& file : summary.files) {
        if (is_listed(file, style)) {
            files.push_back(&file);
        }
    }
    std::string text = table_of(files, summary, style) + shared_bases(files, style);
    text += line(counted_statuses(summary.totals, style), style);
    return text + sums(summary, style) + advice(summary, style);
}

std::string may_be_split(const Summary& summary, const ReportStyle& style) {
    const FileOutcome* largest = nullptr;
    std::size_t count = 0;
    for (const FileOutcome& file : summary.files) {
        if (data_of(file) >= LARGE_COMMIT && !file.failed()) {
            largest = largest == nullptr || data_of(file) > data_of(*largest) ? &file : largest;
            ++count;
        }
    }
    if (largest == nullptr || style.policy.data == DataPolicy::split) {
        return {};
    }
    return line(fmt::format("{} keeps {}{}: fixnvpe scan says what --data split would free",
                            printable_path(largest->path.filename()), human_size(data_of(*largest)),
                            count == 1 ? "" : fmt::format(" (and {} more)", plural(count - 1, "file"))),
                style);
}

}  // namespace fixnvpe
