#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/session.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {

/// Runs the program as a user who is not root, whoever runs the tests.
class Unprivileged {
public:
    static constexpr uid_t USER = 65534;

    explicit Unprivileged(const Session& session) : session_(session) {
        // The build folder may be closed to others.
        std::filesystem::copy_file(program().path, tools_ / "fixnvpe");
        std::filesystem::permissions(tools_.path(), std::filesystem::perms(0755));
        std::filesystem::permissions(session.folder(), std::filesystem::perms(0755));
    }

    /// @param tracer words before the program
    [[nodiscard]] Output fixnvpe(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& tracer = {}) const {
        std::vector<std::string> words;
        if (::geteuid() == 0) {
            words = {"setpriv", "--reuid=" + std::to_string(USER), "--regid=" + std::to_string(USER), "--clear-groups"};
        }
        words.insert(words.end(), tracer.begin(), tracer.end());
        words.push_back((tools_ / "fixnvpe").string());
        words.insert(words.end(), arguments.begin(), arguments.end());
        const ProcessResult result = session_.run({.words = words});
        return {result.exit_status, result.out, result.err};
    }

    /// What it says of each file, in_short().
    [[nodiscard]] std::string told(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        return in_short(nlohmann::json::parse(fixnvpe(arguments).out));
    }

    /// Gives a file or folder to that user.
    static void own(const std::filesystem::path& path) {
        if (::geteuid() == 0 && ::chown(path.c_str(), USER, USER) != 0) {
            throw std::runtime_error("chown " + path.string());
        }
    }

private:
    const Session& session_;
    TempFolder tools_;
};

}  // namespace fixnvpe::test
