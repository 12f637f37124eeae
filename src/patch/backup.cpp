#include "fixnvpe/patch/backup.hpp"

#include <algorithm>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

Error stale() {
    return Error(ErrorCode::stale_backup, "check the backup: it belongs to another build of this file",
                 Hint::clean_removes);
}

/// True if the headers differ in nothing but what a patch may have changed.
bool same_but_for_edits(const Dll& dll, std::vector<std::uint8_t> original) {
    std::vector<std::uint8_t> current = dll.headers;
    if (original.size() != current.size()) {
        return false;
    }
    clear_editable_bits(dll.image, original);
    clear_editable_bits(dll.image, current);
    return original == current;
}

bool has_fatbin(const std::vector<std::uint8_t>& headers, std::uint64_t file_size) {
    try {
        return read_pe(headers, file_size).has_fatbin();
    } catch (const Error&) {
        return false;
    }
}

void examine_copy(Sidecar& sidecar, const Dll* dll) {
    const os::File opened = os::File::open_to_read(sidecar.path);
    const std::uint64_t size = opened.opened_as().size;
    std::vector<std::uint8_t> headers = read_headers(opened, size);
    const bool same_build = dll != nullptr && size == dll->info.size && same_but_for_edits(*dll, headers);
    sidecar.ours = same_build ? dll->image.has_fatbin() : has_fatbin(headers, size);
    if (dll == nullptr) {
        sidecar.state = SidecarState::alone;
        return;
    }
    if (!same_build) {
        throw stale();
    }
    sidecar.state = headers == dll->headers ? SidecarState::copy : SidecarState::original;
    sidecar.original = std::move(headers);
}

void examine_undo(Sidecar& sidecar, const Dll* dll) {
    const UndoRecord record = read_undo(os::File::open_to_read(sidecar.path));
    if (dll == nullptr) {
        sidecar.state = SidecarState::alone;
        return;
    }
    switch (check_undo(record, to_utf8(dll->path.filename()), dll->info.size, dll->headers, dll->image)) {
        case UndoProgress::none: sidecar.state = SidecarState::copy; break;
        case UndoProgress::half: sidecar.state = SidecarState::half_done; break;
        case UndoProgress::all: sidecar.state = SidecarState::original; break;
    }
    sidecar.original = dll->headers;
    revert_edits(record.edits, sidecar.original);
    sidecar.edited = dll->headers;
    apply_edits(record.edits, sidecar.edited);
}

}  // namespace

std::optional<Sidecar> examine_sidecar(const SidecarPlace& place, const fs::path& dll_path, const Dll* dll) {
    Sidecar sidecar;
    sidecar.kind = place.kind;
    sidecar.path = place.path;
    sidecar.info = os::info_of(place.path);
    if (sidecar.info.type == os::FileType::missing) {
        return std::nullopt;
    }
    if (place.kind == SidecarKind::temporary) {
        sidecar.error = os::why_locked(dll_path);
        sidecar.state = sidecar.error ? SidecarState::locked : SidecarState::free;
        return sidecar;
    }
    try {
        if (sidecar.info.type == os::FileType::link) {
            throw Error(ErrorCode::link, "check the backup: it is a link", Hint::put_file_there);
        }
        place.kind == SidecarKind::undo ? examine_undo(sidecar, dll) : examine_copy(sidecar, dll);
    } catch (Error& error) {
        const bool stale = error.code() == ErrorCode::stale_backup;
        const Hint hint = !stale && error.hint() == Hint::none ? Hint::move_away : error.hint();
        sidecar.state = stale ? SidecarState::stale : SidecarState::unusable;
        sidecar.ours = sidecar.ours && (stale || place.kind == SidecarKind::undo);
        sidecar.error = Error(error.code(), error.message(), hint, error.detail()).at(place.path);
    }
    return sidecar;
}

const Sidecar* of_kind(const std::vector<Sidecar>& sidecars, SidecarKind kind) {
    return first_that(sidecars, [&](const Sidecar& s) { return s.kind == kind; });
}

const Sidecar* earlier_original(const std::vector<Sidecar>& sidecars) {
    return first_that(sidecars, [](const Sidecar& s) { return s.shows_a_patch(); });
}

fs::path free_numbered_backup(const fs::path& dll) {
    for (unsigned n = 1;; ++n) {
        fs::path candidate = numbered_backup_path(dll, n);
        if (os::info_of(candidate).type == os::FileType::missing) {
            return candidate;
        }
    }
}

}  // namespace fixnvpe
