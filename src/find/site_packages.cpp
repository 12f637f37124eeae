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

/// The names of folders, and of links that may be to one, in order.
std::vector<path> folders_in(const path& folder) {
    std::vector<path> names;
    try {
        for (os::FolderEntry& entry : os::list_folder(folder.empty() ? path(".") : folder)) {
            if (entry.type == os::FileType::folder || entry.type == os::FileType::link) {
                names.push_back(std::move(entry.name));
            }
        }
    } catch (const Error&) {
        return {};
    }
    std::sort(names.begin(), names.end());
    return names;
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
    std::size_t i = 0;
    for (const std::string_view prefix : {"python3", "pythoncore-3"}) {
        i = text.starts_with(prefix) ? prefix.size() : i;
    }
    if (i == 0) {
        return std::nullopt;
    }
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

void Folders::add(const path& folder) {
    const os::FileInfo info = look_behind(folder);
    if (info.type == os::FileType::folder && known_.insert(info.identity).second) {
        list_.push_back(folder);
    }
}

void Folders::add(const std::vector<path>& folders) {
    for (const path& folder : folders) {
        add(folder);
    }
}

std::vector<path> site_packages(const path& prefix, std::optional<unsigned> minor) {
    Folders result;
    result.add(prefix / "Lib" / "site-packages");
    for (const path& python : python_folders(prefix / "local" / "lib", minor)) {
        result.add(python / "dist-packages");  // Debian's pip installs there
    }
    for (const char* lib : {"lib", "lib64"}) {
        for (const path& python : python_folders(prefix / lib, minor)) {
            result.add(python / "site-packages");
            result.add(python / "dist-packages");
        }
    }
    result.add(prefix / "lib" / "python3" / "dist-packages");
    return std::move(result).list();
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
    Folders folders;
    const auto add = [&](const path& of, std::optional<unsigned> its_minor) {
        const std::vector<path> sites = site_packages(of, its_minor);
        folders.add(sites);
        if (!sites.empty() && is_folder(of / "conda-meta")) {
            folders.add(of / "Library" / "bin");
        }
        places.prefixes.push_back(of);
        return !sites.empty();
    };
    if (const Base base = base_of(prefix); add(prefix, minor) && base.included) {
        add(prefix_of(base.home / "python"), base.minor);
    }
    places.folders = std::move(folders).list();
    return places;
}

bool is_site_packages(const path& folder) {
    const std::string name = lower_name(folder);
    return name == "site-packages" || name == "dist-packages";
}

path prefix_of_site(const path& site) {
    constexpr int levels = 3;  // PREFIX/lib/python3.11/site-packages
    path prefix = site;
    for (int level = 0; level < levels; ++level) {
        prefix = prefix.parent_path();
        for (const path& folder : site_packages(prefix)) {
            if (look_behind(folder).identity == look_behind(site).identity) {
                return prefix;
            }
        }
    }
    return {};
}

std::vector<path> environments_in(const path& folder, bool below) {
    if (is_environment(folder)) {
        return {folder};
    }
    Folders found;
    for (const path& name : below ? folders_in(folder) : std::vector<path>()) {
        const path inner = folder / name;
        if (is_environment(inner)) {
            found.add(inner);
            continue;
        }
        for (const path& inner_name : folders_in(inner)) {
            if (is_environment(inner / inner_name)) {
                found.add(inner / inner_name);
            }
        }
    }
    return std::move(found).list();
}

}  // namespace fixnvpe
