#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What the system and its processes have to their charge against the commit limit. Windows alone keeps such a charge:
/// elsewhere nothing is known. Processes are only read.
namespace fixnvpe::os {

struct PageFile {
    std::filesystem::path path;
    std::uint64_t size = 0;  ///< bytes, now
};

/// All in bytes.
struct SystemMemory {
    std::uint64_t commit = 0;
    std::uint64_t limit = 0;  ///< RAM and page files
    std::uint64_t peak = 0;   ///< of commit, since the system was started
    std::uint64_t physical = 0;
    std::vector<PageFile> page_files;
    bool managed = false;  ///< Windows itself sets the size of the page files
};

/// Pages of an image that are protected alike.
struct ImageRegion {
    std::uint64_t rva = 0;
    std::uint64_t size = 0;  ///< bytes
    bool writable = false;   ///< written to, or copied when it is
    friend bool operator==(const ImageRegion&, const ImageRegion&) = default;
};

/// A program or DLL as a process has it mapped.
struct MappedImage {
    std::filesystem::path file;           ///< with its drive; empty: not known
    std::vector<std::uint8_t> headers;    ///< its first page, as it is mapped
    std::vector<ImageRegion> regions;     ///< in rising order
    std::optional<std::uint64_t> commit;  ///< bytes, as the system counts; nothing where it does not tell
};

struct ProcessMemory {
    std::uint32_t id = 0;
    std::string name;                  ///< "python.exe"
    std::string command_line;          ///< empty: not known
    std::uint64_t private_commit = 0;  ///< bytes
    std::uint64_t peak_commit = 0;     ///< bytes
    std::vector<MappedImage> images;
};

/// False where the system keeps no such charge.
[[nodiscard]] bool can_measure();

[[nodiscard]] SystemMemory system_memory();

/// The ids of all processes but this one.
[[nodiscard]] std::vector<std::uint32_t> running_processes();

/// Nothing where it has ended, or may not be read.
[[nodiscard]] std::optional<ProcessMemory> memory_of(std::uint32_t process);

}  // namespace fixnvpe::os
