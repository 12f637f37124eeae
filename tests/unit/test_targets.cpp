#include "fixnvpe/find/targets.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/process.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"

#if !defined(_WIN32)
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#endif

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

/// The current folder for as long as this lives.
class Inside {
public:
    explicit Inside(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
    ~Inside() { fs::current_path(before_); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    fs::path before_;
};

/// Slashes whatever the system, and what is special about it: "a/x.dll named link missing".
std::string described(const Target& target) {
    return target.path.generic_string() + (target.named ? " named" : "") + (target.link ? " link" : "") +
           (target.missing ? " missing" : "");
}
std::string described(const FoundSidecar& own) {
    return own.path.generic_string() + (own.orphan ? " orphan" : "");
}
[[maybe_unused]] std::string described(const Skipped& skipped) {  // links, which only POSIX has here
    return skipped.path.generic_string() + ": " + std::string(to_string(skipped.reason));
}
std::string described(const Error& error) {
    std::string text = std::string(to_string(error.code())) + ": " + error.path().generic_string() + ": " +
                       error.message() + (error.detail().empty() ? "" : " (" + error.detail() + ")");
    if (fs::path::preferred_separator == '\\') {
        std::replace(text.begin(), text.end(), '\\', '/');
    }
    return text;
}

template <class T>
Texts described(const std::vector<T>& all) {
    Texts result;
    for (const T& one : all) {
        result.push_back(described(one));
    }
    return result;
}

/// All went well, and gave these.
void check_files(const Texts& targets, const Texts& files, Want want = Want::dlls) {
    const Targets result = find_targets(targets, want);
    INFO("targets " << Catch::Detail::stringify(targets));
    CHECK(described(result.files) == files);
    CHECK(described(result.problems).empty());
}

/// No file, and this one problem.
void check_problem(const std::string& target, const std::string& problem, Want want = Want::dlls) {
    const Targets result = find_targets({target}, want);
    CHECK(described(result.files) == Texts{});
    CHECK(described(result.problems) == Texts{problem});
}

}  // namespace

TEST_CASE("targets: a file is taken whatever its extension") {
    const TempFolder temp;
    temp.file("a/x.dll");
    temp.file("a/y.bin");
    const Inside here(temp.path());
    check_files({"a/y.bin", "a/x.dll"}, {"a/x.dll named", "a/y.bin named"});
    check_files({(temp / "a/x.dll").string()}, {(temp / "a/x.dll").generic_string() + " named"});
}

TEST_CASE("targets: a folder is walked to the bottom for PE files by their extensions, sorted") {
    const TempFolder temp;
    for (const char* name :
         {"lib/b.dll", "lib/A.DLL", "lib/deep/er/c.Pyd", "lib/deep/d.node", "lib/e.so", "lib/e.so.1", "lib/g.exe",
          "lib/h.mexw64", "lib/dll", "lib/f.dll.txt", "lib/x.dll/inside.dll", "other/g.dll"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    const Texts found{"lib/A.DLL", "lib/b.dll", "lib/deep/d.node", "lib/deep/er/c.Pyd",
                      "lib/e.so",  "lib/g.exe", "lib/h.mexw64",    "lib/x.dll/inside.dll"};
    check_files({"lib"}, found);
    check_files({"lib/"}, found);
    check_files({"./lib"}, {"./lib/A.DLL", "./lib/b.dll", "./lib/deep/d.node", "./lib/deep/er/c.Pyd", "./lib/e.so",
                            "./lib/g.exe", "./lib/h.mexw64", "./lib/x.dll/inside.dll"});
}

TEST_CASE("targets: what pip left behind in site-packages is passed over") {
    const TempFolder temp;
    for (const char* name : {"Lib/site-packages/~orch/lib/a.dll", "Lib/site-packages/torch/lib/a.dll",
                             "Lib/site-packages/torch/~x/b.dll", "~own/c.dll"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    check_files({"."}, {"./Lib/site-packages/torch/lib/a.dll", "./Lib/site-packages/torch/~x/b.dll", "./~own/c.dll"});
    check_files({"Lib/site-packages/*/lib"}, {"Lib/site-packages/torch/lib/a.dll"});
    check_files({"Lib/site-packages/~orch"}, {"Lib/site-packages/~orch/lib/a.dll"});
    const Targets targets = find_targets({"Lib"});
    REQUIRE(targets.skipped.size() == 1);
    CHECK(targets.skipped[0].reason == SkipReason::left_by_pip);
}

TEST_CASE("targets: globs are expanded, with folders on the way and any extension at the end") {
    const TempFolder temp;
    for (const char* name :
         {"top.dll", "e1/lib/x.dll", "e1/lib/x.txt", "e2/lib/y.dll", "e2/lib/sub/z.dll", "f/lib/n.dll"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    check_files({"*.dll"}, {"top.dll"});
    check_files({"e?/lib/*.dll"}, {"e1/lib/x.dll", "e2/lib/y.dll"});
    check_files({"e1/lib/*.*"}, {"e1/lib/x.dll", "e1/lib/x.txt"});
    check_files({"**/[xyz].dll"}, {"e1/lib/x.dll", "e2/lib/sub/z.dll", "e2/lib/y.dll"});
    check_files({"./**/lib/*.dll"}, {"./e1/lib/x.dll", "./e2/lib/y.dll", "./f/lib/n.dll"});
    SECTION("a folder that a glob matches is walked as one that is named") {
        check_files({"e*"}, {"e1/lib/x.dll", "e2/lib/sub/z.dll", "e2/lib/y.dll"});
        check_files({"e1/**"}, {"e1/lib/x.dll"});
        check_files({"*/l?b"}, {"e1/lib/x.dll", "e2/lib/sub/z.dll", "e2/lib/y.dll", "f/lib/n.dll"});
    }
    SECTION("an absolute glob") {
        check_files({(temp / "*/*/x.*").string()},
                    {(temp / "e1/lib/x.dll").generic_string(), (temp / "e1/lib/x.txt").generic_string()});
    }
    SECTION("a glob through .. keeps the spelling") {
        check_files({"e1/../e2/lib/*.dll"}, {"e1/../e2/lib/y.dll"});
    }
}

TEST_CASE("targets: what exists as it is written wins over its reading as a glob") {
    const TempFolder temp;
    temp.file("x[1].dll");
    temp.file("x1.dll");
    temp.file("env[12]/y.dll");
    temp.file("env1/z.dll");
    const Inside here(temp.path());
    check_files({"x[1].dll"}, {"x[1].dll named"});
    check_files({"x[[]1].dll"}, {"x[1].dll"});
    check_files({"env[12]"}, {"env[12]/y.dll"});
    SECTION("the leading part of a glob, too") {
        check_files({"env[12]/*.dll"}, {"env[12]/y.dll"});
    }
    SECTION("what does not exist is a glob") {
        fs::remove(temp / "x[1].dll");
        check_files({"x[1].dll"}, {"x1.dll"});
    }
}

TEST_CASE("targets: each name once, however it is spelled and however often") {
    const TempFolder temp;
    temp.file("lib/x.dll");
    temp.file("lib/sub/y.dll");
    const Inside here(temp.path());
    check_files({"lib/x.dll", "./lib/x.dll", "lib/sub/../x.dll", (temp / "lib/x.dll").string()}, {"lib/x.dll named"});
    check_files({"lib", "lib/sub", "lib/**/*.dll", "lib"}, {"lib/sub/y.dll", "lib/x.dll"});
    SECTION("named and found is named, by the first spelling") {
        check_files({"lib", "lib/../lib/x.dll"}, {"lib/sub/y.dll", "lib/x.dll named"});
    }
    SECTION("two hard links are two DLLs") {
        fs::create_hard_link(temp / "lib/x.dll", temp / "lib/z.dll");
        check_files({"lib/x.dll", "lib/z.dll"}, {"lib/x.dll named", "lib/z.dll named"});
    }
}

TEST_CASE("targets: one that leads nowhere is a problem, and the others are done") {
    const TempFolder temp;
    temp.file("lib/x.dll");
    temp.folder("empty/er");
    const Inside here(temp.path());
    const Targets result = find_targets({"nowhere.dll", "lib", "", "no/such/*.dll"});
    CHECK(described(result.files) == Texts{"lib/x.dll"});
    CHECK(described(result.problems) ==
          Texts{"no-match: nowhere.dll: not found (the current folder has no nowhere.dll)", "usage: : an empty TARGET",
                "no-match: no/such/*.dll: no file matches (the current folder has no no)"});
    check_problem("lib/sub/deep/y.dll", "no-match: lib/sub/deep/y.dll: not found (lib has no sub)");
    check_problem("lib/x.dll/y.dll", "no-match: lib/x.dll/y.dll: not found (lib/x.dll is no folder)");
    check_problem("lib/*.pyd", "no-match: lib/*.pyd: no file matches (lib has no *.pyd)");
    check_problem("empty", "no-match: empty: no .dll, .pyd, .node, .exe, .mexw64 or .so file in this folder");
    check_problem("empty*", "no-match: empty*: no file matches (the current folder has no empty*)");
}

TEST_CASE("targets: our own files are passed over in folders and globs") {
    const TempFolder temp;
    for (const char* name : {"lib/x.dll", "lib/x.dll.bak", "lib/x.dll.bak.1", "lib/x.dll_bak", "lib/x.dll.fixnvpe-undo",
                             "lib/x.dll.fixnvpe-tmp", "lib/X.DLL.BAK", "notes/notes.txt.bak"}) {
        temp.file(name);
    }
    temp.file("old_bak/y.dll");  // a folder is no backup
    const Inside here(temp.path());
    check_files({"lib"}, {"lib/x.dll"});
    check_files({"lib/*"}, {"lib/x.dll"});
    check_files({"old_bak", "old*"}, {"old_bak/y.dll"});
    const std::string why = "no file matches (only fixnvpe's own files are there, and they are never a target)";
    check_problem("lib/*.bak", "no-match: lib/*.bak: " + why);
    check_problem("notes/*", "no-match: notes/*: " + why);
}

TEST_CASE("targets: to name one of our own files is an error that names the DLL") {
    const TempFolder temp;
    for (const char* name : {"x.dll.bak", "x.dll.bak.2", "x.dll_bak", "x.dll.fixnvpe-undo", "X.DLL.Fixnvpe-Tmp"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    const auto [name, dll] = GENERATE(std::pair{"x.dll.bak", "x.dll"}, std::pair{"./x.dll.bak.2", "./x.dll"},
                                      std::pair{"x.dll_bak", "x.dll"}, std::pair{"x.dll.fixnvpe-undo", "x.dll"},
                                      std::pair{"X.DLL.Fixnvpe-Tmp", "X.DLL"}, std::pair{"no.dll.bak", "no.dll"});
    const Want want = GENERATE(Want::dlls, Want::sidecars);
    check_problem(
        name, "usage: " + std::string(name) + ": this is one of fixnvpe's own files (name the DLL itself: " + dll + ")",
        want);
}

TEST_CASE("targets: a DLL that is gone is a target if it was named and its backup is there") {
    const TempFolder temp;
    temp.file("lib/x.dll.bak");
    temp.file("lib/y.dll_bak");
    temp.file("lib/z[1].dll.bak");
    const Inside here(temp.path());
    check_files({"lib/x.dll"}, {"lib/x.dll named missing"});
    check_files({"lib/z[1].dll"}, {"lib/z[1].dll named missing"});
    check_problem("lib/y.dll", "no-match: lib/y.dll: not found (lib has no y.dll)");
    SECTION("and it is no orphan then") {
        const Targets result = find_targets({"lib", "lib/x.dll"});
        CHECK(described(result.files) == Texts{"lib/x.dll named missing"});
        CHECK(described(result.sidecars) == Texts{"lib/y.dll_bak orphan", "lib/z[1].dll.bak orphan"});
    }
}

TEST_CASE("targets: a DLL that a crash took away between two renames is found in folders and globs") {
    const TempFolder temp;
    for (const char* name : {"lib/crashed.dll.bak", "lib/crashed.dll.fixnvpe-tmp", "lib/removed.dll.bak",
                             "lib/half.dll.fixnvpe-tmp", "lib/there.dll", "lib/there.dll.bak",
                             "lib/there.dll.fixnvpe-tmp", "lib/notes.txt.bak", "lib/notes.txt.fixnvpe-tmp"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    const std::string target = GENERATE("lib", "lib/*.dll", "lib/*", "**/*.dll");
    const Targets result = find_targets({target});
    CHECK(described(result.files) == Texts{"lib/crashed.dll missing", "lib/there.dll"});
    CHECK(described(result.sidecars) == Texts{"lib/half.dll.fixnvpe-tmp orphan", "lib/removed.dll.bak orphan"});
    CHECK(described(result.problems) == Texts{});
}

TEST_CASE("targets: orphans alone are no match, save for the one who wants our own files") {
    const TempFolder temp;
    temp.file("lib/x.dll.bak");
    temp.file("lib/y.dll.fixnvpe-undo");
    const Inside here(temp.path());
    check_problem("lib",
                  "no-match: lib: no .dll, .pyd, .node, .exe, .mexw64 or .so file in this folder (only fixnvpe's own "
                  "files are there, "
                  "and they are never a target)");
    check_problem("lib/y.dll", "no-match: lib/y.dll: not found (lib has no y.dll)");
    check_files({"lib"}, {}, Want::sidecars);
    check_files({"lib/y.dll"}, {}, Want::sidecars);
    check_files({"lib/y.*"}, {}, Want::sidecars);
}

TEST_CASE("targets: the one who wants our own files gets those of all targets, each once") {
    const TempFolder temp;
    for (const char* name : {"lib/x.dll", "lib/x.dll.bak", "lib/x.dll.bak.1", "lib/x.dll.bak.7", "lib/x.dll_bak",
                             "lib/gone.dll.fixnvpe-undo", "lib/notes.txt", "lib/notes.txt.bak", "lib/y.bin",
                             "lib/y.bin.bak", "lib/sub/z.pyd", "lib/sub/z.pyd.fixnvpe-tmp"}) {
        temp.file(name);
    }
    const Inside here(temp.path());
    const auto own = [](const Texts& targets) {
        const Targets result = find_targets(targets, Want::sidecars);
        CHECK(described(result.problems) == Texts{});
        return described(result.sidecars);
    };
    const Texts of_x{"lib/x.dll.bak", "lib/x.dll.bak.1", "lib/x.dll.bak.7", "lib/x.dll_bak"};
    CHECK(own({"lib/x.dll"}) == of_x);
    CHECK(own({"lib/x.dll", "lib/x.*", "./lib/x.dll"}) == of_x);
    CHECK(own({"lib/x.dll", "lib/y.bin"}) ==
          Texts{"lib/x.dll.bak", "lib/x.dll.bak.1", "lib/x.dll.bak.7", "lib/x.dll_bak", "lib/y.bin.bak"});
    CHECK(own({"lib/gone.dll"}) == Texts{"lib/gone.dll.fixnvpe-undo orphan"});
    INFO("a glob never takes what may be someone else's backup, such as notes.txt.bak");
    const Texts all{"lib/gone.dll.fixnvpe-undo orphan",
                    "lib/sub/z.pyd.fixnvpe-tmp",
                    "lib/x.dll.bak",
                    "lib/x.dll.bak.1",
                    "lib/x.dll.bak.7",
                    "lib/x.dll_bak"};
    CHECK(own({"lib"}) == all);
    CHECK(own({"lib/*", "lib"}) == all);
}

TEST_CASE("targets: thousands of files in one folder") {
    const TempFolder temp;
    const fs::path lib = temp.folder("lib");
    for (int i = 0; i < 5'000; ++i) {
        std::ofstream(lib / (std::to_string(i) + (i % 100 == 0 ? ".dll" : ".py")));
    }
    const std::string lib_text = os::from_path(lib);
    CHECK(find_targets({lib_text}).files.size() == 50);
    CHECK(find_targets({lib_text + "/*"}).files.size() == 5'000);
}

#if !defined(_WIN32)

TEST_CASE("targets: links to folders are entered where they are named, and not where they are found") {
    const TempFolder temp;
    temp.file("real/x.dll");
    temp.folder("lib");
    fs::create_directory_symlink("../real", temp / "lib/linked");
    fs::create_directory_symlink(".", temp / "lib/self");
    fs::create_directory_symlink("../real", temp / "lib/folder.dll");
    temp.file("lib/y.dll");
    const Inside here(temp.path());
    const std::string target = GENERATE("lib", "lib/**/*.dll");
    const Targets result = find_targets({target});
    CHECK(described(result.files) == Texts{"lib/y.dll"});
    CHECK(described(result.problems) == Texts{});
    Texts skipped = described(result.skipped);
    std::sort(skipped.begin(), skipped.end());
    CHECK(skipped == Texts{"lib/folder.dll: link-to-folder", "lib/linked: link-to-folder", "lib/self: link-to-folder"});
    check_files({"lib/linked"}, {"lib/linked/x.dll"});
    check_files({"lib/linked/*.dll"}, {"lib/linked/x.dll"});
    INFO("one name, whether through the link or not");
    check_files({"real", "lib/linked/x.dll", "lib/self/linked/x.dll"}, {"real/x.dll named"});
}

TEST_CASE("targets: a link to a file is a target itself, and marked as one") {
    const TempFolder temp;
    temp.file("store/x.dll");
    temp.folder("lib");
    fs::create_symlink("../store/x.dll", temp / "lib/linked.dll");
    const Inside here(temp.path());
    check_files({"lib/linked.dll"}, {"lib/linked.dll named link"});
    check_files({"lib"}, {"lib/linked.dll link"});
    check_files({"lib/*.dll"}, {"lib/linked.dll link"});
    check_files({"lib/linked.dll", "store/x.dll"}, {"lib/linked.dll named link", "store/x.dll named"});
    SECTION("a link with the name of one of our own files is one") {
        fs::create_symlink("../store/x.dll", temp / "lib/y.dll.bak");
        check_problem("lib/y.dll.bak",
                      "usage: lib/y.dll.bak: this is one of fixnvpe's own files (name the DLL itself: lib/y.dll)");
    }
}

TEST_CASE("targets: a link to nothing is passed over where it is found, and a problem where it is named") {
    const TempFolder temp;
    temp.file("lib/x.dll");
    fs::create_symlink("gone.dll", temp / "lib/broken.dll");
    fs::create_symlink("circle.dll", temp / "lib/circle.dll");
    fs::create_symlink("gone", temp / "lib/of-no-interest");
    const Inside here(temp.path());
    const Targets result = find_targets({"lib"});
    CHECK(described(result.files) == Texts{"lib/x.dll"});
    CHECK(result.skipped.size() == 2);
    CHECK(described(result.problems) == Texts{});
    check_problem("lib/broken.dll", "not-found: lib/broken.dll: find what it leads to: No such file or directory");
    const Targets circle = find_targets({"lib/circle.dll"});
    REQUIRE(circle.problems.size() == 1);
    CHECK(circle.problems[0].code() == ErrorCode::link);
}

TEST_CASE("targets: pipes, sockets and devices are no files") {
    const TempFolder temp;
    temp.file("lib/x.dll");
    const Inside here(temp.path());
    REQUIRE(::mkfifo("lib/pipe.dll", 0600) == 0);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address{AF_UNIX, "lib/socket.dll"};
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(fd);
    fs::create_symlink("/dev/null", temp / "lib/null.dll");
    const Targets result = find_targets({"lib"});
    CHECK(described(result.files) == Texts{"lib/x.dll"});
    CHECK(result.skipped.size() == 3);
    CHECK(described(result.problems) == Texts{});
    for (const std::string name : {"lib/pipe.dll", "lib/socket.dll", "lib/null.dll", "/dev/null"}) {
        check_problem(name, "not-regular-file: " + name + ": not a regular file");
    }
}

TEST_CASE("targets: a folder that can't be read is a problem, and the rest goes on") {
    const TempFolder temp;
    temp.file("lib/x.dll");
    temp.file("lib/closed/y.dll");
    temp.file("lib/open/z.dll");
    const Inside here(temp.path());
    const bool root = ::geteuid() == 0;
    ::chmod((temp / "lib/closed").c_str(), 0);
    if (root) {  // whom no mode stops
        constexpr uid_t nobody = 65534;
        REQUIRE(::seteuid(nobody) == 0);
    }
    const Targets result = find_targets({"lib", "lib/closed/y.dll"});
    if (root) {
        REQUIRE(::seteuid(0) == 0);
    }
    ::chmod((temp / "lib/closed").c_str(), 0700);
    CHECK(described(result.files) == Texts{"lib/open/z.dll", "lib/x.dll"});
    REQUIRE(result.problems.size() == 2);
    CHECK(result.problems[0].path() == "lib/closed");
    CHECK(result.problems[0].code() == ErrorCode::access_denied);
    CHECK_THAT(result.problems[0].message(), contains("Permission denied"));
    CHECK(result.problems[1].path() == "lib/closed/y.dll");
    CHECK(result.problems[1].code() == ErrorCode::access_denied);
}

TEST_CASE("targets: paths too long for the system are problems") {
    const TempFolder temp;
    const std::string name(250, 'd');
    const Inside here(temp.path());
    temp.file("top/x.dll");
    {
        const Inside top(temp / "top");
        for (int i = 0; i < 20; ++i) {  // 5,000 bytes deep: no one path leads there
            REQUIRE(::mkdir(name.c_str(), 0700) == 0);
            REQUIRE(::chdir(name.c_str()) == 0);
        }
        std::ofstream("deep.dll");
    }
    const Targets result = find_targets({"top"});
    CHECK(described(result.files) == Texts{"top/x.dll"});
    REQUIRE(result.problems.size() == 1);
    CHECK_THAT(result.problems[0].message(), contains("File name too long"));
    const Targets named = find_targets({std::string(300, 'n') + ".dll", std::string(5000, '/') + "x.dll"});
    CHECK(described(named.files) == Texts{});
    REQUIRE(named.problems.size() == 2);
    CHECK_THAT(named.problems[0].message(), contains("File name too long"));
    INFO("a long glob is no long name");
    check_files({"top/[" + std::string(300, 'x') + "].dll"}, {"top/x.dll"});
}

TEST_CASE("targets: names that are no UTF-8, and names of special characters") {
    const TempFolder temp;
    const Texts names{"lib/\xFF\xFE.dll", "lib/a\nb.dll", "lib/模型.dll",
                      "lib/a\\b.dll",     "lib/-v.dll",   "lib/\xFF/n.dll"};
    for (const std::string& name : names) {
        temp.file(name);
    }
    const Inside here(temp.path());
    Texts sorted = names;
    std::sort(sorted.begin(), sorted.end());
    check_files({"lib"}, sorted);
    check_files({"lib/[!-]?.dll"}, {"lib/模型.dll", "lib/\xFF\xFE.dll"});
    check_files({"lib/\xFF*"}, {"lib/\xFF/n.dll", "lib/\xFF\xFE.dll"});
    check_files({"lib/\xFF\xFE.dll"}, {"lib/\xFF\xFE.dll named"});
    check_problem("lib/\xFD.dll", "no-match: lib/\xFD.dll: not found (lib has no \\xfd.dll)");
}

#endif

TEST_CASE("targets: a path with blanks that the shell has cut is named whole in the hint") {
    const TempFolder temp;
    temp.file("my own files/a.dll");
    const auto problems = [&](const std::vector<std::string>& names) {
        std::vector<std::string> texts;
        for (const std::string& name : names) {
            texts.push_back(name.starts_with("+") ? name.substr(1) : os::from_path(temp / name));
        }
        std::string text;
        for (const Error& problem : find_targets(texts).problems) {
            text += problem.detail() + "; ";
        }
        return text;
    };
    const std::string whole = os::from_path(temp / "my own files/a.dll");
    CHECK_THAT(problems({"my", "+own", "+files/a.dll"}),
               contains("put a path with blanks in quotes: \"" + printable(whole)));
    CHECK(problems({"my", "+own"}).find("quotes") == std::string::npos);
    CHECK(problems({"my own files/a.dll", "+nothing"}).find("quotes") == std::string::npos);
}

}  // namespace fixnvpe::test
