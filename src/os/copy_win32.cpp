// What file.hpp says of copying, for Windows.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixnvpe/os/file.hpp"
#include "fixnvpe/base/text.hpp"
#include "win32.hpp"

#include <winioctl.h>

namespace fixnvpe::os {

using win32::Handle;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t COPY_CHUNK = std::size_t{1} << 20;

/// Attributes that anyone may set. Compression and holes come with the contents.
constexpr DWORD KEPT_ATTRIBUTES = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
                                  FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

FILE_BASIC_INFO basic_info(HANDLE handle, const fs::path& path) {
    FILE_BASIC_INFO basic{};
    if (::GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic) == FALSE) {
        win32::fail(path, "look up");
    }
    return basic;
}

template <typename In, typename Out>
bool control(HANDLE handle, DWORD code, const In& in, Out& out) {
    DWORD got = 0;
    return ::DeviceIoControl(handle, code, const_cast<In*>(&in), sizeof in, &out, sizeof out, &got, nullptr) != FALSE;
}

template <typename In>
bool control(HANDLE handle, DWORD code, const In& in) {
    DWORD got = 0;
    return ::DeviceIoControl(handle, code, const_cast<In*>(&in), sizeof in, nullptr, 0, &got, nullptr) != FALSE;
}

void set_size(HANDLE handle, const fs::path& path, std::uint64_t size) {
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
    if (::SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof end) == FALSE) {
        win32::fail(path, "copy");
    }
}

std::uint64_t free_space(const fs::path& folder) {
    std::wstring name = win32::extended(folder);
    if (name.back() != L'\\') {
        name += L'\\';
    }
    ULARGE_INTEGER available{};
    if (::GetDiskFreeSpaceExW(name.c_str(), &available, nullptr, nullptr) == FALSE) {
        win32::fail(folder, "look up the free space");
    }
    return available.QuadPart;
}

// Of <winioctl.h> since Windows 8, and ntifs.h: not in every SDK.
constexpr DWORD GET_INTEGRITY = 0x0009027C;      // FSCTL_GET_INTEGRITY_INFORMATION
constexpr DWORD SET_INTEGRITY = 0x0009C280;      // FSCTL_SET_INTEGRITY_INFORMATION
constexpr DWORD DUPLICATE_EXTENTS = 0x00098344;  // FSCTL_DUPLICATE_EXTENTS_TO_FILE
constexpr DWORD BLOCK_REFCOUNTING = 0x08000000;  // FILE_SUPPORTS_BLOCK_REFCOUNTING

struct Integrity {
    WORD algorithm;
    WORD reserved;
    DWORD flags;
};
struct IntegrityOfFile {
    Integrity integrity;
    DWORD checksum_chunk_size;
    DWORD cluster_size;
};
struct Extents {
    HANDLE source;
    LARGE_INTEGER source_offset;
    LARGE_INTEGER target_offset;
    LARGE_INTEGER size;
};

/// Lets both files share their clusters: ReFS and Dev Drive. `to` has its size already.
bool clone(HANDLE from, HANDLE to, std::uint64_t size, const std::function<void(std::uint64_t)>& progress) {
    DWORD features = 0;
    if (::GetVolumeInformationByHandleW(to, nullptr, 0, nullptr, nullptr, &features, nullptr, 0) == FALSE ||
        (features & BLOCK_REFCOUNTING) == 0) {
        return false;
    }
    // Both files must have their checksums made in the same way.
    IntegrityOfFile source{};
    IntegrityOfFile target{};
    const DWORD none = 0;
    if (!control(from, GET_INTEGRITY, none, source) || !control(to, GET_INTEGRITY, none, target)) {
        return false;
    }
    if ((source.integrity.algorithm != target.integrity.algorithm || source.integrity.flags != target.integrity.flags) &&
        !control(to, SET_INTEGRITY, Integrity{source.integrity.algorithm, 0, source.integrity.flags})) {
        return false;
    }
    // Whole clusters, the last of which may end behind the file, and under 4 GiB in one call.
    constexpr std::uint64_t stretch = std::uint64_t{1} << 30;
    const std::uint64_t cluster = std::max<DWORD>(source.cluster_size, 1);
    for (std::uint64_t done = 0; done < size; done = std::min(done + stretch, size)) {
        const std::uint64_t wanted = std::min(stretch, (size - done + cluster - 1) / cluster * cluster);
        Extents extents{};
        extents.source = from;
        extents.source_offset.QuadPart = static_cast<LONGLONG>(done);
        extents.target_offset.QuadPart = static_cast<LONGLONG>(done);
        extents.size.QuadPart = static_cast<LONGLONG>(wanted);
        if (!control(to, DUPLICATE_EXTENTS, extents)) {
            return false;
        }
        progress(std::min(done + stretch, size));
    }
    return true;
}

/// The stretch that holds data, at or behind `offset`; the rest of the file where the file system can't tell.
/// @return nothing if there is none
std::optional<std::pair<std::uint64_t, std::uint64_t>> next_data(HANDLE handle, std::uint64_t offset, std::uint64_t size) {
    FILE_ALLOCATED_RANGE_BUFFER asked{};
    asked.FileOffset.QuadPart = static_cast<LONGLONG>(offset);
    asked.Length.QuadPart = static_cast<LONGLONG>(size - offset);
    FILE_ALLOCATED_RANGE_BUFFER found{};
    DWORD got = 0;
    if (::DeviceIoControl(handle, FSCTL_QUERY_ALLOCATED_RANGES, &asked, sizeof asked, &found, sizeof found, &got, nullptr) ==
            FALSE &&
        ::GetLastError() != ERROR_MORE_DATA) {
        return std::pair(offset, size);
    }
    if (got < sizeof found) {
        return std::nullopt;
    }
    const auto first = static_cast<std::uint64_t>(found.FileOffset.QuadPart);
    const auto last = first + static_cast<std::uint64_t>(found.Length.QuadPart);
    return std::pair(std::max(first, offset), std::min(last, size));
}

}  // namespace

void copy_contents(const File& from, File& to, const std::function<void(std::uint64_t)>& progress) {
    auto* const in = reinterpret_cast<HANDLE>(from.native_);
    auto* const out = reinterpret_cast<HANDLE>(to.native_);
    const FileInfo source = from.info();
    const DWORD attributes = basic_info(in, from.path()).FileAttributes;
    const bool sparse = (attributes & FILE_ATTRIBUTE_SPARSE_FILE) != 0;
    // Before there is anything to compress, and no more than a matter of space: where it can't be done, so be it.
    if ((attributes & FILE_ATTRIBUTE_COMPRESSED) != 0) {
        control(out, FSCTL_SET_COMPRESSION, USHORT{COMPRESSION_FORMAT_DEFAULT});
    }
    if (sparse) {
        control(out, FSCTL_SET_SPARSE, FILE_SET_SPARSE_BUFFER{TRUE});
    }
    const std::uint64_t needed = std::min(source.size, source.allocated);
    const fs::path folder = to.path().parent_path();
    const std::uint64_t available = free_space(folder);
    const bool fits = available >= needed;
    if (fits || sparse) {
        set_size(out, to.path(), source.size);
    }
    if ((fits || sparse) && clone(in, out, source.size, progress)) {
        return;
    }
    if (!fits) {
        throw Error(ErrorCode::disk_full,
                    fmt::format("copy: needs {}, has {}", human_size(needed), human_size(available)),
                    Hint::free_space)
            .at(to.path());
    }
    std::vector<std::uint8_t> buffer(COPY_CHUNK);
    std::uint64_t done = 0;
    std::uint64_t data_end = sparse ? 0 : source.size;
    while (done < source.size) {
        if (done == data_end) {
            const auto data = next_data(in, done, source.size);
            if (!data) {  // nothing but a hole up to the end
                done = source.size;
                progress(done);
                break;
            }
            done = data->first;
            data_end = data->second;
        }
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(data_end - done, buffer.size()));
        const std::size_t got = from.read_at(done, ByteSpan(buffer).first(wanted));
        if (got == 0) {
            break;
        }
        to.write_at(done, ByteView(buffer).first(got));
        done += got;
        progress(done);
    }
    if (done < source.size || from.info().size != source.size) {
        throw Error(ErrorCode::changed, "copy: the file changed meanwhile", Hint::run_again).at(from.path());
    }
}

namespace {

/// An alternate data stream: `:Zone.Identifier:$DATA` tells where a file was downloaded from.
std::vector<std::wstring> alternate_streams(HANDLE handle, const fs::path& path) {
    std::vector<std::uint64_t> buffer(512);
    constexpr std::size_t limit = std::size_t{1} << 20;
    while (::GetFileInformationByHandleEx(handle, FileStreamInfo, buffer.data(),
                                          static_cast<DWORD>(buffer.size() * sizeof buffer[0])) == FALSE) {
        const DWORD code = ::GetLastError();
        if ((code == ERROR_MORE_DATA || code == ERROR_INSUFFICIENT_BUFFER) && buffer.size() < limit) {
            buffer.resize(buffer.size() * 4);
            continue;
        }
        // The file system, or the system, has none.
        if (code == ERROR_HANDLE_EOF || code == ERROR_INVALID_PARAMETER || code == ERROR_INVALID_FUNCTION ||
            code == ERROR_NOT_SUPPORTED || code == ERROR_CALL_NOT_IMPLEMENTED) {
            return {};
        }
        throw win32::system_error(path, "list the alternate streams", code);
    }
    std::vector<std::wstring> names;
    const auto* entry = reinterpret_cast<const FILE_STREAM_INFO*>(buffer.data());
    for (;;) {
        const std::wstring name(entry->StreamName, entry->StreamNameLength / sizeof(wchar_t));
        if (!name.empty() && name != L"::$DATA") {
            names.push_back(name);
        }
        if (entry->NextEntryOffset == 0) {
            return names;
        }
        entry = reinterpret_cast<const FILE_STREAM_INFO*>(reinterpret_cast<const std::uint8_t*>(entry) +
                                                          entry->NextEntryOffset);
    }
}

void copy_stream(const File& from, const File& to, const std::wstring& name) {
    const auto fail = [&] { win32::fail(to.path(), fmt::format("copy the stream {}", win32::from_wide(name))); };
    fs::path source = from.path();
    fs::path target = to.path();
    source += name;
    target += name;
    const Handle in = win32::open(source, GENERIC_READ, win32::SHARE_ALL, OPEN_EXISTING, 0);
    if (!in) {
        fail();
    }
    const Handle out = win32::open(target, GENERIC_WRITE, win32::SHARE_ALL, CREATE_ALWAYS, 0);
    if (!out) {
        fail();
    }
    std::vector<std::uint8_t> buffer(COPY_CHUNK);
    for (;;) {
        DWORD got = 0;
        DWORD written = 0;
        if (::ReadFile(in.get(), buffer.data(), static_cast<DWORD>(buffer.size()), &got, nullptr) == FALSE) {
            fail();
        }
        if (got == 0) {
            return;
        }
        if (::WriteFile(out.get(), buffer.data(), got, &written, nullptr) == FALSE || written != got) {
            fail();
        }
    }
}

/// Owner, group and permissions, as one block.
class Security {
public:
    Security(HANDLE handle, const fs::path& path) {
        DWORD size = 0;
        constexpr SECURITY_INFORMATION wanted =
            OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
        ::GetKernelObjectSecurity(handle, wanted, nullptr, 0, &size);
        block_.resize(size / sizeof(std::uint64_t) + 1);
        if (::GetKernelObjectSecurity(handle, wanted, get(), static_cast<DWORD>(block_.size() * sizeof block_[0]), &size) ==
            FALSE) {
            win32::fail(path, "read the permissions");
        }
    }
    [[nodiscard]] PSECURITY_DESCRIPTOR get() { return block_.data(); }
    [[nodiscard]] PACL permissions() {
        BOOL present = FALSE;
        BOOL defaulted = FALSE;
        PACL acl = nullptr;
        ::GetSecurityDescriptorDacl(get(), &present, &acl, &defaulted);
        return present != FALSE ? acl : nullptr;
    }
    [[nodiscard]] SECURITY_DESCRIPTOR_CONTROL inheritance() {
        SECURITY_DESCRIPTOR_CONTROL bits = 0;
        DWORD revision = 0;
        ::GetSecurityDescriptorControl(get(), &bits, &revision);
        return bits & (SE_DACL_AUTO_INHERITED | SE_DACL_PROTECTED);
    }
    [[nodiscard]] PSID owner() { return sid(&::GetSecurityDescriptorOwner); }
    [[nodiscard]] PSID group() { return sid(&::GetSecurityDescriptorGroup); }

private:
    PSID sid(decltype(&::GetSecurityDescriptorOwner) look_up) {
        PSID found = nullptr;
        BOOL defaulted = FALSE;
        look_up(get(), &found, &defaulted);
        return found;
    }

    std::vector<std::uint64_t> block_;  // for its alignment
};

bool same(PSID a, PSID b) {
    return a == nullptr || b == nullptr ? a == b : ::EqualSid(a, b) != FALSE;
}

bool same(PACL a, PACL b) {
    return a == nullptr || b == nullptr ? a == b : a->AclSize == b->AclSize && std::memcmp(a, b, a->AclSize) == 0;
}

/// Gives a file to anyone, where an administrator asks for it. The thread alone gets that power, for this moment.
bool set_owner_with_privilege(HANDLE handle, PSECURITY_DESCRIPTOR security) {
    if (::ImpersonateSelf(SecurityImpersonation) == FALSE) {
        return false;
    }
    bool done = false;
    HANDLE opened = nullptr;
    if (::OpenThreadToken(::GetCurrentThread(), TOKEN_ADJUST_PRIVILEGES, FALSE, &opened) != FALSE) {
        const Handle token(opened);
        TOKEN_PRIVILEGES privilege{};
        privilege.PrivilegeCount = 1;
        privilege.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
        done = ::LookupPrivilegeValueW(nullptr, L"SeRestorePrivilege", &privilege.Privileges[0].Luid) != FALSE &&
               ::AdjustTokenPrivileges(token.get(), FALSE, &privilege, 0, nullptr, nullptr) != FALSE &&
               ::SetKernelObjectSecurity(handle, OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION, security) != FALSE;
    }
    ::RevertToSelf();
    return done;
}

void copy_security(HANDLE in, HANDLE out, const File& from, const File& to) {
    Security source(in, from.path());
    Security target(out, to.path());
    if (!same(source.permissions(), target.permissions()) || source.inheritance() != target.inheritance()) {
        // "Inherited" is kept only where it is asked for.
        const bool inherited = (source.inheritance() & SE_DACL_AUTO_INHERITED) != 0;
        ::SetSecurityDescriptorControl(source.get(), SE_DACL_AUTO_INHERIT_REQ, inherited ? SE_DACL_AUTO_INHERIT_REQ : 0);
        if (::SetKernelObjectSecurity(out, DACL_SECURITY_INFORMATION, source.get()) == FALSE) {
            win32::fail(to.path(), "keep the permissions");
        }
    }
    // A user who may replace a file of someone else's becomes its owner, as with any other program; only an
    // administrator can give it back.
    if ((!same(source.owner(), target.owner()) || !same(source.group(), target.group())) &&
        ::SetKernelObjectSecurity(out, OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION, source.get()) == FALSE) {
        set_owner_with_privilege(out, source.get());
    }
}

}  // namespace

void copy_metadata(const File& from, File& to) {
    auto* const in = reinterpret_cast<HANDLE>(from.native_);
    auto* const out = reinterpret_cast<HANDLE>(to.native_);
    for (const std::wstring& name : alternate_streams(in, from.path())) {
        copy_stream(from, to, name);
    }
    copy_security(in, out, from, to);
    const FILE_BASIC_INFO source = basic_info(in, from.path());
    FILE_BASIC_INFO target{};  // times of 0 stay as they are
    target.CreationTime = source.CreationTime;
    target.FileAttributes = source.FileAttributes & KEPT_ATTRIBUTES;
    if (target.FileAttributes == 0) {
        target.FileAttributes = FILE_ATTRIBUTE_NORMAL;
    }
    if (::SetFileInformationByHandle(out, FileBasicInfo, &target, sizeof target) == FALSE) {
        win32::fail(to.path(), "keep the attributes");
    }
}

}  // namespace fixnvpe::os
