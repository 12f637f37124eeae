#include "fixnvpe/os/file.hpp"

#include <fmt/format.h>

#include "file_steps.hpp"

namespace fixnvpe::os {

namespace fs = std::filesystem;

Error not_regular(const fs::path& path, std::string_view step, Hint hint) {
    return Error(ErrorCode::not_regular_file, fmt::format("{}: not a regular file", step), hint).at(path);
}

void must_be_same(const File& file, const FileInfo& named) {
    if (file.opened_as().identity != named.identity) {
        throw Error(ErrorCode::changed, "open for writing: another program changed the file meanwhile", Hint::run_again)
            .at(file.path());
    }
}

File::File(fs::path path, Handle handle, std::string_view step) : path_(std::move(path)), handle_(std::move(handle)) {
    opened_as_ = info();
    if (opened_as_.type != FileType::regular) {
        throw not_regular(path_, step);
    }
}

FileInfo File::info() const {
    return info_by_handle(handle_, path_);
}

std::size_t File::read_at(std::uint64_t offset, ByteSpan buffer) const {
    std::size_t done = 0;
    while (done < buffer.size()) {
        const std::size_t got = read_some(*this, offset + done, buffer.subspan(done));
        if (got == 0) {
            break;
        }
        done += got;
    }
    return done;
}

void File::write_at(std::uint64_t offset, ByteView bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        done += write_some(*this, offset + done, bytes.subspan(done));
    }
}

}  // namespace fixnvpe::os
