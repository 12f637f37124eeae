#include "fixnvpe/find/site_packages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/names.hpp"

namespace fixnvpe {

using std::filesystem::path;

std::string lower_name(const path& p) {
    std::string text = to_utf8(p.filename());
    const auto to_lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    std::transform(text.begin(), text.end(), text.begin(), to_lower);
    return text;
}

os::FileInfo look_behind(const path& p) {
    try {
        return os::info_behind(p);
    } catch (const Error&) {
        return {};
    }
}

bool is_folder(const path& p) {
    return look_behind(p).type == os::FileType::folder;
}

std::vector<path> names_in(const path& folder) {
    try {
        std::vector<path> names;
        std::vector<os::FolderEntry> entries = os::list_folder(folder);
        names.reserve(entries.size());
        for (os::FolderEntry& entry : entries) {
            names.push_back(std::move(entry.name));
        }
        return names;
    } catch (const Error&) {
        return {};
    }
}

std::optional<unsigned> minor_version(const path& name) {
    const std::string text = lower_name(name);
    constexpr std::string_view prefix = "python3";
    if (!text.starts_with(prefix)) {
        return std::nullopt;
    }
    std::size_t i = prefix.size();
    if (i < text.size() && text[i] == '.') {
        ++i;
    }
    std::optional<unsigned> minor;
    constexpr unsigned enough = 1000;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && minor.value_or(0) < enough; ++i) {
        minor = minor.value_or(0) * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return minor;
}

std::vector<path> python_folders(const path& parent, std::optional<unsigned> minor) {
    std::vector<std::pair<unsigned, path>> found;
    for (const path& name : names_in(parent)) {
        const auto version = minor_version(name);
        if (version && (!minor || version == minor)) {
            found.emplace_back(*version, parent / name);
        }
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<path> result;
    result.reserve(found.size());
    for (auto& [version, folder] : found) {
        result.push_back(std::move(folder));
    }
    return result;
}

void add_folder(std::vector<path>& folders, const path& folder) {
    const auto info = look_behind(folder);
    const auto same = [&](const path& other) { return look_behind(other).identity == info.identity; };
    if (info.type == os::FileType::folder && std::none_of(folders.begin(), folders.end(), same)) {
        folders.push_back(folder);
    }
}

std::vector<path> site_packages(const path& prefix, std::optional<unsigned> minor) {
    std::vector<path> result;
    add_folder(result, prefix / "Lib" / "site-packages");
    for (const path& python : python_folders(prefix / "local" / "lib", minor)) {
        add_folder(result, python / "dist-packages");  // Debian's pip installs there
    }
    for (const char* lib : {"lib", "lib64"}) {
        for (const path& python : python_folders(prefix / lib, minor)) {
            add_folder(result, python / "site-packages");
            add_folder(result, python / "dist-packages");
        }
    }
    add_folder(result, prefix / "lib" / "python3" / "dist-packages");
    return result;
}

}  // namespace fixnvpe
