#include "fixnvpe/find/registered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/os/registry.hpp"

namespace fixnvpe {

std::vector<std::filesystem::path> registered_pythons() {
    std::vector<std::tuple<bool, unsigned, std::filesystem::path>> found;
    for (const std::string& company : os::registry_keys("Software\\Python")) {
        const std::string key = fmt::format("Software\\Python\\{}", company);
        for (const std::string& tag : os::registry_keys(key)) {
            if (const auto prefix = os::registry_text(fmt::format("{}\\{}\\InstallPath", key, tag), "")) {
                const auto minor = minor_version("python" + tag);  // 3.12, 3.12-32
                found.emplace_back(company == "PythonCore", minor.value_or(0), os::to_path(*prefix));
            }
        }
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::filesystem::path> prefixes;
    prefixes.reserve(found.size());
    for (auto& [official, minor, prefix] : found) {
        prefixes.push_back(std::move(prefix));
    }
    return prefixes;
}

}  // namespace fixnvpe
