#pragma once

#include <string>

#include "fixnvpe/ui/messages.hpp"

namespace fixnvpe::test {

/// As the program says it.
inline std::string describe(const Error& error) {
    return fitted(message_of(error), {});
}

}  // namespace fixnvpe::test
