#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/os/handle.hpp"

/// The one door to the file system: file, lock, copy and names. Every failure is an Error with the path, the step
/// and the system's reason.
namespace fixnvpe::os {

enum class FileType { missing, regular, folder, link, other };

/// The same for two names exactly when they are the same file.
struct FileIdentity {
    std::uint64_t volume = 0;
    std::uint64_t file = 0;
    std::uint64_t file_high = 0;  ///< ReFS numbers its files with 128 bits
    friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;  // NOLINT(modernize-use-nullptr)
};

struct FileInfo {
    FileType type = FileType::missing;
    FileIdentity identity;
    std::uint64_t size = 0;        ///< bytes
    std::uint64_t allocated = 0;   ///< bytes on disk; less than size where the file is sparse
    std::uint64_t hard_links = 0;  ///< how many names the file has
    std::int64_t modified = 0;     ///< time of the last write, in the system's own unit
    std::int64_t changed = 0;      ///< … of the last change of anything, which nobody can set
};

/// What stands under this very name: a link is a link. A missing file is no error.
[[nodiscard]] FileInfo info_of(const std::filesystem::path& path);

/// An open regular file. Closes itself.
class File {
public:
    /// Opens for reading, without keeping anyone else from reading, writing, renaming or deleting.
    /// @throws Error not_found, access_denied, not_regular_file, busy, io
    [[nodiscard]] static File open_to_read(const std::filesystem::path& path);
    /// Opens an existing file to change bytes in place, a read-only one of ours, too. A link is refused.
    /// @throws Error as open_to_read, and link
    [[nodiscard]] static File open_to_edit(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// As it is now; opened_as() is how it was when it was opened, and costs no call.
    [[nodiscard]] FileInfo info() const;
    [[nodiscard]] const FileInfo& opened_as() const { return opened_as_; }
    /// Reads until `buffer` is full or the file ends. @param offset bytes
    /// @return bytes read
    std::size_t read_at(std::uint64_t offset, ByteSpan buffer) const;
    /// Writes all of `bytes`. @param offset bytes
    void write_at(std::uint64_t offset, ByteView bytes);
    /// Waits until what was written is on the disk.
    void flush();

    /// For the other sources of os.
    [[nodiscard]] const Handle& handle() const { return handle_; }

private:
    friend class Lock;
    explicit File(std::filesystem::path path) : path_(std::move(path)) {}
    /// @throws Error not_regular_file, of this step
    File(std::filesystem::path path, Handle handle, std::string_view step);

    std::filesystem::path path_;
    Handle handle_;
    FileInfo opened_as_;
};

}  // namespace fixnvpe::os
