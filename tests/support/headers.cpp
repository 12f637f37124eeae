#include "support/headers.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "fixnvpe/pe/reader.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

Headers read_fixture(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path.string());
    }
    Headers headers;
    headers.name = path.filename().string();
    headers.bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    headers.file_size = headers.bytes.size();
    return headers;
}

}  // namespace

std::vector<std::uint8_t> Headers::window() const {
    std::vector<std::uint8_t> window = bytes;
    window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(window.size(), file_size)));
    for (std::size_t extent = header_extent(window, file_size); extent > window.size();
         extent = header_extent(window, file_size)) {
        window.resize(extent);
    }
    return window;
}

Headers headers_of(const PeSpec& spec) {
    const TestFile file = build(spec);
    return {"built", file.first(HEADER_BYTES_MIN), file.size};
}

std::vector<Headers> fixtures() {
    std::vector<Headers> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(FIXNVPE_TESTDATA_DIR "/pe")) {
        all.push_back(read_fixture(entry.path()));
    }
    std::sort(all.begin(), all.end(), [](const Headers& a, const Headers& b) { return a.name < b.name; });
    if (all.empty()) {
        throw std::runtime_error("no fixtures in " FIXNVPE_TESTDATA_DIR "/pe");
    }
    return all;
}

Headers fixture(const std::string& name) {
    return read_fixture(fs::path(FIXNVPE_TESTDATA_DIR "/pe") / name);
}

std::vector<Headers> shapes() {
    std::vector<Headers> all;
    for (const Shape& shape : read_shapes()) {
        all.push_back({shape.name, shape.file().first(HEADER_BYTES_MIN), shape.file_size});
    }
    return all;
}

PeImage read_pe_raw(ByteView headers, std::uint64_t file_size) {
    return read_pe_raw(headers, locate_headers(headers, file_size));
}

#if FIXNVPE_WITH_LIEF
PeImage read_pe_lief(ByteView headers, std::uint64_t file_size) {
    return read_pe_lief(headers, locate_headers(headers, file_size));
}
#endif

Reading reading(Reader reader, const Headers& headers) {
    try {
        return {reader(headers.window(), headers.file_size), {}, {}};
    } catch (const Error& e) {
        return {{}, e.code(), e.message()};
    }
}

}  // namespace fixnvpe::test
