#include "fixnvpe/os/copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "copy_steps.hpp"
#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"

namespace fixnvpe::os {
namespace {

void must_fit(const FileInfo& source, const File& to) {
    const std::uint64_t needed = std::min(source.size, source.allocated);
    if (const std::uint64_t available = free_space(to); available < needed) {
        throw Error(ErrorCode::disk_full,
                    fmt::format("copy: needs {}, has {}", human_size(needed), human_size(available)), Hint::free_space)
            .at(to.path());
    }
}

/// What every file system can do.
std::uint64_t copy_through_memory(const File& from, File& to, std::uint64_t offset, std::uint64_t size,
                                  std::vector<std::uint8_t>& buffer) {
    constexpr std::size_t chunk = std::size_t{1} << 20;
    buffer.resize(chunk);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, chunk));
    const std::size_t got = from.read_at(offset, ByteSpan(buffer).first(wanted));
    to.write_at(offset, ByteView(buffer).first(got));
    return got;
}

}  // namespace

void copy_contents(const File& from, File& to, const CopyProgress& progress) {
    const FileInfo source = from.info();
    copy_kind(from, to);
    if (clone(from, to, source.size, progress)) {
        return;
    }
    must_fit(source, to);
    set_size(to, source.size);  // the length first: holes come by themselves
    std::vector<std::uint8_t> buffer;
    bool in_kernel = true;
    std::uint64_t done = 0;
    for (Stretch data; done < source.size; progress(done)) {
        if (done == data.end) {
            data = next_data(from, done, source.size);
            done = data.begin;
            if (done == source.size) {
                continue;  // nothing but a hole up to the end
            }
        }
        std::uint64_t copied = in_kernel ? copy_in_kernel(from, to, done, data.end - done) : 0;
        if (copied == 0) {
            in_kernel = false;
            copied = copy_through_memory(from, to, done, data.end - done, buffer);
        }
        if (copied == 0) {
            break;  // the file ends here
        }
        done += copied;
    }
    if (done < source.size || from.info().size != source.size) {
        throw Error(ErrorCode::changed, "copy: the file changed meanwhile", Hint::run_again).at(from.path());
    }
}

}  // namespace fixnvpe::os
