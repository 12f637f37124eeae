#include "fixnvpe/commands/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "fixnvpe/os/child.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/patch/decide.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/sidecars.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

/// What verify would say of files, each asked once.
class OnDisk {
public:
    std::optional<Status> status_of(const fs::path& file) {
        const auto [entry, is_new] = known_.try_emplace(file);
        if (is_new && !file.empty()) {
            entry->second = look_up(file);
        }
        return entry->second;
    }

private:
    static std::optional<Status> look_up(const fs::path& file) {
        try {
            Query query;
            query.path = file;
            query.candidates = sidecars_of(file);
            const Findings findings = examine(std::move(query));
            return decide({}, findings.dll_facts(), findings.sidecar_facts()).status;
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    std::map<fs::path, std::optional<Status>> known_;
};

void must_be_measurable() {
    if (!os::can_measure()) {
        throw Error(ErrorCode::refused, "measure is for Windows: here memory that is not used costs nothing");
    }
}

void look_up(MeasuredProcess& process, OnDisk& disk) {
    for (MeasuredImage& image : process.images) {
        if (const auto own = sidecar_name(image.file)) {
            image.file = own->dll;  // it was loaded before patch renamed it
        }
        image.on_disk = disk.status_of(image.file);
    }
}

void sort(std::vector<MeasuredProcess>& processes) {
    std::stable_sort(processes.begin(), processes.end(),
                     [](const MeasuredProcess& a, const MeasuredProcess& b) { return a.committed() > b.committed(); });
}

}  // namespace

Measurement measure(const MeasureRequest& request) {
    must_be_measurable();
    Measurement measurement;
    OnDisk disk;
    const bool all = request.processes.empty();
    for (const std::uint32_t id : all ? os::running_processes() : request.processes) {
        const auto memory = os::memory_of(id);
        if (!memory && !all) {
            throw Error(ErrorCode::no_match, fmt::format("there is no process {}, or it may not be read", id),
                        Hint::be_administrator);
        }
        if (!memory) {
            ++measurement.unreadable;
            continue;
        }
        MeasuredProcess process = measured(*memory);
        if (!all || process.has_gpu_code()) {
            look_up(process, disk);
            measurement.processes.push_back(std::move(process));
        }
    }
    sort(measurement.processes);
    measurement.system = os::system_memory();
    return measurement;
}

Measurement measure_command(const MeasureRequest& request, bool output_to_error) {
    using namespace std::chrono_literals;
    must_be_measurable();
    Measurement measurement;
    os::Child child(request.command, output_to_error);
    std::map<std::uint32_t, MeasuredProcess> largest;
    std::uint64_t most = 0;
    do {
        for (const std::uint32_t id : child.processes()) {
            if (const auto memory = os::memory_of(id)) {
                MeasuredProcess now = measured(*memory);
                MeasuredProcess& kept = largest[id];
                const std::uint64_t peak = std::max(kept.peak_commit, now.peak_commit);
                kept = now.committed() >= kept.committed() ? std::move(now) : std::move(kept);
                kept.peak_commit = peak;
            }
        }
        const os::SystemMemory system = os::system_memory();
        if (system.commit >= most) {
            most = system.commit;
            measurement.system = system;
        }
    } while (!child.wait(100ms) && !os::interrupted());
    OnDisk disk;
    for (auto& [id, process] : largest) {
        look_up(process, disk);
        measurement.processes.push_back(std::move(process));
    }
    sort(measurement.processes);
    measurement.command_exit_status = child.exit_status();
    measurement.command_peak = child.peak_commit();
    return measurement;
}

}  // namespace fixnvpe
