#include "fixnvpe/patch/build.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "fixnvpe/pe/checksum.hpp"
#include "fixnvpe/pe/edit.hpp"

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
std::vector<std::uint8_t> masked(const FileHeaders& file, const PeImage& image, std::size_t size, Build build) {
    std::vector<std::uint8_t> bytes(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    clear_editable_bits(image, bytes);
    if (build == Build::signed_since) {
        store_le(bytes, image.layout.data_directory(IMAGE_DIRECTORY_ENTRY_SECURITY), size_of::DataDirectory, 0);
    }
    return bytes;
}

/// As far as both have been read.
bool equal_headers(const FileHeaders& dll, const FileHeaders& backup, Build build) {
    const std::size_t size = std::min(dll.bytes.size(), backup.bytes.size());
    return dll.image.layout == backup.image.layout && dll.image.layout.end() <= size &&
           masked(dll, dll.image, size, build) == masked(backup, dll.image, size, build);
}

Build build_by_headers(const FileHeaders& dll, const FileHeaders& backup) {
    if (dll.file_size == backup.file_size) {
        const bool same = dll.bytes.size() == backup.bytes.size() && equal_headers(dll, backup, Build::same);
        return same ? Build::same : Build::other;
    }
    const bool same = has_certificate_appended(dll, backup) && equal_headers(dll, backup, Build::signed_since);
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

CheckSums compare_check_sums(const FileHeaders& dll, const FileHeaders& backup) {
    const std::uint32_t is = dll.image.check_sum;
    const std::uint32_t was = backup.image.check_sum;
    std::vector<Edit> edits = edits_to(backup.image, dll.bytes);
    std::erase_if(edits, [](const Edit& e) { return e.field == Field::check_sum; });
    const bool plausible = check_sum_state(was, backup.file_size) == CheckSumState::plausible;
    if (plausible && is == updated_check_sum(was, backup.file_size, edits)) {
        return CheckSums::prove;
    }
    // Unset; or left stale by a tool that changed some of the bits, or all of them.
    return is == was || (plausible && follows_from_some(is, was, backup.file_size, edits)) ? CheckSums::prove_nothing
                                                                                           : CheckSums::contradict;
}

}  // namespace

unsigned editable_bits_set(const PeImage& image) {
    unsigned count = 0;
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
    relation.same_headers = equal_headers(dll, backup, Build::same);
    relation.build = build_by_headers(dll, backup);
    if (relation.build == Build::same) {
        const CheckSums check_sums = compare_check_sums(dll, backup);
        relation.proven = check_sums == CheckSums::prove;
        relation.build = check_sums == CheckSums::contradict ? Build::other : Build::same;
    }
    if (relation.build == Build::other) {
        return relation;
    }
    relation.bits = editable_bits_set(backup.image);
    const std::vector<Edit> ours = editable_fields(dll.image);
    const std::vector<Edit> theirs = editable_fields(backup.image);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (ours[i].field != Field::check_sum) {
            const std::uint32_t editable = editable_bits(ours[i].field);
            relation.has_more_bits |= (theirs[i].before & ~ours[i].before & editable) != 0;
            relation.lacks_bits |= (ours[i].before & ~theirs[i].before & editable) != 0;
        }
    }
    return relation;
}

}  // namespace fixnvpe
