#include <nlohmann/json.hpp>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/report_measure.hpp"

namespace fixnvpe {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

Json to_json(const os::SystemMemory& system, std::uint64_t left) {
    Json files = Json::array();
    for (const os::PageFile& file : system.page_files) {
        files.push_back({{"path", to_utf8(file.path)}, {"size", file.size}});
    }
    return {{"commit", system.commit},  {"limit", system.limit},       {"left", left},
            {"peak", system.peak},      {"physical", system.physical}, {"page_files", files},
            {"managed", system.managed}};
}

Json to_json(const MeasuredProcess& process) {
    Json images = Json::array();
    for (const MeasuredImage& image : process.images) {
        images.push_back({{"path", to_utf8(image.file)},
                          {"writable", image.writable},
                          {"gpu_writable", image.gpu_writable},
                          {"gpu_read_only", image.gpu_read_only},
                          {"on_disk", image.on_disk ? Json(to_string(*image.on_disk)) : Json()},
                          {"needs_restart", image.needs_restart()}});
    }
    return {{"pid", process.id},
            {"name", printable(process.name)},
            {"script", process.script.empty() ? Json() : Json(printable(process.script))},
            {"private_commit", process.private_commit},
            {"peak_commit", process.peak_commit},
            {"gpu_writable", process.gpu_writable()},
            {"images", images}};
}

}  // namespace

std::string measure_json(const Measurement& measurement, int exit_status) {
    const Verdict verdict = judge(measurement);
    Json processes = Json::array();
    for (const MeasuredProcess& process : measurement.processes) {
        processes.push_back(to_json(process));
    }
    const Json document{{"schema", 1},
                        {"tool", "fixnvpe"},
                        {"version", FIXNVPE_VERSION},
                        {"command", "measure"},
                        {"system", to_json(measurement.system, verdict.left)},
                        {"processes", processes},
                        {"unreadable", measurement.unreadable},
                        {"verdict",
                         {{"patching_frees", verdict.patching_frees},
                          {"restart_frees", verdict.restart_frees},
                          {"freed", verdict.freed},
                          {"largest_rest", verdict.largest_rest},
                          {"more_now", or_null(verdict.more_now)},
                          {"more_after", or_null(verdict.more_after)}}},
                        {"command_peak", or_null(measurement.command_peak)},
                        {"command_exit_status", or_null(measurement.command_exit_status)},
                        {"exit_status", exit_status}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fixnvpe
