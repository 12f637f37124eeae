#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace fixnvpe::os {

/// Who has a file loaded, as a program or DLL, or open such that nobody may write to it: "python.exe (1234) and 2
/// more", and empty where the system does not tell. Nothing if nobody has, and on systems that keep no count of it.
[[nodiscard]] std::optional<std::string> loaded_by(const std::filesystem::path& path);

}  // namespace fixnvpe::os
