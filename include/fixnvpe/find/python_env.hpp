#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/os/process.hpp"

/// Finds the active Python environment by looking at files only: no interpreter is run.
namespace fixnvpe {

struct Torch {
    std::string version;        ///< as its dist-info says, such as 1.12.1+cu113; empty if there is none
    std::filesystem::path lib;  ///< torch/lib, which is there
    bool cuda = false;          ///< false: a build without CUDA, such as +cpu; nothing to patch
};

struct PythonEnvironment {
    std::filesystem::path prefix;
    std::vector<std::filesystem::path> prefixes;  ///< that, and its base's where that's packages belong to it
    std::string chosen_by;                        ///< "VIRTUAL_ENV", "python on PATH", …
    std::vector<std::filesystem::path> folders;   ///< of its DLLs: site-packages; conda's Library/bin, too
    std::optional<Torch> torch;
    /// Those that the current folder is or holds, where a variable chose, and it chose none of them: nothing is written
    /// then, for the user may mean another one.
    std::vector<std::filesystem::path> rivals;
    std::vector<std::string> passed_over;  ///< what seemed to come first, and why it did not
};

/// What the search looks at.
struct EnvironmentQuery {
    std::optional<std::filesystem::path> env_option;  ///< --env DIR
    std::filesystem::path current_folder;
    std::filesystem::path program = {};  ///< the running one's own file; empty: it is nowhere
    /// The prefixes that Windows' registry names; asked only where nothing else was found.
    std::function<std::vector<std::filesystem::path>()> registered = [] {
        return std::vector<std::filesystem::path>();
    };
    std::function<std::optional<std::string>(const char* name)> variable = os::environment;
    /// Names and variables are those of Windows; both kinds of folder layout are known everywhere.
    bool windows = std::filesystem::path::preferred_separator == '\\';
};

/// The first of these that has a site-packages folder: --env DIR, the Python that runs fixnvpe (python -m fixnvpe names
/// its prefix in FIXNVPE_PYTHON), VIRTUAL_ENV, CONDA_PREFIX, the one environment that the current folder is or holds
/// (directly or one level below; not where that is the home folder or a drive's root), the Python that the program is
/// installed in (unless nothing but fixnvpe is there), the python on PATH, py launcher's (both with the user's own
/// site-packages, where they are no virtual environment), and, without one, those alone. DIR may be a prefix, its
/// python, the folder of that, its site-packages, or a folder that holds one environment. A DIR that is none is an
/// error, and nothing else is looked at.
/// @throws Error no_match, with what was looked at and how to name one; ambiguous, where there are several
[[nodiscard]] PythonEnvironment find_python_environment(const EnvironmentQuery& query);

/// Others that the user may have meant: those that VIRTUAL_ENV and CONDA_PREFIX name, and those that the current
/// folder, or the one that the chosen one lies in, is or holds. Each once.
[[nodiscard]] std::vector<std::filesystem::path> environments_nearby(const EnvironmentQuery& query,
                                                                     const PythonEnvironment& chosen);

/// "name the one that you mean", and a line that names each.
[[nodiscard]] std::string env_lines(const std::vector<std::filesystem::path>& environments);

}  // namespace fixnvpe
