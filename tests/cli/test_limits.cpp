// What a system may forbid or lack: limits, locks, marks, leases, privileges.
#if !defined(_WIN32)

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"
#include "support/unprivileged.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

const std::string ORIGINAL = "x64-writable.dll";

std::string original() {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/" + ORIGINAL);
}

Output run_behind(const Session& session, std::vector<std::string> words, const std::vector<std::string>& arguments) {
    for (const std::string& word : program().with(arguments)) {
        words.push_back(word);
    }
    const ProcessResult result = session.run({.words = words});
    return {result.exit_status, result.out, result.err};
}

std::vector<std::string> with_fault(const std::string& call, const std::string& fault) {
    return {"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + call + ":" + fault};
}

std::string attribute(const fs::path& path, const char* name) {
    std::string value(256, '\0');
    const ssize_t n = ::getxattr(path.c_str(), name, value.data(), value.size());
    return n == -1 ? std::string("none: ") + std::strerror(errno) : value.substr(0, static_cast<std::size_t>(n));
}

/// @return false if this file system has none
bool set_attribute(const fs::path& path, const char* name, const std::string& value) {
    if (::setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0) {
        return true;
    }
    WARN("not tested, since " << path.parent_path() << " has no " << name << ": " << std::strerror(errno));
    return false;
}

template <typename Integer>
void add(std::string& bytes, Integer value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xFF);
    }
}

/// acl(5) as the kernel takes it: user::rwx, user:12345:rwx, group::r-x, mask::rwx, other::r-x.
std::string an_acl() {
    constexpr std::uint32_t nobody = 0xFFFFFFFF;
    std::string bytes;
    add(bytes, std::uint32_t{2});
    const auto entry = [&](std::uint16_t tag, std::uint16_t permissions, std::uint32_t id) {
        add(bytes, tag);
        add(bytes, permissions);
        add(bytes, id);
    };
    entry(0x01, 7, nobody);
    entry(0x02, 7, 12345);
    entry(0x04, 5, nobody);
    entry(0x10, 7, nobody);
    entry(0x20, 5, nobody);
    return bytes;
}

/// cap_net_raw+p, as capabilities(7) has it.
std::string a_capability() {
    std::string bytes;
    for (const std::uint32_t word : {0x02000000U, 0x2000U, 0U, 0U, 0U}) {
        add(bytes, word);
    }
    return bytes;
}

mode_t mode_of(const fs::path& path) {
    struct stat s {};
    REQUIRE(::stat(path.c_str(), &s) == 0);
    return s.st_mode & 07777;
}

/// A mark that only root can set, and that stops even root, as long as this lives.
class Marked {
public:
    Marked(const fs::path& path, int mark) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), mark_(mark) {
        int flags = 0;
        set_ = fd_ != -1 && ::ioctl(fd_, FS_IOC_GETFLAGS, &flags) == 0 && change(flags | mark_);
        if (!set_) {
            WARN("not tested, since nothing can be marked here: " << std::strerror(errno));
        }
    }
    Marked(const Marked&) = delete;
    Marked& operator=(const Marked&) = delete;
    ~Marked() {
        int flags = 0;
        if (set_ && ::ioctl(fd_, FS_IOC_GETFLAGS, &flags) == 0) {
            change(flags & ~mark_);
        }
        ::close(fd_);
    }
    explicit operator bool() const { return set_; }

private:
    bool change(int flags) { return ::ioctl(fd_, FS_IOC_SETFLAGS, &flags) == 0; }
    int fd_;
    int mark_;
    bool set_ = false;
};

}  // namespace

TEST_CASE("limits: a file larger than ulimit -f allows is an error with a hint, and the others are done", "[posix]") {
    const Session session;
    session.writable("a.dll");
    fs::resize_file(session.writable("b.dll"), 100'000);
    session.writable("c.dll");
    const std::string before = read_file(session / "b.dll");
    const std::vector<std::string> limited{"sh", "-c", "ulimit -f 50 && exec \"$@\"", "sh"};
    const Output output = run_behind(session, limited, {"patch", "-q", "-j", "1", "a.dll", "b.dll", "c.dll"});
    CHECK(output.exit_status == 2);
    CHECK(output.err ==
          "fixnvpe: b.dll.fixnvpe-tmp: copy: File too large\n  hint: this file system, or a limit of this session "
          "(ulimit -f), allows no file of that size, or try --backup undo\n");
    CHECK(session.names() == "a.dll a.dll.bak b.dll c.dll c.dll.bak");
    CHECK(read_file(session / "b.dll") == before);
    CHECK(run_behind(session, limited, {"patch", "--backup", "undo", "b.dll"}).exit_status == 0);
}

TEST_CASE("limits: --help, --version and completion to a full disk or a closed pipe are errors that say which",
          "[posix]") {
    const Session session;
    const std::vector<std::vector<std::string>> commands{
        {"--help"}, {"--version"}, {"patch", "--help"}, {"completion", "bash"}};
    for (const std::vector<std::string>& words : commands) {
        INFO(words.front());
        const ProcessResult full = session.run({.words = program().with(words), .standard_output = Sink::full_disk});
        CHECK(full.exit_status == 2);
        CHECK(full.err == "fixnvpe: standard output: write failed: No space left on device\n  hint: free some space\n");
        const ProcessResult closed =
            session.run({.words = program().with(words), .standard_output = Sink::closed_pipe});
        CHECK(closed.exit_status == 2);
        CHECK(closed.err == "fixnvpe: standard output: write failed: Broken pipe\n");
    }
}

TEST_CASE("looks: a verify that runs all the time makes no patch or restore fail", "[posix]") {
    const Session session;
    session.writable("a.dll");
    std::atomic<bool> done = false;
    std::thread looker([&] {
        while (!done) {
            (void)session.fixnvpe({"verify", "-q", "a.dll"});
        }
    });
    for (int i = 0; i < 25; ++i) {
        CHECK(session.fixnvpe({"patch", "-q", "a.dll"}).exit_status == 0);
        CHECK(session.fixnvpe({"restore", "-q", "a.dll"}) == Output{0, "1 file restored\n", ""});
    }
    done = true;
    looker.join();
    CHECK(session.names() == "a.dll");
}

TEST_CASE("hard links: clean removes both names of one stale backup", "[posix]") {
    const Session session;
    session.writable("a.dll");
    session.another_build("a.dll.bak.1");
    fs::create_hard_link(session / "a.dll.bak.1", session / "a.dll.bak.2");
    CHECK(session.fixnvpe({"clean", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll");
}

TEST_CASE("no locks: to have made the temporary is the lock, and none leaks", "[posix]") {
    for (const std::string error : {"ENOLCK", "ENOSYS", "EOPNOTSUPP"}) {
        INFO(error);
        const Session session;
        session.writable("a.dll");
        const auto fixnvpe = [&](const std::vector<std::string>& arguments) {
            return run_behind(session, with_fault("flock", "error=" + error), arguments);
        };
        for (const std::string backup : {"full", "undo"}) {
            CHECK(fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
            CHECK(session.names() == "a.dll a.dll." + std::string(backup == "full" ? "bak" : "fixnvpe-undo"));
            CHECK(fixnvpe({"restore", "a.dll"}).exit_status == 0);
            CHECK(session.names() == "a.dll");
        }
        CHECK(read_file(session / "a.dll") == original());
    }
}

TEST_CASE("no locks: a temporary that is there is busy for patch, restore and clean alike", "[posix]") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    session.text("a.dll.fixnvpe-tmp", "perhaps a crash left it, perhaps another is at work");
    const Snapshot before = session.snapshot();
    const auto fixnvpe = [&](const std::vector<std::string>& arguments) {
        return run_behind(session, with_fault("flock", "error=ENOLCK"), arguments);
    };
    const std::string busy =
        "fixnvpe: a.dll.fixnvpe-tmp: lock: another fixnvpe may be at work, which can't be told: No locks available\n"
        "  hint: if no other fixnvpe runs, ";
    for (const std::string command : {"patch", "restore", "clean"}) {
        INFO(command);
        const Output output = fixnvpe({command, "a.dll"});
        CHECK(output.exit_status == 2);
        CHECK(output.err == busy + "remove it yourself\n");
        CHECK(session.snapshot() == before);
    }
    CHECK_THAT(fixnvpe({"verify", "a.dll"}).out, contains("another fixnvpe may be at work on it"));

    fs::remove(session / "a.dll");
    const Output missing = fixnvpe({"restore", "a.dll"});
    CHECK(missing.exit_status == 2);
    CHECK(missing.err == busy + "rename a.dll.bak back to a.dll, then remove it yourself\n");
    CHECK(session.names() == "a.dll.bak a.dll.fixnvpe-tmp");
}

TEST_CASE("ACL: a patched file has the ACL that it had, and not that of its folder", "[posix]") {
    constexpr const char* default_acl = "system.posix_acl_default";
    constexpr const char* acl = "system.posix_acl_access";
    for (const std::string backup : {"full", "undo"}) {
        for (const bool has_one : {false, true}) {
            INFO(backup << ' ' << has_one);
            const Session session;
            const fs::path a = session.writable("a.dll");
            fs::create_hard_link(a, session / "link");  // so that even undo has to copy
            if (has_one && !set_attribute(a, acl, an_acl().replace(8 + 4 + 2, 1, 1, '\4'))) {
                return;
            }
            if (!set_attribute(session.folder(), default_acl, an_acl())) {
                return;
            }
            const std::string before = attribute(a, acl);
            const mode_t mode = mode_of(a);
            const auto check = [&](const std::string& name) {
                INFO(name);
                CHECK(attribute(session / name, acl) == before);
                CHECK(mode_of(session / name) == mode);
            };
            REQUIRE(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
            check("a.dll");
            check(backup == "undo" ? "a.dll.fixnvpe-undo" : "a.dll.bak");
            REQUIRE(session.fixnvpe({"restore", "--keep-backup", "a.dll"}).exit_status == 0);
            check("a.dll");
        }
    }
}

TEST_CASE("privileges: an edit in place leaves setuid bits and capabilities", "[posix]") {
    const Session session;
    const fs::path a = session.writable("a.dll");
    Unprivileged::own(a);
    Unprivileged::own(session.folder());
    REQUIRE(::chmod(a.c_str(), 04755) == 0);
    const Unprivileged user(session);
    CHECK(user.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    CHECK(read_file(a) != original());
    CHECK(mode_of(a) == 04755);
    CHECK(user.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    CHECK(mode_of(a) == 04755);

    constexpr const char* capability = "security.capability";
    if (::geteuid() != 0 || !set_attribute(a, capability, a_capability())) {
        return;
    }
    for (const std::string command : {"patch", "restore"}) {
        CHECK(session.fixnvpe({command, "a.dll"}).exit_status == 0);
        REQUIRE(session.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
        CHECK(attribute(a, capability) == a_capability());
        REQUIRE(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
        CHECK(attribute(a, capability) == a_capability());
    }
}

TEST_CASE("users: a read-only file of the user's own is edited in place, and is read-only again", "[posix]") {
    const Session session;
    const fs::path a = session.writable("a.dll");
    Unprivileged::own(a);
    Unprivileged::own(session.folder());
    REQUIRE(::chmod(a.c_str(), 0444) == 0);
    const Unprivileged user(session);
    const Output failed = user.fixnvpe({"patch", "--backup", "none", "a.dll"}, with_fault("pwrite64", "error=EIO"));
    CHECK(failed.exit_status == 2);
    CHECK_THAT(failed.err, contains("fixnvpe: a.dll: write: Input/output error\n"));
    CHECK(read_file(a) == original());
    CHECK(mode_of(a) == 0444);
    for (const std::string backup : {"undo", "full"}) {
        const Output patch = user.fixnvpe({"patch", "--backup", backup, "a.dll"});
        CHECK(patch.err.empty());
        CHECK(patch.exit_status == 0);
        CHECK(read_file(a) != original());
        CHECK(mode_of(a) == 0444);
        CHECK(user.fixnvpe({"restore", "a.dll"}).exit_status == 0);
        CHECK(read_file(a) == original());
        CHECK(mode_of(a) == 0444);
        CHECK(session.names() == "a.dll");
    }
    // One with other names, too.
    fs::create_hard_link(a, session / "link");
    CHECK(user.fixnvpe({"patch", "--backup", "undo", "a.dll"}).exit_status == 0);
    CHECK(read_file(session / "link") == original());
}

TEST_CASE("users: the owner of a file of a foreign group is told that it is the group", "[posix]") {
    if (::geteuid() != 0) {
        return;  // only root can make one
    }
    const Session session;
    const fs::path a = session.writable("a.dll");
    Unprivileged::own(session.folder());
    REQUIRE(::chown(a.c_str(), Unprivileged::USER, 0) == 0);
    const Unprivileged user(session);
    const Output output = user.fixnvpe({"patch", "a.dll"});
    CHECK(output.exit_status == 2);
    CHECK(output.err ==
          "fixnvpe: a.dll.fixnvpe-tmp: keep the group: Operation not permitted\n"
          "  hint: you are not in the file's group: run it as a member of it, or as root\n");
    CHECK(session.names() == "a.dll");
    // Of somebody else it is the owner.
    REQUIRE(::chown(a.c_str(), 0, 0) == 0);
    CHECK(user.fixnvpe({"patch", "a.dll"}).err ==
          "fixnvpe: a.dll.fixnvpe-tmp: keep the owner: Operation not permitted\n"
          "  hint: run it as the file's owner or as root\n");
}

TEST_CASE("marks: an immutable or append-only file or folder is told, with the command that takes the mark away",
          "[posix]") {
    const Session session;
    session.writable("lib/a.dll");
    const auto check = [&](const std::string& error, const std::string& command) {
        for (const std::string backup : {"full", "undo"}) {
            INFO(backup);
            const Output output = session.fixnvpe({"patch", "--backup", backup, "lib/a.dll"});
            CHECK(output.exit_status == 2);
            CHECK_THAT(output.err, contains(error +
                                            ": Operation not permitted\n  hint: a mark keeps even root "
                                            "from this: " +
                                            command + " takes it away\n"));
            CHECK(session.names() == "lib/a.dll");
            CHECK(read_file(session / "lib/a.dll") == original());
        }
    };
    if (const Marked marked(session / "lib/a.dll", FS_IMMUTABLE_FL); marked) {
        check("", "chattr -i lib/a.dll");
    }
    if (const Marked marked(session / "lib", FS_IMMUTABLE_FL); marked) {
        check("fixnvpe: lib/a.dll.fixnvpe-tmp: create", "chattr -i lib");
    }
    // Where what was begun can't be taken back either, the first error is the one that is told.
    if (const Marked marked(session / "lib", FS_APPEND_FL); marked) {
        const Output output = session.fixnvpe({"patch", "lib/a.dll"});
        CHECK(output.exit_status == 2);
        CHECK(output.err ==
              "fixnvpe: lib/a.dll: rename: Operation not permitted\n  hint: a mark keeps even root from this: "
              "chattr -a lib takes it away\n");
        CHECK(read_file(session / "lib/a.dll") == original());
    }
    CHECK(session.fixnvpe({"patch", "lib/a.dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"restore", "lib/a.dll"}).exit_status == 0);
    CHECK(session.names() == "lib/a.dll");
}

TEST_CASE("errors: a backup that was moved aside is told, though the patch then fails", "[posix]") {
    const Session session;
    session.writable("a.dll");
    session.another_build("a.dll.bak");
    const Output output = run_behind(session, with_fault("linkat", "error=EIO"), {"patch", "--json", "a.dll"});
    CHECK(in_short(nlohmann::json::parse(output.out)) == "a.dll unpatched !io (moved-aside); exit 2");
    CHECK(session.names() == "a.dll a.dll.bak.1");
    CHECK(read_file(session / "a.dll") == original());
}

TEST_CASE("errors: where the file can't get its own name back either, its name now is told", "[posix]") {
    const Session session;
    session.writable("a.dll");
    const Output output = run_behind(session,
                                     {"strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=linkat:error=EPERM", "-e",
                                      "inject=rename:error=EACCES", "-e", "inject=renameat2:error=EIO:when=2"},
                                     {"patch", "a.dll"});
    CHECK(output.exit_status == 2);
    CHECK(
        output.err ==
        "fixnvpe: a.dll: rename: Permission denied\n  hint: the file is now called a.dll.bak: fixnvpe restore puts it "
        "back\n");
    CHECK(session.names() == "a.dll.bak");
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll");
    CHECK(read_file(session / "a.dll") == original());
}

TEST_CASE("limits: where no thread is to be had, one does the work", "[posix]") {
    const Session session;
    for (const char* name : {"a.dll", "b.dll", "c.dll"}) {
        session.writable(name);
    }
    const Output output = run_behind(session, with_fault("clone,clone3", "error=EAGAIN"), {"patch", "--json", "."});
    CHECK(output.exit_status == 0);
    CHECK(nlohmann::json::parse(output.out).at("files").size() == 3);
    CHECK(session.names() == "a.dll a.dll.bak b.dll b.dll.bak c.dll c.dll.bak");
}

TEST_CASE("users: another user's temporary, which can't be looked into, is not said to be a crash's", "[posix]") {
    const Session session;
    session.writable("a.dll");
    const fs::path temporary = session.text("a.dll.fixnvpe-tmp", "");
    REQUIRE(::chmod(temporary.c_str(), 0) == 0);
    const Unprivileged user(session);
    CHECK_THAT(user.fixnvpe({"verify", "a.dll"}).out, contains("a.dll  another fixnvpe may be at work on it\n"));
}

TEST_CASE("leases: a file that a file server has a lease on is busy", "[posix]") {
    const Session session;
    const fs::path a = session.writable("a.dll");
    std::signal(SIGIO, SIG_IGN);  // by which we would be asked to give it back
    for (const int lease : {F_WRLCK, F_RDLCK}) {
        INFO(lease);
        const int fd = ::open(a.c_str(), O_RDONLY | O_CLOEXEC);
        REQUIRE(fd != -1);
        if (::fcntl(fd, F_SETLEASE, lease) == -1) {
            WARN("not tested, since there are no leases here: " << std::strerror(errno));
            ::close(fd);
            continue;
        }
        const Output output = session.fixnvpe({"patch", "--backup", "none", "a.dll"});
        CHECK(output.exit_status == 2);
        CHECK(output.err ==
              "fixnvpe: a.dll: " + std::string(lease == F_WRLCK ? "open" : "open for writing") +
                  ": another program has a lease on it\n  hint: a file server, or another such program, holds it: run "
                  "it again when that is done\n");
        ::close(fd);
        CHECK(session.names() == "a.dll");
        CHECK(read_file(a) == original());
    }
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
}

}  // namespace fixnvpe::test

#endif
