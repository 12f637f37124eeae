// What Windows tells of memory; of Wine as much as it knows.

#include "fixnvpe/os/memory.hpp"

#include <algorithm>

#include "fixnvpe/os/process.hpp"
#include "windows.hpp"

namespace fixnvpe::test {

TEST_CASE("os/memory on Windows: the system, and this process with its own program") {
    const os::SystemMemory system = os::system_memory();
    CHECK(system.limit >= system.commit);
    CHECK(system.physical != 0);
    const auto own = os::memory_of(::GetCurrentProcessId());
    REQUIRE(own);
    if (!is_wine()) {  // which tells neither
        CHECK(own->private_commit != 0);
        CHECK(own->peak_commit != 0);
        CHECK(own->command_line.find("unit_tests") != std::string::npos);
    }
    const fs::path program = os::program_file();
    CHECK(own->name == program.filename().string());
    const auto image = std::find_if(own->images.begin(), own->images.end(), [&](const os::MappedImage& i) {
        return i.file.has_root_name() && i.file.filename() == program.filename();
    });
    REQUIRE(image != own->images.end());
    CHECK(fs::equivalent(image->file, program));
    REQUIRE(image->headers.size() == 4096);
    CHECK(image->headers[0] == 'M');
    CHECK(image->regions.front().rva == 0);
    const auto writable = [](const os::ImageRegion& r) { return r.writable; };
    CHECK(std::any_of(image->regions.begin(), image->regions.end(), writable));
    CHECK_FALSE(std::all_of(image->regions.begin(), image->regions.end(), writable));
    if (image->commit) {  // not in Wine
        std::uint64_t sum = 0;
        for (const os::ImageRegion& region : image->regions) {
            sum += region.writable ? region.size : 0;
        }
        INFO(*image->commit << " " << sum);
        constexpr std::uint64_t slack = std::uint64_t{1} << 20;  // pages with relocations and imports
        CHECK(*image->commit + slack >= sum);
        CHECK(*image->commit <= sum + slack);
    }
}

TEST_CASE("os/memory on Windows: other processes are listed, and one that is not there is nothing") {
    const std::vector<std::uint32_t> ids = os::running_processes();
    CHECK_FALSE(ids.empty());
    CHECK(std::find(ids.begin(), ids.end(), ::GetCurrentProcessId()) == ids.end());
    CHECK_FALSE(os::memory_of(0xFFFFFFFE));
}

}  // namespace fixnvpe::test
