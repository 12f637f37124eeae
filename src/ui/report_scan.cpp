#include "fixnvpe/ui/report_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/columns.hpp"
#include "fixnvpe/ui/report_text.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

using Rows = std::vector<const FileOutcome*>;

/// What a table of one line a file needs.
constexpr unsigned TABLE_WIDTH = 100;

/// All .nv_fatb sections of a file.
Fatbin together(const std::vector<Fatbin>& fatbins, std::uint64_t& bytes) {
    Fatbin sum;
    for (const Fatbin& fatbin : fatbins) {
        bytes += fatbin.virtual_size;
        sum.writable = sum.writable || fatbin.writable;
    }
    return sum;
}

std::string_view yes_or_no(bool value) {
    return value ? "yes" : "no";
}

std::string row_of(const FileOutcome& file, const ReportStyle& style) {
    std::uint64_t cuda = 0;
    const bool writable = together(file.headers->fatbins, cuda).writable;
    const std::string path = printable_path(file.path);
    const std::string saved = human_size(file.commit.saved);
    const std::string now = human_size(file.commit.now);
    const std::string after = human_size(file.commit.after);
    const std::string refused = file.status == Status::refused ? "refused: " + words(file.reason) : std::string();
    if (style.width && *style.width < TABLE_WIDTH) {
        std::string facts = fmt::format("saved {} (now {}, after {}); CUDA {}, {}", saved, now, after, human_size(cuda),
                                        writable ? "writable" : "read-only");
        facts += file.headers->dynamic_base ? ", ASLR" : "";
        facts += file.headers->is_signed ? ", signed" : "";
        facts += refused.empty() ? "" : "; " + refused;
        std::string text = shorten_middle(path, *style.width) + "\n";
        for (const std::string& line : wrap(facts, *style.width - 4)) {
            text += "    " + line + "\n";
        }
        return text;
    }
    const std::string row =
        fmt::format("{:>9}  {:>9}  {:>9}  {:>9}  {:<8}  {:<4}  {:<6}  ", saved, now, after, human_size(cuda),
                    yes_or_no(writable), yes_or_no(file.headers->dynamic_base), yes_or_no(file.headers->is_signed));
    return row + fit(path, refused.empty() ? "" : "(" + refused + ")", row.size(), style);
}

/// Files that have, or will have, the same preferred base and no ASLR.
std::string shared_bases(const Rows& rows, const ReportStyle& style) {
    std::map<std::pair<std::uint16_t, std::uint64_t>, Rows> groups;
    for (const FileOutcome* file : rows) {
        if (file->relocated) {
            groups[{file->headers->machine, file->headers->image_base}].push_back(file);
        }
    }
    std::string text;
    for (const auto& [key, files] : groups) {
        if (files.size() < 2) {
            continue;
        }
        text +=
            "\n" + paragraph(fmt::format("{} that lose ASLR share the preferred base {:#x}: in each process all but "
                                         "one are moved, and their pages with relocations become private memory:",
                                         plural(files.size(), "file"), key.second),
                             style);
        for (const FileOutcome* file : files) {
            text +=
                fmt::format("{:>9}  {}", human_size(*file->relocated), fit(printable_path(file->path), "", 11, style));
        }
    }
    return text;
}

std::string_view why_nothing(const Rows& rows, const Summary& summary) {
    if (rows.empty()) {
        return "no CUDA code in these DLLs: nothing to gain";
    }
    if (summary.totals.count(Status::patched) != 0) {
        return "these DLLs are patched: nothing more to gain";
    }
    return summary.totals.count(Status::refused) != 0
               ? "these DLLs can't be patched: nothing to gain"
               : "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain";
}

std::string advice(const Rows& rows, const Summary& summary, const ReportStyle& style) {
    const std::uint64_t saved = summary.totals.saved;
    if (saved != 0) {
        return paragraph(fmt::format("patch saves {} in each process, {} with {} workers", human_size(saved),
                                     human_size(in_all_processes(saved, summary)), summary.workers),
                         style);
    }
    return paragraph(fmt::format("{}; if WinError 1455 comes all the same, it has another cause:",
                                 why_nothing(rows, summary)),
                     style) +
           paragraph("  - the page file is too small: let Windows manage its size, or give it more", style) +
           paragraph("  - too many workers: each is a process of its own, so lower num_workers", style) +
           paragraph(
               "  - other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed",
               style);
}

}  // namespace

std::string report_scan(const Summary& summary, const ReportStyle& style) {
    Rows rows;
    Rows others;
    for (const FileOutcome& file : summary.files) {
        (file.headers && !file.headers->fatbins.empty() ? rows : others).push_back(&file);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const FileOutcome* a, const FileOutcome* b) { return a->commit.saved > b->commit.saved; });

    std::string text;
    if (!rows.empty() && (!style.width || *style.width >= TABLE_WIDTH)) {
        text += fmt::format("{:>9}  {:>9}  {:>9}  {:>9}  {:<8}  {:<4}  {:<6}  {}\n", "SAVED", "NOW", "AFTER", "CUDA",
                            "WRITABLE", "ASLR", "SIGNED", "FILE");
    }
    for (const FileOutcome* file : rows) {
        text += row_of(*file, style);
    }
    for (const FileOutcome* file : style.verbose ? others : Rows()) {
        text += line_of(*file, style);
    }
    text += shared_bases(rows, style);
    text += text.empty() ? "" : "\n";
    text += paragraph(counted_statuses(summary.totals), style);
    const CommitCharge& commit = summary.totals.commit;
    text +=
        paragraph(fmt::format("commit of each process: {} now, {} after patching; with {} workers: {} now, {} after",
                              human_size(commit.now), human_size(commit.after), summary.workers,
                              human_size(in_all_processes(commit.now, summary)),
                              human_size(in_all_processes(commit.after, summary))),
                  style);
    return text + advice(rows, summary, style);
}

}  // namespace fixnvpe
