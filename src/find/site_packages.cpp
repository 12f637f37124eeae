#include "fixnvpe/find/site_packages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"
#include "fixnvpe/os/names.hpp"
#include "fixnvpe/os/process.hpp"

namespace fixnvpe {

using std::filesystem::path;

namespace {

/// What pyvenv.cfg says of where a virtual environment comes from.
struct Base {
    path home;  ///< the folder of its python
    std::optional<unsigned> minor;
    bool included = false;  ///< its site-packages belong to the environment, too
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

Base base_of(const path& prefix) {
    constexpr std::size_t enough = std::size_t{1} << 16;
    std::string text(enough, '\0');
    try {
        const os::File file = os::File::open_to_read(prefix / "pyvenv.cfg");
        text.resize(file.read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    } catch (const Error&) {
        return {};
    }
    Base base;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        const std::size_t equals = std::min(line.find('='), line.size());
        const std::string key = lower_name(path(trimmed(line.substr(0, equals))));
        const std::string value(trimmed(line.substr(std::min(equals + 1, line.size()))));
        if (key == "home") {
            base.home = os::to_path(value);
        } else if (key == "include-system-site-packages") {
            base.included = lower_name(value) == "true";
        } else if (key == "version" || key == "version_info") {
            base.minor = minor_version("python" + value);
        }
    }
    return base;
}

void add_places(EnvironmentPlaces& places, const path& prefix, std::optional<unsigned> minor) {
    for (const path& folder : site_packages(prefix, minor)) {
        add_folder(places.folders, folder);
    }
    if (!places.folders.empty() && is_folder(prefix / "conda-meta")) {
        add_folder(places.folders, prefix / "Library" / "bin");
    }
    places.prefixes.push_back(prefix);
}

bool is_file(const path& p) {
    return look_behind(p).type == os::FileType::regular;
}

}  // namespace

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

path prefix_of(const path& executable) {
    const path folder = executable.parent_path();
    const std::string name = lower_name(folder);
    return name == "bin" || name == "scripts" ? folder.parent_path() : folder;
}

bool is_virtual(const path& prefix) {
    return is_file(prefix / "pyvenv.cfg");
}

bool is_environment(const path& prefix) {
    if (is_virtual(prefix) || is_folder(prefix / "conda-meta")) {
        return true;
    }
    const bool has_python =
        is_file(prefix / "python.exe") || is_file(prefix / "bin" / "python3") || is_file(prefix / "bin" / "python");
    return has_python && !site_packages(prefix).empty();
}

EnvironmentPlaces places_of(const path& prefix, std::optional<unsigned> minor) {
    EnvironmentPlaces places;
    add_places(places, prefix, minor);
    if (const Base base = base_of(prefix); base.included && !places.folders.empty()) {
        add_places(places, prefix_of(base.home / "python"), base.minor);
    }
    return places;
}

}  // namespace fixnvpe
