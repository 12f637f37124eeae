#include "fixnvpe/patch/dll.hpp"

#include <algorithm>
#include <utility>

#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {

std::vector<std::uint8_t> read_header_window(const os::File& file, std::uint64_t file_size) {
    std::vector<std::uint8_t> window;
    // Three rounds at the most: the first window shows e_lfanew, the next one the counts.
    for (std::size_t extent = HEADER_BYTES_MIN; extent > window.size(); extent = header_extent(window, file_size)) {
        const std::size_t old_size = window.size();
        window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(extent, file_size)));
        const std::size_t wanted = window.size() - old_size;
        if (file.read_at(old_size, ByteSpan(window).subspan(old_size)) != wanted) {
            throw Error(ErrorCode::changed, "read headers: the file became shorter meanwhile", Hint::run_again)
                .at(file.path());
        }
        if (window.empty()) {
            break;
        }
    }
    return window;
}

PeFile read_pe_file(const os::File& file) {
    PeFile result;
    result.info = file.opened_as();
    result.window = read_header_window(file, result.info.size);
    result.image = read_pe(result.window, result.info.size);
    return result;
}

PeFile read_pe_file(const std::filesystem::path& path) {
    return read_pe_file(os::File::open_to_read(path));
}

}  // namespace fixnvpe
