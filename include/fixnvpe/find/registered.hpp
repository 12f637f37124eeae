#pragma once

#include <filesystem>
#include <vector>

namespace fixnvpe {

/// Where the Pythons lie that the py launcher and the Python install manager know: the prefixes that PEP 514's keys
/// (Software\\Python\\COMPANY\\TAG\\InstallPath) name, python.org's before all others, the newest first.
/// Empty where there is no registry.
[[nodiscard]] std::vector<std::filesystem::path> registered_pythons();

}  // namespace fixnvpe
