#pragma once

#include <filesystem>
#include <vector>

namespace fixnvpe {

/// Those of these environments that have a DLL with GPU code. What can't be read has none.
[[nodiscard]] std::vector<std::filesystem::path> with_cuda_code(std::vector<std::filesystem::path> environments);

}  // namespace fixnvpe
