#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "support/process.hpp"

extern char** environ;

namespace fixnvpe::test {
namespace {

constexpr int NOT_STARTED = 127;  // as the shell has it

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::system_category(), what);
}

/// A file descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        close();
        fd_ = std::exchange(other.fd_, -1);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    void close() {
        if (fd_ != -1) {
            ::close(std::exchange(fd_, -1));
        }
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

struct Pipe {
    Descriptor reader;
    Descriptor writer;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == -1) {
        fail("pipe2");
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor open_device(const char* name, int flags) {
    const int fd = ::open(name, flags | O_CLOEXEC);
    if (fd == -1) {
        fail(name);
    }
    return Descriptor(fd);
}

std::vector<std::string> environment_of(const ProcessRequest& request) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!request.environment.contains(text.substr(0, text.find('=')))) {
            result.push_back(text);
        }
    }
    for (const auto& [name, value] : request.environment) {
        if (!value.empty()) {
            result.push_back(name + "=" + value);
        }
    }
    return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words) {
        result.push_back(word.data());
    }
    result.push_back(nullptr);
    return result;
}

/// Reads both streams until their writers have closed them. @return false if the time was up first
bool read_streams(const Pipe& out, const Pipe& err, std::chrono::steady_clock::time_point end, ProcessResult& result) {
    std::array<pollfd, 2> waiting{{{out.reader.get(), POLLIN, 0}, {err.reader.get(), POLLIN, 0}}};
    std::array<std::string*, 2> texts{&result.out, &result.err};
    std::vector<char> buffer(std::size_t{1} << 16);
    while (waiting[0].fd != -1 || waiting[1].fd != -1) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        if (left <= 0) {
            return false;
        }
        if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) == -1 && errno != EINTR) {
            fail("poll");
        }
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            if (waiting[i].fd == -1 || waiting[i].revents == 0) {
                continue;
            }
            const ssize_t n = ::read(waiting[i].fd, buffer.data(), buffer.size());
            if (n > 0) {
                texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
            } else if (n == 0) {
                waiting[i].fd = -1;  // poll() passes it by
            } else if (errno != EINTR) {
                fail("read");
            }
        }
    }
    return true;
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request) {
    const auto end = std::chrono::steady_clock::now() + request.limit;
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    const Descriptor in = open_device("/dev/null", O_RDONLY);
    Descriptor full;
    if (request.standard_output == Sink::full_disk) {
        full = open_device("/dev/full", O_WRONLY);
    }
    // Between fork() and exec() nothing may ask for memory.
    std::vector<std::string> words = request.words;
    std::vector<std::string> variables = environment_of(request);
    const std::vector<char*> argv = pointers_to(words);
    std::vector<char*> envp = pointers_to(variables);
    const std::string folder = request.folder.string();
    if (request.standard_output == Sink::closed_pipe) {
        out.reader.close();  // before there is anybody who could write
    }

    const pid_t child = ::fork();
    if (child == -1) {
        fail("fork");
    }
    if (child == 0) {
        const int output = request.standard_output == Sink::full_disk ? full.get() : out.writer.get();
        if (::dup2(in.get(), STDIN_FILENO) == -1 || ::dup2(output, STDOUT_FILENO) == -1 ||
            ::dup2(err.writer.get(), STDERR_FILENO) == -1 || (!folder.empty() && ::chdir(folder.c_str()) == -1)) {
            ::_exit(NOT_STARTED);
        }
        if (request.standard_output == Sink::none) {
            ::close(STDOUT_FILENO);
        }
        environ = envp.data();
        ::execvp(argv.front(), argv.data());
        ::_exit(NOT_STARTED);
    }
    out.writer.close();
    err.writer.close();
    ProcessResult result;
    if (!read_streams(out, err, end, result)) {
        ::kill(child, SIGKILL);
    }
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, 0, &usage) == -1) {
        if (errno != EINTR) {
            fail("wait4");
        }
    }
    constexpr int signal_offset = 128;
    result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : signal_offset + WTERMSIG(status);
    constexpr std::uint64_t kib = 1024;  // getrusage(2)
    result.peak_memory = static_cast<std::uint64_t>(usage.ru_maxrss) * kib;
    return result;
}

}  // namespace fixnvpe::test
