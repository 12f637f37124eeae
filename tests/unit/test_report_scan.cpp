// What scan prints. The exact screens are in testdata/screens.

#include "fixnvpe/ui/report_scan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/summary.hpp"

namespace fixnvpe::test {
namespace {

constexpr std::uint32_t MIB = 1 << 20;

Summary scanned(std::vector<FileOutcome> files) {
    Summary summary;
    summary.command = Command::scan;
    summary.files = std::move(files);
    add_up(summary, false);
    return summary;
}

/// One with this much in writable sections that are no .nv_fatb, too.
FileOutcome with_data(FileOutcome file, std::vector<WritableData> data) {
    if (!file.headers) {
        file.headers.emplace();
    }
    for (const WritableData& section : data) {
        file.commit.now += section.bytes;
        file.commit.after += section.bytes;
    }
    file.headers->data = std::move(data);
    return file;
}

ReportStyle columns(unsigned width, bool blocks = true) {
    ReportStyle style;
    style.width = width;
    style.blocks = blocks;
    return style;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("report/scan: the biggest saving first, and those that concern nobody only with -v") {
    const Summary summary = scanned(
        {cuda_outcome("a.dll", Status::unpatched, MIB), other_outcome("b.dll", Status::no_fatbin),
         cuda_outcome("c.dll", Status::unpatched, 3 * MIB), cuda_outcome("d.dll", Status::not_needed, 9 * MIB)});
    const std::string last =
        "a process that loads them all commits 4.0 MiB now, 0 B after patching\n"
        "to do: fixnvpe patch; each process would commit up to 4.0 MiB less\n";
    CHECK(report_scan(summary, {}) ==
          "      NOW  AFTER\n"
          "  3.0 MiB    0 B  c.dll\n"
          "  1.0 MiB    0 B  a.dll\n"
          "      0 B    0 B  d.dll  not-needed\n"
          "4 files: 2 unpatched, 1 not-needed, 1 no-fatbin (-v lists it)\n" +
              last);
    ReportStyle verbose;
    verbose.verbose = true;
    CHECK(report_scan(summary, verbose) ==
          "      NOW  AFTER\n"
          "  3.0 MiB    0 B  c.dll  3.0 MiB of CUDA code\n"
          "  1.0 MiB    0 B  a.dll  1.0 MiB of CUDA code\n"
          "                  b.dll  no-fatbin\n"
          "      0 B    0 B  d.dll  not-needed, 9.0 MiB of CUDA code\n"
          "4 files: 2 unpatched, 1 not-needed, 1 no-fatbin\n" +
              last);
}

TEST_CASE("report/scan: every number of the last lines is the summary's, and of workers only those asked for") {
    Summary summary = scanned({cuda_outcome("a.dll", Status::unpatched, MIB)});
    summary.totals.commit = {10 * MIB, 8 * MIB, 0};
    summary.totals.saved = 2 * MIB;  // not what the file would add up to
    const std::string of_one = "a process that loads them all commits 10.0 MiB now, 8.0 MiB after patching\n";
    const std::string to_do = "to do: fixnvpe patch; each process would commit up to 2.0 MiB less\n";
    CHECK(report_scan(summary, {}).ends_with(of_one + to_do));
    summary.workers = 4;
    CHECK(report_scan(summary, {})
              .ends_with(of_one + "(50.0 MiB now, 40.0 MiB after with 4 DataLoader workers)\n" + to_do));
}

TEST_CASE("report/scan: a bar shows what stays and what patching frees, as long as the largest file's is wide") {
    const Summary summary =
        scanned({with_data(cuda_outcome("a.dll", Status::unpatched, 12 * MIB), {{".data", 4 * MIB}}),
                 cuda_outcome("b.dll", Status::unpatched, 8 * MIB), cuda_outcome("c.dll", Status::unpatched, 4096)});
    const auto bar = [&](const ReportStyle& style, const std::string& name) {
        const std::string text = report_scan(summary, style);
        const std::size_t begin = text.rfind("iB  ", text.find("  " + name)) + 4;
        const std::string cell = begin < text.find(name) ? text.substr(begin, text.find(name) - begin) : "";
        return cell.substr(0, cell.find_last_not_of(' ') + 1);
    };
    const std::string stays = "████";
    CHECK(bar(columns(80), "a.dll") == stays + "▒▒▒▒▒▒▒▒▒▒▒▒");
    CHECK(has(report_scan(summary, columns(80)), "   0 B  ▒▒▒▒▒▒▒▒          b.dll\n"));
    CHECK(has(report_scan(summary, columns(80)), "   0 B                    c.dll\n"));
    CHECK(has(report_scan(summary, columns(80)), "   NOW    AFTER  █ stays ▒ freed\n"));
    CHECK(bar(columns(80, false), "a.dll") == "####============");
    CHECK(has(report_scan(summary, columns(80, false)), "   NOW    AFTER  # stays = freed\n"));
    CHECK(bar(columns(100), "a.dll") == "█████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒");
    CHECK(bar(columns(1000), "a.dll").size() == 32 * std::string("█").size());
    for (const ReportStyle& style : {columns(79), ReportStyle()}) {  // narrow, and piped
        CHECK_FALSE(has(report_scan(summary, style), "▒"));
        CHECK_FALSE(has(report_scan(summary, style), "="));
        CHECK_FALSE(has(report_scan(summary, style), "stays"));
    }
}

TEST_CASE("report/scan: what patching can't free is named where it is large, with GPU code or without") {
    const FileOutcome with_code = cuda_outcome("a.dll", Status::not_needed, MIB);
    const std::string text =
        report_scan(scanned({with_data(with_code, {{".tls", 4096}, {".data", 229 * MIB}}),
                             with_data(other_outcome("b.dll", Status::no_fatbin), {{".da\x1bta", 8 * MIB}}),
                             with_data(other_outcome("c.dll", Status::no_fatbin), {{".data", 8 * MIB - 1}})}),
                    {});
    CHECK(has(text, "  a.dll  not-needed, 229.0 MiB in .data stay\n"));
    CHECK(has(text, "  b.dll  no-fatbin, 8.0 MiB in .da\\x1bta stay\n"));
    CHECK_FALSE(has(text, "c.dll"));
    CHECK(has(text, "patching can't free 237.0 MiB: writable data that is no section of GPU code\n"));
    CHECK_FALSE(has(report_scan(scanned({with_code}), {}), "can't free"));
}

TEST_CASE("report/scan: a refused file says why, and promises nothing") {
    FileOutcome refused = cuda_outcome("a.dll", Status::refused, MIB);
    refused.reason = {Why::force_integrity};
    refused.commit = {MIB, MIB, 0};
    for (const ReportStyle& style : {ReportStyle(), columns(80)}) {
        const std::string text = report_scan(scanned({refused}), style);
        CHECK(has(text, "refused: FORCE_INTEGRITY is set"));
        CHECK(has(text, "these DLLs can't be patched: nothing to gain"));
    }
}

TEST_CASE("report/scan: where there is nothing to gain, it says why, and what else brings WinError 1455") {
    const auto why = [](std::vector<FileOutcome> files) {
        const std::string text = report_scan(scanned(std::move(files)), {});
        for (const char* cause : {"page file", "num_workers", "model of many GB", "\"Shared GPU memory\"",
                                  "CUDA_MODULE_LOADING=LAZY", "Committed"}) {
            CHECK(has(text, cause));
        }
        const std::size_t end = text.find("; if WinError 1455 comes all the same, it has another cause:\n  - ");
        const std::size_t begin = text.rfind('\n', end) + 1;
        return text.substr(begin, end - begin);
    };
    CHECK(why({other_outcome("a.dll", Status::no_fatbin), other_outcome("b.dll", Status::not_pe)}) ==
          "no CUDA code in these DLLs: nothing to gain");
    CHECK(why({cuda_outcome("a.dll", Status::not_needed, MIB)}) ==
          "these DLLs are read-only as shipped (CUDA 11.7+): nothing to gain");
    CHECK(why({cuda_outcome("a.dll", Status::not_needed, MIB), cuda_outcome("b.dll", Status::patched, MIB)}) ==
          "these DLLs are patched: nothing more to gain");
}

TEST_CASE("report/scan: of nothing it says nothing but that") {
    CHECK(report_scan(scanned({}), {}) == "no DLLs here\n");
    Summary summary = scanned({});
    summary.problems = {Error(ErrorCode::no_match, "not found").at("a.dll")};
    add_up(summary, false);
    CHECK(report_scan(summary, {}).empty());
}

TEST_CASE("report/scan: what moving the files costs that share a base without ASLR, all but the cheapest") {
    std::vector<FileOutcome> files{
        cuda_outcome("a.dll", Status::unpatched, MIB), cuda_outcome("b.dll", Status::patched, MIB),
        cuda_outcome("c.dll", Status::unpatched, MIB), cuda_outcome("d.dll", Status::unpatched, MIB)};
    for (FileOutcome& file : files) {
        file.relocated = 8192;
    }
    files[1].relocated = 4096;
    files[2].headers->image_base = 0x190000000;
    files[3].headers->machine = IMAGE_FILE_MACHINE_ARM64;
    CHECK(has(report_scan(scanned(files), {}),
              "2 files without ASLR share the base 0x180000000: each process moves all but one, which costs it up to "
              "8.0 KiB\n"));
    ReportStyle verbose;
    verbose.verbose = true;
    CHECK(has(report_scan(scanned(files), verbose), "  b.dll  patched, 1.0 MiB of CUDA code, 4.0 KiB relocated\n"));
    files[1].relocated.reset();
    CHECK_FALSE(has(report_scan(scanned(files), {}), "share the base"));
}

TEST_CASE("report/scan: files are listed by package and folder, with what patching does to them") {
    FileOutcome file = cuda_outcome("torch/lib/a.dll", Status::unpatched, MIB);
    file.package = "torch 1.12.1";
    file.warnings = {Warning::is_signed};
    CHECK(report_scan(scanned({file}), {})
              .starts_with("      NOW  AFTER\ntorch 1.12.1, torch/lib\n  1.0 MiB    0 B  a.dll  signed\n"));
}

TEST_CASE("report/scan: what a split would free, what it can't and why, and what is to be done") {
    FileOutcome file = with_data(other_outcome("a.dll", Status::no_fatbin), {{".data", 220 * std::uint64_t{MIB}}});
    file.split = SplitFacts{{{0x5000, 90 * MIB}}, 90 * MIB, 64 * MIB, WhyNotSplit::no_room};
    const std::string text = report_scan(scanned({file}), {});
    CHECK(has(text,
              "a.dll  no-fatbin, 220.0 MiB in .data stay, --data split frees 90.0 MiB, 64.0 MiB of GPU code can't be "
              "split: no room for more section headers\n"));
    CHECK(has(text, "patch --data split would free 90.0 MiB of GPU code among variables\n"));
    CHECK(has(text, "to do: fixnvpe patch --data split, if you accept what its help says of it\n"));
    file.split = SplitFacts{{}, 0, 64 * MIB, WhyNotSplit::relocated};
    const std::string none = report_scan(scanned({file}), {});
    CHECK(has(none, "64.0 MiB of GPU code can't be split: a relocation lies in it\n"));
    CHECK_FALSE(has(none, "--data split"));
}

TEST_CASE("report/scan: patch says in one line that scan may know more, where 8 MiB or more stay") {
    const FileOutcome small = with_data(other_outcome("a.dll", Status::no_fatbin), {{".data", 8 * MIB - 1}});
    const FileOutcome large =
        with_data(cuda_outcome("b.dll", Status::patched, MIB), {{".data", 5 * MIB}, {"d", 3 * MIB}});
    const FileOutcome larger = with_data(other_outcome("c.dll", Status::no_fatbin), {{".data", 222 * MIB}});
    CHECK(may_be_split(scanned({small}), {}).empty());
    CHECK(may_be_split(scanned({small, large}), {}) ==
          "b.dll keeps 8.0 MiB: fixnvpe scan says what --data split would free\n");
    CHECK(may_be_split(scanned({small, large, larger}), {}) ==
          "c.dll keeps 222.0 MiB (and 1 file more): fixnvpe scan says what --data split would free\n");
    ReportStyle split;
    split.policy.data = DataPolicy::split;
    CHECK(may_be_split(scanned({larger}), split).empty());
}

}  // namespace fixnvpe::test
