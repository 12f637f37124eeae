#include "fixnvpe/commands/measured.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/pe/commit_charge.hpp"
#include "fixnvpe/pe/headers.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

/// What an image must have in writable pages to be named without GPU code.
constexpr std::uint64_t LARGE = std::uint64_t{8} << 20;

/// The mapped headers are those of the file, and there is no file that they could be longer than.
std::vector<Section> sections_of(const std::vector<std::uint8_t>& headers) {
    try {
        return read_pe_raw(headers, locate_headers(headers, std::numeric_limits<std::uint32_t>::max())).sections;
    } catch (const Error&) {
        return {};
    }
}

/// Bytes of a region that lie in a section, in whole pages.
std::uint64_t overlap(const os::ImageRegion& region, const Section& section) {
    const std::uint64_t begin = section.virtual_address;
    const std::uint64_t end = begin + mapped_size(section);
    const std::uint64_t first = std::max(region.rva, begin);
    const std::uint64_t last = std::min(region.rva + region.size, end);
    return first < last ? last - first : 0;
}

MeasuredImage measured(const os::MappedImage& image) {
    MeasuredImage result;
    result.file = image.file;
    const std::vector<Section> sections = sections_of(image.headers);
    for (const os::ImageRegion& region : image.regions) {
        result.writable += region.writable ? region.size : 0;
        for (const Section& section : sections) {
            if (section.is_fatbin()) {
                (region.writable ? result.gpu_writable : result.gpu_read_only) += overlap(region, section);
            }
        }
    }
    result.writable = image.commit.value_or(result.writable);
    return result;
}

/// How many of this size; without a size any number.
std::optional<std::uint64_t> how_many(std::uint64_t left, std::uint64_t size) {
    return size != 0 ? std::optional(left / size) : std::nullopt;
}

/// The first word of a command line, which is taken off it.
std::string take_word(std::string_view& line) {
    while (line.starts_with(' ')) {
        line.remove_prefix(1);
    }
    const bool quoted = line.starts_with('"');
    line.remove_prefix(quoted ? 1 : 0);
    const std::size_t end = std::min(line.find(quoted ? '"' : ' '), line.size());
    std::string word(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

std::string without_folder(const std::string& path) {
    const std::size_t separator = path.find_last_of("\\/");
    return separator == std::string::npos ? path : path.substr(separator + 1);
}

}  // namespace

std::uint64_t MeasuredProcess::gpu_writable() const {
    std::uint64_t sum = 0;
    for (const MeasuredImage& image : images) {
        sum += image.gpu_writable;
    }
    return sum;
}

std::uint64_t MeasuredProcess::committed() const {
    std::uint64_t sum = 0;
    for (const MeasuredImage& image : images) {
        sum += image.writable;
    }
    return std::max(private_commit, sum);
}

bool MeasuredProcess::has_gpu_code() const {
    return std::any_of(images.begin(), images.end(),
                       [](const MeasuredImage& image) { return image.gpu_writable + image.gpu_read_only != 0; });
}

Verdict judge(const Measurement& measurement) {
    Verdict verdict;
    const os::SystemMemory& system = measurement.system;
    verdict.left = system.limit - std::min(system.limit, system.commit);
    const MeasuredProcess* largest = nullptr;
    for (const MeasuredProcess& process : measurement.processes) {
        for (const MeasuredImage& image : process.images) {
            (image.needs_restart() ? verdict.restart_frees : verdict.patching_frees) += image.gpu_writable;
            verdict.freed += image.on_disk == Status::patched ? image.gpu_read_only : 0;
        }
        if (largest == nullptr || process.committed() > largest->committed()) {
            largest = &process;
        }
    }
    if (largest != nullptr) {
        const std::uint64_t size = largest->committed();
        const std::uint64_t after = size - std::min(size, largest->gpu_writable());
        verdict.largest_rest = after;
        verdict.more_now = how_many(verdict.left, size);
        verdict.more_after = how_many(verdict.left + verdict.patching_frees + verdict.restart_frees, after);
    }
    return verdict;
}

MeasuredProcess measured(const os::ProcessMemory& memory) {
    MeasuredProcess process;
    process.id = memory.id;
    process.name = memory.name;
    process.script = script_of(memory.command_line);
    process.private_commit = memory.private_commit;
    process.peak_commit = memory.peak_commit;
    for (const os::MappedImage& image : memory.images) {
        MeasuredImage found = measured(image);
        if (found.gpu_writable + found.gpu_read_only != 0 || found.writable >= LARGE) {
            process.images.push_back(std::move(found));
        }
    }
    std::stable_sort(process.images.begin(), process.images.end(), [](const MeasuredImage& a, const MeasuredImage& b) {
        return std::pair(a.gpu_writable, a.writable) > std::pair(b.gpu_writable, b.writable);
    });
    return process;
}

std::string script_of(const std::string& command_line) {
    std::string_view rest = command_line;
    const std::string program = without_folder(take_word(rest));
    if (!program.starts_with("python") && !program.starts_with("Python")) {
        return {};
    }
    while (!rest.empty()) {
        std::string word = take_word(rest);
        if (word == "-c") {
            return word;
        }
        if (word == "-m") {
            return "-m " + take_word(rest);
        }
        if (word == "-X" || word == "-W") {
            take_word(rest);
        } else if (!word.empty() && !word.starts_with('-')) {
            return without_folder(word);
        }
    }
    return {};
}

}  // namespace fixnvpe
