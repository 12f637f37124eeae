#include "fixnvpe/patch/undo_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/pe/checksum.hpp"

namespace fixnvpe {
namespace {

constexpr int SCHEMA = 1;
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
    nlohmann::ordered_json json{{"schema", SCHEMA},
                                {"tool", TOOL},
                                {"version", FIXNVPE_VERSION},
                                {"file", record.file_name},
                                {"size", record.file_size},
                                {"fingerprint", record.fingerprint},
                                {"edits", edits}};
    if (record.modified) {
        json["modified"] = *record.modified;
    }
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

UndoRecord parse_undo(std::string_view text) {
    try {
        const nlohmann::json json = parse_json(text);
        if (json.at("schema") != SCHEMA || json.at("tool") != TOOL) {
            bad("it was written by another program, or by a newer fixnvpe");
        }
        UndoRecord record;
        record.file_name = json.at("file").get<std::string>();
        record.file_size = parse_u64(json, "size");
        record.fingerprint = parse_u64(json, "fingerprint");
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

UndoProgress check_undo(const UndoRecord& record, std::uint64_t file_size, ByteView window, const PeImage& image) {
    if (record.file_size != file_size || record.fingerprint != header_fingerprint(window, image)) {
        throw Error(ErrorCode::stale_backup, "check the undo file: it was made for another build of this file");
    }
    if (record.edits.empty()) {
        bad("it holds no edits");
    }
    const std::vector<Edit> fields = editable_fields(image);
    std::set<std::uint32_t> seen;
    std::size_t done = 0;
    std::size_t open = 0;
    for (const Edit& edit : record.edits) {
        const auto field = std::find_if(fields.begin(), fields.end(), [&](const Edit& f) {
            return f.field == edit.field && f.offset == edit.offset;
        });
        if (field == fields.end()) {
            no_such_field(edit);
        }
        if (!seen.insert(edit.offset).second) {
            bad(fmt::format("{} at offset {} is named twice", to_string(edit.field), edit.offset));
        }
        if (((edit.before ^ edit.after) & ~editable_bits(edit.field)) != 0) {
            bad(fmt::format("{} at offset {} changes other bits than fixnvpe does", to_string(edit.field),
                            edit.offset));
        }
        const std::uint32_t current = field->before;
        if (current != edit.before && current != edit.after) {
            throw Error(ErrorCode::stale_backup,
                        fmt::format("check the undo file: {} at offset {} was changed by another program",
                                    to_string(edit.field), edit.offset));
        }
        done += current == edit.after ? 1 : 0;
        open += current == edit.before ? 1 : 0;
    }
    // Where CheckSum can be right, a patch changes it, too.
    const bool has_check_sum = std::any_of(record.edits.begin(), record.edits.end(),
                                           [](const Edit& e) { return e.field == Field::check_sum; });
    if (!has_check_sum && check_sum_state(image.check_sum, file_size) == CheckSumState::plausible) {
        throw Error(ErrorCode::stale_backup, "check the undo file: CheckSum was changed by another program");
    }
    if (open == record.edits.size()) {
        return UndoProgress::none;
    }
    return done == record.edits.size() ? UndoProgress::all : UndoProgress::half;
}

}  // namespace fixnvpe
