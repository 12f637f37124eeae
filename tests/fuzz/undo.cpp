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
        expect(parse_undo(to_json(record)) == record, "what is written is what is read");
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
        if (edit.field == Field::section_characteristics && edit.width() == 4 && image.sections[i].name == ".nv_fatb" &&
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

/// restore's decision, and what it would write.
void check(const UndoRecord& record, const Headers& headers, const PeImage& image) {
    const Bytes& window = headers.bytes;
    const std::uint64_t file_size = headers.file_size;
    UndoProgress progress = UndoProgress::none;
    try {
        progress = check_undo(record, file_size, window, image);
    } catch (const Error& error) {
        expect_refusal(error);
        return;
    }
    expect(!record.edits.empty(), "an undo file has something to undo");
    Bytes original = window;
    revert_edits(record.edits, original);
    Bytes edited = window;
    apply_edits(record.edits, edited);

    Bytes touched(window.size(), 0);
    for (const Edit& edit : record.edits) {
        expect(edit.offset + edit.width() <= window.size(), "an edit lies in the headers");
        const std::uint32_t bits = changeable(image, edit);
        expect(bits != 0, "an edit is of a field that a plan changes");
        expect(((edit.before ^ edit.after) & ~bits) == 0, "an edit changes the bits that a plan changes");
        const std::uint32_t current = value_at(window, edit);
        expect(current == edit.before || current == edit.after, "nobody else changed the field meanwhile");
        expect(value_at(original, edit) == edit.before, "restore writes what the undo file says");
        expect(value_at(edited, edit) == edit.after, "patch finishes what the undo file says");
        for (std::uint32_t i = 0; i < edit.width(); ++i) {
            expect(touched[edit.offset + i]++ == 0, "no two edits overlap");
        }
    }
    for (std::size_t i = 0; i < window.size(); ++i) {
        expect(touched[i] != 0 || (original[i] == window[i] && edited[i] == window[i]), "no other byte changes");
    }
    if (progress == UndoProgress::none) {
        expect(original == window, "where no edit is carried out, the file is the original");
    } else if (progress == UndoProgress::all) {
        expect(edited == window, "where all edits are carried out, the file is the edited one");
    }
    // Every step of the way back is explained by the same undo file.
    for (const Bytes& state : {original, edited}) {
        const PeImage there = read_pe_raw(state, file_size);
        const UndoProgress expected = state == original ? UndoProgress::none : UndoProgress::all;
        expect(check_undo(record, file_size, state, there) == expected, "the undo file explains both ends");
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
}

}  // namespace
}  // namespace fixnvpe::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fixnvpe::test::run({data, size});
    return 0;
}
