#include "fixnvpe/patch/backup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

Error stale(const fs::path& file) {
    return Error(ErrorCode::stale_backup, "check the backup: it belongs to another build of this file",
                 Hint::clean_removes)
        .at(file);
}

/// True if the headers differ in nothing but what a patch may have changed.
bool same_but_for_edits(const PeFile& file, std::vector<std::uint8_t> original) {
    std::vector<std::uint8_t> current = file.window;
    if (original.size() != current.size()) {
        return false;
    }
    clear_editable_bits(file.image, original);
    clear_editable_bits(file.image, current);
    return original == current;
}

bool has_fatbin(const std::vector<std::uint8_t>& window, std::uint64_t file_size) {
    try {
        return read_pe(window, file_size).has_fatbin();
    } catch (const Error&) {
        return false;
    }
}

/// @return nothing if the backup is none of ours
std::optional<Backup> examine_copy(Backup backup, const PeFile& file) {
    const os::File opened = os::File::open_to_read(backup.file);
    const std::uint64_t size = opened.opened_as().size;
    std::vector<std::uint8_t> window = read_header_window(opened, size);
    if (!file.image.has_fatbin() && !has_fatbin(window, size)) {
        return std::nullopt;
    }
    if (size == file.info.size && same_but_for_edits(file, window)) {
        backup.state = BackupState::valid;
        backup.original = std::move(window);
    } else {
        backup.state = BackupState::stale;
        backup.reason = stale(backup.file);
    }
    return backup;
}

std::optional<Backup> examine_undo(Backup backup, const fs::path& path, const PeFile& file) {
    const UndoRecord record = read_undo(os::File::open_to_read(backup.file));
    const UndoProgress progress =
        check_undo(record, to_utf8(path.filename()), file.info.size, file.window, file.image);
    backup.state = BackupState::valid;
    backup.half_done = progress == UndoProgress::half;
    backup.original = file.window;
    revert_edits(record.edits, backup.original);
    backup.edited = file.window;
    apply_edits(record.edits, backup.edited);
    return backup;
}

}  // namespace

std::string_view to_string(BackupKind kind) {
    switch (kind) {
        case BackupKind::full: return "full";
        case BackupKind::undo: return "undo";
        case BackupKind::legacy: return "legacy";
    }
    return "";
}

std::string_view to_string(BackupState state) {
    switch (state) {
        case BackupState::valid: return "valid";
        case BackupState::stale: return "stale";
        case BackupState::unusable: return "unusable";
    }
    return "";
}

std::optional<Backup> examine_backup(BackupKind kind, const fs::path& candidate, const fs::path& path,
                                     const PeFile& file) {
    Backup backup;
    backup.kind = kind;
    backup.file = candidate;
    backup.info = os::info_of(backup.file);
    if (backup.info.type == os::FileType::missing) {
        return std::nullopt;
    }
    try {
        if (backup.info.type == os::FileType::link) {
            throw Error(ErrorCode::link, "check the backup: it is a link", Hint::put_file_there);
        }
        return kind == BackupKind::undo ? examine_undo(backup, path, file) : examine_copy(backup, file);
    } catch (Error& error) {
        backup.state = error.code() == ErrorCode::stale_backup ? BackupState::stale : BackupState::unusable;
        if (kind != BackupKind::undo && !file.image.has_fatbin()) {
            return std::nullopt;  // a DLL that we never patched, and something that somebody else put beside it
        }
        const bool needs_hint = backup.state == BackupState::unusable && error.hint() == Hint::none;
        backup.reason = Error(error.code(), error.message(), needs_hint ? Hint::move_away : error.hint(), error.detail())
                            .at(backup.file);
        return backup;
    }
}

std::vector<Backup> find_backups(const fs::path& path, const PeFile& file) {
    std::vector<Backup> found;
    const std::pair<BackupKind, fs::path> candidates[] = {{BackupKind::full, backup_path(path)},
                                                          {BackupKind::undo, undo_path(path)},
                                                          {BackupKind::legacy, legacy_backup_path(path)}};
    for (const auto& [kind, candidate] : candidates) {
        if (auto backup = examine_backup(kind, candidate, path, file)) {
            found.push_back(std::move(*backup));
        }
    }
    return found;
}

const Backup* first_in_state(const std::vector<Backup>& backups, BackupState state) {
    const auto found =
        std::find_if(backups.begin(), backups.end(), [&](const Backup& b) { return b.state == state; });
    return found == backups.end() ? nullptr : &*found;
}

bool shows_a_patch(const Backup& backup, const PeFile& file) {
    return backup.state == BackupState::valid && backup.original != file.window;
}

fs::path free_numbered_backup(const fs::path& path) {
    for (unsigned n = 1;; ++n) {
        fs::path candidate = numbered_backup_path(path, n);
        if (os::info_of(candidate).type == os::FileType::missing) {
            return candidate;
        }
    }
}

}  // namespace fixnvpe
