// What the DLLs cost, and what patching would save.

#include <cstdint>
#include <map>
#include <string>

#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"

namespace fixnvpe::test {
namespace {

const std::string OTHER_CAUSES = "; if WinError 1455 comes all the same, it has another cause:\n  - ";

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
              .out.ends_with("a process that loads them all commits 2.0 GiB now, 80.0 KiB after patching\n"
                             "(7.9 GiB now, 320.0 KiB after with 3 DataLoader workers)\n"
                             "to do: fixnvpe patch; each process would commit up to 2.0 GiB less\n"));
    CHECK(session.snapshot() == before);
}

TEST_CASE("scan: where there is nothing to gain, it says why, and what else brings WinError 1455") {
    const Session session;
    for (const auto& [fixture, why] : std::map<std::string, std::string>{
             {"x64-read-only.dll", "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain"},
             {"x64-patched.dll", "these DLLs are patched: nothing more to gain"},
             {"x64-no-fatbin.dll", "no CUDA code in these DLLs: nothing to gain"}}) {
        session.fixture(fixture, "a.dll");
        CHECK_THAT(session.fixnvpe({"scan", "a.dll"}).out, contains("\n" + why + OTHER_CAUSES));
    }
    CHECK(session.fixnvpe({"scan", "b.dll"}).out.empty());
}

TEST_CASE("scan: what patching can't free is named, where it is large") {
    constexpr std::uint32_t mib = 1 << 20;
    PeSpec spec = cuda_dll(IMAGE_FILE_MACHINE_AMD64, SECTION_READ_ONLY);
    for (TestSection& section : spec.sections) {
        section.virtual_size = section.name == ".data" ? 229 * mib : section.virtual_size;
    }
    const Session session;
    session.dll("a.dll", spec);
    CHECK_THAT(session.fixnvpe({"scan", "a.dll"}).out, contains("a.dll  not-needed, 229.0 MiB in .data stay\n"));
    const nlohmann::json data = session.json({"scan", "a.dll"}).at("files").at(0).at("data");
    CHECK(data.at(0) == nlohmann::json{{"name", ".data"}, {"bytes", 229 * mib}});
}

}  // namespace fixnvpe::test
