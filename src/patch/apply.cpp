#include "fixnvpe/patch/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/base/text.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

Error changed(const fs::path& path) {
    return Error(ErrorCode::changed, "check before writing: another program changed the file meanwhile", Hint::run_again)
        .at(path);
}

bool same_file(const os::FileInfo& a, const os::FileInfo& b) {
    return a.type == b.type && a.identity == b.identity && a.size == b.size && a.modified == b.modified;
}

/// Fails if the name does not stand for the very file that was seen, untouched since.
void must_be_unchanged(const fs::path& path, const os::FileInfo& seen) {
    if (!same_file(os::info_of(path), seen)) {
        throw changed(path);
    }
}

os::File open_unchanged(const fs::path& path, const PeFile& seen) {
    must_be_unchanged(path, seen.info);
    os::File file = os::File::open_to_read(path);
    if (!same_file(file.opened_as(), seen.info) || read_header_window(file, seen.info.size) != seen.window) {
        throw changed(path);
    }
    return file;
}

/// Writes the changed stretch of the headers with one call, so that no kill can fall between two fields.
void write_headers(os::File& file, const std::vector<std::uint8_t>& before, const std::vector<std::uint8_t>& after) {
    const auto first = std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin();
    const auto last = std::mismatch(before.rbegin(), before.rend(), after.rbegin()).first.base() - before.begin();
    if (first < last) {
        file.write_at(static_cast<std::uint64_t>(first),
                      ByteView(after).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    }
}

/// What is on the disk must be what was planned.
void read_back(const os::File& file, const std::vector<std::uint8_t>& expected, std::uint64_t size) {
    if (file.info().size != size || read_header_window(file, size) != expected) {
        throw Error(ErrorCode::verify_failed, "read back: the file does not hold what was written",
                    Hint::restore_and_check)
            .at(file.path());
    }
}

/// Keeps the original under the name of its backup, then gives its own name to the claim's temporary.
void swap_in(os::Claim& claim, const fs::path& path, const fs::path& backup) {
    // A loaded DLL can't be replaced, but it can be renamed. Its second name could not even be removed again.
    if (os::can_be_replaced(path) && os::make_hard_link(path, backup)) {
        try {
            claim.rename_to(path);
            return;
        } catch (const Error& error) {
            os::remove(backup);
            if (error.code() != ErrorCode::busy) {
                throw;
            }
        }
    }
    os::rename_new(path, backup);
    try {
        claim.rename_to(path);
    } catch (...) {
        os::rename_new(backup, path);
        throw;
    }
}

/// The patched file is a fresh copy: the original's own bytes are never written to, so that a package cache
/// that shares them by a hard link stays as it is. Ends the claim.
/// @param swap gives the path's name to the claim's temporary
void replace_by_copy(os::Claim& claim, const fs::path& path, const PeFile& seen,
                     const std::vector<std::uint8_t>& target, const std::function<void()>& swap,
                     const CopyProgress& progress) {
    {
        const os::File source = open_unchanged(path, seen);
        os::copy_contents(source, claim.file(), [&](std::uint64_t done) { progress(done, seen.info.size); });
        write_headers(claim.file(), seen.window, target);
        os::copy_metadata(source, claim.file());
        claim.file().flush();
        read_back(claim.file(), target, seen.info.size);
        if (!same_file(source.info(), seen.info)) {
            throw changed(path);
        }
    }  // Windows may refuse to replace a file that is open.
    must_be_unchanged(path, seen.info);
    swap();
    os::sync_folder(path.parent_path());
}

/// Writes the headers into the file itself, unless it has other names, too. May end the claim.
void edit_in_place(os::Claim& claim, const fs::path& path, const PeFile& seen, const std::vector<std::uint8_t>& target,
                   const CopyProgress& progress) {
    if (seen.info.hard_links > 1) {
        replace_by_copy(claim, path, seen, target, [&] { claim.rename_to(path); }, progress);
        return;
    }
    must_be_unchanged(path, seen.info);
    os::File file = os::File::open_to_edit(path);
    if (!same_file(file.opened_as(), seen.info) || read_header_window(file, seen.info.size) != seen.window) {
        throw changed(path);
    }
    write_headers(file, seen.window, target);
    file.flush();
    read_back(file, target, seen.info.size);
}

/// Writes the undo file whole and to the disk before the first edit.
/// @return what it holds
std::vector<std::uint8_t> write_undo(const fs::path& path, const PeFile& seen, const std::vector<Edit>& edits) {
    const UndoRecord record{to_utf8(path.filename()), seen.info.size, header_fingerprint(seen.window, seen.image), edits};
    const std::string text = to_json(record);
    if (text.size() > UNDO_FILE_MAX) {
        throw Error(ErrorCode::bad_undo, "write the undo file: this file has too many sections for one",
                    Hint::use_full_backup)
            .at(path);
    }
    os::Claim claim(path);
    const os::File source = open_unchanged(path, seen);
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    claim.file().write_at(0, bytes);
    os::copy_metadata(source, claim.file());
    claim.file().flush();
    claim.rename_to(undo_path(path));
    os::sync_folder(path.parent_path());
    return bytes;
}

/// The undo file must be there, as it was written: its times may change when Windows closes it.
void must_hold(const fs::path& undo, const std::vector<std::uint8_t>& written) {
    if (os::info_of(undo).type != os::FileType::regular) {
        throw changed(undo);
    }
    std::vector<std::uint8_t> bytes(written.size() + 1);
    bytes.resize(os::File::open_to_read(undo).read_at(0, bytes));
    if (bytes != written) {
        throw changed(undo);
    }
}

void patch_with_undo(const fs::path& path, const PeFile& seen, const std::vector<std::uint8_t>& target,
                     const CopyProgress& progress) {
    const fs::path undo = undo_path(path);
    const std::vector<std::uint8_t> written = write_undo(path, seen, header_difference(seen, target));
    os::Claim claim(path);
    // The claim was given up for a moment: another fixnvpe may have come in between, and taken the undo file away.
    must_hold(undo, written);
    try {
        edit_in_place(claim, path, seen, target, progress);
    } catch (...) {
        if (same_file(os::info_of(path), seen.info)) {
            os::remove(undo);  // nothing was edited, so there is nothing to undo
        }
        throw;
    }
}

const Backup* find_kind(const std::vector<Backup>& backups, BackupKind kind) {
    const auto found = std::find_if(backups.begin(), backups.end(), [&](const Backup& b) { return b.kind == kind; });
    return found == backups.end() ? nullptr : &*found;
}

/// The backup that holds the original of a file that was patched before.
const Backup* find_earlier(const std::vector<Backup>& backups, const PeFile& seen) {
    const auto found =
        std::find_if(backups.begin(), backups.end(), [&](const Backup& b) { return shows_a_patch(b, seen); });
    return found == backups.end() ? nullptr : &*found;
}

/// A backup of another build may not be lost, and may not stay under the name that restore takes.
void move_aside(const fs::path& path, const Backup& stale, std::vector<std::string>& notes) {
    const fs::path aside = free_numbered_backup(path);
    os::rename_new(stale.file, aside);
    notes.push_back(fmt::format("the backup of another build was moved to {}", printable_path(aside.filename())));
}

/// Takes the edits of an undo file back; the undo file stays.
void revert(const fs::path& path, const PeFile& seen, const Backup& undo, const CopyProgress& progress) {
    os::Claim claim(path);
    must_be_unchanged(undo.file, undo.info);
    edit_in_place(claim, path, seen, undo.original, progress);
}

/// Patches a file whose present state no backup explains otherwise: it is an original.
std::vector<std::string> patch_original(const fs::path& path, const PeFile& seen, const std::vector<Backup>& backups,
                                        const std::vector<std::uint8_t>& target, BackupMode mode,
                                        const CopyProgress& progress) {
    std::vector<std::string> notes;
    require_usable_backups(seen, backups, mode);
    const Backup* full = find_kind(backups, BackupKind::full);
    const Backup* undo = find_kind(backups, BackupKind::undo);
    if (mode != BackupMode::full && full != nullptr && full->state == BackupState::stale) {
        const os::Claim claim(path);
        must_be_unchanged(full->file, full->info);
        move_aside(path, *full, notes);
    }
    switch (mode) {
        case BackupMode::full: {
            os::Claim claim(path);
            const auto swap = [&] {
                if (full != nullptr && full->state == BackupState::stale) {
                    move_aside(path, *full, notes);
                } else if (full != nullptr) {
                    os::remove(full->file);  // a copy of the file, which becomes its own backup now
                }
                if (undo != nullptr) {
                    os::remove(undo->file);  // none of its edits is carried out, or it is another build's
                }
                swap_in(claim, path, backup_path(path));
            };
            replace_by_copy(claim, path, seen, target, swap, progress);
            break;
        }
        case BackupMode::undo: patch_with_undo(path, seen, target, progress); break;
        case BackupMode::none: {
            os::Claim claim(path);
            edit_in_place(claim, path, seen, target, progress);
            break;
        }
    }
    return notes;
}

}  // namespace

std::vector<Edit> header_difference(const PeFile& file, const std::vector<std::uint8_t>& window) {
    std::vector<Edit> edits = editable_fields(file.image);
    for (Edit& edit : edits) {
        edit.after = edit.width() == sizeof(std::uint16_t) ? load_le<std::uint16_t>(window, edit.offset)
                                                           : load_le<std::uint32_t>(window, edit.offset);
    }
    edits.erase(std::remove_if(edits.begin(), edits.end(), [](const Edit& e) { return e.before == e.after; }),
                edits.end());
    return edits;
}

Patch plan_patch(const PeFile& file, const std::vector<Backup>& backups, AslrPolicy policy) {
    Patch patch;
    patch.target = file.window;
    const Backup* earlier = find_earlier(backups, file);
    const bool half_done = earlier != nullptr && earlier->half_done;
    Plan plan = make_plan(file.image, file.info.size, policy);
    if (plan.edits.empty() && !half_done) {
        return patch;
    }
    if (earlier != nullptr && earlier->kind == BackupKind::undo) {
        patch.target = earlier->original;
        plan = make_plan(read_pe(patch.target, file.info.size), file.info.size, policy);
    }
    apply_edits(plan.edits, patch.target);
    if (half_done && plan.edits.empty()) {
        // Begun under another policy, and this one asks for nothing: what was begun is finished.
        patch.target = earlier->edited;
    }
    patch.edits = header_difference(file, patch.target);
    return patch;
}

void require_usable_backups(const PeFile& seen, const std::vector<Backup>& backups, BackupMode mode) {
    if (mode == BackupMode::none || find_earlier(backups, seen) != nullptr) {
        return;
    }
    for (const BackupKind kind : {BackupKind::full, BackupKind::undo}) {
        const Backup* backup = find_kind(backups, kind);
        if (backup != nullptr && backup->state == BackupState::unusable) {
            throw Error(*backup->reason);
        }
    }
}

std::vector<std::string> patch_file(const fs::path& path, const PeFile& seen, const std::vector<Backup>& backups,
                                    const Patch& patch, BackupMode mode, const CopyProgress& progress) {
    const Backup* earlier = find_earlier(backups, seen);
    if (earlier == nullptr) {
        return patch_original(path, seen, backups, patch.target, mode, progress);
    }
    if (earlier->kind == BackupKind::undo) {
        // Back to the original first, so that at no moment an undo file is needed that explains three states.
        revert(path, seen, *earlier, progress);
        const PeFile original = read_pe_file(path);
        return patch_original(path, original, find_backups(path, original), patch.target,
                              mode == BackupMode::none ? BackupMode::undo : mode, progress);
    }
    // Patched before, under another policy: the backup that holds the true original stays.
    os::Claim claim(path);
    if (mode == BackupMode::full) {
        replace_by_copy(claim, path, seen, patch.target, [&] { claim.rename_to(path); }, progress);
    } else {
        edit_in_place(claim, path, seen, patch.target, progress);
    }
    return {};
}

namespace {

/// Puts a copy of the backup in the file's place; the backup stays.
void restore_by_copy(const fs::path& path, const PeFile& seen, const Backup& backup, const CopyProgress& progress) {
    os::Claim claim(path);
    const os::File source = os::File::open_to_read(backup.file);
    if (!same_file(source.opened_as(), backup.info)) {
        throw changed(backup.file);
    }
    os::copy_contents(source, claim.file(), [&](std::uint64_t done) { progress(done, backup.info.size); });
    os::copy_metadata(source, claim.file());
    claim.file().flush();
    must_be_unchanged(path, seen.info);
    claim.rename_to(path);
    os::sync_folder(path.parent_path());
}

/// Gives the backup its old name again: instant, and the file is the very one it was.
void restore_by_rename(const fs::path& path, const PeFile& seen, const Backup& backup) {
    const os::Claim claim(path);
    must_be_unchanged(path, seen.info);
    must_be_unchanged(backup.file, backup.info);
    if (backup.info.identity == seen.info.identity) {
        // A crash left both names on one file; renaming one to the other would do nothing.
        os::remove(backup.file);
    } else {
        os::rename_over(backup.file, path);
    }
    os::sync_folder(path.parent_path());
}

/// Removes an undo file none of whose edits is carried out any more.
void remove_spent_undo(const fs::path& path) {
    const os::Claim claim(path);
    const PeFile file = read_pe_file(path);
    const std::vector<Backup> backups = find_backups(path, file);
    const Backup* undo = find_kind(backups, BackupKind::undo);
    if (undo != nullptr && undo->state == BackupState::valid && undo->original == file.window) {
        os::remove(undo->file);
        os::sync_folder(path.parent_path());
    }
}

}  // namespace

void restore_file(const fs::path& path, const PeFile& seen, const std::vector<Backup>& backups, bool keep_backup,
                  const CopyProgress& progress) {
    const Backup* chosen = first_in_state(backups, BackupState::valid);
    if (chosen == nullptr) {
        throw Error(ErrorCode::no_backup, "restore: there is no backup", Hint::install_again).at(path);
    }
    if (chosen->kind == BackupKind::undo) {
        revert(path, seen, *chosen, progress);
    } else if (keep_backup) {
        restore_by_copy(path, seen, *chosen, progress);
    } else {
        restore_by_rename(path, seen, *chosen);
    }
    if (!keep_backup && find_kind(backups, BackupKind::undo) != nullptr) {
        remove_spent_undo(path);
    }
}

void put_back_missing(const fs::path& path) {
    const os::Claim claim(path);
    const fs::path backup = backup_path(path);
    const os::FileInfo info = os::info_of(backup);
    if (info.type == os::FileType::link) {
        throw Error(ErrorCode::link, "put the original back: its backup is a link", Hint::put_file_there).at(backup);
    }
    if (info.type != os::FileType::regular) {
        throw Error(ErrorCode::no_backup, "put the original back: there is no backup").at(path);
    }
    os::rename_new(backup, path);
    os::sync_folder(path.parent_path());
}

void remove_own_file(const fs::path& dll, const fs::path& own_file, const os::FileInfo& seen) {
    const os::Claim claim(dll);
    must_be_unchanged(own_file, seen);
    os::remove(own_file);
    os::sync_folder(own_file.parent_path());
}

bool remove_leftover_temporary(const fs::path& path) {
    if (os::info_of(temporary_path(path)).type == os::FileType::missing) {
        return false;
    }
    const os::Claim claim(path);
    return true;
}

}  // namespace fixnvpe
