// Input: an undo file's text, a NUL, and the size and headers of the DLL it stands beside. What is accepted leads to
// no other bytes than a plan could have come from.

#include <algorithm>
#include <optional>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/patch/undo_file.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fuzz.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t LONGEST_MESSAGE = 200;

void expect_refusal(const Error& error) {
    expect(error.code() == ErrorCode::bad_undo || error.code() == ErrorCode::stale_backup,
           "an undo file is refused as one");
    expect(printable(error.message()) == error.message(), "a message carries no commands to a terminal");
    expect(error.message().size() < LONGEST_MESSAGE, "a message has a length that can be read");
}

std::optional<UndoRecord> parse(std::string_view text) {
    try {
        UndoRecord record = parse_undo(text);
        expect(record.fingerprint || parse_undo(to_json(record)) == record, "what is written is what is read");
        return record;
    } catch (const Error& error) {
        expect_refusal(error);
        return std::nullopt;
    }
}

/// The bits that a patch may change, from the specification; 0 for what is no such field of this image.
std::uint32_t changeable(const PeImage& image, const Edit& edit) {
    const std::size_t optional_header = image.layout.optional_header;
    if (edit.field == Field::check_sum && edit.offset == optional_header + 64 && edit.width() == 4) {
        return 0xFFFFFFFF;
    }
    if (edit.field == Field::dll_characteristics && edit.offset == optional_header + 70 && edit.width() == 2) {
        return 0x40;
    }
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (edit.field == Field::section_characteristics && edit.width() == 4 &&
            (image.sections[i].name == ".nv_fatb" || image.sections[i].name == "__nv_rel") &&
            edit.offset == image.layout.section_table + 40 * i + 36) {
            return 0x80000000;
        }
    }
    return 0;
}

std::uint32_t value_at(const Bytes& window, const Edit& edit) {
    return edit.width() == 2 ? load_le<std::uint16_t>(window, edit.offset)
                             : load_le<std::uint32_t>(window, edit.offset);
}

/// Where nothing but the bits that a patch may change differs.
void expect_only_edits(const Bytes& a, const Bytes& b, const PeImage& image) {
    expect(a.size() == b.size(), "they have the same length");
    Bytes left = a;
    for (const Edit& edit : editable_fields(image)) {
        const std::uint32_t bits = changeable(image, edit);
        store_le(left, edit.offset, edit.width(), (value_at(a, edit) & ~bits) | (value_at(b, edit) & bits));
    }
    expect(left == b, "no other bit differs");
}

/// What a record says, held against the headers that it stands beside.
void check(const UndoRecord& record, const Headers& headers, const PeImage& image) {
    const Bytes& window = headers.bytes;
    UndoEnds ends;
    try {
        ends = ends_of(record, {window, headers.file_size, image});
    } catch (const Error& error) {
        expect_refusal(error);
        return;
    }
    expect(!record.edits.empty() || !record.split.pages.empty(), "an undo file has something to undo");
    Bytes touched(ends.original.size(), 0);
    for (const Edit& edit : record.edits) {
        expect(edit.offset + edit.width() <= ends.original.size(), "an edit lies in the headers");
        const std::uint32_t bits = changeable(ends.image, edit);
        expect(bits != 0, "an edit is of a field that a plan changes");
        expect(((edit.before ^ edit.after) & ~bits) == 0, "an edit changes the bits that a plan changes");
        expect(value_at(ends.original, edit) == edit.before, "restore writes what the undo file says");
        if (record.split.pages.empty()) {
            expect(value_at(ends.edited, edit) == edit.after, "patch finishes what the undo file says");
        }
        for (std::uint32_t i = 0; i < edit.width(); ++i) {
            expect(touched[edit.offset + i]++ == 0, "no two edits overlap");
        }
    }
    if (record.split.pages.empty()) {
        expect_only_edits(ends.original, ends.edited, ends.image);
    } else {
        const auto joined = joined_headers(ends.edited, read_pe(ends.edited, record.file_size));
        expect(joined.has_value(), "what was split joins");
        const auto moved = record.split.moves_nt_headers ? moved_headers(ends.original, ends.image) : ends.original;
        expect_only_edits(*moved, *joined, read_pe(*moved, record.file_size));
    }
    expect(!is_between(ends, ends.original) && !is_between(ends, ends.edited), "neither end is half way");
    const Relation relation = relate({window, headers.file_size, image}, {ends.original, record.file_size, ends.image});
    const bool whole_fields = record.split.pages.empty() && !is_split(image) && !is_split(ends.image);
    if (whole_fields && (is_between(ends, window) || relation.build == Build::same)) {
        expect_only_edits(window, ends.original, ends.image);
    }
}

void run(ByteView input) {
    const auto [text, file] = split(input);
    std::optional<UndoRecord> record = parse(text);
    const std::optional<Headers> headers = headers_from(file);
    const std::optional<PeImage> image = headers ? reading(read_pe_raw, *headers).image : std::nullopt;
    if (!record || !image) {
        return;
    }
    check(*record, *headers, *image);
    // Who forges one knows the rest, too.
    record->file_size = headers->file_size;
    record->fingerprint = header_fingerprint(headers->bytes, *image);
    check(*record, *headers, *image);
    record->fingerprint.reset();
    record->headers = headers->bytes;
    check(*record, *headers, *image);
}

}  // namespace
}  // namespace fixnvpe::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fixnvpe::test::run({data, size});
    return 0;
}
