#include "fixnvpe/os/metadata.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "by_handle.hpp"

namespace fixnvpe::os {
namespace {

namespace fs = std::filesystem;

/// Attributes that anyone may set. Compression and holes come with the contents.
constexpr DWORD KEPT_ATTRIBUTES = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
                                  FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

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
    constexpr std::size_t chunk = std::size_t{1} << 20;
    std::vector<std::uint8_t> buffer(chunk);
    for (;;) {
        DWORD got = 0;
        DWORD written = 0;
        if (::ReadFile(native_of(in), buffer.data(), static_cast<DWORD>(buffer.size()), &got, nullptr) == FALSE) {
            fail();
        }
        if (got == 0) {
            return;
        }
        if (::WriteFile(native_of(out), buffer.data(), got, &written, nullptr) == FALSE || written != got) {
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
        if (::GetKernelObjectSecurity(handle, wanted, get(), static_cast<DWORD>(block_.size() * sizeof block_[0]),
                                      &size) == FALSE) {
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
        const Handle token = win32::owned(opened);
        TOKEN_PRIVILEGES privilege{};
        privilege.PrivilegeCount = 1;
        privilege.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
        done = ::LookupPrivilegeValueW(nullptr, L"SeRestorePrivilege", &privilege.Privileges[0].Luid) != FALSE &&
               ::AdjustTokenPrivileges(native_of(token), FALSE, &privilege, 0, nullptr, nullptr) != FALSE &&
               ::SetKernelObjectSecurity(handle, OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION, security) !=
                   FALSE;
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
        ::SetSecurityDescriptorControl(source.get(), SE_DACL_AUTO_INHERIT_REQ,
                                       inherited ? SE_DACL_AUTO_INHERIT_REQ : 0);
        if (::SetKernelObjectSecurity(out, DACL_SECURITY_INFORMATION, source.get()) == FALSE) {
            win32::fail(to.path(), "keep the permissions");
        }
    }
    // A user who may replace a file of someone else's becomes its owner, as with any other program; only an
    // administrator can give it back.
    if ((!same(source.owner(), target.owner()) || !same(source.group(), target.group())) &&
        ::SetKernelObjectSecurity(out, OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION, source.get()) ==
            FALSE) {
        set_owner_with_privilege(out, source.get());
    }
}

}  // namespace

void copy_metadata(const File& from, File& to) {
    const HANDLE in = native_of(from);
    const HANDLE out = native_of(to);
    for (const std::wstring& name : alternate_streams(in, from.path())) {
        copy_stream(from, to, name);
    }
    copy_security(in, out, from, to);
    const FILE_BASIC_INFO source = win32::basic_info(in, from.path());
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

void set_modified(File& file, std::int64_t modified) {
    FILE_BASIC_INFO basic{};  // other times of 0, and attributes of 0, stay as they are
    basic.LastWriteTime.QuadPart = modified;
    if (::SetFileInformationByHandle(native_of(file), FileBasicInfo, &basic, sizeof basic) == FALSE) {
        win32::fail(file.path(), "keep the time");
    }
}

Privileges::Privileges(const File& /*file*/) {}

void Privileges::put_back(File& /*file*/) const {}

}  // namespace fixnvpe::os
