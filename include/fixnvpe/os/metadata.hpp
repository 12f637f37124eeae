#pragma once

#include <cstdint>
#include <vector>

#include "fixnvpe/os/file.hpp"

/// What a file has beside its bytes.
namespace fixnvpe::os {

/// Gives `to` the mode, owner, ACL and attributes of `from`, and no ACL that `from` has not.
/// @throws Error access_denied, io
void copy_metadata(const File& from, File& to);

/// Sets the time of the last write. @param modified as in FileInfo
void set_modified(File& file, std::int64_t modified);

/// What POSIX systems take from a file that is written to: the setuid and setgid bits, and capabilities.
class Privileges {
public:
    /// As they are now.
    explicit Privileges(const File& file);
    /// Gives them back; capabilities only where we may, as copy_metadata() does.
    void put_back(File& file) const;

private:
    std::uint32_t mode_ = 0;
    std::vector<char> capabilities_;
};

}  // namespace fixnvpe::os
