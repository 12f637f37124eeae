#include "fixnvpe/os/memory.hpp"

namespace fixnvpe::os {

bool can_measure() {
    return false;
}

SystemMemory system_memory() {
    return {};
}

std::vector<std::uint32_t> running_processes() {
    return {};
}

std::optional<ProcessMemory> memory_of(std::uint32_t /*process*/) {
    return std::nullopt;
}

}  // namespace fixnvpe::os
