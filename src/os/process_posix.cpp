#include "fixnvpe/os/process.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "posix.hpp"

namespace fixnvpe::os {
namespace {

volatile std::sig_atomic_t interrupt_flag = 0;

int descriptor(Stream stream) {
    return stream == Stream::standard_output ? STDOUT_FILENO : STDERR_FILENO;
}

}  // namespace

std::vector<std::string> arguments(int argc, const NativeChar* const* argv) {
    // A caller may leave out even the program's name.
    return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

std::filesystem::path program_file() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

std::filesystem::path to_path(const std::string& text) {
    return text;
}

std::string from_path(const std::filesystem::path& path) {
    return path.native();
}

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') {
        return std::nullopt;
    }
    return value;
}

void keep_window_open() {}

bool is_terminal(Stream stream) {
    return ::isatty(descriptor(stream)) == 1;
}

std::optional<unsigned> terminal_width(Stream stream) {
    winsize size{};
    if (::ioctl(descriptor(stream), TIOCGWINSZ, &size) == -1 || size.ws_col == 0) {
        return std::nullopt;
    }
    return size.ws_col;
}

bool has_block_elements() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (const auto locale = environment(name)) {
            constexpr std::array encodings{"UTF-8", "utf-8", "UTF8", "utf8"};
            return std::any_of(encodings.begin(), encodings.end(),
                               [&](const char* encoding) { return locale->find(encoding) != std::string::npos; });
        }
    }
    return false;
}

void prepare_streams() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

std::optional<Error> write(Stream stream, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::write(descriptor(stream), text.data() + done, text.size() - done);
        if (n == -1 && errno == EINTR) {
            continue;
        }
        if (n == -1) {
            return posix::system_error({}, "write failed", errno);
        }
        done += static_cast<std::size_t>(n);
    }
    return std::nullopt;
}

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupt_flag = 1; };
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // the second ends the program
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            ::sigaction(signal, &action, nullptr);
        }
    }
}

bool interrupted() {
    return interrupt_flag != 0;
}

}  // namespace fixnvpe::os
