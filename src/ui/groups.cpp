#include "fixnvpe/ui/groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

std::string spelled(const fs::path& folder, const std::optional<PythonEnvironment>& environment) {
    std::vector<fs::path> known;
    if (environment) {
        known = environment->folders;
        known.push_back(environment->prefix);
    }
    for (const fs::path& above : known) {
        const fs::path below = folder.lexically_relative(above);
        if (!below.empty() && below != "." && *below.begin() != "..") {
            return printable_path(below);
        }
    }
    return printable_path(folder);
}

}  // namespace

std::vector<Group> grouped(const std::vector<Member>& members, const std::optional<PythonEnvironment>& environment) {
    std::vector<Group> groups;
    std::map<std::pair<std::string, fs::path::string_type>, std::size_t> places;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Member& member = members[i];
        const fs::path folder = member.path.parent_path();
        const auto [place, added] = places.try_emplace({member.package, folder.native()}, groups.size());
        if (added) {
            groups.push_back({member.package, spelled(folder, environment), {}});
        }
        Group& group = groups[place->second];
        group.members.push_back(i);
        group.weight += member.weight;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.weight > b.weight; });
    for (Group& group : groups) {
        std::stable_sort(group.members.begin(), group.members.end(),
                         [&](std::size_t a, std::size_t b) { return members[a].weight > members[b].weight; });
    }
    return groups;
}

}  // namespace fixnvpe
