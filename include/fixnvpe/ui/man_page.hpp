#pragma once

#include <string>

#include "fixnvpe/ui/command_words.hpp"

namespace fixnvpe {

/// The manual page fixnvpe(1), as troff.
[[nodiscard]] std::string man_page(const ProgramWords& program);

}  // namespace fixnvpe
