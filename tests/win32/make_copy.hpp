#pragma once

#include <filesystem>

#include "fixnvpe/os/copy.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/metadata.hpp"

namespace fixnvpe::test {

/// A copy of a file, made as patch makes it.
inline void make_copy(const std::filesystem::path& from, const std::filesystem::path& to) {
    const os::File source = os::File::open_to_read(from);
    os::Lock lock(to);
    os::copy_contents(source, lock.temporary(), [](std::uint64_t) {});
    os::copy_metadata(source, lock.temporary());
    lock.temporary().flush();
    lock.rename_to(to);
}

}  // namespace fixnvpe::test
