#include "fixnvpe/find/python_env.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"
#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/os/names.hpp"

namespace fixnvpe {
namespace {

using std::filesystem::path;

std::optional<Torch> find_torch(const std::vector<path>& folders) {
    for (const path& folder : folders) {
        Torch torch;
        torch.lib = folder / "torch" / "lib";
        if (!is_folder(torch.lib)) {
            continue;
        }
        for (const path& name : names_in(folder)) {
            // torch-1.12.1+cu113.dist-info, or conda's torch-1.12.1-py3.9.egg-info
            const std::string text = to_utf8(name);
            constexpr std::string_view start = "torch-";
            if (text.starts_with(start) && (text.ends_with(".dist-info") || text.ends_with(".egg-info"))) {
                const std::string version = text.substr(start.size(), text.rfind('.') - start.size());
                torch.version = version.substr(0, version.find("-py"));
            }
        }
        const std::vector<path> libraries = names_in(torch.lib);
        torch.cuda = torch.version.find("+cpu") == std::string::npos &&
                     std::any_of(libraries.begin(), libraries.end(), [](const path& name) {
                         const std::string text = lower_name(name);
                         return text.find("cuda") != std::string::npos &&
                                (text.ends_with(".dll") || text.find(".so") != std::string::npos);
                     });
        return torch;
    }
    return std::nullopt;
}

class Search {
public:
    explicit Search(const EnvironmentQuery& query) : query_(query) {}

    std::vector<path> nearby(const PythonEnvironment& chosen) const {
        Folders found;
        found.add(chosen.prefix);
        for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
            if (const auto value = query_.variable(name)) {
                found.add(query_.current_folder / os::to_path(*value));
            }
        }
        found.add(environments_at(query_.current_folder));
        try {
            found.add(environments_at(os::canonical(chosen.prefix).parent_path()));
        } catch (const Error&) {
            // It went away meanwhile.
        }
        std::vector<path> result = std::move(found).list();
        result.erase(result.begin());
        return result;
    }

    PythonEnvironment find() {
        if (query_.env_option) {
            return named_environment(*query_.env_option);
        }
        if (const auto running = query_.variable("FIXNVPE_PYTHON");
            running && try_prefix(os::to_path(*running), "python -m fixnvpe")) {
            return environment_;
        }
        const std::vector<path> here = environments_here();
        for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
            if (const auto value = query_.variable(name)) {
                if (try_prefix(query_.current_folder / os::to_path(*value), name)) {
                    const auto identity = look_behind(environment_.prefix).identity;
                    const bool is_here = std::any_of(here.begin(), here.end(), [&](const path& other) {
                        return look_behind(other).identity == identity;
                    });
                    environment_.rivals = is_here ? std::vector<path>() : here;
                    return environment_;
                }
                environment_.passed_over.push_back(looked_at_.back());
            } else {
                looked_at_.push_back(fmt::format("{} is not set", name));
            }
        }
        if (here.size() > 1) {
            throw Error(ErrorCode::ambiguous, fmt::format("the current folder has {} Python environments", here.size()),
                        env_lines(here));
        }
        if (here.empty()) {
            looked_at_.emplace_back("no environment in the current folder");
        } else if (try_prefix(here.front(), here.front() == "." ? "the current folder" : "in the current folder")) {
            return environment_;
        }
        if (try_own() || try_path() || try_registered() || try_user_site()) {
            return environment_;
        }
        throw Error(ErrorCode::no_match, "no Python environment found",
                    fmt::format("looked at: {}; activate one, name it with --env DIR, or name the files: TARGET",
                                fmt::join(looked_at_, ", ")));
    }

private:
    std::vector<path> environments_here() const {
        std::vector<path> found = environments_at(query_.current_folder);
        if (found == std::vector<path>{path()}) {
            found.front() = ".";
        }
        return found;
    }

    /// Those that a folder is or holds. The home folder and a drive's root hold everybody's.
    std::vector<path> environments_at(const path& folder) const {
        const auto home = query_.variable(query_.windows ? "USERPROFILE" : "HOME");
        bool below = true;
        try {
            const path real = os::canonical(folder.empty() ? path(".") : folder);
            const bool is_root = os::split_root(real).rest.empty();
            if (is_root && !query_.windows) {
                return {};  // a container starts there; the system's own Python is no environment that was meant
            }
            below = !is_root && !(home && os::info_of(real).identity == look_behind(os::to_path(*home)).identity);
        } catch (const Error&) {
            return {};
        }
        return environments_in(folder, below);
    }

    /// What DIR may be: a prefix, a python, its folder, site-packages; or it holds environments.
    PythonEnvironment named_environment(const path& spelled) {
        const path named = spelled.has_filename() ? spelled : spelled.parent_path();
        path prefix = named;
        if (look_behind(named).type == os::FileType::regular) {
            prefix = prefix_of(named);
        } else if (is_site_packages(named)) {
            prefix = prefix_of_site(named);
        } else if (const path above = prefix_of(named / "python"); above != named && is_environment(above)) {
            prefix = above;
        }
        if (try_prefix(prefix, "--env")) {
            return environment_;
        }
        const std::vector<path> held = environments_in(named);
        if (held.size() > 1) {
            throw Error(ErrorCode::ambiguous, fmt::format("it has {} Python environments", held.size()),
                        env_lines(held))
                .at(named);
        }
        if (held.size() == 1 && try_prefix(held.front(), "--env")) {
            return environment_;
        }
        throw Error(
            ErrorCode::no_match,
            is_folder(named) ? "no Python environment: it has no site-packages folder" : "there is no such folder",
            "--env takes the folder that holds python.exe, Scripts or bin")
            .at(named);
    }

    /// @return whether there is an environment; it is the result then
    bool try_prefix(const path& prefix, const std::string& chosen_by, const std::vector<path>& first = {},
                    std::optional<unsigned> minor = {}) {
        const EnvironmentPlaces places = places_of(prefix, minor);
        Folders folders;
        folders.add(first);
        folders.add(places.folders);
        environment_.folders = std::move(folders).list();
        if (environment_.folders.empty()) {
            const bool there = is_folder(prefix);
            looked_at_.push_back(fmt::format("{} ({}) {}", printable_path(prefix), chosen_by,
                                             there ? "has no site-packages" : "is not there"));
            return false;
        }
        environment_.prefix = prefix;
        environment_.prefixes = places.prefixes;
        environment_.chosen_by = chosen_by;
        environment_.torch = find_torch(environment_.folders);
        return true;
    }

    bool try_path() {
        const std::string value = query_.variable("PATH").value_or("");
        std::string_view rest = value;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(query_.windows ? ';' : ':'), rest.size());
            std::string entry(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (query_.windows) {
                std::erase(entry, '"');
            }
            for (const char* name : {"python", "python3"}) {
                const path executable =
                    query_.current_folder / os::to_path(entry) / (query_.windows ? std::string(name) + ".exe" : name);
                if (!entry.empty() && try_executable(executable)) {
                    return true;
                }
            }
        }
        looked_at_.emplace_back("no Python on PATH");
        return false;
    }

    bool try_executable(const path& executable) {
        const os::FileInfo info = look_behind(executable);
        if (info.type == os::FileType::missing || info.type == os::FileType::folder) {
            return false;
        }
        if (info.type != os::FileType::regular || info.size == 0) {
            looked_at_.push_back(
                fmt::format("{} is an empty alias of the Microsoft Store's", printable_path(executable)));
            environment_.passed_over.push_back(looked_at_.back());
            return false;
        }
        return try_python(executable, fmt::format("{} on PATH", printable_path(executable.filename())));
    }

    bool try_python(const path& executable, const std::string& chosen_by) {
        // A virtual environment's python is often a link to the one that it was made with.
        if (const path prefix = prefix_of(executable); is_virtual(prefix)) {
            return !is_made_for_program(prefix) && try_prefix(prefix, chosen_by);
        }
        const path real = os::info_of(executable).type == os::FileType::link ? os::canonical(executable) : executable;
        std::optional<unsigned> minor = minor_version(real.filename());
        bool isolated = false;  // an embeddable Python looks at no other folder
        for (const path& name : query_.windows ? names_in(real.parent_path()) : std::vector<path>()) {
            const std::string text = lower_name(name);
            minor = text.ends_with(".dll") && minor_version(name) ? minor_version(name) : minor;
            isolated = isolated || (text.starts_with("python") && text.ends_with("._pth"));
        }
        return try_prefix(prefix_of(real), chosen_by, minor && !isolated ? user_sites(minor) : std::vector<path>(),
                          minor);
    }

    /// The environment that pip or uv installed the program into.
    struct Own {
        path prefix;
        bool alone = true;  ///< uvx, uv tool and pipx made it for the program: there is nothing to patch
    };

    std::optional<Own> find_own() const {
        Own own;
        own.prefix = prefix_of(query_.program);
        if (query_.program.empty() || !is_environment(own.prefix)) {
            return std::nullopt;
        }
        bool installed = false;
        for (const path& site : site_packages(own.prefix)) {
            for (const path& name : names_in(site)) {
                const std::string distribution = lower_name(name).substr(0, lower_name(name).find('-'));
                const std::string kind = lower_name(name.extension());
                if (kind == ".dist-info" || kind == ".egg-info") {
                    installed = installed || distribution == "fixnvpe";
                    own.alone = own.alone && (distribution == "fixnvpe" || distribution == "pip" ||
                                              distribution == "setuptools" || distribution == "wheel");
                }
            }
        }
        return installed ? std::optional(own) : std::nullopt;
    }

    bool try_own() {
        own_ = find_own();
        return own_ && !own_->alone &&
               try_python(own_->prefix / (query_.windows ? "python.exe" : "bin/python3"), "fixnvpe is installed there");
    }

    /// uvx puts the one that it made for the program first on PATH.
    bool is_made_for_program(const path& prefix) const {
        return own_ && own_->alone && look_behind(prefix).identity == look_behind(own_->prefix).identity;
    }

    /// By Windows' registry, and where python.org's installer and the Python install manager put them.
    bool try_registered() {
        std::vector<path> prefixes = query_.registered();
        if (const auto local = query_.windows ? query_.variable("LOCALAPPDATA") : std::nullopt) {
            for (const char* parent : {"Programs/Python", "Python"}) {
                const std::vector<path> found =
                    python_folders(query_.current_folder / os::to_path(*local) / parent, {});
                prefixes.insert(prefixes.end(), found.begin(), found.end());
            }
        }
        return std::any_of(prefixes.begin(), prefixes.end(), [&](const path& prefix) {
            return look_behind(prefix / "python.exe").type == os::FileType::regular &&
                   try_python(prefix / "python.exe", "py launcher");
        });
    }

    bool try_user_site() {
        std::vector<path> folders = user_sites({});
        if (folders.empty()) {
            looked_at_.emplace_back("the user has no site-packages of their own");
            return false;
        }
        const path prefix = folders.front().parent_path();
        return try_prefix(prefix, "the user's site-packages", folders);
    }

    /// Where `pip install --user` puts things, for this Python 3.minor, or for all, the newest first.
    std::vector<path> user_sites(std::optional<unsigned> minor) const {
        std::vector<path> parents;
        const auto add_parent = [&](const char* variable, const path& below) {
            if (const auto value = query_.variable(variable)) {
                parents.push_back(query_.current_folder / os::to_path(*value) / below);
            }
        };
        if (query_.variable("PYTHONNOUSERSITE")) {
            return {};
        }
        if (query_.variable("PYTHONUSERBASE")) {
            add_parent("PYTHONUSERBASE", query_.windows ? "" : "lib");
        } else {
            add_parent(query_.windows ? "APPDATA" : "HOME", query_.windows ? "Python" : ".local/lib");
        }
        // The Microsoft Store's Python always installs there.
        if (const auto value = query_.windows ? query_.variable("LOCALAPPDATA") : std::nullopt) {
            const path packages = query_.current_folder / os::to_path(*value) / "Packages";
            for (const path& name : names_in(packages)) {
                if (lower_name(name).starts_with("pythonsoftwarefoundation.python.3.")) {
                    parents.push_back(packages / name / "LocalCache" / "local-packages");
                }
            }
        }
        Folders result;
        for (const path& parent : parents) {
            for (const path& python : python_folders(parent, minor)) {
                result.add(python / "site-packages");
            }
        }
        return std::move(result).list();
    }

    const EnvironmentQuery& query_;
    PythonEnvironment environment_;
    std::vector<std::string> looked_at_;
    std::optional<Own> own_;
};

}  // namespace

PythonEnvironment find_python_environment(const EnvironmentQuery& query) {
    return Search(query).find();
}

std::vector<path> environments_nearby(const EnvironmentQuery& query, const PythonEnvironment& chosen) {
    return Search(query).nearby(chosen);
}

std::string env_lines(const std::vector<path>& environments) {
    std::string text = "name the one that you mean";
    for (const path& environment : environments) {
        const std::string name = printable_path(environment);
        text += name.find(' ') == std::string::npos ? "\n--env " + name : "\n--env \"" + name + '"';
    }
    return text;
}

}  // namespace fixnvpe
