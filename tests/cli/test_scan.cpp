// What the DLLs cost, and what patching would save.

#include <cstdint>
#include <map>
#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

const std::string OTHER_CAUSES =
    "; if WinError 1455 comes all the same, it has another cause:\n"
    "  - the page file is too small: let Windows manage its size, or give it more\n"
    "  - too many workers: each is a process of its own, so lower num_workers\n"
    "  - other programs have used up the commit limit: see Task Manager, Performance, Memory, Committed\n";

}  // namespace

TEST_CASE("scan: what each DLL costs and would save, and what all of them do with the workers; nothing is written") {
    constexpr std::uint64_t mib = 1 << 20;
    const std::map<std::string, std::uint64_t> savings{{"lib/torch_cuda_cu.dll", 987},
                                                       {"lib/cudnn_cnn_infer64_8.dll", 437},
                                                       {"lib/cublasLt64_11.dll", 303},
                                                       {"lib/torch_cuda_cpp.dll", 211},
                                                       {"lib/cudnn_ops_infer64_8.dll", 84}};
    const Session session;
    session.sample("lib");
    const Snapshot before = session.snapshot();
    const nlohmann::json json = session.json({"scan", "--workers", "3", "lib"});
    CHECK(json.at("exit_status") == 0);
    CHECK(json.at("files").size() == 7);
    for (const nlohmann::json& file : json.at("files")) {
        const auto saving = savings.find(with_slashes(file.at("path")));
        INFO(file.at("path"));
        CHECK(file.at("commit").at("saved") == (saving == savings.end() ? 0 : saving->second * mib));
        CHECK((file.at("status") == "unpatched") == (saving != savings.end()));
        CHECK(file.value("relocated_bytes", 0) == (saving == savings.end() ? 0 : 4096));
    }
    CHECK(json.at("summary").at("saved") == 2022 * mib);
    CHECK(json.at("summary").at("commit").at("after") == 80 * 1024);
    CHECK(json.at("summary").at("workers") == 3);
    CHECK(session.fixnvpe({"scan", "--workers", "3", "lib"})
              .out.ends_with("patch saves 2.0 GiB in each process, 7.9 GiB with 3 workers\n"));
    CHECK(session.snapshot() == before);
}

TEST_CASE("scan: where there is nothing to gain, it says why, and what else brings WinError 1455") {
    const Session session;
    session.fixture("x64-read-only.dll", "a.dll");
    CHECK(session.fixnvpe({"scan", "a.dll"})
              .out.ends_with("these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain" + OTHER_CAUSES));
    session.fixture("x64-patched.dll", "a.dll");
    CHECK(session.fixnvpe({"scan", "a.dll"})
              .out.ends_with("these DLLs are patched: nothing more to gain" + OTHER_CAUSES));
    session.fixture("x64-no-fatbin.dll", "a.dll");
    CHECK(
        session.fixnvpe({"scan", "a.dll"}).out.ends_with("no CUDA code in these DLLs: nothing to gain" + OTHER_CAUSES));
}

}  // namespace fixnvpe::test
