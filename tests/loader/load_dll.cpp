// Shows what the Windows loader makes of DLLs:
//
//   fixnvpe_load [--wait] DLL...
//
// loads each of them as LoadLibrary does, all in one process, calls what it exports, and prints for each section
// how it is protected; --wait lets others look at it for a second. It ends with 1 if a DLL can't be loaded or is
// damaged. Needs nothing of fixnvpe's: the loader is the judge.

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <psapi.h>
#include <shellapi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Section {
    std::string name;
    std::uint8_t* start = nullptr;
    std::size_t size = 0;
};

/// Bytes that this process has to its charge against the limit of RAM and page file.
std::uint64_t commit_charge() {
    PROCESS_MEMORY_COUNTERS_EX memory{};
    return ::K32GetProcessMemoryInfo(::GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&memory),
                                     sizeof memory) != FALSE
               ? memory.PrivateUsage
               : 0;
}

std::string utf8(const std::wstring& text) {
    std::string result(text.size() * 3, '\0');
    const int size = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), result.data(),
                                           static_cast<int>(result.size()), nullptr, nullptr);
    result.resize(static_cast<std::size_t>(std::max(size, 0)));
    return result;
}

const IMAGE_NT_HEADERS64& headers_of(const std::uint8_t* base) {
    const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
    return *reinterpret_cast<const IMAGE_NT_HEADERS64*>(base + dos.e_lfanew);
}

std::vector<Section> sections_of(std::uint8_t* base) {
    const IMAGE_NT_HEADERS64& headers = headers_of(base);
    const auto* first = IMAGE_FIRST_SECTION(const_cast<IMAGE_NT_HEADERS64*>(&headers));
    std::vector<Section> sections;
    for (unsigned i = 0; i < headers.FileHeader.NumberOfSections; ++i) {
        const auto* name = reinterpret_cast<const char*>(first[i].Name);
        sections.push_back({std::string(name, std::find(name, name + IMAGE_SIZEOF_SHORT_NAME, '\0')),
                            base + first[i].VirtualAddress, first[i].Misc.VirtualSize});
    }
    return sections;
}

/// The ImageBase in the file: that in memory is where the loader put it.
std::uint64_t preferred_base(const std::wstring& path) {
    const HANDLE file =
        ::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                      OPEN_EXISTING, 0, nullptr);
    std::vector<std::uint8_t> bytes(4096);
    DWORD got = 0;
    const bool read = file != INVALID_HANDLE_VALUE &&
                      ::ReadFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &got, nullptr) != FALSE;
    ::CloseHandle(file);
    return read ? headers_of(bytes.data()).OptionalHeader.ImageBase : 0;
}

const char* name_of_protection(DWORD protection) {
    switch (protection & 0xFF) {
        case PAGE_NOACCESS: return "PAGE_NOACCESS";
        case PAGE_READONLY: return "PAGE_READONLY";
        case PAGE_READWRITE: return "PAGE_READWRITE";
        case PAGE_WRITECOPY: return "PAGE_WRITECOPY";
        case PAGE_EXECUTE: return "PAGE_EXECUTE";
        case PAGE_EXECUTE_READ: return "PAGE_EXECUTE_READ";
        case PAGE_EXECUTE_READWRITE: return "PAGE_EXECUTE_READWRITE";
        case PAGE_EXECUTE_WRITECOPY: return "PAGE_EXECUTE_WRITECOPY";
        default: return "?";
    }
}

const char* name_of_type(DWORD type) {
    return type == MEM_IMAGE ? "image" : type == MEM_MAPPED ? "mapped" : type == MEM_PRIVATE ? "private" : "?";
}

/// One line for each stretch that is protected alike.
void print_protection(const Section& section) {
    std::uint8_t* at = section.start;
    while (at < section.start + section.size) {
        MEMORY_BASIC_INFORMATION region{};
        if (::VirtualQuery(at, &region, sizeof region) == 0) {
            return;
        }
        auto* const end = static_cast<std::uint8_t*>(region.BaseAddress) + region.RegionSize;
        std::printf("  %s %s %s\n", section.name.c_str(), name_of_protection(region.Protect),
                    name_of_type(region.Type));
        at = end;
    }
}

bool is_writable(const Section& section) {
    MEMORY_BASIC_INFORMATION region{};
    ::VirtualQuery(section.start, &region, sizeof region);
    constexpr DWORD writable = PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    if ((region.Protect & writable) == 0) {
        return false;
    }
    volatile std::uint8_t& byte = section.start[section.size - 1];
    const std::uint8_t before = byte;
    byte = static_cast<std::uint8_t>(before ^ 0xFF);
    const bool written = byte == static_cast<std::uint8_t>(before ^ 0xFF);
    byte = before;
    return written;
}

/// The system is to write there, which it does not where the page is read-only.
bool refuses_writes(const Section& section) {
    wchar_t own[MAX_PATH];
    ::GetModuleFileNameW(nullptr, own, MAX_PATH);
    const HANDLE file =
        ::CreateFileW(own, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING, 0, nullptr);
    DWORD got = 0;
    const bool written = ::ReadFile(file, section.start + section.size - 1, 1, &got, nullptr) != FALSE && got == 1;
    ::CloseHandle(file);
    return !written;
}

/// FNV-1a of all from the first `.data` to the last: the same, be it split or not.
unsigned long long hash_of_data(const std::vector<Section>& sections) {
    const std::uint8_t* begin = nullptr;
    const std::uint8_t* end = nullptr;
    for (const Section& section : sections) {
        if (section.name == ".data" || section.name == ".fixnv") {
            begin = begin == nullptr ? section.start : begin;
            end = section.start + section.size;
        }
    }
    unsigned long long hash = 0xCBF29CE484222325;
    for (const std::uint8_t* at = begin; at != end; ++at) {
        hash = (hash ^ *at) * 0x00000100000001B3;
    }
    return hash;
}

template <typename Function>
Function function_of(HMODULE module, const char* name) {
    return reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(module, name)));
}

bool show(const std::wstring& path) {
    const std::uint64_t commit_before = commit_charge();
    const HMODULE module = ::LoadLibraryExW(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (module == nullptr) {
        std::printf("%s: can't be loaded: error %lu\n", utf8(path).c_str(), ::GetLastError());
        return false;
    }
    const auto commit = static_cast<std::int64_t>(commit_charge() - commit_before);
    auto* const base = reinterpret_cast<std::uint8_t*>(module);
    const std::uint64_t preferred = preferred_base(path);
    std::printf("%s\n", utf8(path).c_str());
    std::printf("  base %#llx preferred %#llx %s\n",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(base)),
                static_cast<unsigned long long>(preferred),
                preferred == reinterpret_cast<std::uintptr_t>(base) ? "kept" : "relocated");
    std::printf("  commit %lld\n", static_cast<long long>(commit));

    bool good = true;
    if (auto* const answer = function_of<int (*)()>(module, "fixnvpe_answer")) {
        const int result = answer();
        std::printf("  fixnvpe_answer %d\n", result);
        good = good && result == 42;
    }
    // The wrapper's pointer, which the loader relocates, must lead to the fat binary.
    const auto* const wrapper = function_of<const std::uint8_t*>(module, "fixnvpe_wrapper");
    const auto* const fatbin = function_of<const std::uint8_t*>(module, "fixnvpe_fatbin");
    if (wrapper != nullptr && fatbin != nullptr) {
        const std::uint8_t* pointer = nullptr;
        std::memcpy(&pointer, wrapper + 8, sizeof pointer);
        std::uint32_t magic = 0;
        std::memcpy(&magic, fatbin, sizeof magic);
        const bool right = pointer == fatbin && magic == 0xBA55ED50;
        std::printf("  wrapper %s\n", right ? "right" : "WRONG");
        good = good && right;
    }
    const std::vector<Section> sections = sections_of(base);
    if (const auto* const variable = function_of<const std::uint8_t*>(module, "fixnvpe_variable")) {
        std::printf("  variable %#llx\n", static_cast<unsigned long long>(variable - base));
        std::printf("  data %#llx\n", hash_of_data(sections));
    }
    for (const Section& section : sections) {
        if (section.name == ".fixnv") {
            std::printf("  .fixnv %s\n", refuses_writes(section) ? "refuses writes" : "LETS ITSELF BE WRITTEN");
        }
    }
    for (const Section& section : sections) {
        print_protection(section);
    }
    for (const Section& section : sections) {
        if (section.size != 0 && is_writable(section)) {
            std::printf("  %s writable\n", section.name.c_str());
        }
    }
    return good;
}

}  // namespace

int main() {
    int count = 0;
    LPWSTR* const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    using WineVersion = const char*(CDECL*)();
    const auto wine = function_of<WineVersion>(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
    std::printf("loader: %s %s\n", wine != nullptr ? "Wine" : "Windows", wine != nullptr ? wine() : "");
    const bool wait = count > 1 && std::wstring(words[1]) == L"--wait";
    const int first = wait ? 2 : 1;
    bool good = count > first;
    for (int i = first; i < count; ++i) {
        good = show(words[i]) && good;
    }
    ::Sleep(wait ? 1000 : 0);
    ::LocalFree(words);
    return good ? 0 : 1;
}
