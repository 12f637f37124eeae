#include "fixnvpe/patch/dll.hpp"

#include <algorithm>

#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {

std::vector<std::uint8_t> read_headers(const os::File& file, std::uint64_t file_size) {
    std::vector<std::uint8_t> headers;
    // Three rounds at the most: the first bytes show e_lfanew, the next ones the counts.
    for (std::size_t extent = HEADER_BYTES_MIN; extent > headers.size(); extent = header_extent(headers, file_size)) {
        const std::size_t old_size = headers.size();
        headers.resize(static_cast<std::size_t>(std::min<std::uint64_t>(extent, file_size)));
        const std::size_t wanted = headers.size() - old_size;
        if (file.read_at(old_size, ByteSpan(headers).subspan(old_size)) != wanted) {
            throw Error(ErrorCode::changed, "read headers: the file became shorter meanwhile", Hint::run_again)
                .at(file.path());
        }
        if (headers.empty()) {
            break;
        }
    }
    return headers;
}

ReadAt reader_of(const os::File& file) {
    return [&file](std::uint64_t offset, ByteSpan into) { return file.read_at(offset, into); };
}

bool begins_with(const os::File& file, const std::vector<std::uint8_t>& headers) {
    std::vector<std::uint8_t> bytes(headers.size());
    return file.read_at(0, bytes) == bytes.size() && bytes == headers;
}

Dll read_dll(const os::File& file) {
    Dll dll;
    dll.path = file.path();
    dll.info = file.opened_as();
    dll.headers = read_headers(file, dll.info.size);
    dll.image = read_pe(dll.headers, dll.info.size);
    return dll;
}

Dll read_dll(const std::filesystem::path& path) {
    return read_dll(os::File::open_to_read(path));
}

}  // namespace fixnvpe
