#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fixnvpe/base/bytes.hpp"

/// The one door to the file system: src/os/file_posix.cpp and src/os/file_win32.cpp are the only places
/// that call it. Every failure is an Error with the path, the step and the system's reason.
namespace fixnvpe::os {

enum class FileType { missing, regular, folder, link, other };

/// The same for two names exactly when they are the same file.
struct FileIdentity {
    std::uint64_t volume = 0;
    std::uint64_t file = 0;
    std::uint64_t file_high = 0;  ///< ReFS numbers its files with 128 bits
    friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct FileInfo {
    FileType type = FileType::missing;
    FileIdentity identity;
    std::uint64_t size = 0;        ///< bytes
    std::uint64_t allocated = 0;   ///< bytes on disk; less than size where the file is sparse
    std::uint64_t hard_links = 0;  ///< how many names the file has
    std::int64_t modified = 0;     ///< time of the last write, in the system's own unit
};

/// What stands under this very name: a link is a link. A missing file is no error.
[[nodiscard]] FileInfo info_of(const std::filesystem::path& path);

/// An open regular file. Closes itself.
class File {
public:
    /// Opens for reading, without keeping anyone else from reading, writing, renaming or deleting.
    /// @throws Error not_found, access_denied, not_regular_file, busy, io
    [[nodiscard]] static File open_to_read(const std::filesystem::path& path);
    /// Opens an existing file to change bytes in place. A link is refused.
    /// @throws Error as open_to_read, and link
    [[nodiscard]] static File open_to_edit(const std::filesystem::path& path);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();

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

private:
    friend class Claim;
    friend void copy_contents(const File&, File&, const std::function<void(std::uint64_t)>&);
    friend void copy_metadata(const File&, File&);

    /// A file descriptor, or a HANDLE.
    using Native = std::intptr_t;
    File(std::filesystem::path path, Native native) : path_(std::move(path)), native_(native) {}
    void close() noexcept;

    std::filesystem::path path_;
    Native native_;
    FileInfo opened_as_;
};

/// Sole right to change a file: `NAME.fixnvpe-tmp` beside it, newly made, empty and locked. Whoever finds
/// one that nobody has locked (a crash left it) removes it. It is removed at the end of the claim.
class Claim {
public:
    /// @throws Error busy (another process holds it), link, not_regular_file, access_denied, disk_full, io
    explicit Claim(const std::filesystem::path& path);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    /// The temporary, to write to.
    [[nodiscard]] File& file() { return file_; }
    /// Gives the temporary the name `to`, in place of whatever stood there, in one step: from then on the
    /// file is no temporary any more and the claim is over.
    void rename_to(const std::filesystem::path& to);
    /// False once the temporary was renamed.
    [[nodiscard]] bool held() const { return owned_; }

private:
    File file_;
    bool owned_ = true;
};

/// The suffix of the temporary that Claim makes.
inline constexpr const char* TEMPORARY_SUFFIX = ".fixnvpe-tmp";

/// True if some process holds the claim on `path` right now. Changes nothing.
[[nodiscard]] bool is_claimed(const std::filesystem::path& path);

/// Copies all bytes to the empty file `to`: as a clone that shares them where the file system can, else in
/// chunks, holes kept. The free space is checked before the first byte is written.
/// @param progress called with the bytes done so far; may throw to stop
/// @throws Error disk_full, changed (the source's size changed meanwhile), io
void copy_contents(const File& from, File& to, const std::function<void(std::uint64_t)>& progress);

/// Gives `to` the mode, owner, ACL and attributes of `from`. @throws Error access_denied, io
void copy_metadata(const File& from, File& to);

/// False where the file's name can't be given to another file at once: a DLL that is loaded on Windows, and a
/// read-only file there. Such a file can be renamed first.
[[nodiscard]] bool can_be_replaced(const std::filesystem::path& path);

/// Makes `name` a second name of the file `existing`.
/// @return false if the file system has no hard links, or no more of them for this file
/// @throws Error if `name` exists, and for any other failure
[[nodiscard]] bool make_hard_link(const std::filesystem::path& existing, const std::filesystem::path& name);

/// Renames; what stood at `to` is replaced in one step.
void rename_over(const std::filesystem::path& from, const std::filesystem::path& to);

/// Renames; fails if `to` exists.
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file or a link, not a folder. A missing one is no error. @return whether it was there
bool remove(const std::filesystem::path& path);

/// Waits until the names in this folder are on the disk; nothing where the system has no such step.
void sync_folder(const std::filesystem::path& folder);

/// One name in a folder. A link is a link.
struct FolderEntry {
    std::filesystem::path name;  ///< without the folder
    FileType type = FileType::missing;
};

/// All names in a folder but "." and "..", in no order.
/// @throws Error not_found, access_denied, io
[[nodiscard]] std::vector<FolderEntry> list_folder(const std::filesystem::path& folder);

/// The absolute path of what `path` leads to, without links, "." and "..".
/// @throws Error not_found (also for a link to nothing), link (a link to itself), access_denied, io
[[nodiscard]] std::filesystem::path canonical(const std::filesystem::path& path);

/// Names that are equal when each of their characters is folded are one name to the system: upper case on
/// Windows, the character itself elsewhere.
[[nodiscard]] char32_t fold_case(char32_t c);

}  // namespace fixnvpe::os
