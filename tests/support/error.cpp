#include "support/error.hpp"

#include "fixnvpe/ui/messages.hpp"

namespace fixnvpe::test {

std::string describe(const Error& error) {
    return fitted(message_of(error), {});
}

}  // namespace fixnvpe::test
