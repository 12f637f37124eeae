#include "fixnvpe/os/child.hpp"

#include "win32.hpp"

#include "fixnvpe/os/process.hpp"

namespace fixnvpe::os {
namespace {

/// A word such that a program's own reading of the command line gives it back ("Parsing C command-line arguments").
std::wstring quoted(const std::wstring& word) {
    if (!word.empty() && word.find_first_of(L" \t\"") == std::wstring::npos) {
        return word;
    }
    std::wstring text = L"\"";
    std::size_t backslashes = 0;
    for (const wchar_t c : word) {
        if (c == L'"') {
            text.append(backslashes + 1, L'\\');
        }
        backslashes = c == L'\\' ? backslashes + 1 : 0;
        text += c;
    }
    return text.append(backslashes, L'\\') + L'"';
}

std::wstring command_line(const std::vector<std::string>& words) {
    std::wstring line;
    for (const std::string& word : words) {
        line += (line.empty() ? L"" : L" ") + quoted(win32::to_wide(word));
    }
    return line;
}

/// The child may have it, too.
HANDLE inheritable(DWORD stream) {
    const HANDLE handle = ::GetStdHandle(stream);
    ::SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    return handle;
}

}  // namespace

struct Child::State {
    Handle job;
    Handle process;
};

Child::Child(const std::vector<std::string>& words, bool output_to_error) : state_(std::make_unique<State>()) {
    state_->job = win32::owned(::CreateJobObjectW(nullptr, nullptr));
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = inheritable(STD_INPUT_HANDLE);
    startup.hStdError = inheritable(STD_ERROR_HANDLE);
    startup.hStdOutput = output_to_error ? startup.hStdError : inheritable(STD_OUTPUT_HANDLE);
    PROCESS_INFORMATION started{};
    std::wstring line = command_line(words);
    if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr, &startup,
                         &started) == FALSE) {
        win32::fail(to_path(words.front()), "start");
    }
    state_->process = win32::owned(started.hProcess);
    const Handle thread = win32::owned(started.hThread);
    // Where it may not be put into a job, it is measured alone.
    ::AssignProcessToJobObject(native_of(state_->job), started.hProcess);
    ::ResumeThread(started.hThread);
}

Child::~Child() = default;

std::vector<std::uint32_t> Child::processes() const {
    constexpr std::size_t most = 4096;
    std::vector<std::uint64_t> buffer(most + 2);
    auto& list = *reinterpret_cast<JOBOBJECT_BASIC_PROCESS_ID_LIST*>(buffer.data());
    std::vector<std::uint32_t> ids;
    if (::QueryInformationJobObject(native_of(state_->job), JobObjectBasicProcessIdList, &list,
                                    static_cast<DWORD>(buffer.size() * sizeof buffer[0]), nullptr) != FALSE) {
        for (DWORD i = 0; i < list.NumberOfProcessIdsInList; ++i) {
            ids.push_back(static_cast<std::uint32_t>(list.ProcessIdList[i]));
        }
    }
    if (ids.empty()) {
        ids.push_back(::GetProcessId(native_of(state_->process)));
    }
    return ids;
}

bool Child::wait(std::chrono::milliseconds limit) {
    return ::WaitForSingleObject(native_of(state_->process), static_cast<DWORD>(limit.count())) == WAIT_OBJECT_0;
}

int Child::exit_status() const {
    DWORD status = 0;
    ::GetExitCodeProcess(native_of(state_->process), &status);
    return static_cast<int>(status);
}

std::uint64_t Child::peak_commit() const {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION information{};
    return ::QueryInformationJobObject(native_of(state_->job), JobObjectExtendedLimitInformation, &information,
                                       sizeof information, nullptr) != FALSE
               ? information.PeakJobMemoryUsed
               : 0;
}

}  // namespace fixnvpe::os
