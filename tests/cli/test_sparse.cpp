// What the program asks of the system for a file, and how much memory it takes, mostly for files of gigabytes that are
// made of holes. Never how long.

#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t KIB = 1024;
constexpr std::uint64_t MIB = 1024 * KIB;
constexpr std::uint64_t GIB = 1024 * MIB;
constexpr std::uint64_t MOST_READ = 64 * KIB;
constexpr std::uint64_t MOST_MEMORY = 32 * MIB;

/// 2 GiB, 1.9 GiB of them a writable .nv_fatb.
PeSpec huge_dll() {
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    TestSection& fatbin = section(spec, ".nv_fatb");
    fatbin.raw_size = fatbin.virtual_size = static_cast<std::uint32_t>(GIB / 10 * 19 / 512 * 512);
    section(spec, ".rdata").raw_size = static_cast<std::uint32_t>(GIB / 10 / 512 * 512);
    spec.check_sum = CheckSum::right;
    return spec;
}

/// Bytes that the program got out of a file by any call, by the word of strace.
class Reads {
public:
    Reads(const std::vector<std::string>& log, const fs::path& file) {
        const std::string name = "<" + file.string() + ">";
        static const std::regex result(R"(= (\d+)(?: \(.*\))?$)");
        static const std::regex mapped(R"(mmap\([^,]*, (\d+),)");
        for (const std::string& line : log) {
            std::smatch match;
            if (line.find(name) == std::string::npos) {
                continue;
            }
            calls_ += line + "\n";
            ++count_;
            const bool is_map = line.find("mmap(") != std::string::npos;
            if (std::regex_search(line, match, is_map ? mapped : result)) {
                bytes_ += std::stoull(match[1]);
            }
        }
    }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::string& calls() const { return calls_; }

private:
    std::uint64_t bytes_ = 0;
    std::size_t count_ = 0;
    std::string calls_;
};

/// The calls that the program makes, one a line, each descriptor with its file's name. @param calls as strace has them
std::vector<std::string> trace(const Session& session, const std::vector<std::string>& arguments,
                               const std::string& calls) {
    TempFolder logs;
    std::vector<std::string> words{"strace",        "-f", "-y", "-qq", "-s", "0", "-o", (logs / "log").string(), "-e",
                                   "trace=" + calls};
    const auto program_words = program().with(arguments);
    words.insert(words.end(), program_words.begin(), program_words.end());
    // LeakSanitizer traces the process itself, and only one can.
    const ProcessResult result = session.run({.words = words, .environment = {{"ASAN_OPTIONS", "detect_leaks=0"}}});
    INFO(result.err);
    REQUIRE(result.exit_status <= 1);
    std::ifstream stream(logs / "log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

Reads reads_of(const Session& session, const std::vector<std::string>& arguments, const fs::path& file) {
    return {trace(session, arguments, "read,pread64,readv,preadv,preadv2,mmap,copy_file_range,sendfile,splice"), file};
}

/// How often each call is made on a DLL or beside it, by the names that POSIX has for them.
std::map<std::string, std::size_t> calls_on_dlls(const Session& session, const std::vector<std::string>& arguments) {
    static const std::map<std::string, std::string> other_names{
        {"openat", "open"},     {"pread64", "pread"},  {"fstat", "stat"}, {"lstat", "stat"},
        {"newfstatat", "stat"}, {"fstatat64", "stat"}, {"statx", "stat"}};
    static const std::regex call(R"(^\d+\s+(\w+)\()");
    std::map<std::string, std::size_t> counts;
    for (const std::string& line : trace(session, arguments, "all")) {
        std::smatch match;
        if (line.find(".dll") != std::string::npos && std::regex_search(line, match, call)) {
            const auto other = other_names.find(match[1]);
            ++counts[other == other_names.end() ? match[1].str() : other->second];
        }
    }
    return counts;
}

void check_memory(const Session& session, const std::vector<std::string>& arguments) {
    const ProcessResult result = session.run({.words = program().with(arguments)});
    INFO(result.out << result.err);
    CHECK(result.exit_status <= 1);
    if (!program().sanitized) {  // a sanitizer's own memory is no concern of ours
        CHECK(result.peak_memory < MOST_MEMORY);
    }
}

}  // namespace

TEST_CASE(
    "sparse: verify and patch --backup undo read less than 64 KiB of a DLL of 2 GiB, in less than 32 MiB of memory",
    "[posix]") {
    const Session session;
    const fs::path dll = fs::canonical(session.dll("a.dll", huge_dll()));
    REQUIRE(fs::file_size(dll) > 2 * GIB - MIB);
    REQUIRE(os::info_of(dll).allocated < MIB);

    const auto check_reads = [&](const std::vector<std::string>& arguments) {
        const Reads reads = reads_of(session, arguments, dll);
        INFO(arguments.front() << ": " << reads.bytes() << " bytes\n" << reads.calls());
        CHECK(reads.count() > 0);  // else the count proves nothing
        CHECK(reads.bytes() >= 512);
        CHECK(reads.bytes() < MOST_READ);
    };
    check_reads({"verify", "a.dll"});
    check_memory(session, {"verify", "a.dll"});
    check_reads({"patch", "--backup", "undo", "a.dll"});
    CHECK(session.names() == "a.dll a.dll.fixnvpe-undo");
    check_reads({"verify", "--require-backup", "a.dll"});
    check_reads({"restore", "a.dll"});
    CHECK(session.names() == "a.dll");

    check_memory(session, {"patch", "--backup", "undo", "a.dll"});
    check_memory(session, {"restore", "a.dll"});
    check_memory(session, {"patch", "--backup", "none", "a.dll"});
    CHECK(session.fixnvpe({"verify", "a.dll"}).exit_status == 0);
    CHECK(os::info_of(dll).allocated < MIB);
}

TEST_CASE("calls: for a DLL, verify opens, looks at, reads and closes it, and looks for what may stand beside it",
          "[posix]") {
    using Calls = std::map<std::string, std::size_t>;
    // Backups of three kinds, and with GPU code a leftover temporary.
    const Calls plain{{"open", 1}, {"stat", 1 + 3}, {"pread", 1}, {"close", 1}};
    const Calls cuda{{"open", 1}, {"stat", 1 + 4}, {"pread", 1}, {"close", 1}};
    for (const auto& [fixture, expected] :
         {std::pair("x64-no-fatbin.dll", plain), std::pair("x64-writable.dll", cuda)}) {
        INFO(fixture);
        const Session session;
        constexpr std::size_t files = 10;
        const auto add = [&, &fixture = fixture](const std::string& prefix) {
            for (std::size_t i = 0; i < files; ++i) {
                session.fixture(fixture, "lib/" + prefix + std::to_string(i) + ".dll");
            }
        };
        add("a");
        const Calls before = calls_on_dlls(session, {"verify", "lib"});
        add("b");
        const Calls after = calls_on_dlls(session, {"verify", "lib"});
        Calls each;
        for (const auto& [name, count] : after) {
            const auto earlier = before.find(name);
            const std::size_t more = count - (earlier == before.end() ? 0 : earlier->second);
            CHECK(more % files == 0);
            each[name] = more / files;
        }
        CHECK(each == expected);
    }
}

TEST_CASE("sparse: patch makes no bytes of the holes of a DLL, and copies it in constant memory", "[posix]") {
    const Session session;
    const fs::path dll = fs::canonical(session.dll("a.dll", huge_dll()));
    const auto size = fs::file_size(dll);
    check_memory(session, {"patch", "a.dll"});
    CHECK(session.names() == "a.dll a.dll.bak");
    for (const fs::path& file : {dll, session / "a.dll.bak"}) {
        INFO(file.string());
        CHECK(fs::file_size(file) == size);
        CHECK(os::info_of(file).allocated < MIB);
    }
    CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}) ==
          Output{0, "  patched  a.dll\n1 file: 1 patched\n", ""});
    check_memory(session, {"restore", "--keep-backup", "a.dll"});
    CHECK(os::info_of(dll).allocated < MIB);
    check_memory(session, {"restore", "a.dll"});
    CHECK(session.names() == "a.dll");
    CHECK(session.fixnvpe({"verify", "a.dll"}) ==
          Output{1,
                 "  unpatched  1.9 GiB  a.dll\n1 file: 1 unpatched\n"
                 "to do: fixnvpe patch\neach process would commit up to 1.9 GiB less (1.9 GiB -> 12.0 KiB)\n",
                 ""});
}

TEST_CASE("sparse: what is kept of a DLL does not grow with its headers: 300 of 900 KiB each", "[posix]") {
    constexpr std::size_t files = 300;
    const Session session;
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    spec.e_lfanew = 800 * KIB;
    constexpr std::size_t section_header = 40;
    spec.sections.resize(100 * KIB / section_header, TestSection{".empty"});
    const fs::path dll = session.dll("lib/0.dll", spec);
    for (std::size_t i = 1; i < files; ++i) {
        fs::create_hard_link(dll, session / ("lib/" + std::to_string(i) + ".dll"));
    }
    REQUIRE(session.json({"verify", "lib"})["summary"]["unpatched"] == files);
    check_memory(session, {"verify", "lib"});
    check_memory(session, {"verify", "--json", "lib"});
    check_memory(session, {"scan", "lib"});
    check_memory(session, {"patch", "-n", "lib"});
}

TEST_CASE("sparse: a copy of real bytes takes no more memory than a small one, and is the same", "[posix]") {
    const Session session;
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_WRITABLE);
    section(spec, ".nv_fatb").fatbin_size = 48 * MIB;
    session.dll("a.dll", spec);
    check_memory(session, {"patch", "a.dll"});
    const std::string original = read_file(session / "a.dll.bak");
    const std::string patched = read_file(session / "a.dll");
    REQUIRE(patched.size() == original.size());
    constexpr std::size_t headers = 1024;
    CHECK((patched.compare(headers, std::string::npos, original, headers, std::string::npos) == 0));
    CHECK((patched != original));
}

TEST_CASE("sparse: an undo file of 1 GiB is refused unread", "[posix]") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    const fs::path undo = fs::canonical(session / "a.dll.fixnvpe-undo");
    fs::resize_file(undo, GIB);
    REQUIRE(os::info_of(undo).allocated < MIB);
    const std::string dll = read_file(session / "a.dll");
    const std::string error =
        "fixnvpe: a.dll.fixnvpe-undo: read the undo file: it has 1.0 GiB, which is too long for one\n"
        "  hint: it is not used; if the DLL must go back, install its package again\n";
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 2);
    CHECK(session.fixnvpe({"restore", "a.dll"}).err == error);
    CHECK(reads_of(session, {"verify", "a.dll"}, undo).bytes() == 0);
    check_memory(session, {"verify", "a.dll"});
    CHECK(session.names() == "a.dll a.dll.fixnvpe-undo");
    CHECK((read_file(session / "a.dll") == dll));
}

TEST_CASE("sparse: the worst JSON that an undo file can hold takes no more memory than any other", "[posix]") {
    const Session session;
    session.writable("a.dll");
    std::string edits = "{}";
    while (edits.size() < (1 << 16) - 100) {
        edits += ",{}";
    }
    session.text("a.dll.fixnvpe-undo", R"({"schema":1,"tool":"fixnvpe","file":"a.dll","edits":[)" + edits + "]}");
    check_memory(session, {"verify", "a.dll"});
    check_memory(session, {"restore", "a.dll"});
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 2);
}

}  // namespace fixnvpe::test
