#include "fixnvpe/patch/build.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/edit.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/pe/split.hpp"

namespace fixnvpe {
namespace {

constexpr std::uint64_t CERTIFICATE_ALIGNMENT = 8;  // PE Format, "The Attribute Certificate Table"

bool has_certificate_appended(const FileHeaders& dll, const FileHeaders& backup) {
    const DataDirectory& table = dll.image.security;
    const std::uint64_t begin = table.virtual_address;  // a file offset
    return table.present() && !backup.image.security.present() && begin >= backup.file_size &&
           begin - backup.file_size < CERTIFICATE_ALIGNMENT && begin + table.size == dll.file_size;
}

/// The headers without all that may differ between two files of one build.
std::vector<std::uint8_t> masked(const Unsplit& file, std::size_t size, Build build) {
    std::vector<std::uint8_t> bytes(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    clear_editable_bits(file.image, bytes);
    if (build == Build::signed_since) {
        store_le(bytes, file.image.layout.data_directory(IMAGE_DIRECTORY_ENTRY_SECURITY), size_of::DataDirectory, 0);
    }
    return bytes;
}

/// As far as both have been read.
bool equal_headers(const Unsplit& dll, const Unsplit& backup, Build build) {
    const std::size_t size = std::min(dll.bytes.size(), backup.bytes.size());
    return dll.image.layout == backup.image.layout && dll.image.layout.end() <= size &&
           masked(dll, size, build) == masked(backup, size, build);
}

PeImage image_of(ByteView headers, std::uint64_t file_size) {
    return read_pe_raw(headers, locate_headers(headers, file_size));
}

/// Where a split has moved the NT headers of one, those of the other are moved, too.
void move_alike(Unsplit& a, Unsplit& b, std::uint64_t file_size) {
    const auto move_like = [&](const Unsplit& moved, Unsplit& other) {
        if (moved.was_split && moved.image.layout.nt_headers == MOVED_NT_HEADERS) {
            if (auto headers = moved_headers(other.bytes, other.image)) {
                other.image = image_of(*headers, file_size);
                other.bytes = std::move(*headers);
            }
        }
    };
    if (a.image.layout.nt_headers != b.image.layout.nt_headers) {
        a.image.layout.nt_headers < b.image.layout.nt_headers ? move_like(a, b) : move_like(b, a);
    }
}

Build build_by_headers(const FileHeaders& dll, const FileHeaders& backup, const Unsplit& ours, const Unsplit& theirs) {
    if (dll.file_size == backup.file_size) {
        const bool same = dll.bytes.size() == backup.bytes.size() && equal_headers(ours, theirs, Build::same);
        return same ? Build::same : Build::other;
    }
    const bool same = has_certificate_appended(dll, backup) && equal_headers(ours, theirs, Build::signed_since);
    return same ? Build::signed_since : Build::other;
}

enum class CheckSums { prove, prove_nothing, contradict };

/// True if CheckSum was kept right through some of the edits.
bool follows_from_some(std::uint32_t is, std::uint32_t was, std::uint64_t file_size, const std::vector<Edit>& edits) {
    constexpr std::size_t most = 10;  // DYNAMIC_BASE, and a section or two, are three
    if (edits.size() > most) {
        return false;
    }
    for (std::uint32_t chosen = 1; chosen < (1U << edits.size()); ++chosen) {
        std::vector<Edit> some;
        for (std::size_t i = 0; i < edits.size(); ++i) {
            if ((chosen >> i & 1U) != 0) {
                some.push_back(edits[i]);
            }
        }
        if (is == updated_check_sum(was, file_size, some)) {
            return true;
        }
    }
    return false;
}

/// The fields of the DLL that differ from the backup's, but for CheckSum.
std::vector<Edit> differing_fields(const FileHeaders& dll, const FileHeaders& backup) {
    std::vector<Edit> edits = edits_between(dll.image, backup.image);
    std::erase_if(edits, [](const Edit& e) { return e.field == Field::check_sum; });
    for (Edit& edit : edits) {
        std::swap(edit.before, edit.after);
    }
    return edits;
}

CheckSums compare_check_sums(const FileHeaders& dll, const FileHeaders& backup) {
    const std::uint32_t is = dll.image.check_sum;
    std::uint32_t was = backup.image.check_sum;
    const std::vector<Edit> edits = differing_fields(dll, backup);
    const bool plausible = check_sum_state(was, backup.file_size) == CheckSumState::plausible;
    if (plausible) {
        // As if the backup were split as the DLL is: a split changes CheckSum at once.
        std::vector<std::uint8_t> alike = without_check_sum(dll.bytes, dll.image);
        revert_edits(edits, alike);
        was = updated_check_sum(was, backup.file_size, without_check_sum(backup.bytes, backup.image), alike);
    }
    if (plausible && is == updated_check_sum(was, backup.file_size, edits)) {
        return CheckSums::prove;
    }
    // Unset; or left stale by a tool that changed some of the bits, or all of them.
    return is == was || (plausible && follows_from_some(is, was, backup.file_size, edits)) ? CheckSums::prove_nothing
                                                                                           : CheckSums::contradict;
}

}  // namespace

std::vector<std::uint8_t> without_check_sum(ByteView headers, const PeImage& image) {
    std::vector<std::uint8_t> bytes(headers.begin(), headers.end());
    store_le(bytes, image.layout.check_sum(), width_of(Field::check_sum), 0);
    return bytes;
}

Unsplit unsplit(const FileHeaders& file) {
    auto joined = joined_headers(file.bytes, file.image);
    if (!joined) {
        return {{file.bytes.begin(), file.bytes.end()}, file.image, false};
    }
    PeImage image = image_of(*joined, file.file_size);
    if (check_sum_state(image.check_sum, file.file_size) == CheckSumState::plausible) {
        image.check_sum = updated_check_sum(image.check_sum, file.file_size, without_check_sum(file.bytes, file.image),
                                            without_check_sum(*joined, image));
        store_le(*joined, image.layout.check_sum(), width_of(Field::check_sum), image.check_sum);
    }
    return {std::move(*joined), std::move(image), true};
}

unsigned editable_bits_set(const PeImage& image) {
    unsigned count = is_split(image) ? 0 : 1;
    for (const Edit& field : editable_fields(image)) {
        if (field.field != Field::check_sum) {
            count += static_cast<unsigned>(std::popcount(field.before & editable_bits(field.field)));
        }
    }
    return count;
}

Relation relate(const FileHeaders& dll, const FileHeaders& backup) {
    Relation relation;
    const auto stamp = [](const FileHeaders& file) { return file.image.time_date_stamp; };
    relation.shown_to_be_other = dll.image.machine != backup.image.machine ||
                                 (stamp(dll) != 0 && stamp(backup) != 0 && stamp(dll) != stamp(backup));
    Unsplit ours = unsplit(dll);
    Unsplit theirs = unsplit(backup);
    move_alike(ours, theirs, std::min(dll.file_size, backup.file_size));
    relation.same_headers = equal_headers(ours, theirs, Build::same);
    relation.build = build_by_headers(dll, backup, ours, theirs);
    if (relation.build == Build::same) {
        const CheckSums check_sums = compare_check_sums(dll, backup);
        relation.proven = check_sums == CheckSums::prove;
        relation.build = check_sums == CheckSums::contradict ? Build::other : Build::same;
    }
    if (relation.build == Build::other) {
        return relation;
    }
    relation.bits = editable_bits_set(backup.image);
    const std::vector<Edit> present = editable_fields(dll.image);
    const std::vector<Edit> before = editable_fields(backup.image);
    for (std::size_t i = 0; i < present.size(); ++i) {
        if (present[i].field != Field::check_sum) {
            const std::uint32_t editable = editable_bits(present[i].field);
            relation.has_more_bits |= (before[i].before & ~present[i].before & editable) != 0;
            relation.lacks_bits |= (present[i].before & ~before[i].before & editable) != 0;
        }
    }
    relation.has_more_bits |= ours.was_split && !theirs.was_split;
    relation.lacks_bits |= theirs.was_split && split_pages(dll.image) != split_pages(backup.image);
    return relation;
}

}  // namespace fixnvpe
