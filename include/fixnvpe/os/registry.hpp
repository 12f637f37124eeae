#pragma once

#include <optional>
#include <string>
#include <vector>

/// Windows' registry, as far as it is read: the user's part, then the machine's in its 64-bit and its 32-bit view.
/// Elsewhere there is none, and nothing is found.
namespace fixnvpe::os {

/// The names of the keys below `key` ("Software\\Python"), of all three together, each once.
[[nodiscard]] std::vector<std::string> registry_keys(const std::string& key);

/// The text of a value of the first that has it, of several texts the first; `name` empty: the key's default one.
/// UTF-8.
[[nodiscard]] std::optional<std::string> registry_text(const std::string& key, const std::string& name);

}  // namespace fixnvpe::os
