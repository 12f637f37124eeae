// A measurement, as text and as JSON.

#include "fixnvpe/ui/report_measure.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint64_t GIB = std::uint64_t{1} << 30;

Measurement sample() {
    Measurement m;
    m.system = {31 * GIB, 40 * GIB, 38 * GIB, 32 * GIB, {{"C:\\pagefile.sys", 8 * GIB}}, true};
    MeasuredProcess main;
    main.id = 1234;
    main.name = "python.exe";
    main.script = "train.py";
    main.private_commit = 4 * GIB;
    main.images = {{"C:\\torch_cuda.dll", 2 * GIB, 2 * GIB, 0, Status::unpatched},
                   {"C:\\cudnn.dll", GIB, GIB, 0, Status::patched},
                   {"C:\\cublas.dll", 0, 0, GIB, Status::patched}};
    MeasuredProcess worker = main;
    worker.id = 99;
    worker.script.clear();
    worker.images.pop_back();
    m.processes = {main, worker};
    m.unreadable = 1;
    return m;
}

}  // namespace

TEST_CASE("report/measure: the system, a line a process, and what to do") {
    CHECK(report_measure(sample(), {}) ==
          "commit 31.0 GiB of 40.0 GiB: 9.0 GiB left (peak 38.0 GiB); 32.0 GiB of RAM\n"
          "page file: C:\\pagefile.sys 8.0 GiB, managed by Windows\n"
          "   COMMIT  CUDA CODE  PROCESS\n"
          "  4.0 GiB    3.0 GiB  python.exe (1234) train.py\n"
          "  4.0 GiB    3.0 GiB  python.exe (99)\n"
          "1 process could not be read: an administrator may\n"
          "to do: fixnvpe patch, and start these programs again: 4.0 GiB less\n"
          "patched since they were loaded: start these programs again: 2.0 GiB less\n"
          "patching has freed 1.0 GiB\n"
          "2 more processes like the largest fit into what is left, 15 then\n");
}

TEST_CASE("report/measure: with -v each DLL, and that one was loaded before it was patched") {
    ReportStyle style;
    style.verbose = true;
    const std::string text = report_measure(sample(), style);
    CHECK_THAT(text, contains("  2.0 GiB    2.0 GiB    C:\\torch_cuda.dll"));
    CHECK_THAT(text, contains("unpatched\n"));
    CHECK_THAT(text, contains("C:\\cudnn.dll"));
    CHECK_THAT(text, contains("patched on disk, but loaded before: restart it\n"));
}

TEST_CASE("report/measure: nothing to free, and no process") {
    Measurement m = sample();
    m.unreadable = 0;
    m.processes.pop_back();
    m.processes[0].images.erase(m.processes[0].images.begin(), m.processes[0].images.begin() + 2);
    CHECK_THAT(report_measure(m, {}),
               contains("patching has freed 1.0 GiB\n"
                        "2 more processes like the largest fit into what is left\n"
                        "patching can't free more; the largest process has 4.0 GiB of other memory: its data, "
                        "and what CUDA itself allocates (fixnvpe scan names causes)\n"));
    m.processes.clear();
    CHECK_THAT(report_measure(m, {}), contains("no process has CUDA DLLs loaded\n"));
}

TEST_CASE("report/measure: JSON has the same values") {
    Measurement m = sample();
    m.command_exit_status = 3;
    m.command_peak = 5;
    m.processes[0].name = "a\x1b.exe";
    const nlohmann::json json = nlohmann::json::parse(measure_json(m, 3));
    CHECK(json.at("command") == "measure");
    CHECK(json.at("system").at("left") == 9 * GIB);
    CHECK(json.at("system").at("page_files").at(0).at("size") == 8 * GIB);
    CHECK(json.at("system").at("managed") == true);
    CHECK(json.at("processes").at(0).at("pid") == 1234);
    CHECK(json.at("processes").at(0).at("name") == "a\\x1b.exe");
    CHECK(json.at("processes").at(0).at("images").at(1).at("needs_restart") == true);
    CHECK(json.at("processes").at(1).at("script").is_null());
    CHECK(json.at("unreadable") == 1);
    CHECK(json.at("verdict") == nlohmann::json{{"patching_frees", 4 * GIB},
                                               {"restart_frees", 2 * GIB},
                                               {"freed", GIB},
                                               {"largest_rest", GIB},
                                               {"more_now", 2},
                                               {"more_after", 15}});
    CHECK(json.at("command_exit_status") == 3);
    CHECK(json.at("command_peak") == 5);
    CHECK(json.at("exit_status") == 3);
}

}  // namespace fixnvpe::test
