"""What was seen, as build/real/report.json and build/real/report.md."""

import datetime
import json
import platform

from say import mib


def assemble(talk, rows, links, ran, fixnvpe):
    return {"date": datetime.date.today().isoformat(), "fixnvpe": fixnvpe.run("--version").stdout.strip(),
            "system": platform.platform(), "packages": rows, "uv": links, "wine": ran, "checks": talk.checks,
            "failures": talk.failures, "skipped": talk.skipped}


def arrow(pair):
    return f"{mib(pair[0])} → {mib(pair[1])}"


def seen_in_wine(seen):
    """What the package's DLLs that load have, before and after."""
    return arrow(seen["memory"]) if seen and seen["loaded"] else "none loads" if seen else ""


def what_ran(row, ran):
    """In words, of one package."""
    seen = ran.get("packages", {}).get(row["package"])
    words = []
    if seen:
        words.append(f"{seen['loaded']} of {seen['files']} load, before as after")
    if row["package"] == "xgboost" and "xgboost" in ran:
        words.append("trains, the same predictions, in 4 processes at once, too")
    if row["package"] == "org.bytedeco:cpython" and ran:
        words.append("ran all of this")
    if row["package"] in ("org.bytedeco:pytorch", "org.bytedeco:cuda", "org.bytedeco:openblas") and "torch" in ran:
        words.append("see torch/lib")
    return ", ".join(words) or "not run"


def table(report):
    """Lines of Markdown, without a date: the same packages give the same lines."""
    ran = report["wine"]
    lines = ["| package | PE files | with GPU code | of it writable | commit by their headers | seen in Wine | "
             "what ran |", "|---|---|---|---|---|---|---|"]
    for row in report["packages"]:
        if "files" not in row:
            continue
        seen = ran.get("packages", {}).get(row["package"])
        lines.append(f"| {row['package'].replace('org.bytedeco:', 'bytedeco ')} {row['version']} | {row['files']} | "
                     f"{row['with_gpu_code']} | {mib(row['writable_gpu_code'])} | "
                     f"{arrow((row['commit_now'], row['commit_after']))} | {seen_in_wine(seen)} | "
                     f"{what_ran(row, ran)} |")
    if "cufft" in ran:
        lines.append(f"| **a process with that cuFFT, patched with --data split** | | | | | "
                     f"**{arrow(ran['cufft']['memory'])}** | cufftGetVersion answers {ran['cufft']['version']}, before as "
                     f"after |")
    if "xgboost" in ran:
        lines.append(f"| **a process that trains xgboost** | | | | | **{arrow(ran['xgboost']['memory'])}** | |")
    if "torch" in ran:
        torch = ran["torch"]
        lines.append(f"| **a process with torch/lib: torch 1.10, CUDA 11.6, cuDNN 8.3** | {torch['files']} | | | | "
                     f"**{arrow(torch['process'])}** | {torch['loaded']} load, as torch loads them; in 4 processes at "
                     f"once, too |")
    return lines


def write(report, folder):
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = [f"{report['date']}, {report['fixnvpe']}, {report['wine'].get('wine', 'without Wine')}: "
            f"{report['checks']} checks, {len(report['failures'])} failed, {len(report['skipped'])} skipped.", "",
            *table(report), ""]
    text += [f"- uv --link-mode {mode} made here: {', '.join(made)}" for mode, made in report["uv"].items()]
    text += [f"- skipped: {line['what']}: {line['why']}" for line in report["skipped"]]
    text += [f"- failed: {line}" for line in report["failures"]]
    (folder / "report.md").write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
