// Trees that somebody made to do harm, or that are just very large.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

void make_socket(const fs::path& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    const bool made = fd != -1 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    INFO(path.string());
    REQUIRE(made);
}

/// Names that want to be commands: to a terminal, a shell, a glob or the reader of our lines.
const std::vector<std::string> NAMES{
    "new\nline.dll",
    "bell\a.dll",
    "\x1b[2J\x1b]0;title\a.dll",
    "\xc2\x9b"
    "31m.dll",
    "right\xe2\x80\xaeto left.dll",
    "invalid\xff\xfe.dll",
    "quote\"'`.dll",
    "[a-z]*?.dll",
    "$(reboot).dll",
    "-n.dll",
    "--all.dll",
    " blank .dll",
    "\xe9\xa1\xb5\xe9\x9d\xa2.dll",
};

bool is_harmless(const std::string& text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) {
                            const auto byte = static_cast<unsigned char>(c);
                            return (byte < 0x20 && c != '\n') || byte == 0x7f;
                        }) &&
           text.find("\xc2\x9b") == std::string::npos && text.find("\xe2\x80\xae") == std::string::npos;
}

}  // namespace

TEST_CASE("hostile: whatever is in a tree, nothing outside is touched, nothing hangs, no name commands the terminal") {
    const Session session;
    session.writable("outside/victim.dll");
    session.text("outside/secret", "not ours");
    const fs::path tree = session / "tree";
    fs::create_directories(tree / "folder.dll" / "deeper");
    for (const std::string& name : NAMES) {
        session.writable(fs::path("tree") / name);
        session.writable(fs::path("tree") / "folder.dll" / "deeper" / name);
    }
    fs::create_symlink("../outside/victim.dll", tree / "link.dll");
    fs::create_directory_symlink("../outside", tree / "linked");
    fs::create_directory_symlink("..", tree / "loop");
    fs::create_symlink("self.dll", tree / "self.dll");
    fs::create_symlink("nowhere", tree / "dangling.dll");
    fs::create_symlink("/etc/passwd", session.writable("tree/backup-is-link.dll").string() + ".bak");
    fs::create_symlink("/etc/passwd", session.writable("tree/undo-is-link.dll").string() + ".fixnvpe-undo");
    fs::create_symlink("../outside/secret", session.writable("tree/planted.dll").string() + ".fixnvpe-tmp");
    fs::create_directory(session.writable("tree/planted-folder.dll").string() + ".fixnvpe-tmp");
    REQUIRE(::mkfifo((tree / "fifo.dll").c_str(), 0644) == 0);
    REQUIRE(::mkfifo((session.writable("tree/fifo-backup.dll").string() + ".bak").c_str(), 0644) == 0);
    make_socket(tree / "socket.dll");
    if (::geteuid() == 0) {
        REQUIRE(::mknod((tree / "device.dll").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0);  // /dev/zero: endless
    }
    const FileState victim = state_of(session / "outside" / "victim.dll");
    const FileState secret = state_of(session / "outside" / "secret");
    const FileState passwd = state_of("/etc/passwd");

    const std::vector<std::vector<std::string>> commands{{"verify"},
                                                         {"scan"},
                                                         {"patch", "-n"},
                                                         {"patch"},
                                                         {"verify", "-v"},
                                                         {"patch", "--backup", "undo"},
                                                         {"clean"},
                                                         {"restore"},
                                                         {"clean", "--backups"},
                                                         {"patch", "--backup", "none"}};
    for (const std::vector<std::string>& command : commands) {
        for (const std::string target : {"tree", "tree/**", "tree/*.dll"}) {
            std::vector<std::string> words = command;
            words.push_back(target);
            const Output output = session.fixnvpe(words);
            INFO(command.front() << ' ' << target << '\n' << output.out << output.err);
            CHECK(output.exit_status <= 2);
            CHECK(is_harmless(output.out));
            CHECK(is_harmless(output.err));
            CHECK(state_of(session / "outside" / "victim.dll") == victim);
            CHECK(state_of(session / "outside" / "secret") == secret);
            CHECK(state_of("/etc/passwd") == passwd);
        }
    }
    // What could be patched was.
    for (const std::string& name : NAMES) {
        INFO(name);
        CHECK(read_file(tree / name) != victim.bytes);
        CHECK(read_file(tree / "folder.dll" / "deeper" / name) != victim.bytes);
    }
}

TEST_CASE("hostile: a path of 4,000 bytes is worked on as any other, and one too long for the system is an error") {
    const Session session;
    const std::string part(200, 'p');
    fs::path folder = "deep";
    const std::size_t top = session.folder().native().size();
    while (top + folder.native().size() + part.size() < 3'950) {
        folder /= part;
    }
    session.writable(folder / std::string(4'000 - top - folder.native().size() - 10, 'a'));
    const std::string dll = "d.dll";
    session.writable(folder / dll);
    CHECK(session.fixnvpe({"patch", "deep"}).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--require-backup", "deep"}).exit_status == 0);
    CHECK(session.fixnvpe({"restore", (session / folder / dll).string()}).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "deep"}).exit_status == 1);

    const Output output = session.fixnvpe({"verify", std::string(5'000, 'x') + ".dll", "deep"});
    CHECK(output.exit_status == 2);
    CHECK_THAT(output.out, contains("unpatched"));
}

TEST_CASE("hostile: a site-packages of 100,000 files in one folder") {
    const Session session;
    const fs::path packages = session / "env" / "Lib" / "site-packages";
    fs::create_directories(packages / "many");
    for (int i = 0; i < 100'000; ++i) {
        const std::ofstream made(packages / "many" / (std::to_string(i) + ".py"));
    }
    fs::create_directories(packages / "torch" / "lib");
    session.writable("env/Lib/site-packages/torch/lib/torch_cuda.dll");
    session.writable("env/Lib/site-packages/many/a.pyd");
    const Output output = session.fixnvpe({"patch", "--env", "env"});
    INFO(output.out << output.err);
    CHECK(output.exit_status == 0);
    CHECK_THAT(output.out, contains("2 files patched"));
    CHECK(session.fixnvpe({"restore", "env"}).exit_status == 0);
}

TEST_CASE("hostile: a run over many files, most of them bad, never holds more than a few open") {
    const Session session;
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(i);
        session.writable("lib/" + number + ".dll");
        session.fixture("x64-truncated-headers.dll", "lib/cut" + number + ".dll");
        session.fixture("x64-odd-size.dll", "lib/" + number + "stale.dll.bak");
        session.writable("lib/" + number + "stale.dll");
        fs::create_symlink("nowhere", session.writable("lib/" + number + "link.dll").string() + ".bak");
    }
    for (const std::string backup : {"full", "undo"}) {
        for (const std::string command : {"patch", "restore"}) {
            std::vector<std::string> words = program().with({command, "lib"});
            if (command == "patch") {
                words.insert(words.end(), {"-j", "2", "--backup", backup});
            }
            words.insert(words.begin(), {"prlimit", "--nofile=24"});
            const ProcessResult result = session.run({.words = words});
            CHECK(result.exit_status == 2);
            CHECK_THAT(result.out, contains(command == "patch" ? "200 files patched" : "200 files restored"));
            CHECK_THAT(result.err, !contains("Too many open files"));
        }
    }
}

}  // namespace fixnvpe::test
