// What only POSIX systems have: file names of any bytes, modes, hard links, devices, users, locks.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"
#include "support/unprivileged.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

std::string testdata(const std::string& name) {
    return read_file(std::string(FIXNVPE_TESTDATA_DIR) + "/pe/" + name);
}

}  // namespace

TEST_CASE("names: Chinese ones are shown as they are, and all else that a terminal could take for a command is not",
          "[posix]") {
    const Session session;
    session.writable("\xe5\xba\x93/\xe6\x96\x87\xe4\xbb\xb6.dll");
    session.writable("a\nb.dll");
    session.writable("a\x1b[31mb.dll");
    session.writable(
        "a\xff\xfe"
        "b.dll");
    session.writable(
        "a\xe2\x80\xae"
        "b.dll");  // from here on right to left
    session.writable(
        "a\xc2\x9b"
        "b.dll");  // CSI as one character
    session.writable("{}%v {0}.dll");
    session.writable("\\.dll");
    session.writable("'\"$(x)`;&|.dll");
    std::string lines = ".\n";
    for (const char* name :
         {"'\"$(x)`;&|", "\\", "a\\nb", "a\\x1b[31mb", "a\\x9bb", "a\\u202eb", "a\\xff\\xfeb", "{}%v {0}"}) {
        lines += std::string("  unpatched  4.0 KiB  ") + name + ".dll\n";
    }
    lines += "./\xe5\xba\x93\n  unpatched  4.0 KiB  \xe6\x96\x87\xe4\xbb\xb6.dll\n";
    const Output verify = session.fixnvpe({"verify", "."});
    CHECK(verify == Output{1,
                           lines + "9 files: 9 unpatched\n"
                                   "to do: fixnvpe patch\n"
                                   "each process would commit up to 36.0 KiB less (144.0 KiB -> 108.0 KiB)\n",
                           ""});
    for (const std::string backup : {"full", "undo", "none"}) {
        INFO(backup);
        CHECK(session.fixnvpe({"patch", "--aslr", "keep", "--backup", backup, "."}).exit_status == 0);
        CHECK(session.fixnvpe({"verify", "."}).exit_status == 0);
        if (backup != "none") {
            CHECK(session.fixnvpe({"restore", "."}).exit_status == 0);
            CHECK(session.fixnvpe({"verify", "."}) == verify);
        }
    }
}

TEST_CASE("names: they are made harmless in errors and notes, too", "[posix]") {
    const Session session;
    const std::string name = "a\x1b[2J\n{}%v\xff.dll";
    const std::string shown = "a\\x1b[2J\\n{}%v\\xff.dll";
    session.fixture("x64-truncated-headers.dll", name);
    CHECK(session.fixnvpe({"verify", name}) ==
          Output{2, "  error  " + shown + "\n1 file: 1 error\n",
                 "fixnvpe: " + shown +
                     ": read headers: the section table ends at byte 632, but the file has only 600 "
                     "bytes\n  hint: the file is cut short: install it again\n"});
    session.writable(name);
    session.fixture("x64-odd-size.dll", name + ".bak");
    CHECK(
        session.fixnvpe({"patch", name})
            .out.starts_with("  patched  4.0 KiB  " + shown + "  an older backup was moved to " + shown + ".bak.1\n"));
    const std::string nothing = "no\x1b[2Jsuch";
    CHECK(session.fixnvpe({"verify", nothing}).err ==
          "fixnvpe: no\\x1b[2Jsuch: not found\n  hint: the current folder has no no\\x1b[2Jsuch\n");
    CHECK(session.fixnvpe({"verify", name + ".bak"}).err ==
          "fixnvpe: " + shown + ".bak: this is one of fixnvpe's own files\n  hint: name the DLL itself: " + shown +
              "\n");
}

TEST_CASE("names: a literal name wins over its reading as a glob", "[posix]") {
    const Session session;
    session.writable("[a].dll");
    session.writable("a.dll");
    session.writable("*.dll");
    CHECK(session.fixnvpe({"patch", "-q", "[a].dll"}).exit_status == 0);
    CHECK(session.fixnvpe({"patch", "-q", "*.dll"}).exit_status == 0);
    CHECK(session.names() == "*.dll *.dll.bak [a].dll [a].dll.bak a.dll");
}

TEST_CASE("names: one so long that none of ours fits beside it can be verified, and is not half patched", "[posix]") {
    // NAME_MAX is 255: from one step to the next, one more of our suffixes is too long.
    for (const std::size_t length : {238U, 242U, 243U, 244U, 251U, 252U, 255U}) {
        INFO(length);
        const Session session;
        const std::string name = std::string(length - 4, 'l') + ".dll";
        session.writable(name);
        session.age();
        const Snapshot before = session.snapshot();
        const Output verify = session.fixnvpe({"verify", name});
        CHECK(verify.exit_status == 1);
        CHECK(verify.err.empty());
        CHECK_THAT(verify.out, contains("1 file: 1 unpatched\n"));
        for (const std::string backup : {"full", "undo", "none"}) {
            INFO(backup);
            const Output patch = session.fixnvpe({"patch", "--backup", backup, name});
            if (patch.exit_status == 0) {
                CHECK(session.fixnvpe({"verify", name}).exit_status == 0);
                if (backup == "none") {
                    break;
                }
                CHECK(session.fixnvpe({"restore", name}).exit_status == 0);
                CHECK(session.names() == name);
                CHECK(read_file(session / name) == before.at(name).bytes);
                session.age();
            } else {
                CHECK(patch.exit_status == 2);
                CHECK_THAT(patch.err, contains("File name too long"));
                CHECK(session.names() == name);
                CHECK(read_file(session / name) == before.at(name).bytes);
            }
        }
    }
}

TEST_CASE("hard links: a package cache keeps its old bytes after patch and after restore", "[posix]") {
    for (const std::string backup : {"full", "undo", "none"}) {
        for (const std::string aslr : {"auto", "keep", "clear"}) {
            INFO(backup << ' ' << aslr);
            const Session session;
            session.writable("cache/a.dll");
            fs::create_directories(session / "env");
            fs::create_hard_link(session / "cache/a.dll", session / "env/a.dll");
            fs::create_hard_link(session / "cache/a.dll", session / "cache/other-env.dll");
            session.age();
            const FileState before = state_of(session / "cache/a.dll");
            CHECK(session.fixnvpe({"patch", "--backup", backup, "--aslr", aslr, "env"}).exit_status == 0);
            CHECK(state_of(session / "cache/a.dll").bytes == before.bytes);
            CHECK(state_of(session / "cache/a.dll").modified == before.modified);
            CHECK(read_file(session / "cache/other-env.dll") == before.bytes);
            CHECK(read_file(session / "env/a.dll") != before.bytes);
            CHECK(state_of(session / "env/a.dll").hard_links == 1);
            if (backup != "none") {
                CHECK(session.fixnvpe({"restore", "env"}).exit_status == 0);
                CHECK(read_file(session / "env/a.dll") == before.bytes);
            }
            CHECK(state_of(session / "cache/a.dll").bytes == before.bytes);
            CHECK(state_of(session / "cache/a.dll").modified == before.modified);
            if (backup == "full") {
                CHECK(state_of(session / "env/a.dll") == before);  // the very link that it was
            }
            CHECK(session.names() == "cache/a.dll cache/other-env.dll env/a.dll");
        }
    }
}

TEST_CASE("mode, owner and extended attributes are kept by patch and restore", "[posix]") {
    constexpr const char* attribute = "user.fixnvpe.test";
    const auto attribute_of = [&](const fs::path& path) {
        std::string value(64, '\0');
        const ssize_t n = ::getxattr(path.c_str(), attribute, value.data(), value.size());
        return n == -1 ? std::string("none: ") + std::strerror(errno) : value.substr(0, static_cast<std::size_t>(n));
    };
    for (const std::string backup : {"full", "undo", "none"}) {
        for (const mode_t mode : {0600U, 0644U, 0755U, 0664U, 04755U}) {
            INFO(backup << ' ' << mode);
            const Session session;
            const fs::path a = session.writable("a.dll");
            fs::create_hard_link(a, session / "link");  // so that even undo and none have to copy
            Unprivileged::own(a);
            REQUIRE(::setxattr(a.c_str(), attribute, "kept", 4, 0) == 0);
            REQUIRE(::chmod(a.c_str(), mode) == 0);
            struct stat before {};
            REQUIRE(::stat(a.c_str(), &before) == 0);
            const auto check = [&] {
                struct stat now {};
                REQUIRE(::stat(a.c_str(), &now) == 0);
                CHECK(now.st_mode == before.st_mode);
                CHECK(now.st_uid == before.st_uid);
                CHECK(now.st_gid == before.st_gid);
                CHECK(attribute_of(a) == "kept");
            };
            REQUIRE(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
            check();
            if (backup != "none") {
                REQUIRE(session.fixnvpe({"restore", "--keep-backup", "a.dll"}).exit_status == 0);
                check();
                REQUIRE(session.fixnvpe({"restore", "a.dll"}).exit_status == 0);
                check();
            }
        }
    }
}

TEST_CASE("users: a folder that may not be written to is an error with a hint, and nothing changes", "[posix]") {
    const Session session;
    session.writable("lib/a.dll");
    session.writable("b.dll");
    Unprivileged::own(session / "lib/a.dll");
    Unprivileged::own(session / "b.dll");
    fs::permissions(session / "lib", fs::perms(0555));
    session.age();
    const Snapshot before = session.snapshot();
    const Unprivileged user(session);
    for (const std::string backup : {"full", "undo", "none"}) {
        INFO(backup);
        CHECK(user.told({"patch", "--backup", backup, "lib"}) == "lib/a.dll unpatched !access-denied; exit 2");
        CHECK(user.fixnvpe({"patch", "--backup", backup, "lib"}).err ==
              "fixnvpe: lib/a.dll.fixnvpe-tmp: create: Permission denied\n"
              "  hint: run it as the file's owner or as root\n");
        CHECK(session.snapshot() == before);
    }
    CHECK(user.fixnvpe({"verify", "lib"}).exit_status == 1);
    fs::permissions(session / "lib", fs::perms(0755));
}

TEST_CASE("users: a file that may not be read is an error with a hint, and the others are worked on", "[posix]") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    for (const char* name : {"", "a.dll", "b.dll"}) {
        Unprivileged::own(session / name);
    }
    fs::permissions(session / "a.dll", fs::perms(0));
    const FileState before = state_of(session / "a.dll");
    const Unprivileged user(session);
    CHECK(user.told({"verify", "."}) == "./a.dll error !access-denied; ./b.dll unpatched; saves 4096; exit 2");
    CHECK(user.fixnvpe({"verify", "."}).err ==
          "fixnvpe: ./a.dll: open: Permission denied\n  hint: run it as the file's owner or as root\n");
    CHECK(user.told({"patch", "."}) == "./a.dll error !access-denied; ./b.dll patched+patched; saves 4096; exit 2");
    CHECK(session.names() == "a.dll b.dll b.dll.bak");
    CHECK(state_of(session / "a.dll") == before);
}

TEST_CASE("users: a folder that may not be listed is an error, and the others are worked on", "[posix]") {
    const Session session;
    session.writable("closed/a.dll");
    session.writable("open/b.dll");
    fs::permissions(session / "closed", fs::perms(0));
    const Unprivileged user(session);
    const std::string told = user.told({"verify", "."});
    const Output output = user.fixnvpe({"verify", "."});
    fs::permissions(session / "closed", fs::perms(0755));
    CHECK(told == "./open/b.dll unpatched; ./closed error !access-denied; saves 4096; exit 2");
    CHECK(output.err == "fixnvpe: ./closed: list: Permission denied\n  hint: run it as the file's owner or as root\n");
}

TEST_CASE("users: an ordinary user patches and restores their own files", "[posix]") {
    const Session session;
    session.writable("a.dll");
    Unprivileged::own(session / "a.dll");
    Unprivileged::own(session.folder());
    const FileState before = state_of(session / "a.dll");
    const Unprivileged user(session);
    for (const std::string backup : {"full", "undo"}) {
        CHECK(user.fixnvpe({"patch", "--backup", backup, "a.dll"}).exit_status == 0);
        CHECK(user.fixnvpe({"verify", "--require-backup", "a.dll"}).exit_status == 0);
        CHECK(user.fixnvpe({"restore", "a.dll"}).exit_status == 0);
        CHECK(session.names() == "a.dll");
        CHECK(state_of(session / "a.dll").bytes == before.bytes);
    }
}

TEST_CASE("output: a reader that has gone, a full disk or no output at all are errors, and what was done stays done",
          "[posix]") {
    for (const Sink sink : {Sink::closed_pipe, Sink::full_disk, Sink::none}) {
        for (const std::string format : {"--no-progress", "--json"}) {
            INFO(static_cast<int>(sink) << ' ' << format);
            const Session session;
            session.writable("a.dll");
            const auto run = [&](const std::string& command) {
                const ProcessResult result =
                    session.run({.words = program().with({command, format, "a.dll"}), .standard_output = sink});
                CHECK(result.exit_status == 2);
                CHECK_THAT(result.err, contains("fixnvpe: standard output: write failed"));
            };
            run("verify");
            CHECK(session.names() == "a.dll");
            CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
            run("patch");
            CHECK(session.names() == "a.dll a.dll.bak");
            CHECK(session.fixnvpe({"verify", "--require-backup", "a.dll"}).exit_status == 0);
            run("restore");
            CHECK(session.names() == "a.dll");
            CHECK(read_file(session / "a.dll") == testdata("x64-writable.dll"));
        }
    }
}

TEST_CASE("links: a named link means the file that it leads to", "[posix]") {
    const Session session;
    session.writable("real/a.dll");
    fs::create_symlink("real/a.dll", session / "link.dll");
    const std::string real = (fs::canonical(session.folder()) / "real/a.dll").string();
    CHECK(session.told({"patch", "link.dll"}) == real + " patched+patched; saves 4096; exit 0");
    CHECK(session.names() == "link.dll real/a.dll real/a.dll.bak");
    CHECK(fs::is_symlink(session / "link.dll"));
    CHECK(session.fixnvpe({"restore", "link.dll"}).exit_status == 0);
    CHECK(session.names() == "link.dll real/a.dll");
}

TEST_CASE("links: one that is found in a folder is not followed to a file outside", "[posix]") {
    const Session session;
    session.writable("outside/a.dll");
    fs::create_directories(session / "lib");
    fs::create_symlink("../outside/a.dll", session / "lib/a.dll");
    fs::create_directory_symlink("../outside", session / "lib/outside");
    const Snapshot before = session.snapshot();
    CHECK(session.told({"patch", "lib"}) == "lib/a.dll unpatched !link; exit 2");
    CHECK(session.snapshot() == before);
}

TEST_CASE("links: a backup or undo file that is a link is refused, by a dry run, too", "[posix]") {
    const std::vector<std::pair<std::string, std::string>> modes{
        {"a.dll.bak", "full"}, {"a.dll.bak", "undo"}, {"a.dll.fixnvpe-undo", "full"}, {"a.dll.fixnvpe-undo", "undo"}};
    for (const auto& [link, backup] : modes) {
        for (const std::string target : {"victim", "nowhere"}) {
            INFO(link << ' ' << backup << ' ' << target);
            const Session session;
            session.writable("a.dll");
            session.text("victim", "not ours");
            fs::create_symlink(target, session / link);
            const Snapshot before = session.snapshot();
            const std::string refused = "a.dll unpatched !link (unusable-backup); exit 2";
            CHECK(session.told({"patch", "--backup", backup, "a.dll"}) == refused);
            CHECK(session.told({"patch", "-n", "--backup", backup, "a.dll"}) == refused);
            CHECK(session.fixnvpe({"patch", "--backup", backup, "a.dll"}).err.starts_with("fixnvpe: " + link + ": "));
            CHECK(session.told({"restore", "a.dll"}) == "a.dll unpatched (unusable-backup); exit 0");
            CHECK(session.told({"verify", "a.dll"}) == "a.dll unpatched (unusable-backup); saves 4096; exit 1");
            CHECK(session.snapshot() == before);
        }
    }
}

TEST_CASE("links: a planted link under the temporary's name is refused", "[posix]") {
    const Session session;
    session.writable("a.dll");
    session.text("victim", "not ours");
    fs::create_symlink("victim", session / "a.dll.fixnvpe-tmp");
    const Snapshot before = session.snapshot();
    for (const std::string backup : {"full", "undo", "none"}) {
        const Output output = session.fixnvpe({"patch", "--backup", backup, "a.dll"});
        CHECK(output.exit_status == 2);
        CHECK_THAT(output.err, contains("fixnvpe: a.dll.fixnvpe-tmp: open the leftover temporary: "));
        CHECK(session.snapshot() == before);
    }
}

TEST_CASE("busy: a file that another fixnvpe works on is reported so, and left alone", "[posix]") {
    const Session session;
    session.writable("a.dll");
    session.writable("b.dll");
    session.text("a.dll.fixnvpe-tmp", "");
    const int fd = ::open((session / "a.dll.fixnvpe-tmp").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(fd != -1);
    REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) == 0);
    const Snapshot before = session.snapshot();
    CHECK(session.told({"verify", "a.dll"}) == "a.dll unpatched (in-work); saves 4096; exit 1");
    for (const std::string backup : {"full", "undo", "none"}) {
        CHECK(session.told({"patch", "--backup", backup, "a.dll"}) == "a.dll unpatched !busy (in-work); exit 2");
    }
    CHECK(session.fixnvpe({"patch", "a.dll"}).err ==
          "fixnvpe: a.dll: lock: another fixnvpe works on this file\n  hint: wait until it is done\n");
    CHECK(session.fixnvpe({"restore", "a.dll"}).exit_status == 2);
    CHECK(session.snapshot() == before);
    // The others are done.
    CHECK(session.told({"patch", "a.dll", "b.dll"}) ==
          "a.dll unpatched !busy (in-work); b.dll patched+patched; saves 4096; exit 2");
    // Its maker has gone: what it left is no lock any more.
    ::close(fd);
    CHECK(session.fixnvpe({"patch", "a.dll"}).exit_status == 0);
    CHECK(session.names() == "a.dll a.dll.bak b.dll b.dll.bak");
}

TEST_CASE("targets: what is no regular file is an error when named, and passed over when found", "[posix]") {
    const Session session;
    session.writable("a.dll");
    REQUIRE(::mkfifo((session / "fifo.dll").c_str(), 0644) == 0);
    fs::create_directory(session / "folder.dll");
    fs::create_symlink("nowhere", session / "dangling.dll");
    fs::create_symlink("loop.dll", session / "loop.dll");
    CHECK(session.told({"patch", "."}) == "./a.dll patched+patched; saves 4096; exit 0");
    CHECK(session.told({"verify", "fifo.dll"}) == "fifo.dll error !not-regular-file; exit 2");
    CHECK(session.fixnvpe({"verify", "dangling.dll"}).exit_status == 2);
    CHECK(session.fixnvpe({"verify", "loop.dll"}).exit_status == 2);
    CHECK(session.told({"verify", "/dev/null"}) == "/dev/null error !not-regular-file; exit 2");
}

}  // namespace fixnvpe::test
