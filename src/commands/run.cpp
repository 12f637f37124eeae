#include "fixnvpe/commands/run.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "fixnvpe/commands/clean.hpp"
#include "fixnvpe/commands/disk.hpp"
#include "fixnvpe/commands/elsewhere.hpp"
#include "fixnvpe/commands/execute.hpp"
#include "fixnvpe/commands/narrow.hpp"
#include "fixnvpe/commands/orphans.hpp"
#include "fixnvpe/commands/packages.hpp"
#include "fixnvpe/commands/scopes.hpp"
#include "fixnvpe/find/registered.hpp"
#include "fixnvpe/os/process.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

/// Calls work(i) for each i under `count`, as many at once as asked for; after Ctrl-C for no more.
template <typename Work>
void in_parallel(std::size_t count, unsigned jobs, Work work) {
    std::atomic<std::size_t> next = 0;
    const auto work_on_next = [&] {
        for (std::size_t i = next++; i < count && !os::interrupted(); i = next++) {
            work(i);
        }
    };
    std::vector<std::jthread> helpers;
    try {
        for (std::size_t i = 1; i < std::min<std::size_t>(std::max(jobs, 1U), count); ++i) {
            helpers.emplace_back(work_on_next);
        }
    } catch (const std::system_error&) {
        // No thread to be had: with fewer it takes longer.
    }
    work_on_next();
}

/// Of one file. Ctrl-C breaks its copy off.
CopyProgress progress_of(const fs::path& path, const Listener& listener) {
    return [&path, &listener](std::uint64_t done, std::uint64_t total) {
        if (os::interrupted()) {
            throw Error(ErrorCode::interrupted, "copy: interrupted", Hint::unchanged);
        }
        listener.progress(path, done, total);
    };
}

void work_on_dlls(const std::vector<Target>& targets, const Request& request, const Listener& listener,
                  Summary& summary) {
    std::vector<std::optional<FileOutcome>> slots(targets.size());
    // Only copies are worth a thread: starting one takes longer than reading the headers of some files.
    const unsigned jobs = request.policy.command == Command::patch ? request.jobs : 1;
    in_parallel(targets.size(), jobs, [&](std::size_t i) {
        slots[i] = work_on(targets[i], request, progress_of(targets[i].path, listener));
    });
    summary.files.reserve(slots.size());
    for (std::optional<FileOutcome>& slot : slots) {
        if (slot) {
            summary.files.push_back(std::move(*slot));
        } else {
            ++summary.not_begun;
        }
    }
}

std::vector<SidecarGroup> group_by_dll(const std::vector<FoundSidecar>& found, Environments& environments) {
    std::map<fs::path, SidecarGroup> groups;
    for (const FoundSidecar& sidecar : found) {
        const auto [entry, is_new] = groups.try_emplace(sidecar.dll);
        SidecarGroup& group = entry->second;
        if (is_new && sidecar.orphan) {
            group.installed = installed_around(sidecar.dll, environments);
        }
        group.dll = sidecar.dll;
        group.folder = sidecar.folder;
        group.sidecars.push_back({sidecar.kind, sidecar.path});
    }
    std::vector<SidecarGroup> result;
    result.reserve(groups.size());
    for (auto& [dll, group] : groups) {
        result.push_back(std::move(group));
    }
    return result;
}

void clean_all(const std::vector<FoundSidecar>& found, Environments& environments, const Request& request,
               const Listener& listener, Summary& summary) {
    for (const SidecarGroup& group : group_by_dll(found, environments)) {
        if (os::interrupted()) {
            summary.not_begun += group.sidecars.size();
            continue;
        }
        std::vector<CleanOutcome> outcomes = clean(group, request, progress_of(group.dll, listener));
        std::move(outcomes.begin(), outcomes.end(), std::back_inserter(summary.cleaned));
    }
    std::sort(summary.cleaned.begin(), summary.cleaned.end(),
              [](const CleanOutcome& a, const CleanOutcome& b) { return a.path.native() < b.path.native(); });
}

/// Nobody is to be surprised by what was done in an environment that they did not mean.
void must_be_meant(const PythonEnvironment& environment, Command command) {
    if (environment.rivals.empty() || command == Command::scan) {
        return;
    }
    std::vector<fs::path> candidates{environment.prefix};
    candidates.insert(candidates.end(), environment.rivals.begin(), environment.rivals.end());
    throw Error(ErrorCode::ambiguous,
                environment.chosen_by + " names another Python environment than the current folder has",
                env_lines(candidates));
}

EnvironmentQuery environment_query(const Request& request) {
    EnvironmentQuery query;
    if (request.env) {
        query.env_option = os::to_path(*request.env);
    }
    query.program = os::program_file();
    query.registered = registered_pythons;
    return query;
}

/// What to work on where no target is named.
std::vector<std::string> targets_of_environment(const Request& request, const EnvironmentQuery& query,
                                                Summary& summary) {
    summary.environment = find_python_environment(query);
    must_be_meant(*summary.environment, request.policy.command);
    std::vector<std::string> targets;
    for (const fs::path& folder : summary.environment->folders) {
        targets.push_back(os::from_path(folder));
    }
    return targets;
}

}  // namespace

Summary run(const Request& request, const Listener& listener) {
    Summary summary;
    summary.command = request.policy.command;
    summary.workers = request.workers;
    const bool cleans = summary.command == Command::clean;
    const bool whole_environment = request.targets.empty() && request.packages.empty() && request.excluded.empty();
    const EnvironmentQuery query = request.targets.empty() ? environment_query(request) : EnvironmentQuery{};
    const std::vector<std::string> names =
        request.targets.empty() ? targets_of_environment(request, query, summary) : request.targets;
    Targets targets = find_targets(names, cleans ? Want::sidecars : Want::dlls);
    if (request.targets.empty()) {
        // An environment may well hold no DLL, or only in one of its folders.
        std::erase_if(targets.problems, [](const Error& e) { return e.code() == ErrorCode::no_match; });
    }
    Environments environments(summary.environment);
    narrow(targets, request, environments);
    summary.problems = std::move(targets.problems);
    summary.passed_over = std::move(targets.skipped);
    if (cleans) {
        clean_all(targets.sidecars, environments, request, listener, summary);
    } else {
        add_missing(targets, environments);
        look_up_disk(targets.files, request, summary);
        if (!request.dry_run && !summary.disk.empty()) {
            listener.before_copies(summary.disk);
        }
        work_on_dlls(targets.files, request, listener, summary);
        part_orphans(summary);
        part_into_scopes(summary, targets.files, environments);
        if (summary.command != Command::restore) {
            warn_of_shared_bases(summary);
        }
    }
    attribute(summary, environments);
    add_up(summary, os::interrupted());
    add_up_scopes(summary);
    if (whole_environment && !cleans && summary.totals.without_cuda()) {
        summary.elsewhere = with_cuda_code(environments_nearby(query, *summary.environment));
    }
    return summary;
}

}  // namespace fixnvpe
