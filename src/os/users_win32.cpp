#include "fixnvpe/os/users.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "win32.hpp"

#include <restartmanager.h>

namespace fixnvpe::os {
namespace win32 {
namespace {

namespace fs = std::filesystem;

/// The Restart Manager, loaded when it is first needed: Nano Server has none.
struct RestartManager {
    decltype(&::RmStartSession) start = nullptr;
    decltype(&::RmRegisterResources) add = nullptr;
    decltype(&::RmGetList) list = nullptr;
    decltype(&::RmEndSession) end = nullptr;
    HMODULE library = ::LoadLibraryExW(L"rstrtmgr.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);

    RestartManager() {
        find(start, "RmStartSession");
        find(add, "RmRegisterResources");
        find(list, "RmGetList");
        find(end, "RmEndSession");
    }
    RestartManager(const RestartManager&) = delete;
    RestartManager& operator=(const RestartManager&) = delete;
    ~RestartManager() {
        if (library != nullptr) {
            ::FreeLibrary(library);
        }
    }
    explicit operator bool() const { return start != nullptr && add != nullptr && list != nullptr && end != nullptr; }

private:
    template <typename Function>
    void find(Function& function, const char* name) const {
        if (library != nullptr) {
            function = reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
        }
    }
};

std::vector<RM_PROCESS_INFO> processes_with(const std::wstring& file) {
    const RestartManager manager;
    DWORD session = 0;
    std::array<WCHAR, CCH_RM_SESSION_KEY + 1> key{};
    if (!manager || manager.start(&session, 0, key.data()) != ERROR_SUCCESS) {
        return {};
    }
    std::vector<RM_PROCESS_INFO> processes;
    LPCWSTR name = file.c_str();
    if (manager.add(session, 1, &name, 0, nullptr, 0, nullptr) == ERROR_SUCCESS) {
        DWORD result = ERROR_MORE_DATA;
        constexpr int attempts = 4;  // others may come in between
        for (int i = 0; i < attempts && result == ERROR_MORE_DATA; ++i) {
            UINT needed = 0;
            auto count = static_cast<UINT>(processes.size());
            DWORD reasons = 0;
            result = manager.list(session, &needed, &count, processes.data(), &reasons);
            processes.resize(result == ERROR_MORE_DATA ? needed : result == ERROR_SUCCESS ? count : 0);
        }
        if (result != ERROR_SUCCESS) {
            processes.clear();
        }
    }
    manager.end(session);
    return processes;
}

/// "python.exe", where it may be asked; else what the Restart Manager calls it.
std::string name_of(const RM_PROCESS_INFO& process) {
    const Handle handle = owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process.Process.dwProcessId));
    constexpr std::size_t longest_path = 32767;
    std::wstring image(longest_path, L'\0');
    auto size = static_cast<DWORD>(image.size());
    FILETIME started{};
    FILETIME unused{};
    if (handle && ::GetProcessTimes(native_of(handle), &started, &unused, &unused, &unused) != FALSE &&
        ::CompareFileTime(&started, &process.Process.ProcessStartTime) == 0 &&
        ::QueryFullProcessImageNameW(native_of(handle), 0, image.data(), &size) != FALSE) {
        image.resize(size);
        return from_wide(fs::path(image).filename().native());
    }
    return from_wide(process.strAppName);
}

}  // namespace

std::string users_of(const fs::path& path) {
    constexpr std::size_t shown = 3;
    std::vector<RM_PROCESS_INFO> processes = processes_with(without_prefix(extended(path)));
    const DWORD self = ::GetCurrentProcessId();
    processes.erase(std::remove_if(processes.begin(), processes.end(),
                                   [&](const RM_PROCESS_INFO& p) { return p.Process.dwProcessId == self; }),
                    processes.end());
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, processes.size()); ++i) {
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name_of(processes[i]), processes[i].Process.dwProcessId);
    }
    return processes.size() > shown ? fmt::format("{} and {} more", text, processes.size() - shown) : text;
}

}  // namespace win32

std::optional<std::string> loaded_by(const std::filesystem::path& path) {
    return win32::keeps_writers_out(path) ? std::optional(win32::users_of(path)) : std::nullopt;
}

}  // namespace fixnvpe::os
