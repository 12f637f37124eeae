#include "fixnvpe/patch/transaction.hpp"

#include <algorithm>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/copy.hpp"
#include "fixnvpe/os/metadata.hpp"
#include "fixnvpe/os/names.hpp"
#include "fixnvpe/patch/sidecars.hpp"
#include "fixnvpe/patch/undo_file.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

void must_be(const fs::path& path, const os::FileInfo& seen) {
    if (!same_file(os::info_of(path), seen)) {
        throw changed_meanwhile(path);
    }
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
    if (file.info().size != size || !begins_with(file, expected)) {
        throw Error(ErrorCode::verify_failed, "read back: the file does not hold what was written",
                    Hint::restore_and_check)
            .at(file.path());
    }
}

}  // namespace

Transaction::Transaction(const Findings& seen, CopyProgress progress)
    : lock_(std::in_place, seen.query.path), progress_(std::move(progress)) {
    dll_ = examine_again(seen).dll;
    // A crash may have left it while the undo file was written. Whoever holds the lock of the DLL may remove it.
    os::remove(temporary_path(undo_path(seen.query.path)));
}

void Transaction::must_be_unchanged() const {
    must_be(dll_.path, dll_.link.value_or(dll_.info));
}

os::File Transaction::open_unchanged() const {
    must_be_unchanged();
    os::File file = os::File::open_to_read(dll_.path);
    if (!same_file(file.opened_as(), dll_.info) || !begins_with(file, dll_.headers)) {
        throw changed_meanwhile(dll_.path);
    }
    return file;
}

void Transaction::copy_with(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified) {
    const os::File source = open_unchanged();
    os::copy_contents(source, lock_->temporary(), [&](std::uint64_t done) { progress_(done, dll_.info.size); });
    write_headers(lock_->temporary(), dll_.headers, headers);
    os::copy_metadata(source, lock_->temporary());
    if (modified) {
        os::set_modified(lock_->temporary(), *modified);
    }
    lock_->temporary().flush();
    read_back(lock_->temporary(), headers, dll_.info.size);
    if (!same_file(source.info(), dll_.info)) {
        throw changed_meanwhile(dll_.path);
    }
}

void Transaction::replace(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified) {
    copy_with(headers, modified);  // and closes the DLL: Windows may refuse to replace a file that is open
    hand_over([&] { lock_->rename_to(dll_.path); });
}

void Transaction::replace_and_keep(const std::vector<std::uint8_t>& headers, const std::function<void()>& make_room) {
    copy_with(headers, {});
    must_be_unchanged();
    make_room();
    swap_in();
    os::sync_folder(dll_.path.parent_path());
}

/// Keeps the original under the name of its backup, then gives its own name to the temporary.
void Transaction::swap_in() {
    const fs::path& path = dll_.path;
    const fs::path backup = backup_path(path);
    // A loaded DLL can't be replaced, but it can be renamed. Its second name could not even be removed again.
    if (os::can_be_replaced(path) && os::make_hard_link(path, backup)) {
        try {
            lock_->rename_to(path);
            return;
        } catch (const Error& error) {
            if (!take_back([&] { os::remove(backup); }) || error.code() != ErrorCode::busy) {
                throw;
            }
        }
    }
    os::rename_new(path, backup);
    try {
        lock_->rename_to(path);
    } catch (...) {
        if (take_back([&] { os::rename_new(backup, path); })) {
            throw;
        }
        try {
            throw;
        } catch (const Error& error) {
            throw Error(error.code(), error.message(), Hint::under_backup_name, to_utf8(backup.filename())).at(path);
        }
    }
}

void Transaction::edit(const std::vector<std::uint8_t>& headers, std::optional<std::int64_t> modified) {
    if (dll_.link || open_unchanged().opened_as().hard_links > 1) {
        replace(headers, modified);
        return;
    }
    os::File file = os::File::open_to_edit(dll_.path);
    // A link may have been made since, which need not show in its time.
    if (!same_file(file.opened_as(), dll_.info) || file.opened_as().hard_links > 1 ||
        !begins_with(file, dll_.headers)) {
        throw changed_meanwhile(dll_.path);
    }
    const os::Privileges privileges(file);
    write_headers(file, dll_.headers, headers);
    privileges.put_back(file);
    if (modified) {
        os::set_modified(file, *modified);
    }
    file.flush();
    read_back(file, headers, dll_.info.size);
    // Another program may have given the name to another file meanwhile, which is not patched then.
    if (os::info_of(dll_.path).identity != dll_.info.identity) {
        throw changed_meanwhile(dll_.path);
    }
}

void Transaction::go_on_with(const std::vector<std::uint8_t>& headers) {
    const fs::path path = dll_.path;
    if (!lock_->held()) {
        lock_.reset();
        lock_.emplace(path);
    }
    dll_ = read_dll(path);
    if (dll_.headers != headers) {
        throw changed_meanwhile(path);
    }
}

void Transaction::write_undo(const std::vector<std::uint8_t>& headers) {
    UndoRecord record;
    record.file_name = to_utf8(dll_.path.filename());
    record.file_size = dll_.info.size;
    record.modified = dll_.info.modified;
    record.headers = dll_.headers;
    const PeImage after = read_pe(headers, dll_.info.size);
    record.edits = edits_between(dll_.image, after);
    record.split = is_split(dll_.image) ? Split() : split_between(dll_.image, after);
    const std::string text = to_json(record);
    if (text.size() > UNDO_FILE_MAX) {
        throw Error(ErrorCode::bad_undo, "write the undo file: this file has too many sections for one",
                    Hint::use_full_backup)
            .at(dll_.path);
    }
    const fs::path undo = undo_path(dll_.path);
    os::Lock file(undo);
    const os::File source = open_unchanged();
    file.temporary().write_at(0, std::vector<std::uint8_t>(text.begin(), text.end()));
    os::copy_metadata(source, file.temporary());
    file.temporary().flush();
    file.rename_to(undo);
    os::sync_folder(dll_.path.parent_path());
}

fs::path Transaction::keep_broken() {
    broken_ = free_numbered_path(backup_path(dll_.path));
    return *broken_;
}

/// Gives the DLL's name to another file. A broken DLL keeps a name itself, and has one at every moment.
void Transaction::hand_over(const std::function<void()>& give_name) {
    must_be_unchanged();
    if (!broken_) {
        give_name();
    } else {
        const bool linked = os::can_be_replaced(dll_.path) && os::make_hard_link(dll_.path, *broken_);
        if (!linked) {
            os::rename_new(dll_.path, *broken_);
        }
        try {
            give_name();
        } catch (...) {
            take_back([&] { linked ? void(os::remove(*broken_)) : os::rename_new(*broken_, dll_.path); });
            throw;
        }
    }
    os::sync_folder(dll_.path.parent_path());
}

void Transaction::copy_back(const Sidecar& backup) {
    {
        const os::File source = os::File::open_to_read(backup.path);
        if (!same_file(source.opened_as(), backup.contents)) {
            throw changed_meanwhile(backup.path);
        }
        os::copy_contents(source, lock_->temporary(),
                          [&](std::uint64_t done) { progress_(done, backup.contents.size); });
        os::copy_metadata(source, lock_->temporary());
        os::set_modified(lock_->temporary(), backup.contents.modified);
        lock_->temporary().flush();
    }
    hand_over([&] { lock_->rename_to(dll_.path); });
}

void Transaction::cut_back(const Sidecar& undo) {
    {
        const os::File source = open_unchanged();
        os::File& copy = lock_->temporary();
        os::copy_contents(source, copy, [&](std::uint64_t done) { progress_(done, dll_.info.size); });
        copy.write_at(0, undo.original);
        os::set_size(copy, undo.original_size);
        os::copy_metadata(source, copy);
        if (undo.modified) {
            os::set_modified(copy, *undo.modified);
        }
        copy.flush();
        read_back(copy, undo.original, undo.original_size);
    }
    hand_over([&] { lock_->rename_to(dll_.path); });
}

void Transaction::rename_back(const Sidecar& backup) {
    must_be(backup.path, backup.info);
    hand_over([&] {
        // A crash left both names on one file, and renaming one to the other would do nothing; or one is a link to the
        // other. A link to what is equal is not worth more than the file.
        if (backup.contents.identity == dll_.info.identity ||
            (backup.is_link() && backup.state == SidecarState::copy)) {
            os::remove(backup.path);
        } else {
            os::rename_over(backup.path, dll_.path);
        }
    });
}

fs::path Transaction::move_aside(const Sidecar& backup) {
    must_be(backup.path, backup.info);
    fs::path aside = free_numbered_path(backup.path);
    os::rename_new(backup.path, aside);
    return aside;
}

void Transaction::remove(const Sidecar& sidecar) {
    must_be(sidecar.path, sidecar.info);
    os::remove(sidecar.path);
    os::sync_folder(sidecar.path.parent_path());
}

void Transaction::remove_spent_undo(const SidecarPlace& place) {
    const auto undo = examine_sidecar(place, dll_.path, &dll_);
    if (undo && undo->state == SidecarState::copy) {
        remove(*undo);
    }
}

bool remove_leftover_temporary(const fs::path& dll) {
    return os::info_of(temporary_path(dll)).type != os::FileType::missing && os::Lock(dll).removed_leftover();
}

}  // namespace fixnvpe
