// Files by package and folder.

#include "fixnvpe/ui/groups.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

using Lines = std::vector<std::string>;

/// Of each group "PACKAGE|FOLDER: the places of its members".
Lines groups_of(const std::vector<Member>& members, const std::optional<PythonEnvironment>& environment = {}) {
    Lines lines;
    for (const Group& group : grouped(members, environment)) {
        std::string line = group.package + "|" + group.folder + ":";
        for (const std::size_t i : group.members) {
            line += " " + std::to_string(i);
        }
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

TEST_CASE("groups: by package and by folder, in the order given where nothing weighs more") {
    CHECK(groups_of({}).empty());
    CHECK(groups_of({{"torch 1", "a/x.dll"}, {"", "a/y.dll"}, {"torch 1", "a/z.dll"}, {"torch 1", "b/x.dll"}}) ==
          Lines{"torch 1|a: 0 2", "|a: 1", "torch 1|b: 3"});
    CHECK(groups_of({{"", "x.dll"}}) == Lines{"|: 0"});
}

TEST_CASE("groups: what weighs most comes first, a group by all of its members") {
    CHECK(groups_of({{"", "a/x.dll", 5}, {"", "b/x.dll", 3}, {"", "b/y.dll", 4}, {"", "b/z.dll", 3}}) ==
          Lines{"|b: 2 1 3", "|a: 0"});
}

TEST_CASE(
    "groups: in an environment a folder is spelled below its site-packages, or below its prefix, and no other is") {
    PythonEnvironment environment;
    environment.prefix = "venv";
    environment.folders = {"venv/Lib/site-packages", "venv/Library/bin"};
    CHECK(groups_of({{"", "venv/Lib/site-packages/torch/lib/x.dll"},
                     {"", "venv/Lib/site-packages/x.pyd"},
                     {"", "venv/Library/bin/x.dll"},
                     {"", "venv/Lib/site-packages-2/x.dll"},
                     {"", "venv/x.dll"},
                     {"", "elsewhere/x.dll"}},
                    environment) == Lines{"|torch/lib: 0", "|Lib/site-packages: 1", "|Library/bin: 2",
                                          "|Lib/site-packages-2: 3", "|venv: 4", "|elsewhere: 5"});
}

}  // namespace fixnvpe::test
