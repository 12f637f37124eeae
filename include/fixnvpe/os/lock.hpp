#pragma once

#include <filesystem>
#include <optional>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/os/file.hpp"

namespace fixnvpe::os {

/// The suffix of the temporary that Lock makes.
inline constexpr const char* TEMPORARY_SUFFIX = ".fixnvpe-tmp";

/// Sole right to change a file: `NAME.fixnvpe-tmp` beside it, newly made, empty and locked. Whoever finds
/// one that nobody has locked (a crash left it) removes it. It is removed at the end of the lock. Where the file system
/// has no locks, to have made it is the lock, so that one which a crash left is removed by hand.
class Lock {
public:
    /// @throws Error busy (another process holds it, or may hold it), link, not_regular_file, access_denied, disk_full,
    /// io
    explicit Lock(const std::filesystem::path& path);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    /// To write to.
    [[nodiscard]] File& temporary() { return temporary_; }
    /// True if a crash had left a temporary, which is gone now.
    [[nodiscard]] bool removed_leftover() const { return removed_leftover_; }
    /// Gives the temporary the name `to`, in place of whatever stood there, in one step: from then on the
    /// file is no temporary any more and the lock is over.
    void rename_to(const std::filesystem::path& to);
    /// False once the temporary was renamed.
    [[nodiscard]] bool held() const { return owned_; }

private:
    File temporary_;
    bool removed_leftover_ = false;
    bool owned_ = true;
};

/// What Lock(path) would throw right now, because some process holds the lock, or may hold it; nothing if it is free.
/// Changes nothing.
[[nodiscard]] std::optional<Error> why_locked(const std::filesystem::path& path);
[[nodiscard]] inline bool is_locked(const std::filesystem::path& path) {
    return why_locked(path).has_value();
}

}  // namespace fixnvpe::os
