// What a folder lists: each file by one name, and what of it is ours.

#include "fixnvpe/find/listing.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;

#if !defined(_WIN32)
/// A name that the system knows too, and does not list: as one in another case is where case does not matter, or one
/// in 8.3.
void also_known_as(const fs::path& file, const fs::path& name) {
    fs::create_hard_link(file, name);
}
#endif

}  // namespace

#if !defined(_WIN32)

TEST_CASE("listing: a file that the system knows by another name has the one that is listed") {
    const TempFolder temp;
    const fs::path dll = temp.file("torch_cuda.dll");
    const fs::path other = temp.file("other.dll");
    const Listing listing(temp.path(), temp.path());
    CHECK(listing.as_listed(dll) == dll);
    CHECK(listing.as_listed(temp / "gone.dll") == temp / "gone.dll");
    const std::string name = GENERATE("TORCH_CUDA.DLL", "TORCH_~1.DLL");
    also_known_as(dll, temp / name);
    CHECK(listing.as_listed(temp / name) == dll);
    INFO("a file of its own keeps its name, whatever else the system has under it");
    const Listing later(temp.path(), temp.path());
    CHECK(later.as_listed(temp / name) == temp / name);
}

TEST_CASE("listing: of several hard links it is the one that differs in case alone") {
    const TempFolder temp;
    const fs::path dll = temp.file("a.dll");
    fs::create_hard_link(dll, temp / "b.dll");
    const Listing listing(temp.path(), temp.path());
    also_known_as(dll, temp / "A.DLL");
    CHECK(listing.as_listed(temp / "A.DLL") == dll);
    INFO("where that does not tell, it is left as it is");
    also_known_as(dll, temp / "A~1.DLL");
    CHECK(listing.as_listed(temp / "A~1.DLL") == temp / "A~1.DLL");
}

#endif

TEST_CASE("listing: numbered backups of a DLL, in order, by its own spelling of the folder") {
    const TempFolder temp;
    for (const char* name :
         {"a.dll", "a.dll.bak", "a.dll.bak.2", "a.dll.bak.1", "a.dll.fixnvpe-undo.1", "ba.dll.bak.1"}) {
        temp.file(name);
    }
    const Listing listing(temp.path(), "lib");
    std::vector<std::string> numbered;
    for (const SidecarPlace& place : listing.numbered_of(fs::path("here") / "a.dll")) {
        numbered.push_back(std::string(to_string(place.kind)) + ' ' + place.path.generic_string());
    }
    CHECK(numbered == std::vector<std::string>{"numbered here/a.dll.bak.1", "numbered here/a.dll.bak.2",
                                               "numbered-undo here/a.dll.fixnvpe-undo.1"});
    CHECK(listing.sidecars_of("lib/a.dll").size() == 4);
    CHECK(listing.sidecars_of("lib/c.dll").empty());
}

}  // namespace fixnvpe::test
