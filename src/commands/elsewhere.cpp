#include "fixnvpe/commands/elsewhere.hpp"

#include <algorithm>
#include <string>

#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/find/targets.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/patch/dll.hpp"

namespace fixnvpe {
namespace {

bool has_cuda_code(const Target& target) {
    try {
        return read_dll(target.path).image.has_fatbin();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::vector<std::filesystem::path> with_cuda_code(std::vector<std::filesystem::path> environments) {
    std::erase_if(environments, [](const std::filesystem::path& environment) {
        std::vector<std::string> folders;
        for (const std::filesystem::path& folder : places_of(environment).folders) {
            folders.push_back(os::from_path(folder));
        }
        const Targets targets = find_targets(folders);
        return std::none_of(targets.files.begin(), targets.files.end(), has_cuda_code);
    });
    return environments;
}

}  // namespace fixnvpe
