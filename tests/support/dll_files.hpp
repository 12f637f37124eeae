#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/patch/examine.hpp"
#include "fixnvpe/patch/undo_file.hpp"
#include "fixnvpe/pe/reader.hpp"
#include "support/headers.hpp"
#include "support/os.hpp"

/// DLLs and what stands beside them, as the bytes of files.
namespace fixnvpe::test {

/// The whole of testdata/pe/NAME.
inline std::string pe_file(const std::string& name) {
    const Headers headers = fixture(name);
    return {headers.bytes.begin(), headers.bytes.end()};
}

/// As much of a file as read_dll() reads of it.
inline std::vector<std::uint8_t> header_bytes(const std::string& file) {
    const std::string first = file.substr(0, HEADER_BYTES_MIN);
    return Headers{"", {first.begin(), first.end()}, file.size()}.window();
}

inline std::vector<Edit> edits_for(const std::string& file, AslrPolicy policy = AslrPolicy::automatic) {
    return make_plan(read_pe(header_bytes(file), file.size()), file.size(), policy).edits;
}

/// The file with these edits carried out.
inline std::string edited(const std::string& file, const std::vector<Edit>& edits) {
    std::vector<std::uint8_t> bytes(file.begin(), file.end());
    apply_edits(edits, bytes);
    return {bytes.begin(), bytes.end()};
}

inline std::string patched(const std::string& file, AslrPolicy policy = AslrPolicy::automatic) {
    return edited(file, edits_for(file, policy));
}

/// The undo file of patched(original).
inline std::string undo_file(const std::string& original, const std::string& name,
                             std::optional<std::int64_t> modified = {}) {
    return to_json({name, original.size(), modified, header_bytes(original), {}, edits_for(original)});
}

/// The look that patch and restore take at a DLL.
inline Query query_of(const std::filesystem::path& dll) {
    Query query;
    query.path = dll;
    query.candidates = sidecars_of(dll);
    return query;
}

/// The file keeps its time, whatever `change` does to it.
template <typename Change>
void at_the_same_time(const std::filesystem::path& path, Change change) {
    const auto time = std::filesystem::last_write_time(path);
    change();
    std::filesystem::last_write_time(path, time);
}

}  // namespace fixnvpe::test
