// What src/os does on POSIX systems alone, as far as no run of the whole program shows it better:
// tests/cli/test_limits.cpp.
#if !defined(_WIN32)

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/os/lock.hpp"
#include "fixnvpe/os/process.hpp"
#include "support/catch.hpp"
#include "support/os.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using os::Lock;

}  // namespace

TEST_CASE("os/lock: who only looks at a leftover does not make its taker fail") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll");
    const fs::path temporary = folder.file("a.dll.fixnvpe-tmp");
    const int looking = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(::flock(looking, LOCK_SH | LOCK_NB) == 0);
    std::thread let_go([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ::close(looking);
    });
    CHECK(code_of([&] {
              const Lock lock(path);
              CHECK(lock.removed_leftover());
          }) == std::nullopt);
    let_go.join();
}

TEST_CASE("os/lock: however often others look, the lock is to be had, and its temporary is no leftover") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll");
    std::atomic<bool> done = false;
    std::thread looker([&] {
        while (!done) {
            (void)os::why_locked(path);
        }
    });
    unsigned busy = 0;
    unsigned leftovers = 0;
    for (int i = 0; i < 2000; ++i) {
        try {
            const Lock lock(path);
            leftovers += lock.removed_leftover() ? 1U : 0U;
        } catch (const Error&) {
            ++busy;
        }
    }
    done = true;
    looker.join();
    CHECK(busy == 0);
    CHECK(leftovers == 0);
}

TEST_CASE("os/lock: a temporary that was removed by hand, and made again by another, is not given the file's name") {
    const TempFolder folder;
    const fs::path path = folder.file("a.dll", "old");
    {
        Lock lock(path);
        fs::remove(folder / "a.dll.fixnvpe-tmp");
        folder.file("a.dll.fixnvpe-tmp", "another's");
        CHECK(code_of([&] { lock.rename_to(path); }) == ErrorCode::changed);
    }
    CHECK(content_of(path) == "old");
    CHECK(content_of(folder / "a.dll.fixnvpe-tmp") == "another's");
}

TEST_CASE("os/process: a signal that is ignored stays ignored, any other sets the flag") {
    const int ignored = GENERATE(0, SIGINT, SIGTERM, SIGHUP);
    for (const int raised : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = ::fork();
        if (child == 0) {
            if (ignored != 0) {
                std::signal(ignored, SIG_IGN);
            }
            os::catch_interrupts();
            std::raise(raised);
            ::_exit(os::interrupted() ? 1 : 0);
        }
        REQUIRE(child > 0);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == (raised == ignored ? 0 : 1));
    }
}

TEST_CASE("os/process: the second Ctrl-C ends the program") {
    const pid_t child = ::fork();
    if (child == 0) {
        os::catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGINT);
        ::_exit(0);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}

}  // namespace fixnvpe::test

#endif
