#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "fixnvpe/commands/outcome.hpp"
#include "support/pe_builder.hpp"

/// Summaries made by hand.
namespace fixnvpe::test {

/// A DLL whose one .nv_fatb has this many bytes: writable where it is unpatched or refused.
inline FileOutcome cuda_outcome(std::filesystem::path path, Status status, std::uint32_t bytes) {
    const bool writable = status == Status::unpatched || status == Status::refused;
    FileOutcome file;
    file.path = std::move(path);
    file.status = status;
    file.needs_patch = writable;
    file.headers = HeaderFacts{bytes + 1024ULL,
                               IMAGE_FILE_MACHINE_AMD64,
                               0x180000000,
                               status != Status::patched,
                               true,
                               false,
                               false,
                               {{std::string(FATBIN_SECTION), bytes, writable}}};
    file.commit = {writable ? bytes : 0, 0, writable ? bytes : 0};
    return file;
}

/// One without headers that could be read.
inline FileOutcome other_outcome(std::filesystem::path path, Status status) {
    FileOutcome file;
    file.path = std::move(path);
    file.status = status;
    return file;
}

inline CleanOutcome clean_outcome(std::filesystem::path path, SidecarKind kind, Action action, Why why) {
    CleanOutcome file;
    file.path = std::move(path);
    file.kind = kind;
    file.dll_status = Status::patched;
    file.action = action;
    file.reason = {why};
    return file;
}

}  // namespace fixnvpe::test
