// The registry, and the Pythons that are registered there.

#include "fixnvpe/find/registered.hpp"
#include "fixnvpe/os/registry.hpp"
#include "os/win32.hpp"
#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

void register_python(const std::wstring& key, const std::wstring& prefix) {
    const std::wstring whole = L"Software\\Python\\" + key + L"\\InstallPath";
    REQUIRE(::RegSetKeyValueW(HKEY_CURRENT_USER, whole.c_str(), nullptr, REG_SZ, prefix.c_str(),
                              static_cast<DWORD>((prefix.size() + 1) * sizeof(wchar_t))) == ERROR_SUCCESS);
}

}  // namespace

TEST_CASE("os/registry on Windows: the Pythons that PEP 514's keys name, python.org's first, the newest first") {
    register_python(L"FixnvpeTest\\3.99", L"C:\\其他");
    register_python(L"PythonCore\\3.98", L"C:\\Python398\\");
    register_python(L"PythonCore\\3.101-32", L"C:\\模型\\Python3101");
    const std::vector<std::filesystem::path> found = registered_pythons();
    const auto place = [&](const wchar_t* prefix) {
        return std::find(found.begin(), found.end(), std::filesystem::path(prefix)) - found.begin();
    };
    CHECK(place(L"C:\\模型\\Python3101") < place(L"C:\\Python398\\"));
    CHECK(place(L"C:\\Python398\\") < place(L"C:\\其他"));
    CHECK(place(L"C:\\其他") < std::ptrdiff_t(found.size()));
    CHECK(os::registry_text("Software\\Python\\PythonCore\\3.98\\InstallPath", "") == "C:\\Python398\\");
    CHECK_FALSE(os::registry_text("Software\\Python\\PythonCore\\3.98\\InstallPath", "ExecutablePath"));
    CHECK_FALSE(os::registry_text("Software\\Nobody\\has\\this", ""));
    CHECK(os::registry_keys("Software\\Nobody\\has\\this").empty());
    for (const wchar_t* key : {L"FixnvpeTest", L"PythonCore\\3.98", L"PythonCore\\3.101-32"}) {
        ::RegDeleteTreeW(HKEY_CURRENT_USER, (std::wstring(L"Software\\Python\\") + key).c_str());
    }
}

}  // namespace fixnvpe::test
