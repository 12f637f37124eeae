#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/patch/examine.hpp"

namespace fixnvpe {

/// Called during a long copy with the bytes done and the bytes in all; may throw to stop.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// One change of a DLL and of what stands beside it, from taking its lock to giving it up. Each step leaves the
/// original whole under NAME or its backup, or an undo file that explains the mix; so a crash between any two loses
/// nothing.
class Transaction {
public:
    /// Takes the lock, and looks again at all that the decision rests on.
    /// @throws Error busy; changed: it is not as it was seen any more, and nothing was written
    Transaction(const Findings& seen, CopyProgress progress);

    /// The DLL as it is now.
    [[nodiscard]] const Dll& dll() const { return dll_; }

    /// A copy of the DLL with these header bytes takes its name: its own bytes are never written to, so that a package
    /// cache that shares them by a hard link stays as it is. Gives up the lock.
    void replace(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified = {});
    /// The same, and the DLL itself becomes NAME.bak, after `make_room` has freed that name. Gives up the lock.
    void replace_and_keep(const std::vector<std::uint8_t>& headers, const std::function<void()>& make_room);
    /// Writes the header bytes into the DLL itself; if it has other names, too, as replace() does.
    /// @param modified the time that the file shall have; none: that of the write
    void edit(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified = {});
    /// Before a further step: reads the DLL anew, and takes the lock again if the last step gave it up.
    /// @throws Error busy, and changed if these are not its headers
    void go_on_with(const std::vector<std::uint8_t>& headers);
    /// Writes the undo file for this change, whole and to the disk.
    void write_undo(const std::vector<std::uint8_t>& headers);
    /// The DLL is broken: when copy_back() or rename_back() give its name to another file, it gets the next free name
    /// NAME.bak.N. @return that, which is free until then
    std::filesystem::path keep_broken();
    /// A copy of a backup takes the DLL's name. Gives up the lock.
    void copy_back(const Sidecar& backup);
    /// A copy of the DLL without what was appended to it since takes its name: with the header bytes and the size that
    /// its undo file has. Gives up the lock.
    void cut_back(const Sidecar& undo);
    /// The backup gets its old name again: instant, and the file is the very one it was.
    void rename_back(const Sidecar& backup);
    /// Gives a backup the next free name NAME.bak.N. @return that name
    std::filesystem::path move_aside(const Sidecar& backup);
    void remove(const Sidecar& sidecar);
    /// Removes an undo file, if none of its edits is carried out any more.
    void remove_spent_undo(const SidecarPlace& place);

private:
    void copy_with(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified);
    void swap_in();
    void hand_over(const std::function<void()>& give_name);
    void must_be_unchanged() const;
    [[nodiscard]] os::File open_unchanged() const;

    std::optional<os::Lock> lock_;
    Dll dll_;
    CopyProgress progress_;
    std::optional<std::filesystem::path> broken_;  ///< what the DLL is to be called
};

/// Removes a temporary that a crash left beside the DLL, unless another process holds it.
/// @return whether there was one
bool remove_leftover_temporary(const std::filesystem::path& dll);

}  // namespace fixnvpe
