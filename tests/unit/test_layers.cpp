// The layers of the design, held against every #include of include/ and src/: a file uses what is above it or beside
// it, and the system and each library are let in at one door.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

/// The layers from the top, and their modules: a header's name, and that of the .cpp files that begin with it.
const std::vector<std::vector<std::string>> LAYERS{
    {"error", "bytes", "text"},
    {"pe_layout", "pe_image", "pe_reader"},
    {"checksum", "commit_charge", "status", "plan", "relocations"},
    {"os/file", "os/process", "os/copy", "os/win32", "win32", "pe_file", "undo_file", "backup", "apply", "glob", "own_files", "targets", "python_env"},
    {"commands", "clean", "report", "progress"},
    {"completion", "cli", "log", "main"},
};

/// 1 for the top; nothing for a module of no layer.
std::optional<std::size_t> layer_of(const std::string& module) {
    for (std::size_t i = 0; i < LAYERS.size(); ++i) {
        if (std::count(LAYERS[i].begin(), LAYERS[i].end(), module) != 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

/// Where a library may be included: a prefix of the header's name, and the files.
struct Door {
    const char* prefix;
    std::set<std::string> files;
};
const std::vector<Door>& doors() {
    static const std::vector<Door> doors{
        {"LIEF/", {"src/pe_reader_lief.cpp"}},
        {"CLI/", {"src/cli.cpp"}},
        {"spdlog/", {"src/log.cpp"}},
        {"nlohmann/", {"src/report.cpp", "src/undo_file.cpp"}},
    };
    return doors;
}

/// A name without a dot or a slash: those of C++. The system's end in .h, as do C's, which C++ has as <cname>.
bool is_standard(const std::string& header) {
    return header.find_first_of("./") == std::string::npos;
}

struct Include {
    std::string from;  ///< "src/plan.cpp"
    int line = 0;
    std::string header;
    bool quoted = false;
};

/// What stands between the quotes or brackets of an #include; nothing if the line is none.
std::optional<Include> include_in(const std::string& line) {
    std::size_t at = 0;
    const auto skip = [&](std::string_view word) {
        at = std::min(line.find_first_not_of(" \t", at), line.size());
        const bool found = line.compare(at, word.size(), word) == 0;
        at += found ? word.size() : 0;
        return found;
    };
    if (!skip("#") || !skip("include")) {
        return std::nullopt;
    }
    const bool quoted = skip("\"");
    if (!quoted && !skip("<")) {
        return std::nullopt;
    }
    const std::size_t end = line.find(quoted ? '"' : '>', at);
    return Include{"", 0, line.substr(at, end - at), quoted};
}

std::vector<Include> includes_in(const std::string& from, std::istream& text) {
    std::vector<Include> found;
    int number = 0;
    for (std::string line; std::getline(text, line);) {
        ++number;
        if (auto include = include_in(line)) {
            include->from = from;
            include->line = number;
            found.push_back(*include);
        }
    }
    return found;
}

std::vector<std::string> source_files() {
    const fs::path root = FIXNVPE_SOURCE_DIR;
    std::vector<std::string> files;
    for (const char* folder : {"include", "src"}) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".hpp" || extension == ".cpp" || extension == ".h") {
                files.push_back(fs::relative(entry.path(), root).generic_string());
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// "src/os/file_posix.cpp" is of os/file's layer; nothing if no module is named so.
std::optional<std::size_t> layer_of_file(const std::string& file) {
    std::string name = file;
    for (const std::string prefix : {"include/fixnvpe/", "src/", "fixnvpe/"}) {
        if (name.rfind(prefix, 0) == 0) {
            name = name.substr(prefix.size());
            break;
        }
    }
    name = name.substr(0, name.rfind('.'));
    for (;;) {
        if (const auto layer = layer_of(name)) {
            return layer;
        }
        const std::size_t cut = name.rfind('_');
        if (cut == std::string::npos) {
            return std::nullopt;
        }
        name = name.substr(0, cut);
    }
}

/// What is wrong with this include; empty if nothing is.
std::string offence(const Include& include) {
    if (include.quoted || include.header.rfind("fixnvpe/", 0) == 0) {
        const auto from = layer_of_file(include.from);
        const auto to = layer_of_file(include.header);
        if (!from) {
            return "the file is in no layer: add it to the list in this test, where the design has its place";
        }
        if (!to) {
            return "the header is in no layer";
        }
        if (*to > *from) {
            return "layer " + std::to_string(*from) + " includes layer " + std::to_string(*to);
        }
        return {};
    }
    for (const Door& door : doors()) {
        if (include.header.rfind(door.prefix, 0) == 0) {
            return door.files.count(include.from) == 1 ? "" : "this library has its own .cpp file";
        }
    }
    if (include.header.rfind("fmt/", 0) == 0) {
        return {};
    }
    const bool in_os = include.from.rfind("src/os/", 0) == 0;
    return is_standard(include.header) || in_os ? "" : "a header of the system outside src/os";
}

std::string describe_include(const Include& include) {
    return include.from + ":" + std::to_string(include.line) + ": " + include.header;
}

}  // namespace

TEST_CASE("layers: no file includes a lower layer, the system outside src/os, or a library outside its .cpp") {
    const std::vector<std::string> files = source_files();
    REQUIRE(files.size() > 15);
    std::size_t checked = 0;
    for (const std::string& file : files) {
        std::ifstream text(fs::path(FIXNVPE_SOURCE_DIR) / file);
        REQUIRE(text);
        for (const Include& include : includes_in(file, text)) {
            const std::string wrong = offence(include);
            if (!wrong.empty()) {
                FAIL_CHECK(describe_include(include) << ": " << wrong);
            }
            ++checked;
        }
    }
    CHECK(checked > 50);
}

TEST_CASE("layers: this test sees what it should see") {
    CHECK(offence({"src/plan.cpp", 1, "fixnvpe/os/file.hpp", true}) == "layer 3 includes layer 4");
    CHECK(offence({"include/fixnvpe/bytes.hpp", 1, "fixnvpe/pe_image.hpp", true}) == "layer 1 includes layer 2");
    CHECK(offence({"src/os/file_posix.cpp", 1, "fixnvpe/report.hpp", true}) == "layer 4 includes layer 5");
    CHECK(offence({"src/new_thing.cpp", 1, "fixnvpe/error.hpp", true}) ==
          "the file is in no layer: add it to the list in this test, where the design has its place");
    CHECK(offence({"src/apply.cpp", 1, "windows.h", false}) == "a header of the system outside src/os");
    CHECK(offence({"src/apply.cpp", 1, "sys/stat.h", false}) == "a header of the system outside src/os");
    CHECK(offence({"src/status.cpp", 1, "LIEF/PE.hpp", false}) == "this library has its own .cpp file");
    CHECK(offence({"src/main.cpp", 1, "CLI/CLI.hpp", false}) == "this library has its own .cpp file");
    CHECK(offence({"include/fixnvpe/report.hpp", 1, "nlohmann/json.hpp", false}) ==
          "this library has its own .cpp file");

    CHECK(offence({"src/os/file_posix.cpp", 1, "sys/stat.h", false}).empty());
    CHECK(offence({"src/os/file_win32.cpp", 1, "windows.h", false}).empty());
    CHECK(offence({"src/pe_reader_lief.cpp", 1, "LIEF/version.h", false}).empty());
    CHECK(offence({"src/plan.cpp", 1, "fixnvpe/checksum.hpp", true}).empty());
    CHECK(offence({"src/apply.cpp", 1, "fixnvpe/backup.hpp", true}).empty());
    CHECK(offence({"src/plan.cpp", 1, "algorithm", false}).empty());

    std::istringstream text("  #  include <a/b.h> // why\n#include \"fixnvpe/c.hpp\"\n// #include <no>\nint x;\n");
    const std::vector<Include> found = includes_in("file", text);
    REQUIRE(found.size() == 2);
    CHECK(describe_include(found[0]) == "file:1: a/b.h");
    CHECK(describe_include(found[1]) == "file:2: fixnvpe/c.hpp");
}

}  // namespace fixnvpe::test
