#include "fixnvpe/os/registry.hpp"

#include "win32.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

namespace fixnvpe::os {
namespace {

struct Closer {
    void operator()(HKEY key) const { ::RegCloseKey(key); }
};
using Key = std::unique_ptr<std::remove_pointer_t<HKEY>, Closer>;

/// The key in each part of the registry that has it.
std::vector<Key> keys_of(const std::string& name) {
    struct Part {
        HKEY root;
        REGSAM view;
    };
    const std::array parts{Part{HKEY_CURRENT_USER, 0}, Part{HKEY_LOCAL_MACHINE, KEY_WOW64_64KEY},
                           Part{HKEY_LOCAL_MACHINE, KEY_WOW64_32KEY}};
    std::vector<Key> keys;
    for (const Part& part : parts) {
        HKEY key = nullptr;
        if (::RegOpenKeyExW(part.root, win32::to_wide(name).c_str(), 0, KEY_READ | part.view, &key) == ERROR_SUCCESS) {
            keys.emplace_back(key);
        }
    }
    return keys;
}

}  // namespace

std::vector<std::string> registry_keys(const std::string& key) {
    constexpr std::size_t longest_name = 256;
    std::vector<std::string> names;
    for (const Key& opened : keys_of(key)) {
        std::array<wchar_t, longest_name> name{};
        auto size = static_cast<DWORD>(name.size());
        for (DWORD i = 0;
             ::RegEnumKeyExW(opened.get(), i, name.data(), &size, nullptr, nullptr, nullptr, nullptr) == ERROR_SUCCESS;
             ++i) {
            std::string text = win32::from_wide({name.data(), size});
            if (std::find(names.begin(), names.end(), text) == names.end()) {
                names.push_back(std::move(text));
            }
            size = static_cast<DWORD>(name.size());
        }
    }
    return names;
}

std::optional<std::string> registry_text(const std::string& key, const std::string& name) {
    for (const Key& opened : keys_of(key)) {
        DWORD bytes = 0;
        const auto get = [&](wchar_t* buffer) {
            return ::RegGetValueW(opened.get(), nullptr, win32::to_wide(name).c_str(),
                                  RRF_RT_REG_SZ | RRF_RT_REG_MULTI_SZ, nullptr, buffer, &bytes) == ERROR_SUCCESS;
        };
        if (!get(nullptr)) {
            continue;
        }
        std::wstring text(bytes / sizeof(wchar_t), L'\0');
        if (get(text.data())) {
            text.resize(std::min(text.size(), text.find(L'\0')));
            return win32::from_wide(text);
        }
    }
    return std::nullopt;
}

}  // namespace fixnvpe::os
