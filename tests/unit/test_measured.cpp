// What running processes have committed, and what follows from it.

#include "fixnvpe/commands/measured.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fixnvpe/pe/reader.hpp"
#include "support/catch.hpp"
#include "support/pe_builder.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint64_t MIB = std::uint64_t{1} << 20;
constexpr std::uint64_t GIB = std::uint64_t{1} << 30;

MeasuredImage image(std::uint64_t gpu_writable, std::uint64_t gpu_read_only, std::optional<Status> on_disk) {
    return {"a.dll", gpu_writable, gpu_writable, gpu_read_only, on_disk};
}

MeasuredProcess process(std::uint64_t commit, std::vector<MeasuredImage> images) {
    MeasuredProcess result;
    result.private_commit = commit;
    result.images = std::move(images);
    return result;
}

/// "left, patching frees, restart frees, freed, more now, more after", in MiB and processes.
std::string verdict_of(std::uint64_t commit, std::uint64_t limit, std::vector<MeasuredProcess> processes) {
    Measurement measurement;
    measurement.system.commit = commit;
    measurement.system.limit = limit;
    measurement.processes = std::move(processes);
    const Verdict v = judge(measurement);
    const auto text = [](const std::optional<std::uint64_t>& n) { return n ? std::to_string(*n) : std::string("-"); };
    return std::to_string(v.left / MIB) + " " + std::to_string(v.patching_frees / MIB) + " " +
           std::to_string(v.restart_frees / MIB) + " " + std::to_string(v.freed / MIB) + " " + text(v.more_now) + " " +
           text(v.more_after);
}

}  // namespace

TEST_CASE("measured: the verdict") {
    const MeasuredImage unpatched = image(3 * GIB, 0, Status::unpatched);
    const MeasuredImage before = image(3 * GIB, 0, Status::patched);  // patched since it was loaded
    const MeasuredImage after = image(0, 3 * GIB, Status::patched);
    const MeasuredImage shipped = image(0, GIB, Status::not_needed);
    CHECK(verdict_of(10 * GIB, 30 * GIB, {}) == "20480 0 0 0 - -");
    CHECK(verdict_of(40 * GIB, 30 * GIB, {}) == "0 0 0 0 - -");  // the limit may shrink
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(4 * GIB, {unpatched})}) == "20480 3072 0 0 5 23");
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(4 * GIB, {before})}) == "20480 0 3072 0 5 23");
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(4 * GIB, {after})}) == "20480 0 0 3072 5 5");
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(4 * GIB, {shipped})}) == "20480 0 0 0 5 5");
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(4 * GIB, {unpatched}), process(5 * GIB, {unpatched, after})}) ==
          "20480 6144 0 3072 4 13");
    // What the system does not count can't be taken off.
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(0, {})}) == "20480 0 0 0 - -");
    CHECK(verdict_of(10 * GIB, 30 * GIB, {process(GIB, {unpatched})}) == "20480 3072 0 0 6 -");
    // Nobody knows what a file that can't be read is; to patch it may help.
    CHECK(verdict_of(0, 6 * GIB, {process(4 * GIB, {image(GIB, 0, std::nullopt)})}) == "6144 1024 0 0 1 2");
}

TEST_CASE("measured: what of an image's writable pages is GPU code") {
    PeSpec spec = cuda_dll(0x8664, 0xC0000040);
    section(spec, ".nv_fatb").fatbin_size = 16 * MIB - 4096;  // and its header
    const std::vector<std::uint8_t> all = build(spec).first(4096);
    const PeImage headers = read_pe_raw(all, locate_headers(all, UINT32_MAX));
    os::MappedImage mapped;
    mapped.file = "C:/torch_cuda.dll";
    mapped.headers = all;
    std::uint64_t writable = 0;
    for (const Section& s : headers.sections) {
        const std::uint64_t size = (std::uint64_t{s.virtual_size} + 4095) / 4096 * 4096;
        mapped.regions.push_back({s.virtual_address, size, s.writable()});
        writable += s.writable() ? size : 0;
    }
    os::ProcessMemory memory;
    memory.id = 7;
    memory.name = "python.exe";
    memory.command_line = "python.exe -u train.py";
    memory.images = {mapped, {"C:/no.dll", {}, {{0, 4096, true}}, {}}, {"C:/large.dll", {}, {{0, 9 * MIB, true}}, {}}};
    MeasuredProcess found = measured(memory);
    CHECK(found.script == "train.py");
    REQUIRE(found.images.size() == 2);  // a small one without GPU code is of no interest
    CHECK(found.images[0].file == "C:/torch_cuda.dll");
    CHECK(found.images[0].gpu_writable == 16 * MIB);
    CHECK(found.images[0].gpu_read_only == 0);
    CHECK(found.images[0].writable == writable);
    CHECK(found.images[1].file == "C:/large.dll");
    CHECK(found.has_gpu_code());
    CHECK(found.gpu_writable() == 16 * MIB);

    for (os::ImageRegion& region : memory.images[0].regions) {
        region.writable = false;
    }
    memory.images[0].commit = 12345;  // the system's own count
    found = measured(memory);
    CHECK(found.images[1].gpu_writable == 0);
    CHECK(found.images[1].gpu_read_only == 16 * MIB);
    CHECK(found.images[1].writable == 12345);
    // Headers that are none, or that are cut.
    for (const int size : {0, 1, 64, 300}) {
        memory.images[0].headers.resize(static_cast<std::size_t>(size));
        CHECK(measured(memory).images.size() == 1);
    }
}

TEST_CASE("measured: which script a python runs") {
    const std::vector<std::pair<std::string, std::string>> rows{
        {"python.exe train.py --epochs 3", "train.py"},
        {R"("C:\Program Files\Python310\python.exe" -u "C:\my files\train.py" x)", "train.py"},
        {"python -m torch.distributed.run x.py", "-m torch.distributed.run"},
        {R"(pythonw.exe -X utf8 -W ignore /a/b/c.py)", "c.py"},
        {R"(python.exe -c "import x" a.py)", "-c"},
        {"python.exe", ""},
        {"python.exe -i", ""},
        {"blender.exe a.py", ""},
        {"", ""},
        {"\"python.exe", ""},
    };
    for (const auto& [line, script] : rows) {
        INFO(line);
        CHECK(script_of(line) == script);
    }
}

}  // namespace fixnvpe::test
