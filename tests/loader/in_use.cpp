#include "loader/in_use.hpp"

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <system_error>

namespace fixnvpe::test {

bool is_wine() {
    return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

std::uint32_t own_process_id() {
    return ::GetCurrentProcessId();
}

InUse::InUse(const std::filesystem::path& path)
    : module_(::LoadLibraryExW(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH)) {
    if (module_ == nullptr) {
        throw std::system_error(static_cast<int>(::GetLastError()), std::system_category(), "LoadLibraryExW");
    }
}

InUse::~InUse() {
    ::FreeLibrary(static_cast<HMODULE>(module_));
}

int InUse::answer() const {
    const auto function = reinterpret_cast<int (*)()>(
        reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(module_), "fixnvpe_answer")));
    return function == nullptr ? 0 : function();
}

}  // namespace fixnvpe::test
