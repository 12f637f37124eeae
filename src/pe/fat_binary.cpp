#include "fixnvpe/pe/fat_binary.hpp"

#include <algorithm>
#include <array>

namespace fixnvpe {
namespace {

constexpr std::uint64_t ALIGNMENT = 16;
constexpr std::array<std::uint8_t, 4> MAGIC{0x50, 0xED, 0x55, 0xBA};
constexpr std::uint16_t VERSION = 1;
constexpr std::uint16_t HEADER_SIZE = 16;
constexpr std::uint16_t ENTRY_VERSION = 0x0101;
constexpr std::uint64_t ENTRY_FIELDS = 16;
constexpr std::uint64_t ENTRY_HEADER_MIN = 64;
constexpr std::uint64_t ENTRY_ALIGNMENT = 8;

/// Bytes that are read at once: on a jump, and where every byte is looked at.
constexpr std::size_t JUMP = 256;
constexpr std::size_t STRETCH = std::size_t{1} << 18;

/// Entries in all that are followed in vain. A forged file could make each of its bytes lead through all that follow.
constexpr std::uint64_t STEPS_IN_VAIN_MAX = std::uint64_t{1} << 18;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

class Finder {
public:
    Finder(const Section& section, const ReadAt& read)
        : begin_(section.pointer_to_raw_data),
          end_(section.virtual_size == 0 ? section.size_of_raw_data
                                         : std::min(section.size_of_raw_data, section.virtual_size)),
          read_(read) {}

    [[nodiscard]] std::uint64_t end() const { return end_; }

    /// Bytes of the fat binary that begins at `at`; 0 if none does.
    std::uint64_t size_at(std::uint64_t at) {
        if (end_ - at < HEADER_SIZE) {
            return 0;
        }
        const ByteView header = bytes(at, HEADER_SIZE, JUMP);
        if (!std::equal(MAGIC.begin(), MAGIC.end(), header.begin()) || load_le<std::uint16_t>(header, 4) != VERSION ||
            load_le<std::uint16_t>(header, 6) != HEADER_SIZE) {
            return 0;
        }
        const auto size = load_le<std::uint64_t>(header, 8);
        if (size == 0 || size > end_ - at - HEADER_SIZE) {
            return 0;
        }
        const std::uint64_t end = at + HEADER_SIZE + size;
        std::uint64_t steps = 0;
        for (std::uint64_t entry = at + HEADER_SIZE; entry != end; ++steps) {
            const std::uint64_t length = entry_size(entry, end);
            if (length == 0) {
                in_vain_ += steps + 1;
                return 0;
            }
            entry += length;
        }
        return HEADER_SIZE + size;
    }

    [[nodiscard]] bool zeros(std::uint64_t from, std::uint64_t to) {
        if (to > end_) {
            return false;
        }
        const ByteView view = bytes(from, static_cast<std::size_t>(to - from), JUMP);
        return std::all_of(view.begin(), view.end(), [](std::uint8_t byte) { return byte == 0; });
    }

    /// The first multiple of 16 from `at` on where a magic stands; the end if there is none, or enough was tried.
    std::uint64_t next_magic(std::uint64_t at) {
        if (in_vain_ > STEPS_IN_VAIN_MAX) {
            return end_;
        }
        // The next one is often near.
        for (std::size_t stretch = JUMP; at < end_ && end_ - at >= HEADER_SIZE;
             stretch = std::min(2 * stretch, STRETCH)) {
            const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(end_ - at, stretch));
            const ByteView view = bytes(at, length, length);
            for (std::size_t i = 0; i + MAGIC.size() <= length; i += ALIGNMENT) {
                if (view[i] == MAGIC[0] && view[i + 1] == MAGIC[1] && view[i + 2] == MAGIC[2] &&
                    view[i + 3] == MAGIC[3]) {
                    return at + i;
                }
            }
            at += length / ALIGNMENT * ALIGNMENT;
        }
        return end_;
    }

private:
    /// 0 if it is none, or passes the end of its fat binary.
    std::uint64_t entry_size(std::uint64_t at, std::uint64_t end) {
        if (end - at < ENTRY_HEADER_MIN) {
            return 0;
        }
        const ByteView fields = bytes(at, ENTRY_FIELDS, JUMP);
        const std::uint64_t header = load_le<std::uint32_t>(fields, 4);
        const auto payload = load_le<std::uint64_t>(fields, 8);
        const bool valid = load_le<std::uint16_t>(fields, 2) == ENTRY_VERSION && header >= ENTRY_HEADER_MIN &&
                           header % ENTRY_ALIGNMENT == 0 && payload % ENTRY_ALIGNMENT == 0 && header <= end - at &&
                           payload <= end - at - header;
        return valid ? header + payload : 0;
    }

    /// @param at    from the start of the section, before its end
    /// @param ahead how much to read if it must be read
    ByteView bytes(std::uint64_t at, std::size_t count, std::size_t ahead) {
        if (at < held_from_ || at + count > held_from_ + held_) {
            const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end_ - at, std::max(count, ahead)));
            held_ = 0;
            if (read_(begin_ + at, ByteSpan(buffer_).first(wanted)) != wanted) {
                throw Error(ErrorCode::truncated, "read data: the file ends inside one of its sections",
                            Hint::cut_short);
            }
            held_from_ = at;
            held_ = wanted;
        }
        return ByteView(buffer_).subspan(static_cast<std::size_t>(at - held_from_), count);
    }

    std::uint64_t begin_;  ///< file offset
    std::uint64_t end_;    ///< from there
    const ReadAt& read_;
    std::uint64_t in_vain_ = 0;
    std::uint64_t held_from_ = 0;
    std::size_t held_ = 0;
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(STRETCH);
};

}  // namespace

bool may_hold_runs(const Section& section, std::uint32_t shortest) {
    return section.writable() && !section.is_fatbin() && section.size_of_raw_data >= shortest;
}

std::vector<Run> find_runs(const PeImage& image, std::size_t section, const ReadAt& read,
                           const std::function<void(std::uint32_t address)>& visit, std::uint32_t shortest) {
    const std::uint32_t address = image.sections[section].virtual_address;
    Finder finder(image.sections[section], read);
    std::vector<Run> runs;
    std::uint64_t from = 0;  // of the run
    std::uint64_t to = 0;
    const auto close = [&] {
        if (to - from >= shortest && to != from) {
            runs.push_back(
                {section, address + static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)});
        }
    };
    for (std::uint64_t at = 0; at < finder.end();) {
        const bool follows = to != 0 && at == round_up(to, ALIGNMENT) && finder.zeros(to, at);
        const std::uint64_t size = finder.size_at(at);
        if (size == 0) {
            at = finder.next_magic(at + ALIGNMENT);
            continue;
        }
        if (visit) {
            visit(address + static_cast<std::uint32_t>(at));
        }
        if (!follows) {
            close();
            from = at;
        }
        to = at + size;
        at = round_up(to, ALIGNMENT);
    }
    close();
    return runs;
}

}  // namespace fixnvpe
