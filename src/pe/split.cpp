#include "fixnvpe/pe/split.hpp"

#include <algorithm>
#include <numeric>

namespace fixnvpe {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t SECTIONS_MAX = 95;  // Windows XP loads 96; later ones 65,535
constexpr std::size_t OBJECT_FIELDS = offset::Characteristics - offset::PointerToRelocations;
constexpr std::uint32_t FILE_ALIGNMENT_MIN = 512;

[[noreturn]] void no_split(const char* why) {
    throw Error(ErrorCode::malformed, std::string("split headers: ") + why);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

std::uint64_t end_of(const Section& section) {
    return std::uint64_t{section.virtual_address} + section.virtual_size;
}

bool is_piece(const Section& section) {
    return section.name == SPLIT_SECTION;
}

/// The part of a section that begins `from` and ends `to` bytes from its own beginning.
Section part(const Section& whole, std::uint64_t from, std::uint64_t to) {
    Section result = whole;
    const bool last = to == whole.virtual_size;
    const std::uint64_t raw_end = last ? whole.size_of_raw_data : to;
    result.virtual_address = static_cast<std::uint32_t>(whole.virtual_address + from);
    result.virtual_size = static_cast<std::uint32_t>(to - from);
    result.size_of_raw_data = raw_end > from ? static_cast<std::uint32_t>(raw_end - from) : 0;
    result.pointer_to_raw_data =
        result.size_of_raw_data == 0 ? 0 : static_cast<std::uint32_t>(whole.pointer_to_raw_data + from);
    return result;
}

/// In memory and in the file, one begins where the other ends.
bool goes_on(const Section& before, const Section& after) {
    return end_of(before) == after.virtual_address && before.virtual_size == before.size_of_raw_data &&
           (after.size_of_raw_data == 0 ||
            std::uint64_t{before.pointer_to_raw_data} + before.size_of_raw_data == after.pointer_to_raw_data);
}

bool same_kind(const Section& a, const Section& b) {
    return a.name == b.name && a.characteristics == b.characteristics;
}

/// One entry of a new section table: the old one with this index, but for what `section` says.
struct Entry {
    Section section;
    std::size_t index = 0;
};

std::vector<Entry> entries_of(const PeImage& image) {
    std::vector<Entry> entries;
    entries.reserve(image.sections.size());
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        entries.push_back({image.sections[i], i});
    }
    return entries;
}

/// The sections as they were; nothing if a piece does not join.
std::optional<std::vector<Entry>> joined(const PeImage& image) {
    std::vector<Entry> result;
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        const Section& piece = image.sections[i];
        if (!is_piece(piece)) {
            result.push_back({piece, i});
            continue;
        }
        if (++i == image.sections.size()) {
            return std::nullopt;
        }
        const Section& owner = image.sections[i];
        if (is_piece(owner) || !owner.writable() ||
            piece.characteristics != (owner.characteristics & ~IMAGE_SCN_MEM_WRITE) || !goes_on(piece, owner)) {
            return std::nullopt;
        }
        // A section that begins with GPU code has none of its name before that.
        const bool inside =
            !result.empty() && same_kind(result.back().section, owner) && goes_on(result.back().section, piece);
        const Section before = inside ? result.back().section : part(piece, 0, 0);
        if (inside) {
            result.pop_back();
        }
        Section whole = owner;
        whole.virtual_address = inside ? before.virtual_address : piece.virtual_address;
        whole.pointer_to_raw_data = inside ? before.pointer_to_raw_data : piece.pointer_to_raw_data;
        whole.virtual_size = static_cast<std::uint32_t>(end_of(owner) - whole.virtual_address);
        whole.size_of_raw_data = before.size_of_raw_data + piece.size_of_raw_data + owner.size_of_raw_data;
        result.push_back({whole, i});
    }
    return result;
}

std::uint32_t optional_field(ByteView headers, const PeLayout& layout, std::size_t field) {
    return load_le<std::uint32_t>(headers, layout.optional_header + field);
}

/// Writes another section table in place of the old one, and its length.
Bytes with_sections(ByteView headers, const PeLayout& layout, const std::vector<Entry>& entries) {
    Bytes bytes(headers.begin(), headers.end());
    const auto at = [&](Bytes& b, std::size_t index) {
        return b.begin() + static_cast<std::ptrdiff_t>(layout.section_header(index));
    };
    const Bytes old = bytes;
    if (layout.section_header(entries.size()) > bytes.size()) {
        no_split("no room for more section headers");
    }
    std::fill(at(bytes, 0), at(bytes, std::max<std::size_t>(entries.size(), layout.number_of_sections)),
              std::uint8_t{0});
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const ByteSpan header = ByteSpan(bytes).subspan(layout.section_header(i), size_of::SectionHeader);
        const ByteView source = ByteView(old).subspan(layout.section_header(entries[i].index), size_of::SectionHeader);
        const Section& section = entries[i].section;
        std::copy(source.begin(), source.end(), header.begin());
        if (is_piece(section)) {
            std::fill_n(header.begin(), size_of::SectionName, std::uint8_t{0});
            std::copy(section.name.begin(), section.name.end(), header.begin());
        }
        store_le(header, offset::VirtualSize, sizeof(std::uint32_t), section.virtual_size);
        store_le(header, offset::VirtualAddress, sizeof(std::uint32_t), section.virtual_address);
        store_le(header, offset::SizeOfRawData, sizeof(std::uint32_t), section.size_of_raw_data);
        store_le(header, offset::PointerToRawData, sizeof(std::uint32_t), section.pointer_to_raw_data);
        store_le(header, offset::Characteristics, sizeof(std::uint32_t), section.characteristics);
    }
    store_le(bytes, layout.nt_headers + offset::NumberOfSections, sizeof(std::uint16_t), entries.size());
    return bytes;
}

bool is_zero(ByteView bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// One past the last byte that a section table may take.
std::size_t limit_of_headers(ByteView headers, const PeImage& image) {
    std::size_t limit =
        std::min<std::size_t>(HEADER_BYTES_MIN, optional_field(headers, image.layout, offset::SizeOfHeaders));
    for (const Section& section : image.sections) {
        limit = std::min<std::size_t>(limit, section.virtual_address);
        if (section.size_of_raw_data != 0) {
            limit = std::min<std::size_t>(limit, section.pointer_to_raw_data);
        }
    }
    return limit;
}

/// How many section headers more there is room for.
std::size_t room(ByteView headers, const PeImage& image, bool moved) {
    const PeLayout& layout = image.layout;
    const std::size_t end = layout.end() - (moved ? layout.nt_headers - MOVED_NT_HEADERS : 0);
    const std::size_t limit = limit_of_headers(headers, image);
    const std::size_t count = image.sections.size();
    return limit < end || count >= SECTIONS_MAX
               ? 0
               : std::min((limit - end) / size_of::SectionHeader, SECTIONS_MAX - count);
}

WhyNotSplit why_not_by_sections(ByteView headers, const PeImage& image, std::uint32_t file_alignment,
                                std::uint32_t size_of_headers) {
    const auto not_aligned = [&](const Section& s) {
        return s.size_of_raw_data % file_alignment != 0 || s.pointer_to_raw_data % file_alignment != 0;
    };
    std::uint64_t address = round_up(size_of_headers, PAGE_SIZE_BYTES);
    std::uint64_t raw_end = size_of_headers;
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        const Section& section = image.sections[i];
        if (section.virtual_size == 0 || section.virtual_address != address) {
            return WhyNotSplit::sections;
        }
        address = round_up(end_of(section), PAGE_SIZE_BYTES);
        if (not_aligned(section) || (section.size_of_raw_data != 0 && section.pointer_to_raw_data < raw_end)) {
            return WhyNotSplit::raw_data;
        }
        if (section.size_of_raw_data != 0) {
            raw_end = std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data;
        }
        if (!is_zero(headers.subspan(image.layout.section_header(i) + offset::PointerToRelocations, OBJECT_FIELDS))) {
            return WhyNotSplit::object_fields;
        }
        if (i != 0 && same_kind(image.sections[i - 1], section)) {
            return WhyNotSplit::equal_neighbours;
        }
        if (is_piece(section)) {
            return WhyNotSplit::not_joining;
        }
    }
    return address == optional_field(headers, image.layout, offset::SizeOfImage) ? WhyNotSplit::nothing
                                                                                 : WhyNotSplit::sections;
}

/// Index of the section that these pages may be taken out of; its last page is none of them.
std::size_t owner_of(const Pages& pages, const std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Section& section = entries[i].section;
        const bool inside = pages.address >= section.virtual_address && pages.end() < end_of(section) &&
                            pages.end() - section.virtual_address <= section.size_of_raw_data;
        if (inside && section.writable() && !section.is_fatbin() && !is_piece(section)) {
            return i;
        }
    }
    no_split("the pages lie in no section that could be split");
}

}  // namespace

std::uint64_t Split::bytes() const {
    return std::accumulate(pages.begin(), pages.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Pages& p) { return sum + p.size; });
}

std::vector<Pages> split_pages(const PeImage& image) {
    std::vector<Pages> pages;
    for (const Section& section : image.sections) {
        if (is_piece(section)) {
            pages.push_back({section.virtual_address, section.virtual_size});
        }
    }
    return pages;
}

bool is_split(const PeImage& image) {
    return std::any_of(image.sections.begin(), image.sections.end(), is_piece);
}

Split split_between(const PeImage& from, const PeImage& to) {
    return {split_pages(to), from.layout.nt_headers != to.layout.nt_headers};
}

WhyNotSplit why_not_split(ByteView headers, const PeImage& image) {
    const PeLayout& layout = image.layout;
    const std::uint32_t file_alignment = optional_field(headers, layout, offset::FileAlignment);
    const std::uint32_t size_of_headers = optional_field(headers, layout, offset::SizeOfHeaders);
    if (image.force_integrity()) {
        return WhyNotSplit::force_integrity;
    }
    if (image.section_alignment != PAGE_SIZE_BYTES) {
        return WhyNotSplit::section_alignment;
    }
    if (file_alignment < FILE_ALIGNMENT_MIN || file_alignment > PAGE_SIZE_BYTES ||
        (file_alignment & (file_alignment - 1)) != 0) {
        return WhyNotSplit::file_alignment;
    }
    if (const WhyNotSplit why = why_not_by_sections(headers, image, file_alignment, size_of_headers);
        why != WhyNotSplit::nothing) {
        return why;
    }
    if (load_le<std::uint32_t>(headers, layout.nt_headers + offset::PointerToSymbolTable) != 0 ||
        load_le<std::uint32_t>(headers, layout.nt_headers + offset::NumberOfSymbols) != 0) {
        return WhyNotSplit::symbol_table;
    }
    // Longer headers than are read at first are so rare that there is no need to look behind them.
    const bool seen = headers.size() == HEADER_BYTES_MIN && size_of_headers <= headers.size();
    if (!seen || size_of_headers < layout.end() ||
        !is_zero(headers.subspan(layout.end(), size_of_headers - layout.end()))) {
        return WhyNotSplit::header_bytes;
    }
    return WhyNotSplit::nothing;
}

Pages pages_of(const Run& run, const PeImage& image) {
    const Section& section = image.sections[run.section];
    const std::uint64_t last_page = (end_of(section) - 1) / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES;
    const std::uint64_t from = round_up(run.address, PAGE_SIZE_BYTES);
    const std::uint64_t raw_end = std::uint64_t{section.virtual_address} + section.size_of_raw_data;
    const std::uint64_t to = std::min(
        {run.end() / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES, last_page, raw_end / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES});
    if (from >= to) {
        return {run.address, 0};
    }
    return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)};
}

Split choose_split(ByteView headers, const PeImage& image, const std::vector<Run>& runs) {
    struct Candidate {
        Pages pages;
        std::size_t headers;
    };
    std::vector<Candidate> candidates;
    for (const Run& run : runs) {
        const Pages pages = pages_of(run, image);
        if (pages.size != 0) {
            // Two more sections, one where it begins with GPU code.
            const bool first = pages.address == image.sections[run.section].virtual_address;
            candidates.push_back({pages, first ? std::size_t{1} : std::size_t{2}});
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.pages.size > b.pages.size; });
    const auto choose = [&](bool moved) {
        Split split{{}, moved};
        std::size_t left = room(headers, image, moved);
        for (const Candidate& candidate : candidates) {
            if (candidate.headers <= left) {
                split.pages.push_back(candidate.pages);
                left -= candidate.headers;
            }
        }
        std::sort(split.pages.begin(), split.pages.end(),
                  [](const Pages& a, const Pages& b) { return a.address < b.address; });
        return split;
    };
    Split in_place = choose(false);
    if (image.layout.nt_headers <= MOVED_NT_HEADERS) {
        return in_place;
    }
    Split moved = choose(true);
    return moved.bytes() > in_place.bytes() ? moved : in_place;
}

std::vector<std::uint8_t> split_headers(ByteView headers, const PeImage& image, const Split& split) {
    std::vector<Entry> entries = entries_of(image);
    std::uint64_t taken = 0;  // up to here
    for (const Pages& pages : split.pages) {
        if (pages.address % PAGE_SIZE_BYTES != 0 || pages.size % PAGE_SIZE_BYTES != 0 || pages.size == 0 ||
            pages.address <= taken) {
            no_split("the pages are not whole, or in no order");
        }
        taken = pages.end();
        const std::size_t i = owner_of(pages, entries);
        const Entry whole = entries[i];
        const std::uint64_t from = pages.address - whole.section.virtual_address;
        const std::uint64_t to = from + pages.size;
        Entry piece{part(whole.section, from, to), whole.index};
        piece.section.name = SPLIT_SECTION;
        piece.section.characteristics &= ~IMAGE_SCN_MEM_WRITE;
        entries[i].section = part(whole.section, to, whole.section.virtual_size);
        const auto at = entries.begin() + static_cast<std::ptrdiff_t>(i);
        if (from == 0) {
            entries.insert(at, piece);
        } else {
            entries.insert(at, {Entry{part(whole.section, 0, from), whole.index}, piece});
        }
    }
    if (entries.size() > image.sections.size() + room(headers, image, split.moves_nt_headers)) {
        no_split("no room for more section headers");
    }
    if (!split.moves_nt_headers) {
        return with_sections(headers, image.layout, entries);
    }
    const std::optional<Bytes> moved = moved_headers(headers, image);
    if (!moved) {
        no_split("the NT headers can't be moved down");
    }
    PeLayout layout = image.layout;
    const std::size_t by = layout.nt_headers - MOVED_NT_HEADERS;
    layout.nt_headers -= by;
    layout.optional_header -= by;
    layout.data_directories -= by;
    layout.section_table -= by;
    return with_sections(*moved, layout, entries);
}

std::optional<std::vector<std::uint8_t>> joined_headers(ByteView headers, const PeImage& image) {
    if (!is_split(image)) {
        return std::nullopt;
    }
    const auto entries = joined(image);
    return entries ? std::optional(with_sections(headers, image.layout, *entries)) : std::nullopt;
}

std::optional<std::vector<std::uint8_t>> moved_headers(ByteView headers, const PeImage& image) {
    const PeLayout& layout = image.layout;
    if (layout.nt_headers <= MOVED_NT_HEADERS || layout.end() > headers.size()) {
        return std::nullopt;
    }
    Bytes bytes(headers.begin(), headers.end());
    const auto at = [&](std::size_t offset) { return bytes.begin() + static_cast<std::ptrdiff_t>(offset); };
    std::copy(at(layout.nt_headers), at(layout.end()), at(MOVED_NT_HEADERS));
    std::fill(at(MOVED_NT_HEADERS + layout.end() - layout.nt_headers), at(layout.end()), std::uint8_t{0});
    store_le(bytes, offset::e_lfanew, sizeof(std::uint32_t), MOVED_NT_HEADERS);
    return bytes;
}

}  // namespace fixnvpe
