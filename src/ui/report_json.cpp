#include "fixnvpe/ui/report_json.hpp"

#include <nlohmann/json.hpp>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/ui/report_text.hpp"
#include "fixnvpe/ui/words.hpp"

namespace fixnvpe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int SCHEMA = 1;
constexpr int INDENT = 2;

std::string dumped(const Json& json) {
    return json.dump(INDENT, ' ', false, Json::error_handler_t::replace);
}

/// Writes an object member by member.
class Document {
public:
    explicit Document(const Sink& sink) : sink_(sink) { sink_("{"); }

    void member(std::string_view key, const Json& value) {
        begin(key);
        sink_(indented(dumped(value), INDENT));
    }

    template <typename Files>
    void list(std::string_view key, const Files& files) {
        begin(key);
        std::string_view separator = "[\n    ";
        files([&](const Json& file) {
            sink_(separator);
            sink_(indented(dumped(file), 2 * INDENT));
            separator = ",\n    ";
        });
        sink_(separator[0] == '[' ? "[]" : "\n  ]");
    }

    void end() { sink_("\n}\n"); }

private:
    void begin(std::string_view key) {
        sink_(std::exchange(first_, false) ? "\n  " : ",\n  ");
        sink_(dumped(Json(key)) + ": ");
    }

    /// A string in JSON holds no line breaks of its own.
    static std::string indented(const std::string& text, int columns) {
        std::string result;
        for (const char c : text) {
            result += c;
            if (c == '\n') {
                result.append(static_cast<std::size_t>(columns), ' ');
            }
        }
        return result;
    }

    const Sink& sink_;
    bool first_ = true;
};

Json to_json(const Error& error, const std::string& hint) {
    Json json{{"code", to_string(error.code())}, {"message", printable(error.message())}};
    if (error.number() != 0) {
        json["number"] = error.number();
    }
    if (!hint.empty()) {
        json["hint"] = error.code() == ErrorCode::ambiguous ? printable_lines(hint) : printable(hint);
    }
    return json;
}

Json to_json(const CommitCharge& commit) {
    return {{"now", commit.now}, {"after", commit.after}, {"saved", commit.saved}};
}

/// Every key is there for every file; what is not known of it is null.
Json file_object(const std::filesystem::path& path, Status status, Action action, const std::string& package = {}) {
    Json json{{"path", to_utf8(path)}, {"status", to_string(status)}, {"action", to_string(action)}};
    json["package"] = package.empty() ? Json() : Json(printable(package));
    for (const char* key : {"machine", "size", "image_base", "dynamic_base", "high_entropy_va", "guard_cf", "signed"}) {
        json[key] = nullptr;
    }
    json["fatbin"] = Json::array();
    json["data"] = Json::array();
    json["commit"] = nullptr;
    json["edits"] = Json::array();
    json["backup"] = nullptr;
    json["warnings"] = Json::array();
    json["notes"] = Json::array();
    json["note_codes"] = Json::array();
    return json;
}

void add_reason(Json& json, const Reason& reason, const std::string& text) {
    if (reason.why != Why::nothing) {
        json["reason"] = text;
        json["reason_code"] = to_string(reason.why);
    }
}

void add_headers(Json& json, const HeaderFacts& headers, const CommitCharge& commit) {
    json["machine"] = machine_name(headers.machine);
    json["size"] = headers.size;
    json["image_base"] = headers.image_base;
    json["dynamic_base"] = headers.dynamic_base;
    json["high_entropy_va"] = headers.high_entropy_va;
    json["guard_cf"] = headers.guard_cf;
    json["signed"] = headers.is_signed;
    for (const Fatbin& fatbin : headers.fatbins) {
        json["fatbin"].push_back(
            {{"name", fatbin.name}, {"virtual_size", fatbin.virtual_size}, {"writable", fatbin.writable}});
    }
    for (const WritableData& data : headers.data) {
        json["data"].push_back({{"name", printable(data.name)}, {"bytes", data.bytes}});
    }
    json["commit"] = to_json(commit);
}

Json to_json(const FileOutcome& file, const Policy& policy) {
    Json json = file_object(file.path, file.status, file.action, file.package);
    add_reason(json, file.reason, words(file.reason));
    if (file.headers) {
        add_headers(json, *file.headers, file.commit);
    }
    for (const Edit& edit : file.edits) {
        json["edits"].push_back({{"field", to_string(edit.field)},
                                 {"offset", edit.offset},
                                 {"before", edit.before},
                                 {"after", edit.after}});
    }
    if (file.backup) {
        json["backup"] = {{"kind", to_string(file.backup->kind)},
                          {"path", to_utf8(file.backup->path)},
                          {"state", to_string(file.backup->state)}};
    }
    if (file.split) {
        Json pages = Json::array();
        for (const Pages& range : file.split->pages) {
            pages.push_back({{"address", range.address}, {"size", range.size}});
        }
        json["split"] = {
            {"planned", file.splits}, {"freed", file.split->freed}, {"pages", pages}, {"left", file.split->left}};
        if (file.split->left != 0) {
            json["split"]["reason"] = words(file.split->why_left);
            json["split"]["reason_code"] = to_string(file.split->why_left);
        }
    }
    if (file.relocated) {
        json["relocated_bytes"] = *file.relocated;
    }
    for (const Warning warning : file.warnings) {
        json["warnings"].push_back(to_string(warning));
    }
    for (const Note& note : file.notes) {
        json["notes"].push_back(words(note));
        json["note_codes"].push_back(to_string(note.code));
    }
    if (const auto error = error_of(file, policy.command)) {
        json["error"] = to_json(*error, hint_of(*error, policy));
    }
    return json;
}

Json to_json(const CleanOutcome& file, const Policy& policy) {
    Json json = file_object(file.path, file.dll_status, file.action, file.package);
    json["kind"] = to_string(file.kind);
    add_reason(json, file.reason, words_for_clean(file));
    json["freed"] = file.freed;
    if (file.error) {
        json["error"] = to_json(*file.error, hint_of(*file.error, policy));
    }
    return json;
}

Json to_json(const Error& problem, const Policy& policy) {
    Json json = file_object(problem.path(), Status::error, Action::none);
    json["error"] = to_json(problem, hint_of(problem, policy));
    return json;
}

Json to_json(const PythonEnvironment& environment, const std::vector<std::filesystem::path>& elsewhere) {
    Json nearby = Json::array();
    for (const std::filesystem::path& other : elsewhere) {
        nearby.push_back(to_utf8(other));
    }
    Json torch;
    if (environment.torch) {
        torch = {{"version", environment.torch->version},
                 {"lib", to_utf8(environment.torch->lib)},
                 {"cuda", environment.torch->cuda}};
    }
    return {{"prefix", to_utf8(environment.prefix)},
            {"chosen_by", environment.chosen_by},
            {"torch", torch},
            {"passed_over", environment.passed_over},
            {"nearby_with_cuda", nearby}};
}

Json to_json(const Totals& totals, const Summary& summary) {
    Json json;
    for (const auto& [status, name] : names_of<Status>) {
        json[std::string(name)] = totals.count(status);
    }
    json["commit"] = to_json(totals.commit);
    json["saved"] = totals.saved;
    json["freed"] = totals.freed;
    json["excluded"] = totals.excluded;
    json["workers"] = summary.workers ? Json(*summary.workers) : Json();
    json["not_begun"] = summary.not_begun;
    return json;
}

void begin(Document& document, const Json& command) {
    document.member("schema", SCHEMA);
    document.member("tool", "fixnvpe");
    document.member("version", FIXNVPE_VERSION);
    document.member("command", command);
}

}  // namespace

void report_json(const Summary& summary, const ReportStyle& style, const Sink& sink) {
    ReportStyle listed;  // -q is for people
    listed.verbose = style.verbose;
    Document document(sink);
    begin(document, to_string(summary.command));
    document.member("environment", summary.environment ? to_json(*summary.environment, summary.elsewhere) : Json());
    document.list("files", [&](const auto& add) {
        for (const FileOutcome& file : summary.files) {
            if (is_shown(file, listed)) {
                add(to_json(file, style.policy));
            }
        }
        for (const CleanOutcome& file : summary.cleaned) {
            if (is_shown(file, listed)) {
                add(to_json(file, style.policy));
            }
        }
        for (const Error& problem : summary.problems) {
            add(to_json(problem, style.policy));
        }
    });
    document.list("passed_over", [&](const auto& add) {
        for (const Skipped& skipped : summary.passed_over) {
            add(Json{{"path", to_utf8(skipped.path)},
                     {"reason", words(skipped.reason)},
                     {"reason_code", to_string(skipped.reason)}});
        }
    });
    document.list("orphans", [&](const auto& add) {
        for (const Orphan& orphan : summary.orphans) {
            add(Json(to_utf8(orphan.path)));
        }
    });
    document.list("scopes", [&](const auto& add) {
        for (const Scope& scope : summary.scopes) {
            add(Json{{"place", to_utf8(scope.place)},
                     {"environment", scope.environment},
                     {"commit", to_json(scope.totals.commit)},
                     {"saved", scope.totals.saved}});
        }
    });
    document.list("disk", [&](const auto& add) {
        for (const DiskNeed& need : summary.disk) {
            add(Json{{"folder", to_utf8(need.folder)}, {"needed", need.needed}, {"available", need.available}});
        }
    });
    document.member("summary", to_json(summary.totals, summary));
    document.member("exit_status", static_cast<int>(summary.exit_status));
    document.end();
}

std::string json_of_failure(std::string_view command, const Error& error, ExitStatus exit_status) {
    std::string text;
    const Sink sink = [&](std::string_view piece) { text += piece; };
    Document document(sink);
    begin(document, command.empty() ? Json() : Json(command));
    document.member("environment", nullptr);
    document.member("files", Json::array());
    Json json = to_json(error, words_of(error.hint(), error.detail()));
    json["path"] = error.path().empty() ? Json() : Json(to_utf8(error.path()));
    document.member("error", json);
    document.member("exit_status", static_cast<int>(exit_status));
    document.end();
    return text;
}

}  // namespace fixnvpe
