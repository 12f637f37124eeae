#include "fixnvpe/pe/survey.hpp"

#include <algorithm>
#include <optional>

#include "fixnvpe/pe/loader_places.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "fixnvpe/pe/relocations.hpp"

namespace fixnvpe {
namespace {

std::vector<Found> find_all(const PeImage& image, const ReadAt& read, std::uint32_t shortest) {
    std::vector<Found> found;
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (may_hold_runs(image.sections[i], shortest)) {
            for (const Run& run : find_runs(image, i, read, {}, shortest)) {
                found.push_back({run, WhyNotSplit::nothing});
            }
        }
    }
    return found;
}

void all_stay(std::vector<Found>& found, WhyNotSplit why) {
    for (Found& it : found) {
        it.why = why;
    }
}

bool touches(const Run& run, std::uint64_t address, std::uint64_t size) {
    return address < run.end() && address + size > run.address;
}

/// Where the loader, or who asks for an export, could write into a run.
void mark_taken(std::vector<Found>& found, const LoaderPlaces& places, const PeImage& image, const ReadAt& read,
                std::uint32_t shortest) {
    for (Found& it : found) {
        for (const Place& place : places.places) {
            if (touches(it.run, place.address, place.size)) {
                it.why = WhyNotSplit::taken;
            }
        }
    }
    const auto inside = [](const Run& run, std::uint32_t address) { return touches(run, address, 1); };
    const auto exported = [&](const Found& it) {
        return std::any_of(places.exports.begin(), places.exports.end(),
                           [&](std::uint32_t address) { return inside(it.run, address); });
    };
    if (std::none_of(found.begin(), found.end(), exported)) {
        return;
    }
    std::vector<std::uint32_t> starts;  // of fat binaries, of those that are exported
    for (std::size_t i = 0; i < image.sections.size(); ++i) {
        if (may_hold_runs(image.sections[i], shortest)) {
            const auto keep = [&](std::uint32_t address) {
                if (std::binary_search(places.exports.begin(), places.exports.end(), address)) {
                    starts.push_back(address);
                }
            };
            static_cast<void>(find_runs(image, i, read, keep, shortest));
        }
    }
    std::sort(starts.begin(), starts.end());
    for (Found& it : found) {
        for (const std::uint32_t address : places.exports) {
            if (inside(it.run, address) && !std::binary_search(starts.begin(), starts.end(), address)) {
                it.why = WhyNotSplit::taken;
            }
        }
    }
}

/// @return false if the table can't be followed to its end
bool mark_relocated(std::vector<Found>& found, const PeImage& image, const ReadAt& read) {
    RelocationTable table;
    try {
        table = relocation_table(image);
    } catch (const Error&) {
        return false;
    }
    if (table.size != image.base_relocations.size) {
        return false;
    }
    std::vector<std::uint8_t> bytes(table.size);
    if (read(table.offset, bytes) != bytes.size()) {
        return false;
    }
    return each_relocation(bytes, [&](std::uint32_t address, std::uint32_t width) {
        // The first that ends behind its beginning; runs are in ascending order, and do not overlap.
        const auto it = std::upper_bound(found.begin(), found.end(), address,
                                         [](std::uint32_t at, const Found& f) { return at < f.run.end(); });
        if (it != found.end() && touches(it->run, address, width)) {
            it->why = WhyNotSplit::relocated;
        }
    });
}

/// All that `found` says of this file, but for what there is no room for.
void judge(std::vector<Found>& found, ByteView headers, const PeImage& image, const ReadAt& read,
           std::uint32_t shortest) {
    if (const WhyNotSplit why = why_not_split(headers, image); why != WhyNotSplit::nothing) {
        all_stay(found, why);
        return;
    }
    const LoaderPlaces places = loader_places(headers, image, read);
    if (places.why != WhyNotSplit::nothing) {
        all_stay(found, places.why);
        return;
    }
    mark_taken(found, places, image, read, shortest);
    if (!mark_relocated(found, image, read)) {
        all_stay(found, WhyNotSplit::unreadable);
        return;
    }
    constexpr std::uint32_t unfit = IMAGE_SCN_MEM_SHARED | IMAGE_SCN_MEM_EXECUTE;
    for (Found& it : found) {
        if ((image.sections[it.run.section].characteristics & unfit) != 0) {
            it.why = WhyNotSplit::section_flags;
        }
    }
}

/// What is joined again must be what was split, for both readers.
bool joins(ByteView headers, const PeImage& image, std::uint64_t file_size, const Split& split) {
    try {
        const std::vector<std::uint8_t> after = split_headers(headers, image, split);
        const auto joined = joined_headers(after, read_pe(after, file_size));
        const auto moved = split.moves_nt_headers ? moved_headers(headers, image)
                                                  : std::optional(std::vector(headers.begin(), headers.end()));
        return joined && joined == moved;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::uint64_t Survey::bytes_left() const {
    std::uint64_t bytes = 0;
    for (const Found& it : found) {
        bytes += it.why == WhyNotSplit::nothing ? 0 : it.run.size;
    }
    return bytes;
}

WhyNotSplit Survey::why_left() const {
    const auto left = [](const Found& it) { return it.why == WhyNotSplit::nothing ? 0 : it.run.size; };
    const auto largest =
        std::max_element(found.begin(), found.end(), [&](const Found& a, const Found& b) { return left(a) < left(b); });
    return largest == found.end() ? WhyNotSplit::nothing : largest->why;
}

Survey survey(ByteView headers, const PeImage& image, std::uint64_t file_size, const ReadAt& read,
              std::uint32_t shortest) {
    Survey result;
    result.found = find_all(image, read, shortest);
    if (result.found.empty()) {
        return result;
    }
    judge(result.found, headers, image, read, shortest);
    std::vector<Run> runs;
    for (const Found& it : result.found) {
        if (it.why == WhyNotSplit::nothing) {
            runs.push_back(it.run);
        }
    }
    if (runs.empty()) {
        return result;
    }
    result.split = choose_split(headers, image, runs);
    const bool good = result.split.pages.empty() || joins(headers, image, file_size, result.split);
    if (!good) {
        result.split = {};
    }
    for (Found& it : result.found) {
        const auto& pages = result.split.pages;
        if (it.why == WhyNotSplit::nothing &&
            std::find(pages.begin(), pages.end(), pages_of(it.run, image)) == pages.end()) {
            it.why = good ? WhyNotSplit::no_room : WhyNotSplit::not_joining;
        }
    }
    return result;
}

bool holds_fat_binaries(const PeImage& image, const ReadAt& read) {
    return !find_all(image, read, RUN_MIN).empty();
}

}  // namespace fixnvpe
