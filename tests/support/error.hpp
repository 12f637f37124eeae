#pragma once

#include <string>

#include "fixnvpe/base/error.hpp"

namespace fixnvpe::test {

/// As the program says it.
[[nodiscard]] std::string describe(const Error& error);

}  // namespace fixnvpe::test
