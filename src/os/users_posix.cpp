#include "fixnvpe/os/users.hpp"

namespace fixnvpe::os {

std::optional<std::string> loaded_by(const std::filesystem::path& /*path*/) {
    return std::nullopt;
}

}  // namespace fixnvpe::os
