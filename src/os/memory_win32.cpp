#include "fixnvpe/os/memory.hpp"

#include "win32.hpp"

#include <psapi.h>
#include <tlhelp32.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "fixnvpe/os/registry.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

constexpr DWORD WRITABLE = PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;

/// WIN32_MEMORY_REGION_INFORMATION, which MinGW-w64 lacks.
struct MemoryRegionInformation {
    PVOID allocation_base;
    ULONG allocation_protect;
    ULONG flags;
    SIZE_T region_size;
    SIZE_T commit_size;
};

/// Since Windows 10 1607.
using QueryMemory = BOOL(WINAPI*)(HANDLE, const void*, int, void*, SIZE_T, SIZE_T*);

QueryMemory query_memory() {
    static const auto function = [] {
        const HMODULE library = ::GetModuleHandleW(L"kernelbase.dll");
        return library == nullptr ? nullptr
                                  : reinterpret_cast<QueryMemory>(reinterpret_cast<void*>(
                                        ::GetProcAddress(library, "QueryVirtualMemoryInformation")));
    }();
    return function;
}

std::optional<std::uint64_t> commit_of(HANDLE process, const void* base) {
    MemoryRegionInformation information{};
    SIZE_T got = 0;
    constexpr int memory_region_info = 0;
    if (query_memory() == nullptr ||
        query_memory()(process, base, memory_region_info, &information, sizeof information, &got) == FALSE) {
        return std::nullopt;
    }
    return information.commit_size;
}

using Drives = std::map<std::wstring, std::wstring>;

/// "\Device\HarddiskVolume2" and the like, with the drive that stands for it.
Drives drives_of_devices() {
    Drives result;
    for (wchar_t letter = L'A'; letter <= L'Z'; ++letter) {
        const std::wstring drive{letter, L':'};
        std::array<wchar_t, 1024> device{};
        if (::QueryDosDeviceW(drive.c_str(), device.data(), static_cast<DWORD>(device.size())) != 0) {
            result.emplace(device.data(), drive);
        }
    }
    return result;
}

/// A file as the kernel names it: "\Device\HarddiskVolume2\a.dll", "\Device\Mup\server\share\a.dll", "\??\C:\a.dll".
fs::path drive_path(const std::wstring& name, const Drives& drives) {
    constexpr std::wstring_view dos = L"\\??\\";
    constexpr std::wstring_view share = L"\\Device\\Mup\\";
    if (name.starts_with(dos)) {
        return win32::without_prefix(L"\\\\?\\" + name.substr(dos.size()));
    }
    if (name.starts_with(share)) {
        return L"\\\\" + name.substr(share.size());
    }
    for (const auto& [device, drive] : drives) {
        if (name.starts_with(device) && name.size() > device.size() && name[device.size()] == L'\\') {
            return drive + name.substr(device.size());
        }
    }
    return name;
}

fs::path file_of(HANDLE process, void* address, const Drives& drives) {
    std::wstring name(32768, L'\0');
    name.resize(::K32GetMappedFileNameW(process, address, name.data(), static_cast<DWORD>(name.size())));
    return name.empty() ? fs::path() : drive_path(name, drives);
}

std::vector<std::uint8_t> first_page(HANDLE process, const void* base) {
    std::vector<std::uint8_t> bytes(4096);
    SIZE_T got = 0;
    ::ReadProcessMemory(process, base, bytes.data(), bytes.size(), &got);
    bytes.resize(got);
    return bytes;
}

std::vector<MappedImage> images_of(HANDLE process) {
    std::vector<MappedImage> images;
    const Drives drives = drives_of_devices();
    const std::uint8_t* base = nullptr;
    MEMORY_BASIC_INFORMATION region{};
    for (const std::uint8_t* at = nullptr; ::VirtualQueryEx(process, at, &region, sizeof region) != 0;) {
        const auto* begin = static_cast<const std::uint8_t*>(region.BaseAddress);
        if (region.Type == MEM_IMAGE && region.State == MEM_COMMIT) {
            if (region.AllocationBase != base) {
                base = static_cast<const std::uint8_t*>(region.AllocationBase);
                images.push_back({{}, first_page(process, base), {}, {}});
            }
            images.back().regions.push_back(
                {static_cast<std::uint64_t>(begin - base), region.RegionSize, (region.Protect & WRITABLE) != 0});
            if (images.back().file.empty()) {
                images.back().file = file_of(process, region.BaseAddress, drives);
                images.back().commit = commit_of(process, base);
            }
        }
        at = begin + region.RegionSize;
        if (at <= begin) {
            break;  // the end of the address space
        }
    }
    return images;
}

/// By the number that the native API has for it, since Windows 8.1.
std::string command_line_of(HANDLE process) {
    struct Text {
        USHORT length;
        USHORT maximum;
        const wchar_t* characters;
    };
    using Query = LONG(WINAPI*)(HANDLE, int, void*, ULONG, ULONG*);
    const auto query = reinterpret_cast<Query>(
        reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "NtQueryInformationProcess")));
    std::vector<std::uint64_t> buffer(std::size_t{1} << 13);  // 64 KiB: the longest there is
    constexpr int process_command_line = 60;
    ULONG got = 0;
    if (query == nullptr || query(process, process_command_line, buffer.data(),
                                  static_cast<ULONG>(buffer.size() * sizeof buffer[0]), &got) < 0) {
        return {};
    }
    Text text{};
    std::memcpy(&text, buffer.data(), sizeof text);
    return win32::from_wide({text.characters, text.length / sizeof(wchar_t)});
}

std::uint64_t pages(SIZE_T count, const PERFORMANCE_INFORMATION& information) {
    return std::uint64_t{count} * information.PageSize;
}

BOOL CALLBACK add_page_file(void* files, ENUM_PAGE_FILE_INFORMATION* information, const wchar_t* name) {
    static_cast<std::vector<PageFile>*>(files)->push_back({drive_path(name, {}), information->TotalSize});
    return TRUE;
}

}  // namespace

bool can_measure() {
    return true;
}

SystemMemory system_memory() {
    SystemMemory memory;
    PERFORMANCE_INFORMATION information{};
    if (::K32GetPerformanceInfo(&information, sizeof information) == FALSE) {
        win32::fail({}, "ask for the system's memory");
    }
    memory.commit = pages(information.CommitTotal, information);
    memory.limit = pages(information.CommitLimit, information);
    memory.peak = pages(information.CommitPeak, information);
    memory.physical = pages(information.PhysicalTotal, information);
    if (::K32EnumPageFilesW(&add_page_file, &memory.page_files) == FALSE) {
        memory.page_files.clear();
    }
    for (PageFile& file : memory.page_files) {
        file.size *= information.PageSize;
    }
    // "?:\pagefile.sys", or a drive with two zeros behind it.
    const auto setting =
        registry_text(R"(SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management)", "PagingFiles");
    memory.managed = setting && (setting->starts_with("?:") || setting->ends_with(" 0 0"));
    return memory;
}

std::vector<std::uint32_t> running_processes() {
    std::vector<std::uint32_t> ids;
    const Handle snapshot = win32::owned(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
    PROCESSENTRY32W entry{};
    entry.dwSize = sizeof entry;
    for (BOOL more = snapshot ? ::Process32FirstW(native_of(snapshot), &entry) : FALSE; more != FALSE;
         more = ::Process32NextW(native_of(snapshot), &entry)) {
        if (entry.th32ProcessID != 0 && entry.th32ProcessID != ::GetCurrentProcessId()) {
            ids.push_back(entry.th32ProcessID);
        }
    }
    return ids;
}

std::optional<ProcessMemory> memory_of(std::uint32_t id) {
    const Handle process = win32::owned(::OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, id));
    if (!process) {
        return std::nullopt;
    }
    const HANDLE handle = native_of(process);
    ProcessMemory memory;
    memory.id = id;
    std::wstring image(32768, L'\0');
    auto size = static_cast<DWORD>(image.size());
    if (::QueryFullProcessImageNameW(handle, 0, image.data(), &size) != FALSE) {
        image.resize(size);
        memory.name = win32::from_wide(fs::path(image).filename().native());
    }
    PROCESS_MEMORY_COUNTERS_EX counters{};
    if (::K32GetProcessMemoryInfo(handle, reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters), sizeof counters) ==
        FALSE) {
        return std::nullopt;
    }
    memory.private_commit = counters.PrivateUsage;
    memory.peak_commit = counters.PeakPagefileUsage;
    memory.command_line = command_line_of(handle);
    memory.images = images_of(handle);
    return memory;
}

}  // namespace fixnvpe::os
