// What only Windows has on its command line. Under Wine, whose shares are folders of its own.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace fs = std::filesystem;

TEST_CASE("windows: a share of a server is a root, in a glob, a folder and a file") {
    const char* prefix = std::getenv("WINEPREFIX");
    if (!program().windows || prefix == nullptr) {
        return;
    }
    const Session session;
    session.writable("env/a.dll");
    const fs::path shares = fs::path(prefix) / "dosdevices" / "unc" / "fixnvpe-test";
    fs::create_directories(shares);
    const fs::path share = shares / session.folder().filename();
    fs::create_directory_symlink(session.folder(), share);
    for (const std::string root : {R"(\\fixnvpe-test\)", R"(\\?\UNC\fixnvpe-test\)"}) {
        for (const std::string target : {R"(\env\*.dll)", R"(\env)", R"(\env\a.dll)", R"(\e[n]v\**\a.dll)"}) {
            const std::string name = root + share.filename().string() + target;
            INFO(name);
            CHECK(session.told({"patch", "--input", name}).ends_with("/env/a.dll patched+patched; saves 4096; exit 0"));
            CHECK(session.fixnvpe({"restore", name}).exit_status == 0);
        }
    }
    fs::remove(share);
}

TEST_CASE("windows: the quote that cmd.exe and PowerShell leave behind a backslash") {
    if (!program().windows) {
        return;
    }
    const Session session;
    session.writable("my lib/a.dll");
    CHECK(session.told({"verify", "my lib\""}).starts_with("my lib/a.dll unpatched"));
    const Snapshot before = session.snapshot();
    const nlohmann::json json = session.json({"patch", R"(my lib" -n)"});
    CHECK(json.at("exit_status") == 2);
    CHECK(json.at("error").at("code") == "usage");
    CHECK(session.snapshot() == before);
}

}  // namespace fixnvpe::test
