#include <array>
#include <filesystem>
#include <string>

#include "fixnvpe/patch/sidecars.hpp"
#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {
using std::filesystem::path;
}

TEST_CASE("sidecars: the names stand beside the DLL, keep its whole name and never end in .dll") {
    const path dll = path("lib") / u8"模型.dll";
    CHECK(backup_path(dll) == path("lib") / u8"模型.dll.bak");
    CHECK(numbered_path(backup_path(dll), 12) == path("lib") / u8"模型.dll.bak.12");
    CHECK(legacy_backup_path(dll) == path("lib") / u8"模型.dll_bak");
    CHECK(undo_path(dll) == path("lib") / u8"模型.dll.fixnvpe-undo");
    CHECK(temporary_path(dll) == path("lib") / u8"模型.dll.fixnvpe-tmp");
}

TEST_CASE("sidecars: each name that is made is read back") {
    const path dll = path("some.folder") / "x.pyd";
    const auto [made, kind] = GENERATE_COPY(std::pair{backup_path(dll), SidecarKind::full},
                                            std::pair{numbered_path(backup_path(dll), 1), SidecarKind::numbered},
                                            std::pair{numbered_path(backup_path(dll), 4096), SidecarKind::numbered},
                                            std::pair{legacy_backup_path(dll), SidecarKind::legacy},
                                            std::pair{undo_path(dll), SidecarKind::undo},
                                            std::pair{temporary_path(dll), SidecarKind::temporary});
    INFO(made.string());
    const auto read = sidecar_name(made);
    REQUIRE(read.has_value());
    CHECK(read->dll == dll);
    CHECK(read->kind == kind);
    CHECK(is_sidecar(made));
    CHECK(dll_of(made) == dll);
}

TEST_CASE("sidecars: the case of the suffix is ignored, that of the name kept") {
    const std::string name =
        GENERATE("Ab.Dll.BAK", "Ab.Dll.Bak.3", "Ab.Dll_BAK", "Ab.Dll.FixNvPe-Undo", "Ab.Dll.FIXNVPE-TMP");
    INFO(name);
    REQUIRE(dll_of(name).has_value());
    CHECK(*dll_of(name) == path("Ab.Dll"));
}

TEST_CASE("sidecars: other names are not ours") {
    const std::string name =
        GENERATE("x.dll", "x.bak.dll", "bak", ".bak", "_bak", ".fixnvpe-tmp", ".bak.1", "x.dll.bak.", "x.dll.bak.1a",
                 "x.dll.bak1", "x.dll.1", "x.dll.bak/y", "7", "", "dir/.bak", "x.dllbak");
    INFO(name);
    CHECK_FALSE(is_sidecar(name));
    CHECK_FALSE(dll_of(name).has_value());
}

TEST_CASE("sidecars: .dll, .pyd and .node in any case are what is taken from a folder") {
    CHECK(has_dll_extension("x.dll"));
    CHECK(has_dll_extension("x.PYD"));
    CHECK(has_dll_extension("x.Node"));
    for (const char* other : {"x.dll.bak", "xdll", "x.dl", "x.exe", "x.node2", "dll", ""}) {
        INFO(other);
        CHECK_FALSE(has_dll_extension(other));
    }
}

}  // namespace fixnvpe::test
