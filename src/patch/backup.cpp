#include "fixnvpe/patch/backup.hpp"

#include <algorithm>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/patch/build.hpp"
#include "fixnvpe/patch/status.hpp"
#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/pe/survey.hpp"

namespace fixnvpe {
namespace {

namespace fs = std::filesystem;

constexpr const char* OTHER_UNDO = "check the undo file: it was made for another build of this file";
constexpr std::size_t CHUNK = std::size_t{1} << 20;

Error changed_while_compared(const fs::path& dll) {
    return Error(ErrorCode::changed, "compare: the file changed meanwhile", Hint::run_again).at(dll);
}

Error stale() {
    return Error(ErrorCode::stale_backup, "check the backup: it belongs to another build of this file");
}

std::optional<PeImage> try_pe(const std::vector<std::uint8_t>& headers, std::uint64_t file_size) {
    try {
        return read_pe(headers, file_size);
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// @param deep also looks for fat binaries among variables, if the headers tell of none
bool has_gpu_code(const PeImage& image, const os::File& file, bool deep) {
    return image.has_fatbin() || is_split(image) || (deep && holds_fat_binaries(image, reader_of(file)));
}

bool is_whole(const PeImage& image, std::uint64_t file_size, bool has_code) {
    return has_code && refusal_of(image, file_size).why != Why::raw_data_past_end;
}

SidecarState state_of(const Relation& relation) {
    if (relation.build == Build::other) {
        return SidecarState::stale;
    }
    return relation.lacks_bits      ? SidecarState::patched_itself
           : relation.has_more_bits ? SidecarState::original
                                    : SidecarState::copy;
}

void examine_copy(Sidecar& sidecar, const Dll* dll, bool deep) {
    const os::File opened = os::File::open_to_read(sidecar.path);
    sidecar.contents = opened.opened_as();
    const std::uint64_t size = sidecar.contents.size;
    std::vector<std::uint8_t> headers = read_headers(opened, size);
    if (dll == nullptr) {
        const std::optional<PeImage> image = try_pe(headers, size);
        sidecar.ours = image && has_gpu_code(*image, opened, deep);
        sidecar.whole = image && is_whole(*image, size, sidecar.ours);
        sidecar.state = SidecarState::alone;
        sidecar.original = std::move(headers);
        return;
    }
    const PeImage image = read_pe(headers, size);
    const Relation relation = relate({dll->headers, dll->info.size, dll->image}, {headers, size, image});
    // What is split was shown to hold GPU code, and so does what it was made from.
    sidecar.ours = (is_split(dll->image) && relation.build != Build::other) || has_gpu_code(image, opened, deep);
    sidecar.whole = is_whole(image, size, sidecar.ours);
    sidecar.same_headers = relation.same_headers;
    sidecar.state = state_of(relation);
    sidecar.proven = relation.proven || sidecar.contents.identity == dll->info.identity;
    sidecar.shown_to_be_other = relation.shown_to_be_other;
    sidecar.signed_since = relation.build == Build::signed_since;
    sidecar.bits = relation.bits;
    sidecar.original = std::move(headers);
    if (sidecar.state == SidecarState::stale) {
        sidecar.error = stale().at(sidecar.path);
    }
}

/// No other program has changed the file since, and told so by CheckSum.
bool has_check_sum_of(const UndoEnds& ends, std::uint32_t check_sum) {
    return check_sum == ends.image.check_sum || check_sum == ends.check_sum_after;
}

void examine_undo(Sidecar& sidecar, const Dll* dll) {
    const UndoRecord record = read_undo(os::File::open_to_read(sidecar.path));
    if (dll == nullptr) {
        sidecar.state = SidecarState::alone;
        return;
    }
    const FileHeaders headers{dll->headers, dll->info.size, dll->image};
    UndoEnds ends = ends_of(record, headers);
    const Relation relation = relate(headers, {ends.original, record.file_size, ends.image});
    sidecar.shown_to_be_other = relation.shown_to_be_other;
    sidecar.signed_since = relation.build == Build::signed_since;
    sidecar.bits = editable_bits_set(ends.image);
    if (record.file_size == dll->info.size && is_between(ends, dll->headers)) {
        sidecar.state = SidecarState::half_done;
    } else if (relation.build == Build::same && !has_check_sum_of(ends, dll->image.check_sum)) {
        throw Error(ErrorCode::stale_backup, "check the undo file: CheckSum was changed by another program");
    } else if (relation.build == Build::other) {
        throw Error(ErrorCode::stale_backup, OTHER_UNDO);
    } else {
        sidecar.state = state_of(relation);
    }
    // Its bytes are the DLL's own; but what was signed has got another CheckSum, which told that of the rest.
    sidecar.compared =
        !sidecar.signed_since || check_sum_state(ends.image.check_sum, record.file_size) != CheckSumState::plausible;
    sidecar.proven = true;
    sidecar.equal = !sidecar.signed_since;
    sidecar.modified = record.modified;
    sidecar.original_size = record.file_size;
    sidecar.original = std::move(ends.original);
    sidecar.edited = std::move(ends.edited);
}

/// An undo file has no bytes to compare, but the CheckSum of the original must be that of what it leads to.
void check_by_sum(Sidecar& undo, const Dll& dll, const std::function<void(std::uint64_t done)>& progress) {
    const PeImage image = read_pe(undo.original, undo.original_size);
    std::vector<std::uint8_t> bytes = undo.original;
    store_le(bytes, image.layout.check_sum(), width_of(Field::check_sum), 0);
    CheckSummer summer;
    summer.add(bytes);
    const os::File file = os::File::open_to_read(dll.path);
    bytes.resize(CHUNK);
    for (std::uint64_t at = undo.original.size(); at < undo.original_size; progress(at)) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(undo.original_size - at, CHUNK));
        const std::size_t got = file.read_at(at, ByteSpan(bytes).first(wanted));
        if (got != wanted) {
            throw changed_while_compared(dll.path);
        }
        summer.add(ByteView(bytes).first(got));
        at += got;
    }
    if (summer.check_sum() != image.check_sum) {
        undo.state = SidecarState::stale;
        undo.error = Error(ErrorCode::stale_backup, OTHER_UNDO).at(undo.path);
    }
}

}  // namespace

std::optional<Sidecar> examine_sidecar(const SidecarPlace& place, const fs::path& dll_path, const Dll* dll, bool deep) {
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
        if (sidecar.is_link() && is_undo_kind(place.kind)) {
            throw Error(ErrorCode::link, "check the backup: it is a link", Hint::put_file_there);
        }
        is_undo_kind(place.kind) ? examine_undo(sidecar, dll) : examine_copy(sidecar, dll, deep);
    } catch (Error& error) {
        const bool leads_nowhere = sidecar.is_link() && error.code() == ErrorCode::not_found;  // no original any more
        const bool stale = error.code() == ErrorCode::stale_backup || (leads_nowhere && dll != nullptr);
        const Hint hint = !stale && error.hint() == Hint::none ? Hint::move_away : error.hint();
        sidecar.state = stale ? SidecarState::stale : SidecarState::unusable;
        sidecar.ours = sidecar.ours && (stale || is_undo_kind(place.kind));
        sidecar.error = Error(error.code(), error.message(), hint, error.detail()).at(place.path);
    }
    sidecar.by_headers = sidecar.state;
    return sidecar;
}

const Sidecar* of_kind(const std::vector<Sidecar>& sidecars, SidecarKind kind) {
    return first_that(sidecars, [&](const Sidecar& s) { return s.kind == kind; });
}

void compare_bytes(Sidecar& sidecar, const Dll& dll, const std::function<void(std::uint64_t done)>& progress) {
    sidecar.compared = true;
    if (is_undo_kind(sidecar.kind)) {
        check_by_sum(sidecar, dll, progress);
        return;
    }
    if (sidecar.state == SidecarState::copy && sidecar.contents.size != dll.info.size) {
        sidecar.equal = false;  // the DLL was signed since
        return;
    }
    if (sidecar.contents.identity == dll.info.identity) {
        return;  // one file by two names
    }
    const os::File ours = os::File::open_to_read(dll.path);
    const os::File theirs = os::File::open_to_read(sidecar.path);
    std::vector<std::uint8_t> a(CHUNK);
    std::vector<std::uint8_t> b(CHUNK);
    // A certificate table that was appended since is not the backup's.
    const std::uint64_t end = std::min(dll.info.size, sidecar.contents.size);
    for (std::uint64_t at = std::min<std::uint64_t>(dll.headers.size(), end); at < end;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, CHUNK));
        const std::size_t got = ours.read_at(at, ByteSpan(a).first(wanted));
        if (got != wanted || theirs.read_at(at, ByteSpan(b).first(wanted)) != wanted) {
            throw changed_while_compared(dll.path);
        }
        if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(got), b.begin())) {
            sidecar.state = SidecarState::stale;
            sidecar.error = stale().at(sidecar.path);
            return;
        }
        at += got;
        progress(at);
    }
    sidecar.proven = true;
}

fs::path free_numbered_path(const fs::path& sidecar) {
    for (unsigned n = 1;; ++n) {
        fs::path candidate = numbered_path(sidecar, n);
        if (os::info_of(candidate).type == os::FileType::missing) {
            return candidate;
        }
    }
}

}  // namespace fixnvpe
