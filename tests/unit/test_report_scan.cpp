// What scan prints. The exact screens are in testdata/screens.

#include "fixnvpe/ui/report_scan.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/summary.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint32_t MIB = 1 << 20;

Summary scanned(std::vector<FileOutcome> files) {
    Summary summary;
    summary.command = Command::scan;
    summary.workers = 4;
    summary.files = std::move(files);
    add_up(summary, false);
    return summary;
}

ReportStyle columns(unsigned width) {
    ReportStyle style;
    style.width = width;
    return style;
}

/// Is the first before the second, and both there?
bool in_order(const std::string& text, const std::string& first, const std::string& second) {
    return text.find(first) < text.find(second) && text.find(second) != std::string::npos;
}

}  // namespace

TEST_CASE("report/scan: the biggest saving first, and those without GPU code only with -v") {
    const Summary summary = scanned(
        {cuda_outcome("a.dll", Status::unpatched, MIB), other_outcome("b.dll", Status::no_fatbin),
         cuda_outcome("c.dll", Status::unpatched, 3 * MIB), cuda_outcome("d.dll", Status::not_needed, 9 * MIB)});
    const std::string text = report_scan(summary, {});
    CHECK(
        text.starts_with("    SAVED        NOW      AFTER       CUDA  WRITABLE  ASLR  SIGNED  FILE\n"
                         "  3.0 MiB    3.0 MiB        0 B    3.0 MiB  yes       yes   no      c.dll\n"
                         "  1.0 MiB    1.0 MiB        0 B    1.0 MiB  yes       yes   no      a.dll\n"
                         "      0 B        0 B        0 B    9.0 MiB  no        yes   no      d.dll\n\n"
                         "4 files: 2 unpatched, 1 not-needed, 1 no-fatbin\n"));
    CHECK(text.ends_with("patch saves 4.0 MiB in each process, 20.0 MiB with 4 workers\n"));
    ReportStyle verbose;
    verbose.verbose = true;
    CHECK(report_scan(summary, verbose).find("no-fatbin      b.dll\n") != std::string::npos);
}

TEST_CASE("report/scan: every number of the last lines is the summary's") {
    Summary summary = scanned({cuda_outcome("a.dll", Status::unpatched, MIB)});
    summary.totals.commit = {10 * MIB, 8 * MIB, 0};
    summary.totals.saved = 2 * MIB;  // not what the file would add up to
    CHECK(report_scan(summary, {})
              .ends_with("commit of each process: 10.0 MiB now, 8.0 MiB after patching; with 4 workers: 50.0 MiB now, "
                         "40.0 MiB after\n"
                         "patch saves 2.0 MiB in each process, 10.0 MiB with 4 workers\n"));
}

TEST_CASE("report/scan: several .nv_fatb are one number, and writable if one is") {
    FileOutcome file = cuda_outcome("a.dll", Status::unpatched, MIB);
    file.headers->fatbins = {{MIB, false}, {2 * MIB, true}};
    CHECK(report_scan(scanned({file}), {}).find("    3.0 MiB  yes       yes   no      a.dll\n") != std::string::npos);
}

TEST_CASE("report/scan: a refused file says why, and promises nothing") {
    FileOutcome refused = cuda_outcome("a.dll", Status::refused, MIB);
    refused.reason = {Why::force_integrity};
    refused.commit = {MIB, MIB, 0};
    for (const ReportStyle& style : {ReportStyle(), columns(80)}) {
        const std::string text = report_scan(scanned({refused}), style);
        CHECK(text.find("refused: FORCE_INTEGRITY is set") != std::string::npos);
        CHECK(text.find("these DLLs can't be patched: nothing to gain") != std::string::npos);
    }
}

TEST_CASE("report/scan: where there is nothing to gain, it says why") {
    const auto why = [](std::vector<FileOutcome> files) {
        const std::string text = report_scan(scanned(std::move(files)), {});
        CHECK(text.find("; if WinError 1455 comes all the same, it has another cause:\n  - ") != std::string::npos);
        const std::size_t end = text.find("; if WinError");
        const std::size_t begin = text.rfind('\n', end) + 1;
        return text.substr(begin, end - begin);
    };
    const std::string none = "no CUDA code in these DLLs: nothing to gain";
    CHECK(why({}) == none);
    CHECK(why({other_outcome("a.dll", Status::no_fatbin)}) == none);
    CHECK(why({cuda_outcome("a.dll", Status::not_needed, MIB)}) ==
          "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain");
    CHECK(why({cuda_outcome("a.dll", Status::not_needed, MIB), cuda_outcome("b.dll", Status::patched, MIB)}) ==
          "these DLLs are patched: nothing more to gain");
}

TEST_CASE("report/scan: files without ASLR that share a preferred base are named with what moving them costs") {
    std::vector<FileOutcome> files{
        cuda_outcome("a.dll", Status::unpatched, MIB), cuda_outcome("b.dll", Status::patched, MIB),
        cuda_outcome("c.dll", Status::unpatched, MIB), cuda_outcome("d.dll", Status::unpatched, MIB)};
    for (FileOutcome& file : files) {
        file.relocated = 8192;
    }
    files[2].headers->image_base = 0x190000000;
    files[3].headers->machine = IMAGE_FILE_MACHINE_ARM64;
    const std::string text = report_scan(scanned(files), {});
    CHECK(text.find("2 files that lose ASLR share the preferred base 0x180000000: ") != std::string::npos);
    CHECK(in_order(text, "  8.0 KiB  a.dll\n", "  8.0 KiB  b.dll\n"));
    CHECK(text.find("8.0 KiB  c.dll") == std::string::npos);
    CHECK(text.find("8.0 KiB  d.dll") == std::string::npos);
    files[1].relocated.reset();
    CHECK(report_scan(scanned(files), {}).find("share the preferred base") == std::string::npos);
}

TEST_CASE("report/scan: from 100 columns on it is a table, on fewer some lines a file") {
    FileOutcome file = cuda_outcome("lib/a-name-of-forty-columns-on-a-terminal.dll", Status::unpatched, MIB);
    file.headers->is_signed = true;
    const Summary summary = scanned({file});
    CHECK(report_scan(summary, columns(100)).starts_with("    SAVED"));
    CHECK(report_scan(summary, columns(99))
              .starts_with("lib/a-name-of-forty-columns-on-a-terminal.dll\n"
                           "    saved 1.0 MiB (now 1.0 MiB, after 0 B); CUDA 1.0 MiB, writable, ASLR, signed\n"));
    CHECK(report_scan(summary, columns(40))
              .starts_with(
                  "lib/a-name-of…-columns-on-a-terminal.dll\n    saved 1.0 MiB (now 1.0 MiB, after 0\n    B); CUDA"));
}

}  // namespace fixnvpe::test
