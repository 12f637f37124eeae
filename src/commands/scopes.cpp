#include "fixnvpe/commands/scopes.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "fixnvpe/os/names.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

Scope scope_of(const fs::path& folder, const fs::path& given, Environments& environments) {
    try {
        fs::path prefix = environments.around(folder);
        const bool environment = !prefix.empty();
        return {
            environment ? std::move(prefix) : os::canonical(given.empty() ? fs::path(".") : given), environment, {}};
    } catch (const Error&) {
        return {given, false, {}};  // it went away meanwhile
    }
}

}  // namespace

void part_into_scopes(Summary& summary, const std::vector<Target>& targets, Environments& environments) {
    std::map<fs::path, const Target*> by_path;
    for (const Target& target : targets) {
        by_path.emplace(target.path, &target);
    }
    std::map<std::pair<fs::path, fs::path>, std::size_t> of_folder;  // and where the search began
    std::map<fs::path, std::size_t> places;
    for (FileOutcome& file : summary.files) {
        const fs::path folder = file.path.parent_path();
        const fs::path given = by_path.at(file.path)->given;
        const auto [known, is_new] = of_folder.try_emplace({folder, given});
        if (is_new) {
            Scope scope = scope_of(folder, given, environments);
            const auto [place, is_first] = places.try_emplace(scope.place, summary.scopes.size());
            if (is_first) {
                summary.scopes.push_back(std::move(scope));
            }
            known->second = place->second;
        }
        file.scope = known->second;
    }
}

void add_up_scopes(Summary& summary) {
    if (summary.scopes.size() == 1) {
        summary.scopes.front().totals = summary.totals;
        return;
    }
    for (std::size_t i = 0; i < summary.scopes.size(); ++i) {
        Summary part;
        part.command = summary.command;
        for (const FileOutcome& file : summary.files) {
            if (file.scope == i) {
                part.files.push_back(file);
            }
        }
        add_up(part, false);
        summary.scopes[i].totals = part.totals;
    }
}

void warn_of_shared_bases(Summary& summary) {
    const auto counts = [](const FileOutcome& f) {
        return f.headers && !f.headers->fatbins.empty() && !f.headers->dynamic_base && f.status == Status::patched;
    };
    const auto base_of = [](const FileOutcome& f) {
        return std::tuple(f.scope, f.headers->machine, f.headers->image_base);
    };
    std::map<std::tuple<std::size_t, std::uint16_t, std::uint64_t>, unsigned> bases;
    for (const FileOutcome& file : summary.files) {
        if (counts(file)) {
            ++bases[base_of(file)];
        }
    }
    for (FileOutcome& file : summary.files) {
        if (counts(file) && bases[base_of(file)] > 1) {
            file.warnings.push_back(Warning::same_image_base);
        }
    }
}

}  // namespace fixnvpe
