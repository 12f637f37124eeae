#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <psapi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "fixnvpe/os/process.hpp"
#include "support/process.hpp"

namespace fixnvpe::test {
namespace {

constexpr int NOT_STARTED = 127;  // as the shell has it
constexpr UINT KILLED = 128 + 9;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(static_cast<int>(::GetLastError()), std::system_category(), what);
}

struct Closer {
    void operator()(void* handle) const { ::CloseHandle(handle); }
};
using Handle = std::unique_ptr<void, Closer>;

struct Pipe {
    Handle reader;
    Handle writer;
};

Pipe make_pipe() {
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE reader = nullptr;
    HANDLE writer = nullptr;
    if (::CreatePipe(&reader, &writer, &inherited, 0) == FALSE) {
        fail("CreatePipe");
    }
    ::SetHandleInformation(reader, HANDLE_FLAG_INHERIT, 0);
    return {Handle(reader), Handle(writer)};
}

Handle open_nothing() {
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE handle =
        ::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        fail("NUL");
    }
    return Handle(handle);
}

std::wstring wide(const std::string& text) {
    std::wstring result(text.size(), L'\0');
    const int length = text.empty() ? 0
                                    : ::MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()),
                                                            result.data(), static_cast<int>(result.size()));
    result.resize(static_cast<std::size_t>(length));
    return result;
}

/// As CommandLineToArgvW and the C library take words apart.
std::wstring quoted(const std::wstring& word) {
    if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring::npos) {
        return word;
    }
    std::wstring result = L"\"";
    std::size_t backslashes = 0;
    for (const wchar_t c : word) {
        if (c == L'"') {
            result.append(backslashes + 1, L'\\');  // those before a quotation mark are doubled
        }
        backslashes = c == L'\\' ? backslashes + 1 : 0;
        result += c;
    }
    return result + std::wstring(backslashes, L'\\') + L'"';
}

/// NAME=VALUE, each with a NUL behind it, and one more.
std::wstring environment_of(const ProcessRequest& request) {
    const auto is_set_anew = [&](std::wstring_view entry) {
        return std::any_of(request.environment.begin(), request.environment.end(), [&](const auto& variable) {
            const std::wstring name = wide(variable.first);
            return entry.size() > name.size() && entry[name.size()] == L'=' &&
                   ::CompareStringOrdinal(entry.data(), static_cast<int>(name.size()), name.data(),
                                          static_cast<int>(name.size()), TRUE) == CSTR_EQUAL;
        });
    };
    std::wstring block;
    const std::unique_ptr<wchar_t, decltype(&::FreeEnvironmentStringsW)> ours(::GetEnvironmentStringsW(),
                                                                              &::FreeEnvironmentStringsW);
    for (const wchar_t* entry = ours.get(); *entry != L'\0'; entry += std::wstring_view(entry).size() + 1) {
        if (!is_set_anew(entry)) {
            block.append(entry) += L'\0';
        }
    }
    for (const auto& [name, value] : request.environment) {
        if (!value.empty()) {
            block.append(wide(name) + L"=" + wide(value)) += L'\0';
        }
    }
    return block + L'\0';
}

std::string read_all(HANDLE reader) {
    std::string text;
    std::array<char, 65536> buffer{};
    DWORD got = 0;
    while (::ReadFile(reader, buffer.data(), static_cast<DWORD>(buffer.size()), &got, nullptr) != FALSE && got != 0) {
        text.append(buffer.data(), got);
    }
    return text;
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request) {
    if (request.standard_output == Sink::full_disk) {
        throw std::logic_error("run_process: Windows has no /dev/full");
    }
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    const Handle in = open_nothing();

    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = in.get();
    startup.hStdOutput = request.standard_output == Sink::none ? nullptr : out.writer.get();
    startup.hStdError = err.writer.get();
    std::wstring line;
    for (const std::string& word : request.words) {
        line += (line.empty() ? L"" : L" ") + quoted(wide(word));
    }
    std::wstring environment = environment_of(request);
    PROCESS_INFORMATION process{};
    if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_UNICODE_ENVIRONMENT, environment.data(),
                         request.folder.empty() ? nullptr : request.folder.c_str(), &startup, &process) == FALSE) {
        ProcessResult result;
        result.exit_status = NOT_STARTED;
        result.err = "CreateProcessW: error " + std::to_string(::GetLastError());
        return result;
    }
    const Handle child(process.hProcess);
    const Handle child_thread(process.hThread);
    out.writer.reset();
    err.writer.reset();
    if (request.standard_output == Sink::closed_pipe) {
        out.reader.reset();
    }
    ProcessResult result;
    {
        const std::jthread reads_out([&] { result.out = out.reader ? read_all(out.reader.get()) : ""; });
        const std::jthread reads_err([&] { result.err = read_all(err.reader.get()); });
        const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(request.limit).count();
        if (::WaitForSingleObject(child.get(), static_cast<DWORD>(limit)) == WAIT_TIMEOUT) {
            ::TerminateProcess(child.get(), KILLED);
            ::WaitForSingleObject(child.get(), INFINITE);
        }
    }
    DWORD status = 0;
    if (::GetExitCodeProcess(child.get(), &status) == FALSE) {
        fail("GetExitCodeProcess");
    }
    result.exit_status = static_cast<int>(status);
    PROCESS_MEMORY_COUNTERS memory{};
    if (::K32GetProcessMemoryInfo(child.get(), &memory, sizeof memory) != FALSE) {
        result.peak_memory = memory.PeakWorkingSetSize;
    }
    return result;
}

}  // namespace fixnvpe::test
