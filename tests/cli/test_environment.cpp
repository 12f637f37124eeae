// Without a target: the active Python environment.

#include <filesystem>
#include <map>
#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace fs = std::filesystem;

TEST_CASE("environment: without a target, torch/lib of the active one, and it is said which") {
    const Session session;
    const fs::path packages = fs::path("venv") / "Lib" / "site-packages";
    session.sample(packages / "torch" / "lib");
    fs::create_directories(session / packages / "torch-1.12.1+cu113.dist-info");
    fs::create_directories(session / packages / "cupy");
    session.writable(packages / "cupy" / "core.pyd");
    const std::string prefix = (session / "venv").string();
    const std::map<std::string, std::string> active{{"VIRTUAL_ENV", prefix}, {"CONDA_PREFIX", ""}};

    const Output verified = session.fixnvpe({"verify"}, active);
    CHECK(verified.exit_status == 1);
    CHECK(verified.out.starts_with(with_slashes(prefix) + " (VIRTUAL_ENV)\n"));
    CHECK_THAT(verified.out, contains("torch/lib\n  unpatched   987.0 MiB  torch_cuda_cu.dll\n"));
    CHECK_THAT(session.fixnvpe({"verify", "--env", "venv"}).out, contains("venv (--env)\n"));

    CHECK(session.fixnvpe({"patch"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--require-backup"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 1);  // cupy's is not yet done
    CHECK(session.fixnvpe({"patch", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"restore", "--all"}, active).exit_status == 0);
    CHECK(session.fixnvpe({"verify", "--all"}, active).exit_status == 1);

    const Output both = session.fixnvpe({"verify", "--env", "venv", "a.dll"});
    CHECK(both == Output{2, "",
                         "fixnvpe: a TARGET and an environment (--env, --all) exclude each other\n"
                         "  hint: leave one of them out\n"});
    const Output none = session.fixnvpe({"verify", "--env", "nowhere"});
    CHECK(none.exit_status == 2);
    CHECK(none.err.find("nowhere") != std::string::npos);
}

}  // namespace fixnvpe::test
