#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/child.hpp"

namespace fixnvpe::os {

struct Child::State {};

Child::Child(const std::vector<std::string>& /*words*/, bool /*output_to_error*/) {
    throw Error(ErrorCode::io, "start a program: only on Windows");
}

Child::~Child() = default;

std::vector<std::uint32_t> Child::processes() const {
    return {};
}

bool Child::wait(std::chrono::milliseconds /*limit*/) {
    return true;
}

int Child::exit_status() const {
    return 0;
}

std::uint64_t Child::peak_commit() const {
    return 0;
}

}  // namespace fixnvpe::os
