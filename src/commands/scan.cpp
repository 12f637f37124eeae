#include "fixnvpe/commands/scan.hpp"

#include <algorithm>

#include "fixnvpe/pe/relocations.hpp"

namespace fixnvpe {
namespace {

std::uint64_t relocated_bytes_of(const Dll& dll) {
    const RelocationTable table = relocation_table(dll.image);
    std::vector<std::uint8_t> bytes(table.size);
    bytes.resize(os::File::open_to_read(dll.path).read_at(table.offset, bytes));
    return relocated_bytes(bytes);
}

}  // namespace

void count_relocations(FileOutcome& outcome, const Findings& findings) {
    const PeImage& image = findings.dll.image;
    const auto& edits = findings.plan.edits;
    const bool will_lose_aslr = std::any_of(edits.begin(), edits.end(),
                                            [](const Edit& edit) { return edit.field == Field::dll_characteristics; });
    const bool has_lost_it = image.has_fatbin() && !image.dynamic_base();
    if (outcome.status == Status::refused || !(will_lose_aslr || has_lost_it)) {
        return;
    }
    try {
        outcome.relocated = relocated_bytes_of(findings.dll);
    } catch (const Error& error) {
        outcome.notes.push_back({NoteCode::relocations_unknown, {}, error});
    }
}

}  // namespace fixnvpe
