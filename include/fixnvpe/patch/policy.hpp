#pragma once

#include "fixnvpe/base/names.hpp"

/// What the user asks for, as far as it decides over a single file.
namespace fixnvpe {

enum class Command { patch, verify, restore, scan, clean };

template <>
inline constexpr auto names_of<Command> = names<Command>({
    {Command::patch, "patch"},
    {Command::verify, "verify"},
    {Command::restore, "restore"},
    {Command::scan, "scan"},
    {Command::clean, "clean"},
});

/// What to do about ASLR (IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE).
enum class AslrPolicy {
    automatic,  ///< clear it in the files that have a writable fatbin section
    keep,       ///< never touch it
    clear,      ///< clear it in every file that has a fatbin section
};

template <>
inline constexpr auto names_of<AslrPolicy> = names<AslrPolicy>({
    {AslrPolicy::automatic, "auto"},
    {AslrPolicy::keep, "keep"},
    {AslrPolicy::clear, "clear"},
});

/// What to do about GPU code that lies among the variables of a section.
enum class DataPolicy {
    keep,   ///< whole sections only
    split,  ///< it gets a read-only section of its own
};

template <>
inline constexpr auto names_of<DataPolicy> = names<DataPolicy>({
    {DataPolicy::keep, "keep"},
    {DataPolicy::split, "split"},
});

enum class BackupMode {
    full,  ///< NAME.bak
    undo,  ///< NAME.fixnvpe-undo; the file is edited in place
    none,  ///< neither; the file is edited in place
};

template <>
inline constexpr auto names_of<BackupMode> = names<BackupMode>({
    {BackupMode::full, "full"},
    {BackupMode::undo, "undo"},
    {BackupMode::none, "none"},
});

struct Policy {
    Command command = Command::verify;
    AslrPolicy aslr = AslrPolicy::automatic;
    DataPolicy data = DataPolicy::keep;
    BackupMode backup = BackupMode::full;
    bool skip_signed = false;     ///< patch, verify: signed files are left as they are
    bool keep_backup = false;     ///< restore
    bool require_backup = false;  ///< verify: a patched file needs a valid backup
    bool clean_usable = false;    ///< clean: also backups that restore could use
};

}  // namespace fixnvpe
