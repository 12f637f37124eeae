#include "fixnvpe/ui/report_measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/columns.hpp"

namespace fixnvpe {
namespace {

std::string about_system(const os::SystemMemory& system, std::uint64_t left, const ReportStyle& style) {
    std::string text = line(
        fmt::format("commit {} of {}: {} left (peak {}); {} of RAM", human_size(system.commit),
                    human_size(system.limit), human_size(left), human_size(system.peak), human_size(system.physical)),
        style);
    std::vector<std::string> files;
    for (const os::PageFile& file : system.page_files) {
        files.push_back(fmt::format("{} {}", printable_path(file.path), human_size(file.size)));
    }
    if (!files.empty()) {
        text +=
            line(fmt::format("page file: {}{}", fmt::join(files, ", "), system.managed ? ", managed by Windows" : ""),
                 style);
    }
    return text;
}

std::string facts_of(const MeasuredImage& image) {
    if (image.needs_restart()) {
        return "patched on disk, but loaded before: restart it";
    }
    return image.on_disk && image.gpu_writable + image.gpu_read_only != 0 ? std::string(to_string(*image.on_disk))
                                                                          : std::string();
}

void add(Table& table, const MeasuredProcess& process, const ReportStyle& style) {
    const std::string script = process.script.empty() ? "" : " " + printable(process.script);
    table.row({{human_size(process.committed()), size_if_any(process.gpu_writable()),
                fmt::format("{} ({}){}", printable(process.name), process.id, script)},
               {},
               {},
               {}});
    for (const MeasuredImage& image : style.verbose ? process.images : std::vector<MeasuredImage>()) {
        table.row({{size_if_any(image.writable), size_if_any(image.gpu_writable), "  " + printable_path(image.file)},
                   {},
                   facts_of(image),
                   {}});
    }
}

std::string processes(std::uint64_t count, std::string_view which) {
    return fmt::format("{} {}process{}", count, which, count == 1 ? "" : "es");
}

std::string verdict_of(const Measurement& measurement, const Verdict& verdict, const ReportStyle& style) {
    if (measurement.processes.empty()) {
        return line("no process has CUDA DLLs loaded", style);
    }
    std::string text;
    if (verdict.patching_frees != 0) {
        text += line(fmt::format("to do: fixnvpe patch, and start these programs again: {} less",
                                 human_size(verdict.patching_frees)),
                     style);
    }
    if (verdict.restart_frees != 0) {
        text += line(fmt::format("patched since they were loaded: start these programs again: {} less",
                                 human_size(verdict.restart_frees)),
                     style);
    }
    if (verdict.freed != 0) {
        text += line(fmt::format("patching has freed {}", human_size(verdict.freed)), style);
    }
    if (verdict.more_now) {
        text += line(fmt::format("{} like the largest {} into what is left{}", processes(*verdict.more_now, "more "),
                                 *verdict.more_now == 1 ? "fits" : "fit",
                                 verdict.more_after && *verdict.more_after != *verdict.more_now
                                     ? fmt::format(", {} then", *verdict.more_after)
                                     : ""),
                     style);
    }
    if (verdict.patching_frees + verdict.restart_frees == 0) {
        text += line(fmt::format("patching can't free more; the largest process has {} of other memory: its data, and "
                                 "what CUDA itself allocates (fixnvpe scan names causes)",
                                 human_size(verdict.largest_rest)),
                     style);
    }
    return text;
}

}  // namespace

std::string report_measure(const Measurement& measurement, const ReportStyle& style) {
    const Verdict verdict = judge(measurement);
    Table table({Align::right, Align::right, Align::left});
    if (!measurement.processes.empty()) {
        table.row({{"COMMIT", "CUDA CODE", "PROCESS"}, {}, {}, {}});
    }
    for (const MeasuredProcess& process : measurement.processes) {
        add(table, process, style);
    }
    std::string text = about_system(measurement.system, verdict.left, style) + table.text(style);
    if (measurement.unreadable != 0) {
        text += line(processes(measurement.unreadable, "") + " could not be read: an administrator may", style);
    }
    if (measurement.command_peak) {
        text +=
            line(fmt::format("at its peak the command had committed {}", human_size(*measurement.command_peak)), style);
    }
    return text + verdict_of(measurement, verdict, style);
}

}  // namespace fixnvpe
