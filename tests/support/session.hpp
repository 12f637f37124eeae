#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/pe_builder.hpp"
#include "support/process.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {

/// What the program said, and its exit status.
struct Output {
    int exit_status = 0;
    std::string out;  ///< standard output
    std::string err;  ///< standard error
    friend bool operator==(const Output&, const Output&) = default;
};

/// One file as it stands on the disk.
struct FileState {
    std::string bytes;
    std::filesystem::perms mode = {};
    std::uint64_t identity = 0;
    std::uint64_t hard_links = 0;
    std::int64_t modified = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
};

/// All files in a folder, to the bottom; for a link its target's name as `bytes`.
using Snapshot = std::map<std::string, FileState>;

/// The program under test: the one this build made, or that which the environment variable
/// FIXNVPE_TEST_PROGRAM names, started through the words in FIXNVPE_TEST_RUNNER ("wine").
struct Program {
    std::filesystem::path path;
    std::vector<std::string> runner;
    bool windows = false;    ///< an .exe
    bool sanitized = false;  ///< ASAN_OPTIONS are set
    /// The program and these arguments.
    [[nodiscard]] std::vector<std::string> with(const std::vector<std::string>& arguments) const;
};

[[nodiscard]] const Program& program();

/// The words of an .exe as they would be elsewhere: its paths with slashes.
[[nodiscard]] std::string with_slashes(std::string text);

/// What a JSON document says of its files: of each the path, the status, behind "+" what was done, behind "!" an
/// error's code, in brackets the codes of its reason, warnings and notes; then the bytes saved, if any, and the exit
/// status. "a.dll patched+patched (moved-aside); saves 4096; exit 0".
[[nodiscard]] std::string in_short(const nlohmann::json& document);

/// A new folder, and the program run in it.
class Session {
public:
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return folder_ / name; }

    /// Puts a copy of testdata/pe/FIXTURE here.
    std::filesystem::path fixture(const std::string& fixture, const std::filesystem::path& name) const;
    std::filesystem::path fixture(const std::string& name) const { return fixture(name, name); }
    /// Makes a PE file here.
    std::filesystem::path dll(const std::filesystem::path& name, const PeSpec& spec) const;
    /// The file that most tests need: x64, a writable .nv_fatb, a right CheckSum.
    std::filesystem::path writable(const std::filesystem::path& name) const {
        return fixture("x64-writable.dll", name);
    }
    /// Makes a torch/lib of self-made files here, in the shape of torch 1.12.1+cu113.
    void sample(const std::filesystem::path& lib) const;
    std::filesystem::path text(const std::filesystem::path& name, const std::string& content) const;

    /// Runs the program here.
    [[nodiscard]] Output fixnvpe(const std::vector<std::string>& arguments,
                                 const std::map<std::string, std::string>& environment = {}) const;
    [[nodiscard]] ProcessResult run(ProcessRequest request) const;
    /// Runs it with --json. What it prints there is checked to be one document and nothing else.
    [[nodiscard]] nlohmann::json json(std::vector<std::string> arguments) const;
    /// The same in_short().
    [[nodiscard]] std::string told(const std::vector<std::string>& arguments) const {
        return in_short(json(arguments));
    }

    /// What is here now.
    [[nodiscard]] Snapshot snapshot() const;
    /// The names of what is here now, sorted, with a blank between them.
    [[nodiscard]] std::string names() const;
    /// Gives all files an old time, so that a later write can't fall into the same tick of the clock.
    void age() const;

private:
    /// The names of all files here, to the bottom.
    [[nodiscard]] std::set<std::string> files() const;

    TempFolder folder_;
};

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);
[[nodiscard]] FileState state_of(const std::filesystem::path& path);
/// Changes one byte.
void poke(const std::filesystem::path& path, std::size_t offset, std::uint8_t value);

}  // namespace fixnvpe::test
