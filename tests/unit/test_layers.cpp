// The rooms of the design, held against every #include of include/ and src/: a file uses what is in its own room or in
// those above it, and the system and each library are let in at one door.

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

/// The rooms from the top: a file uses those before its own, and its own. Folders of src and of include/fixnvpe.
const std::vector<std::string> ROOMS{"base", "pe", "os", "patch", "find", "commands", "ui"};

/// Where a library may be included: a prefix of the header's name, and the files.
struct Door {
    const char* prefix;
    std::set<std::string> files;
};
const std::vector<Door>& doors() {
    static const std::vector<Door> doors{
        {"LIEF/", {"src/pe/reader_lief.cpp"}},
        {"CLI/", {"src/ui/cli.cpp"}},
        {"spdlog/", {"src/ui/log.cpp"}},
        {"nlohmann/",
         {"src/ui/report_json.cpp", "src/ui/measure_json.cpp", "src/patch/undo_file.cpp", "src/find/record.cpp"}},
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

/// The number of the room that a file lies in; nothing for a file in none. main.cpp stands below them all.
std::optional<std::size_t> room_of(std::string_view file) {
    for (const std::string_view root : {"include/fixnvpe/", "src/", "fixnvpe/"}) {
        if (file.starts_with(root)) {
            file.remove_prefix(root.size());
            break;
        }
    }
    if (file == "main.cpp") {
        return ROOMS.size();
    }
    const auto room = std::find(ROOMS.begin(), ROOMS.end(), file.substr(0, file.find('/')));
    return room == ROOMS.end() ? std::nullopt : std::optional(static_cast<std::size_t>(room - ROOMS.begin()));
}

std::string name_of(std::size_t room) {
    return room < ROOMS.size() ? ROOMS[room] : "main";
}

/// What is wrong with this include; empty if nothing is.
std::string offence(const Include& include) {
    if (include.quoted || include.header.rfind("fixnvpe/", 0) == 0) {
        const bool beside = include.header.find('/') == std::string::npos;  // "win32.hpp"
        const auto from = room_of(include.from);
        const auto to = beside ? from : room_of(include.header);
        if (!from) {
            return "the file lies in no room: the design says which there are";
        }
        if (!to) {
            return "the header lies in no room";
        }
        if (*to > *from) {
            return name_of(*from) + " includes " + name_of(*to);
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

TEST_CASE("layers: no file includes a lower room, the system outside src/os, or a library outside its .cpp") {
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
    CHECK(offence({"src/pe/checksum.cpp", 1, "fixnvpe/os/file.hpp", true}) == "pe includes os");
    CHECK(offence({"include/fixnvpe/base/bytes.hpp", 1, "fixnvpe/pe/image.hpp", true}) == "base includes pe");
    CHECK(offence({"src/os/file_posix.cpp", 1, "fixnvpe/ui/report.hpp", true}) == "os includes ui");
    CHECK(offence({"src/patch/new.cpp", 1, "fixnvpe/find/glob.hpp", true}) == "patch includes find");
    CHECK(offence({"src/new_thing.cpp", 1, "fixnvpe/base/error.hpp", true}) ==
          "the file lies in no room: the design says which there are");
    CHECK(offence({"src/ui/cli.cpp", 1, "fixnvpe/error.hpp", true}) == "the header lies in no room");
    CHECK(offence({"src/patch/apply.cpp", 1, "windows.h", false}) == "a header of the system outside src/os");
    CHECK(offence({"src/patch/apply.cpp", 1, "sys/stat.h", false}) == "a header of the system outside src/os");
    CHECK(offence({"src/patch/status.cpp", 1, "LIEF/PE.hpp", false}) == "this library has its own .cpp file");
    CHECK(offence({"src/main.cpp", 1, "CLI/CLI.hpp", false}) == "this library has its own .cpp file");
    CHECK(offence({"include/fixnvpe/ui/report.hpp", 1, "nlohmann/json.hpp", false}) ==
          "this library has its own .cpp file");

    CHECK(offence({"src/os/file_posix.cpp", 1, "sys/stat.h", false}).empty());
    CHECK(offence({"src/os/file_win32.cpp", 1, "windows.h", false}).empty());
    CHECK(offence({"src/os/file_win32.cpp", 1, "win32.hpp", true}).empty());
    CHECK(offence({"src/pe/reader_lief.cpp", 1, "LIEF/version.h", false}).empty());
    CHECK(offence({"src/patch/plan.cpp", 1, "fixnvpe/pe/checksum.hpp", true}).empty());
    CHECK(offence({"src/main.cpp", 1, "fixnvpe/ui/cli.hpp", true}).empty());
    CHECK(offence({"src/patch/plan.cpp", 1, "algorithm", false}).empty());

    std::istringstream text("  #  include <a/b.h> // why\n#include \"fixnvpe/c.hpp\"\n// #include <no>\nint x;\n");
    const std::vector<Include> found = includes_in("file", text);
    REQUIRE(found.size() == 2);
    CHECK(describe_include(found[0]) == "file:1: a/b.h");
    CHECK(describe_include(found[1]) == "file:2: fixnvpe/c.hpp");
}

}  // namespace fixnvpe::test
