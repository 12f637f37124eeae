#include "support/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "fixnvpe/os/file.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// On a busy machine Wine itself may fail, once in some thousand times, before the program has done anything, and says
/// nothing then. The program says something wherever it fails, and of a crash Wine does.
bool could_not_start(const ProcessResult& result) {
    return result.exit_status != 0 && result.out.empty() && result.err.empty();
}

}  // namespace

std::vector<std::string> Program::with(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = runner;
    words.push_back(path.string());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

const Program& program() {
    static const Program instance = [] {
        Program made;
        const std::string named = variable("FIXNVPE_TEST_PROGRAM");
        made.path = named.empty() ? FIXNVPE_PROGRAM : named;
        std::istringstream words(variable("FIXNVPE_TEST_RUNNER"));
        made.runner.assign(std::istream_iterator<std::string>(words), {});
        made.windows = made.path.extension() == ".exe";
        made.sanitized = !variable("ASAN_OPTIONS").empty();
        return made;
    }();
    return instance;
}

std::string with_slashes(std::string text) {
    if (program().windows) {
        std::replace(text.begin(), text.end(), '\\', '/');
    }
    return text;
}

fs::path Session::fixture(const std::string& fixture, const fs::path& name) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    fs::copy_file(fs::path(FIXNVPE_TESTDATA_DIR) / "pe" / fixture, path, fs::copy_options::overwrite_existing);
    fs::permissions(path, fs::perms(0644));
    return path;
}

fs::path Session::dll(const fs::path& name, const PeSpec& spec) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    build(spec).write(path);
    return path;
}

void Session::sample(const fs::path& lib) const {
    fs::create_directories((folder_ / lib).parent_path());
    fs::copy(fs::path(FIXNVPE_TESTDATA_DIR) / "sample" / "torch" / "lib", folder_ / lib, fs::copy_options::recursive);
}

fs::path Session::another_build(const fs::path& name) const {
    const fs::path path = fixture("x64-odd-size.dll", name);
    constexpr std::size_t time_date_stamp = 0x88;
    poke(path, time_date_stamp, static_cast<std::uint8_t>(read_file(path)[time_date_stamp] + 1));
    return path;
}

fs::path Session::text(const fs::path& name, const std::string& content) const {
    return folder_.file(name, content);
}

ProcessResult Session::run(ProcessRequest request) const {
    request.folder = folder();
    // What the user who runs the tests has set must not matter.
    for (const char* name : {"NO_COLOR", "VIRTUAL_ENV", "CONDA_PREFIX", "FIXNVPE_PYTHON"}) {
        request.environment.try_emplace(name, "");
    }
    request.environment.try_emplace("WINEDEBUG", "-all");
    ProcessResult result = run_process(request);
    if (!program().runner.empty() && could_not_start(result)) {
        std::cerr << "Wine could not start the program (exit status " << result.exit_status
                  << "), once more: " << result.err << '\n';
        result = run_process(request);
    }
    return result;
}

Output Session::fixnvpe(const std::vector<std::string>& arguments,
                        const std::map<std::string, std::string>& environment) const {
    const ProcessResult result = run({.words = program().with(arguments), .environment = environment});
    return {result.exit_status, with_slashes(result.out), with_slashes(result.err)};
}

nlohmann::json Session::json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const ProcessResult result = run({.words = program().with(arguments)});
    nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);  // discarded if anything follows
    if (json.is_discarded()) {
        throw std::runtime_error("no JSON; exit status " + std::to_string(result.exit_status) +
                                 ", stdout: " + result.out + ", stderr: " + result.err);
    }
    if (json.at("exit_status") != result.exit_status) {
        throw std::runtime_error("JSON has another exit_status than the program: " + result.out);
    }
    return json;
}

std::string in_short(const nlohmann::json& document) {
    std::string text;
    for (const nlohmann::json& file : document.at("files")) {
        text += with_slashes(file.at("path")) + " " + file.at("status").get<std::string>();
        if (file.at("action") != "none") {
            text += "+" + file.at("action").get<std::string>();
        }
        if (file.contains("error")) {
            text += " !" + file.at("error").at("code").get<std::string>();
        }
        std::string codes = file.value("reason_code", "");
        for (const char* list : {"warnings", "note_codes"}) {
            for (const std::string code : file.at(list)) {
                codes += (codes.empty() ? "" : ", ") + code;
            }
        }
        text += codes.empty() ? "; " : " (" + codes + "); ";
    }
    const std::uint64_t saved = document.at("summary").at("saved");
    text += saved == 0 ? "" : "saves " + std::to_string(saved) + "; ";
    return text + "exit " + std::to_string(document.at("exit_status").get<int>());
}

Snapshot Session::snapshot() const {
    Snapshot result;
    for (const std::string& name : files()) {
        result[name] = state_of(folder() / name);
    }
    return result;
}

std::string Session::names() const {
    std::string result;
    for (const std::string& name : files()) {
        result += (result.empty() ? "" : " ") + name;
    }
    return result;
}

std::set<std::string> Session::files() const {
    std::set<std::string> result;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder())) {
        if (!entry.is_directory() || entry.is_symlink()) {
            result.insert(entry.path().lexically_relative(folder()).generic_string());
        }
    }
    return result;
}

void Session::age() const {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder())) {
        if (entry.is_regular_file() && !entry.is_symlink()) {
            // Whole seconds: Windows has no nanoseconds.
            const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
            fs::last_write_time(entry.path(), std::chrono::floor<std::chrono::seconds>(old));
        }
    }
}

std::string read_file(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error("can't read " + path.string());
    }
    std::string bytes(fs::file_size(path), '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return bytes;
}

void write_file(const fs::path& path, const std::string& bytes) {
    std::ofstream stream(path, std::ios::binary);
    if (!(stream << bytes << std::flush)) {
        throw std::runtime_error("can't write " + path.string());
    }
}

FileState state_of(const fs::path& path) {
    const os::FileInfo info = os::info_of(path);
    FileState state;
    if (info.type == os::FileType::link) {
        state.bytes = fs::read_symlink(path).string();
    } else if (info.type == os::FileType::regular) {
        state.bytes = read_file(path);
    }
    state.mode = fs::symlink_status(path).permissions();
    state.identity = info.identity.file;
    state.hard_links = info.hard_links;
    state.modified = info.modified;
    return state;
}

void poke(const fs::path& path, std::size_t offset, std::uint8_t value) {
    std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(offset));
    if (!stream.put(static_cast<char>(value)).flush()) {
        throw std::runtime_error("can't write " + path.string());
    }
}

}  // namespace fixnvpe::test
