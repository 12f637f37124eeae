#include "fixnvpe/commands/narrow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixnvpe/find/glob.hpp"
#include "fixnvpe/os/names.hpp"
#include "fixnvpe/os/process.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

/// A word of --exclude. As a glob it names a file, a folder with all in it, or the end of such a path.
class Exclusion {
public:
    Exclusion(const std::string& word, const GlobRules& rules)
        : package_(normalised_name(word)), glob_(U"**/" + points(os::split_root(os::to_path(word)).rest), rules) {}

    [[nodiscard]] const std::string& package() const { return package_; }
    [[nodiscard]] bool names(const fs::path& file) const {
        for (fs::path path = file; path.has_filename(); path = path.parent_path()) {
            if (glob_.matches(points(os::split_root(path).rest))) {
                return true;
            }
        }
        return false;
    }

private:
    std::string package_;
    Glob glob_;
};

class Filter {
public:
    Filter(const Request& request, Environments& environments) : environments_(environments) {
        for (const std::string& package : request.packages) {
            packages_.push_back(normalised_name(package));
        }
        for (const std::string& word : request.excluded) {
            excluded_.emplace_back(word, GLOB_RULES);
        }
    }

    [[nodiscard]] bool is_asked_for(const fs::path& dll) const {
        return packages_.empty() || is_of(dll, [&](const Distribution& owner) {
                   return std::find(packages_.begin(), packages_.end(), owner.name) != packages_.end();
               });
    }
    [[nodiscard]] bool is_excluded(const fs::path& dll) const {
        return std::any_of(excluded_.begin(), excluded_.end(), [&](const Exclusion& e) { return e.names(dll); }) ||
               (!excluded_.empty() && is_of(dll, [&](const Distribution& owner) {
                   return std::any_of(excluded_.begin(), excluded_.end(),
                                      [&](const Exclusion& e) { return e.package() == owner.name; });
               }));
    }

private:
    template <typename Condition>
    bool is_of(const fs::path& dll, Condition condition) const {
        try {
            const auto owners = environments_.records_around(dll.parent_path()).owners_of(dll);
            return std::any_of(owners.begin(), owners.end(), condition);
        } catch (const Error&) {
            return false;  // the folder is not there, or no longer
        }
    }

    Environments& environments_;
    std::vector<std::string> packages_;
    std::vector<Exclusion> excluded_;
};

}  // namespace

void narrow(Targets& targets, const Request& request, Environments& environments) {
    for (const std::string& package : request.packages) {
        if (!environments.records_around({}).has(normalised_name(package))) {
            throw Error(ErrorCode::no_match, fmt::format("{} is not installed here", package),
                        "name an environment that has it: --env DIR");
        }
    }
    if (request.packages.empty() && request.excluded.empty()) {
        return;
    }
    const Filter filter(request, environments);
    std::erase_if(targets.files, [&](const Target& target) {
        const bool excluded = filter.is_excluded(target.path);
        if (excluded) {
            targets.skipped.push_back({target.path, SkipReason::excluded});
        }
        return excluded || !filter.is_asked_for(target.path);
    });
    std::erase_if(targets.sidecars, [&](const FoundSidecar& own) {
        return filter.is_excluded(own.dll) || !filter.is_asked_for(own.dll);
    });
}

}  // namespace fixnvpe
