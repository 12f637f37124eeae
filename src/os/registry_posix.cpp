#include "fixnvpe/os/registry.hpp"

namespace fixnvpe::os {

std::vector<std::string> registry_keys(const std::string& /*key*/) {
    return {};
}

std::optional<std::string> registry_text(const std::string& /*key*/, const std::string& /*name*/) {
    return std::nullopt;
}

}  // namespace fixnvpe::os
