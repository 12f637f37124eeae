#include <array>
#include <filesystem>
#include <string>
#include <vector>

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

TEST_CASE("sidecars: the temporary of an undo file is its DLL's temporary") {
    const auto read = sidecar_name(temporary_path(undo_path("lib/x.dll")));
    REQUIRE(read.has_value());
    CHECK(read->dll == path("lib/x.dll"));
    CHECK(read->kind == SidecarKind::temporary);
    CHECK(sidecar_name("X.dll.FIXNVPE-UNDO.fixnvpe-TMP")->dll == path("X.dll"));
    // Of a DLL that happens to have such a name, only the outer suffix is ours.
    CHECK(sidecar_name("x.dll.fixnvpe-tmp.fixnvpe-undo")->dll == path("x.dll.fixnvpe-tmp"));
    CHECK(sidecar_name("x.dll.bak.fixnvpe-tmp")->dll == path("x.dll.bak"));
    CHECK_FALSE(is_sidecar(".fixnvpe-undo/.fixnvpe-tmp"));
}

TEST_CASE("sidecars: restore takes NAME.bak first, then the undo file, then NAME_bak") {
    const auto places = sidecars_of("lib/x.dll");
    std::vector<path> paths;
    for (const SidecarPlace& place : places) {
        CHECK(sidecar_name(place.path)->kind == place.kind);
        paths.push_back(place.path);
    }
    CHECK(paths ==
          std::vector<path>{"lib/x.dll.bak", "lib/x.dll.fixnvpe-undo", "lib/x.dll_bak", "lib/x.dll.fixnvpe-tmp"});
}

TEST_CASE("sidecars: other names are not ours") {
    const std::string name =
        GENERATE("x.dll", "x.bak.dll", "bak", ".bak", "_bak", ".fixnvpe-tmp", ".bak.1", "x.dll.bak.", "x.dll.bak.1a",
                 "x.dll.bak1", "x.dll.1", "x.dll.bak/y", "7", "", "dir/.bak", "x.dllbak");
    INFO(name);
    CHECK_FALSE(is_sidecar(name));
    CHECK_FALSE(dll_of(name).has_value());
}

TEST_CASE("sidecars: the extensions of PE files, in any case, are what is taken from a folder") {
    CHECK(has_dll_extension("x.dll"));
    CHECK(has_dll_extension("x.PYD"));
    CHECK(has_dll_extension("x.Node"));
    CHECK(has_dll_extension("x.exe"));
    CHECK(has_dll_extension("x.MEXW64"));
    CHECK(has_dll_extension("libx.so"));
    for (const char* other : {"x.dll.bak", "xdll", "x.dl", "x.so.1", "x.node2", "dll", ""}) {
        INFO(other);
        CHECK_FALSE(has_dll_extension(other));
    }
}

}  // namespace fixnvpe::test
