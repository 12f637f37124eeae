#include "fixnvpe/os/process.hpp"

#include "win32.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace fixnvpe::os {
namespace {

std::atomic<bool> interrupt_flag = false;

HANDLE handle_of(Stream stream) {
    return ::GetStdHandle(stream == Stream::standard_output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

bool is_console(Stream stream) {
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(stream), &mode) != FALSE;
}

/// Escape sequences on a console, as long as the program runs.
class ConsoleModes {
public:
    ConsoleModes() {
        for (std::size_t i = 0; i < streams.size(); ++i) {
            if (::GetConsoleMode(handle_of(streams[i]), &before_[i]) != FALSE) {
                changed_[i] = ::SetConsoleMode(handle_of(streams[i]), before_[i] | ENABLE_PROCESSED_OUTPUT |
                                                                          ENABLE_VIRTUAL_TERMINAL_PROCESSING) != FALSE;
            }
        }
    }
    ConsoleModes(const ConsoleModes&) = delete;
    ConsoleModes& operator=(const ConsoleModes&) = delete;
    ~ConsoleModes() {
        // The other way round: both may be the same console.
        for (std::size_t i = streams.size(); i-- > 0;) {
            if (changed_[i]) {
                ::SetConsoleMode(handle_of(streams[i]), before_[i]);
            }
        }
    }

private:
    static constexpr std::array streams{Stream::standard_output, Stream::standard_error};
    std::array<DWORD, streams.size()> before_{};
    std::array<bool, streams.size()> changed_{};
};

bool write_bytes(HANDLE handle, const std::string& text) {
    constexpr std::size_t chunk = std::size_t{1} << 20;
    for (std::size_t done = 0; done < text.size();) {
        DWORD written = 0;
        const auto wanted = static_cast<DWORD>(std::min(text.size() - done, chunk));
        if (::WriteFile(handle, text.data() + done, wanted, &written, nullptr) == FALSE || written == 0) {
            return false;
        }
        done += written;
    }
    return true;
}

bool write_characters(HANDLE console, const std::string& text) {
    constexpr std::size_t chunk = 8192;  // a console may refuse more than 64 KiB at once
    const std::wstring wide = win32::to_wide(text);
    for (std::size_t done = 0; done < wide.size();) {
        DWORD written = 0;
        std::size_t wanted = std::min(wide.size() - done, chunk);
        const bool halves = done + wanted < wide.size() && IS_HIGH_SURROGATE(wide[done + wanted - 1]);
        wanted -= halves ? 1 : 0;
        if (::WriteConsoleW(console, wide.data() + done, static_cast<DWORD>(wanted), &written, nullptr) == FALSE ||
            written == 0) {
            return false;
        }
        done += written;
    }
    return true;
}

BOOL WINAPI on_control(DWORD event) {
    if (interrupt_flag.exchange(true) && event == CTRL_C_EVENT) {
        return FALSE;  // the second ends the program
    }
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT) {
        // The system ends the program as soon as this function returns, and after some seconds anyway.
        ::Sleep(INFINITE);
    }
    return TRUE;
}

}  // namespace

std::vector<std::string> arguments(int argc, const NativeChar* const* argv) {
    std::vector<std::string> result;
    for (int i = 1; i < argc; ++i) {
        result.push_back(win32::from_wide(argv[i]));
    }
    return result;
}

std::filesystem::path program_file() {
    constexpr std::size_t longest_path = 32767;
    std::wstring name(longest_path, L'\0');
    name.resize(::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size())));
    return win32::without_prefix(name);
}

std::filesystem::path to_path(const std::string& text) {
    std::wstring wide = win32::without_prefix(win32::to_wide(text));
    // Of "C:\my files\" a program gets the last one, too: \" stands for it. No name has any.
    if (wide.ends_with(L'"')) {
        wide.pop_back();
    }
    return std::filesystem::path(wide).make_preferred();
}

std::string from_path(const std::filesystem::path& path) {
    return win32::from_wide(path.native());
}

std::optional<std::string> environment(const char* name) {
    const std::wstring wide_name = win32::to_wide(name);
    std::wstring value(::GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
    value.resize(::GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
    if (value.empty()) {
        return std::nullopt;
    }
    return win32::from_wide(value);
}

void keep_window_open() {
    std::array<DWORD, 2> processes{};
    if (::GetConsoleProcessList(processes.data(), static_cast<DWORD>(processes.size())) == 1) {
        write(Stream::standard_error, "\nPress Enter to close this window.");
        std::array<char, 1> line{};
        DWORD got = 0;
        ::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), line.data(), static_cast<DWORD>(line.size()), &got, nullptr);
    }
}

bool is_terminal(Stream stream) {
    // One that does not understand escape sequences gets plain text.
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(stream), &mode) != FALSE && (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::optional<unsigned> terminal_width(Stream stream) {
    CONSOLE_SCREEN_BUFFER_INFO info{};
    if (::GetConsoleScreenBufferInfo(handle_of(stream), &info) == FALSE || info.srWindow.Right < info.srWindow.Left) {
        return std::nullopt;
    }
    return static_cast<unsigned>(info.srWindow.Right - info.srWindow.Left + 1);
}

bool has_block_elements() {
    const UINT page = ::GetConsoleOutputCP();
    if (page == CP_UTF8) {
        return true;
    }
    // Where characters may take two bytes, these may take two columns.
    CPINFO info{};
    std::array<char, 4> bytes{};
    BOOL missing = FALSE;
    return ::GetCPInfo(page, &info) != FALSE && info.MaxCharSize == 1 &&
           ::WideCharToMultiByte(page, WC_NO_BEST_FIT_CHARS, L"\u2588\u2592", 2, bytes.data(),
                                 static_cast<int>(bytes.size()), nullptr, &missing) == 2 &&
           missing == FALSE;
}

void prepare_streams() {
    ::SetErrorMode(SEM_FAILCRITICALERRORS);  // no dialog if there is no disk in a drive
    static const ConsoleModes until_the_end;
}

std::optional<Error> write(Stream stream, const std::string& text) {
    ::SetLastError(ERROR_WRITE_FAULT);  // where a call writes nothing, and says no more than that
    const bool done =
        is_console(stream) ? write_characters(handle_of(stream), text) : write_bytes(handle_of(stream), text);
    return done ? std::nullopt : std::optional(win32::system_error({}, "write failed", ::GetLastError()));
}

void catch_interrupts() {
    ::SetConsoleCtrlHandler(&on_control, TRUE);
}

bool interrupted() {
    return interrupt_flag;
}

}  // namespace fixnvpe::os
