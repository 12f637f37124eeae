#include "fixnvpe/patch/undo_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

constexpr int SCHEMA = 2;
constexpr int SCHEMA_WITHOUT_HEADERS = 1;
constexpr const char* TOOL = "fixnvpe";

[[noreturn]] void bad(std::string_view what) {
    throw Error(ErrorCode::bad_undo, fmt::format("read the undo file: {}", what), Hint::leave_backup);
}

/// Words of the file's in a message: anybody may have written them, at any length.
std::string quoted(const std::string& text) {
    constexpr std::size_t columns = 40;
    return fmt::format("\"{}\"", shorten_middle(printable(text), columns));
}

/// Reads what an undo file may hold: an object, a list in it, and objects in that. What is nested deeper is none, and
/// would take many times its length in memory; of two equal keys another reader could take the other one.
nlohmann::json parse_json(std::string_view text) {
    using Event = nlohmann::json::parse_event_t;
    constexpr int deepest = 2;
    std::vector<std::set<std::string>> keys;
    return nlohmann::json::parse(text, [&](int depth, Event event, const nlohmann::json& value) {
        if ((event == Event::object_start || event == Event::array_start) && depth > deepest) {
            bad("it is nested too deep for one");
        }
        if (event == Event::object_start) {
            keys.emplace_back();
        } else if (event == Event::object_end) {
            keys.pop_back();
        } else if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
            bad(fmt::format("it names {} twice", quoted(value.get<std::string>())));
        }
        return true;
    });
}

Field parse_field(const std::string& name) {
    if (const std::optional<Field> field = from_string<Field>(name)) {
        return *field;
    }
    bad(fmt::format("{} is no field that fixnvpe changes", quoted(name)));
}

std::uint32_t parse_u32(const nlohmann::json& object, const char* key) {
    const auto& value = object.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) {
        bad(fmt::format("\"{}\" is no number of 32 bits", key));
    }
    return value.get<std::uint32_t>();
}

[[noreturn]] void no_such_field(const Edit& edit) {
    bad(fmt::format("{} at offset {} is no field of this file that fixnvpe changes", to_string(edit.field),
                    edit.offset));
}

Edit parse_edit(const nlohmann::json& object) {
    const Edit edit{parse_field(object.at("field").get<std::string>()), parse_u32(object, "offset"),
                    parse_u32(object, "before"), parse_u32(object, "after")};
    if (parse_u32(object, "width") != edit.width()) {
        no_such_field(edit);
    }
    return edit;
}

std::int64_t parse_i64(const nlohmann::json& object, const char* key) {
    const auto& value = object.at(key);
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits) {
        bad(fmt::format("\"{}\" is no number of 64 bits", key));
    }
    return value.get<std::int64_t>();
}

std::uint64_t parse_u64(const nlohmann::json& object, const char* key) {
    const auto& value = object.at(key);
    if (!value.is_number_unsigned()) {
        bad(fmt::format("\"{}\" is no number", key));
    }
    return value.get<std::uint64_t>();
}

std::vector<std::uint8_t> parse_headers(const nlohmann::json& object) {
    auto bytes = from_hex(object.at("headers").get<std::string>());
    if (!bytes) {
        bad("\"headers\" are no bytes");
    }
    return std::move(*bytes);
}

Split parse_split(const nlohmann::json& object) {
    if (!object.at("split").is_array()) {
        bad("\"split\" is no list");
    }
    Split split;
    split.moves_nt_headers = object.at("moves_nt_headers").get<bool>();
    for (const auto& pages : object.at("split")) {
        split.pages.push_back({parse_u32(pages, "address"), parse_u32(pages, "size")});
    }
    return split;
}

/// What schema 1 does not say of the original's headers, the DLL does.
std::vector<std::uint8_t> headers_by_dll(const UndoRecord& record, const FileHeaders& dll) {
    if (record.file_size != dll.file_size || record.fingerprint != header_fingerprint(dll.bytes, dll.image)) {
        throw Error(ErrorCode::stale_backup, "check the undo file: it was made for another build of this file");
    }
    const std::vector<Edit> fields = editable_fields(dll.image);
    std::vector<std::uint8_t> headers(dll.bytes.begin(), dll.bytes.end());
    for (const Edit& edit : record.edits) {
        const auto present = std::find_if(fields.begin(), fields.end(), [&](const Edit& f) {
            return f.field == edit.field && f.offset == edit.offset;
        });
        if (present == fields.end()) {
            no_such_field(edit);
        }
        if (present->before != edit.before && present->before != edit.after) {
            throw Error(ErrorCode::stale_backup,
                        fmt::format("check the undo file: {} at offset {} was changed by another program",
                                    to_string(edit.field), edit.offset));
        }
        store_le(headers, edit.offset, edit.width(), edit.before);
    }
    return headers;
}

PeImage read_original(ByteView headers, std::uint64_t file_size) {
    try {
        return read_pe(headers, file_size);
    } catch (const Error&) {
        bad("\"headers\" are those of no PE file");
    }
}

/// @throws Error bad_undo
std::vector<std::uint8_t> split_as_recorded(ByteView headers, const UndoRecord& record) {
    try {
        return split_headers(headers, read_pe(headers, record.file_size), record.split);
    } catch (const Error&) {
        bad("it splits what can't be split");
    }
}

/// @throws Error bad_undo
void must_be_edits_of(const UndoRecord& record, const PeImage& original) {
    const std::vector<Edit>& edits = record.edits;
    if (edits.empty() && record.split.pages.empty()) {
        bad("it holds no edits");
    }
    const std::vector<Edit> fields = editable_fields(original);
    std::set<std::uint32_t> seen;
    for (const Edit& edit : edits) {
        const auto field = std::find_if(fields.begin(), fields.end(), [&](const Edit& f) {
            return f.field == edit.field && f.offset == edit.offset;
        });
        if (field == fields.end()) {
            no_such_field(edit);
        }
        if (!seen.insert(edit.offset).second) {
            bad(fmt::format("{} at offset {} is named twice", to_string(edit.field), edit.offset));
        }
        if (field->before != edit.before) {
            bad(fmt::format("{} at offset {} is not that of its headers", to_string(edit.field), edit.offset));
        }
        if (((edit.before ^ edit.after) & ~editable_bits(edit.field)) != 0) {
            bad(fmt::format("{} at offset {} changes other bits than fixnvpe does", to_string(edit.field),
                            edit.offset));
        }
    }
}

}  // namespace

std::uint64_t header_fingerprint(ByteView window, const PeImage& image) {
    std::vector<std::uint8_t> copy(window.begin(), window.end());
    clear_editable_bits(image, copy);
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const std::uint8_t byte : copy) {
        hash = (hash ^ byte) * 0x00000100000001B3;
    }
    return hash;
}

std::string to_json(const UndoRecord& record) {
    nlohmann::ordered_json edits = nlohmann::ordered_json::array();
    for (const Edit& edit : record.edits) {
        edits.push_back({{"field", to_string(edit.field)},
                         {"offset", edit.offset},
                         {"width", edit.width()},
                         {"before", edit.before},
                         {"after", edit.after}});
    }
    nlohmann::ordered_json json{
        {"schema", SCHEMA},         {"tool", TOOL},   {"version", FIXNVPE_VERSION},       {"file", record.file_name},
        {"size", record.file_size}, {"edits", edits}, {"headers", to_hex(record.headers)}};
    if (record.modified) {
        json["modified"] = *record.modified;
    }
    if (!record.split.pages.empty()) {
        json["moves_nt_headers"] = record.split.moves_nt_headers;
        json["split"] = nlohmann::ordered_json::array();
        for (const Pages& pages : record.split.pages) {
            json["split"].push_back({{"address", pages.address}, {"size", pages.size}});
        }
    }
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

UndoRecord parse_undo(std::string_view text) {
    try {
        const nlohmann::json json = parse_json(text);
        const nlohmann::json& schema = json.at("schema");
        if ((schema != SCHEMA && schema != SCHEMA_WITHOUT_HEADERS) || json.at("tool") != TOOL) {
            bad("it was written by another program, or by a newer fixnvpe");
        }
        UndoRecord record;
        record.file_name = json.at("file").get<std::string>();
        record.file_size = parse_u64(json, "size");
        if (schema == SCHEMA_WITHOUT_HEADERS) {
            record.fingerprint = parse_u64(json, "fingerprint");
        } else {
            record.headers = parse_headers(json);
        }
        if (json.contains("modified")) {
            record.modified = parse_i64(json, "modified");
        }
        const auto& edits = json.at("edits");
        if (!edits.is_array()) {
            bad("\"edits\" is no list");
        }
        for (const auto& edit : edits) {
            record.edits.push_back(parse_edit(edit));
        }
        if (json.contains("split")) {
            record.split = parse_split(json);
        }
        return record;
    } catch (const nlohmann::json::exception&) {
        // Its message quotes the file's bytes.
        bad("it is damaged, or no undo file");
    }
}

UndoRecord read_undo(const os::File& file) {
    const std::uint64_t size = file.opened_as().size;
    if (size > UNDO_FILE_MAX) {
        bad(fmt::format("it has {}, which is too long for one", human_size(size)));
    }
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    bytes.resize(file.read_at(0, bytes));
    return parse_undo(std::string(bytes.begin(), bytes.end()));
}

UndoEnds ends_of(const UndoRecord& record, const FileHeaders& dll) {
    UndoEnds ends;
    ends.original = record.fingerprint ? headers_by_dll(record, dll) : record.headers;
    ends.image = read_original(ends.original, record.file_size);
    must_be_edits_of(record, ends.image);
    ends.edited = ends.original;
    apply_edits(record.edits, ends.edited);
    ends.check_sum_after = load_le<std::uint32_t>(ends.edited, ends.image.layout.check_sum());
    if (!record.split.pages.empty()) {
        ends.edited = split_as_recorded(ends.edited, record);
    }
    return ends;
}

bool is_between(const UndoEnds& ends, ByteView headers) {
    const auto equals = [&](const std::vector<std::uint8_t>& end) {
        return std::equal(headers.begin(), headers.end(), end.begin(), end.end());
    };
    if (headers.size() != ends.original.size() || equals(ends.original) || equals(ends.edited)) {
        return false;
    }
    for (std::size_t i = 0; i < headers.size(); ++i) {
        if (headers[i] != ends.original[i] && headers[i] != ends.edited[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace fixnvpe
