#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/base/names.hpp"
#include "fixnvpe/pe/fat_binary.hpp"
#include "fixnvpe/pe/image.hpp"

/// Splits: `.data` becomes `.data`, `.fixnv`, `.data`, where the pages of `.fixnv` are GPU code and read-only. The
/// bytes keep their addresses and their places in the file; only headers change, and joining brings the old ones back.
namespace fixnvpe {

/// What GPU code is called that a split has taken out of another section.
inline constexpr std::string_view SPLIT_SECTION = ".fixnv";

/// Where the NT headers are moved to if that makes room: behind the DOS program, in place of the Rich header.
inline constexpr std::size_t MOVED_NT_HEADERS = 0x80;

/// Why fat binaries stay where they are.
enum class WhyNotSplit {
    nothing,
    // The file as a whole.
    section_alignment,
    file_alignment,
    raw_data,          ///< a pointer or a size that is no multiple of FileAlignment, or data that overlaps
    sections,          ///< are not adjacent and ascending, or don't fit SizeOfImage, or VirtualSize is 0
    object_fields,     ///< relocations or line numbers in a section header
    symbol_table,      ///< COFF
    equal_neighbours,  ///< two sections with one name and one Characteristics
    not_joining,       ///< a section is called `.fixnv` that no split made
    header_bytes,      ///< something stands behind the section table
    into_headers,      ///< a directory, debug data or a certificate points there
    bound_imports,
    dot_net,
    load_config,  ///< knows sections by number, or other things that a split could break
    unreadable,   ///< what the loader uses can't be found or followed
    force_integrity,
    // One run.
    section_flags,  ///< its section is shared or executable
    relocated,      ///< a base relocation touches it
    taken,          ///< something else that the loader knows lies in it
    no_room,        ///< for more section headers
};

template <>
inline constexpr auto names_of<WhyNotSplit> = names<WhyNotSplit>({
    {WhyNotSplit::nothing, ""},
    {WhyNotSplit::section_alignment, "section-alignment"},
    {WhyNotSplit::file_alignment, "file-alignment"},
    {WhyNotSplit::raw_data, "raw-data"},
    {WhyNotSplit::sections, "sections"},
    {WhyNotSplit::object_fields, "object-fields"},
    {WhyNotSplit::symbol_table, "symbol-table"},
    {WhyNotSplit::equal_neighbours, "equal-neighbours"},
    {WhyNotSplit::not_joining, "not-joining"},
    {WhyNotSplit::header_bytes, "header-bytes"},
    {WhyNotSplit::into_headers, "into-headers"},
    {WhyNotSplit::bound_imports, "bound-imports"},
    {WhyNotSplit::dot_net, "dot-net"},
    {WhyNotSplit::load_config, "load-config"},
    {WhyNotSplit::unreadable, "unreadable"},
    {WhyNotSplit::force_integrity, "force-integrity"},
    {WhyNotSplit::section_flags, "section-flags"},
    {WhyNotSplit::relocated, "relocated"},
    {WhyNotSplit::taken, "taken"},
    {WhyNotSplit::no_room, "no-room"},
});

/// Whole pages of one section.
struct Pages {
    std::uint32_t address = 0;  ///< RVA, a multiple of 4096
    std::uint32_t size = 0;     ///< bytes, a multiple of 4096

    [[nodiscard]] std::uint64_t end() const { return std::uint64_t{address} + size; }
    friend bool operator==(const Pages&, const Pages&) = default;
};

/// What a split is: all else follows from the headers that it is made of.
struct Split {
    std::vector<Pages> pages;  ///< ascending
    bool moves_nt_headers = false;

    [[nodiscard]] std::uint64_t bytes() const;
    friend bool operator==(const Split&, const Split&) = default;
};

/// The pages of its `.fixnv` sections.
[[nodiscard]] std::vector<Pages> split_pages(const PeImage& image);

[[nodiscard]] bool is_split(const PeImage& image);

/// What was split to get from one image of a file, which is not split, to another.
[[nodiscard]] Split split_between(const PeImage& from, const PeImage& to);

/// Why nothing in this file may be split, whatever lies where; from its headers alone.
/// @param headers the first bytes of the file, 4,096 or more
[[nodiscard]] WhyNotSplit why_not_split(ByteView headers, const PeImage& image);

/// The pages that lie in the run whole, may become read-only and are data in the file; none: size 0. The last page of a
/// section always stays as it is, so that what a split leaves of it can be known again.
[[nodiscard]] Pages pages_of(const Run& run, const PeImage& image);

/// The split that frees most: the largest runs first, as many as there is room for section headers.
/// @param headers of a file that why_not_split() finds nothing against
[[nodiscard]] Split choose_split(ByteView headers, const PeImage& image, const std::vector<Run>& runs);

/// Carries a split out.
/// @throws Error malformed if these are no pages that a split of these headers could have, or there is no room
[[nodiscard]] std::vector<std::uint8_t> split_headers(ByteView headers, const PeImage& image, const Split& split);

/// The headers with all splits taken back, but for the place of the NT headers.
/// @return nothing if there are none, or a `.fixnv` section is none of ours
[[nodiscard]] std::optional<std::vector<std::uint8_t>> joined_headers(ByteView headers, const PeImage& image);

/// The NT headers moved down as a split does; the section table with them.
/// @return nothing if they don't stand above that place
[[nodiscard]] std::optional<std::vector<std::uint8_t>> moved_headers(ByteView headers, const PeImage& image);

}  // namespace fixnvpe
