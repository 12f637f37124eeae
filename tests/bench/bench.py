"""How fast fixnvpe is, beside other tools that do the like, all run in turn in one run: `cmake --build --preset release
--target bench`. Prints a table, and writes the same as JSON.

Every number is the median of several rounds. "Beyond start" is without what `fixnvpe --version` takes; the C floor is
taken whole.
"""

import argparse
import collections
import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DROP_CACHES = pathlib.Path("/proc/sys/vm/drop_caches")
MB = 1_000_000


def talk(text):
    print(text, file=sys.stderr, flush=True)


# --- running -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Command:
    words: list
    before: object = lambda: None  # not timed, as is `after`
    after: object = lambda: None
    statuses: tuple = (0,)


@dataclasses.dataclass
class Sample:
    ms: float
    peak_mib: float
    written_mb: float


def run(words, statuses=(0,)):
    """Runs one command. @return what it took"""
    done = subprocess.run([tools / "fixnvpe_bench_measure", *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said, _, numbers = done.stderr.rstrip("\n").rpartition("\n")
    if done.returncode == 0:
        status, wall, peak, blocks = map(int, numbers.split())
    if done.returncode != 0 or status not in statuses:
        sys.exit(f"bench: failed: {' '.join(map(str, words))[:500]}\n{said}")
    return Sample(wall / 1e6, peak / 1024, blocks * 512 / MB)


def measure(commands, rounds):
    """Runs all commands in turn, round after round, so that what disturbs one disturbs all."""
    samples = collections.defaultdict(list)
    for _ in range(rounds):
        for name, command in commands.items():
            command.before()
            samples[name].append(run(command.words, command.statuses))
            command.after()
    for name, of_this in samples.items():
        median = Sample(*(statistics.median(getattr(s, f.name) for s in of_this) for f in dataclasses.fields(Sample)))
        medians[name] = median
        talk(f"  {name}: {median.ms:.1f} ms")


# --- the table -----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Row:
    what: str
    value: str
    peer: str
    ratio: str
    target: str
    met: str


def judged(what, value, peer, ratio, unit, at_most=None, at_least=None):
    ratio = round(ratio, 2)
    met = ratio <= at_most if at_least is None else ratio >= at_least
    target = f"at most {at_most}" if at_least is None else f"at least {at_least}"
    rows.append(Row(what, value, peer, f"{ratio:.2f} {unit}", f"{target} {unit}", "yes" if met else "NO"))


def slower(name, peer, at_most, beyond_start=False):
    """`name` takes at most this many times as long as `peer`."""
    ms = medians[name].ms - (medians["start"].ms if beyond_start else 0)
    what = f"{name}, beyond start" if beyond_start else name
    judged(what, f"{ms:.2f} ms", f"{peer}: {medians[peer].ms:.2f} ms", ms / medians[peer].ms, "×", at_most=at_most)


def faster(name, peer, at_least):
    """`peer` takes at least this many times as long as `name`."""
    judged(name, f"{medians[name].ms:.2f} ms", f"{peer}: {medians[peer].ms:.2f} ms", medians[peer].ms / medians[name].ms,
           "× faster", at_least=at_least)


def not_measured(what, why):
    rows.append(Row(what, f"not measured: {why}", "", "", "", "-"))


# --- what is measured ----------------------------------------------------------------------------------------


def fixnvpe(*words, **more):
    return Command([program, *words], **more)


def verify(*words):
    return fixnvpe("verify", *words, statuses=(1,))


def pefile_peer(mode, path, **more):
    return Command(["/usr/bin/python3", HERE / "pefile_peer.py", mode, path], **more)


def floor(*paths):
    return Command([tools / "fixnvpe_bench_floor", *paths])


def reading():
    """verify of single DLLs and of torch/lib, and the process's start."""
    one = {"big": "463 MB", "huge": "2 GiB"}
    starts = {"start": fixnvpe("--version"), "start, C floor": floor(),
              "start, without LIEF": Command([tools / "fixnvpe_bench_without_lief", "--version"])}
    warm = dict(starts)
    for file, size in one.items():
        path = inputs / f"{file}.dll"
        warm[f"C floor, {size}"] = floor(path)
        warm[f"verify, {size}"] = verify(path)
        warm[f"pefile open, {size}"] = pefile_peer("open", path)
    warm["verify, torch/lib"] = verify(inputs / "torch/lib")
    measure(warm, rounds(31))

    def make_cold():
        # All is gone from memory, and then the programs come back, but not the DLLs.
        os.sync()
        DROP_CACHES.write_text("3\n")
        for command in (*starts.values(), verify(inputs / "small.dll"), pefile_peer("open", inputs / "small.dll")):
            run(command.words, command.statuses)

    can_be_cold = os.access(DROP_CACHES, os.W_OK)
    if can_be_cold:
        measure({f"{name}, cold": dataclasses.replace(command, before=make_cold)
                 for name, command in warm.items() if name.endswith(tuple(one.values()))}, rounds(7))

    for size in one.values():
        for state in ("", ", cold"):
            if state and not can_be_cold:
                not_measured(f"verify, {size}{state}", "needs root")
                continue
            slower(f"verify, {size}{state}", f"C floor, {size}{state}", 2, beyond_start=True)
            faster(f"verify, {size}{state}", f"pefile open, {size}{state}", 10)
    slower("verify, 2 GiB", "verify, 463 MB", 1.1)
    torch = medians["verify, torch/lib"]
    judged("verify, torch/lib", f"{torch.ms:.2f} ms", "", torch.ms, "ms", at_most=25)
    judged("verify, torch/lib: peak memory", f"{torch.peak_mib:.1f} MiB", "", torch.peak_mib, "MiB", at_most=24)
    lief = medians["start"].ms - medians["start, without LIEF"].ms
    judged("start: what LIEF adds", f"{lief:.2f} ms", f"verify, 463 MB: {medians['verify, 463 MB'].ms:.2f} ms",
           lief / medians["verify, 463 MB"].ms, "×", at_most=0.33)


def searching():
    """scan, which looks for fat binaries among variables; verify reads the headers alone."""
    path = inputs / "variables.dll"
    measure({"verify, 320 MB of .data": Command([program, "verify", path]), "scan, 320 MB of .data": fixnvpe("scan", path)},
            rounds(31))
    found, headers = medians["scan, 320 MB of .data"].ms, medians["verify, 320 MB of .data"].ms
    judged("the search in 320 MB of .data", f"{found:.2f} ms", f"verify: {headers:.2f} ms", found - headers, "ms", at_most=50)


def walking():
    """verify of the packages of a whole environment."""
    many, few = inputs / "many", inputs / "few"
    find = ["find", many, "-name", "*.dll", "-o", "-name", "*.pyd"]
    measure({
        "find": Command(find),
        "find + C floor": Command(["find", many, "(", *find[2:], ")", "-exec", tools / "fixnvpe_bench_floor", "{}", "+"]),
        "verify --env, 50,000 files": fixnvpe("verify", "--env", many),
        "verify --env, 5,000 files": fixnvpe("verify", "--env", few),
        "verify, the same 50,000 files in no environment": fixnvpe("verify", inputs / "bare"),
    }, rounds(15))
    slower("verify --env, 50,000 files", "verify, the same 50,000 files in no environment", 1.3)
    slower("verify --env, 50,000 files", "find + C floor", 2)
    slower("verify --env, 50,000 files", "verify --env, 5,000 files", 11)


def patching():
    big, small, copy = inputs / "big.dll", inputs / "small.dll", inputs / "copy.dll"

    def restore(path):
        run([program, "restore", path])

    def put_back():
        os.replace(f"{big}_bak", big)

    def patch(path, *words):
        return fixnvpe("patch", *words, path, before=os.sync, after=lambda: restore(path))

    def restoring(path, *words):
        def before():
            run([program, "patch", *words, path])
            os.sync()

        return fixnvpe("restore", path, before=before)

    fresh = dict(before=os.sync, after=lambda: copy.unlink())
    measure({
        "patch, 463 MB": patch(big),
        "cp": Command(["cp", big, copy], **fresh),
        "cp + sync": Command(["sh", "-c", 'cp "$0" "$1" && sync "$1"', big, copy], **fresh),
        "pefile script": pefile_peer("patch", big, before=os.sync, after=put_back),
        "pefile script with flush": pefile_peer("flush", big, before=os.sync, after=put_back),
        "llvm-objcopy": Command(["llvm-objcopy", "--set-section-flags", ".nv_fatb=data,readonly", big, copy], **fresh),
    }, rounds(5))
    measure({
        "patch --backup undo, 463 MB": patch(big, "--backup", "undo"),
        "patch --backup undo, 46 MB": patch(small, "--backup", "undo"),
        "restore, 463 MB": restoring(big),
        "rm, 463 MB": Command(["rm", copy], before=lambda: (shutil.copyfile(big, copy), os.sync())),
        "restore, 46 MB": restoring(small),
        "restore from undo, 463 MB": restoring(big, "--backup", "undo"),
        "restore from undo, 46 MB": restoring(small, "--backup", "undo"),
    }, rounds(15))
    slower("patch, 463 MB", "cp + sync", 1.15)
    faster("patch, 463 MB", "pefile script with flush", 5)
    ours, theirs = medians["patch, 463 MB"], medians["pefile script with flush"]
    judged("patch, 463 MB: written", f"{ours.written_mb:.0f} MB", f"pefile script: {theirs.written_mb:.0f} MB",
           ours.written_mb / theirs.written_mb, "×", at_most=0.5)
    judged("patch, 463 MB: peak memory", f"{ours.peak_mib:.1f} MiB", "", ours.peak_mib, "MiB", at_most=32)
    for name in ("patch --backup undo", "restore", "restore from undo"):
        slower(f"{name}, 463 MB", f"{name}, 46 MB", 1.5)
        faster(f"{name}, 463 MB", "pefile script", 100)
    # The patched file goes, and the system takes its time to free its space, whoever removes it.
    slower("restore, 463 MB", "rm, 463 MB", 1.5)


@contextlib.contextmanager
def clone_mount():
    """A file system that can clone, of its own file. @return its folder"""
    image, folder = inputs / "btrfs.img", inputs / "btrfs"
    folder.mkdir(exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(2_000 * MB)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
        image.unlink()


def cloning():
    what = "patch on btrfs (a clone)"
    if os.geteuid() != 0 or not shutil.which("mkfs.btrfs"):
        not_measured(what, "needs root and btrfs-progs")
        return
    with clone_mount() as folder:
        for name in ("big.dll", "small.dll"):
            shutil.copyfile(inputs / name, folder / name)
        measure({f"{what}, {size}": fixnvpe("patch", folder / name, before=os.sync,
                                            after=lambda name=name: run([program, "restore", folder / name]))
                 for name, size in (("big.dll", "463 MB"), ("small.dll", "46 MB"))}, rounds(15))
    slower(f"{what}, 463 MB", f"{what}, 46 MB", 1.5)


def jobs():
    folder = inputs / "jobs"

    def what(n):
        return f"patch, 40 DLLs of 100 MB, -j {n}"

    measure({what(n): fixnvpe("patch", "-j", str(n), folder, before=os.sync, after=lambda: run([program, "restore", folder]))
             for n in (1, 2, 4)}, rounds(5))
    told = subprocess.run([program, "patch", "--help"], capture_output=True, text=True, check=True).stdout
    default = re.search(r"at once \(default: (\d+)\)", told)[1]
    slower(what(default), min(map(what, (1, 2, 4)), key=lambda name: medians[name].ms), 1.1)


# --- inputs, peers, machine ----------------------------------------------------------------------------------


def make_inputs(scale):
    """Made once: the next run finds them as they were, unless their making has changed."""
    recipe = f"{scale} {hashlib.sha256((HERE / 'inputs.cpp').read_bytes()).hexdigest()}"
    done = inputs / "made"
    if done.exists() and done.read_text() == recipe:
        # A run that was broken off may have left them patched.
        run([program, "restore", inputs / "big.dll", inputs / "small.dll", inputs / "jobs"])
        return
    shutil.rmtree(inputs, ignore_errors=True)
    talk("making the inputs")
    subprocess.run([tools / "fixnvpe_bench_inputs", inputs, str(scale)], check=True)
    os.sync()
    done.write_text(recipe)


def check_space(scale):
    # The inputs (5 GB), a copy of the 40 DLLs, what btrfs needs; or three times the big one.
    needed = 12_000 * MB // scale
    inputs.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(inputs).free + (0 if not (inputs / "made").exists() else 5_000 * MB // scale)
    if free < needed:
        sys.exit(f"bench: {inputs} needs {needed / 1e9:.0f} GB of disk space, and has {free / 1e9:.1f}")


def check_peers():
    missing = [name for name in ("find", "cp", "sync", "sh", "llvm-objcopy") if not shutil.which(name)]
    if subprocess.run(["/usr/bin/python3", "-c", "import pefile"], stderr=subprocess.DEVNULL).returncode != 0:
        missing.append("pefile for /usr/bin/python3")
    if missing:
        sys.exit(f"bench: not to be found: {', '.join(missing)}; `cmake -P cmake/test.cmake` installs them")


def machine():
    def first(path, key):
        with open(path) as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "?")

    disk = subprocess.run(["findmnt", "-no", "SOURCE,FSTYPE", "-T", inputs], capture_output=True, text=True, check=True)
    return {
        "cpu": first("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": first("/proc/meminfo", "MemTotal"),
        "disk": " ".join(disk.stdout.split()),
        "kernel": platform.release(),
        "program": subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.date.today().isoformat(),
    }


def table(titles, lines):
    lines = [titles, *lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", type=pathlib.Path, required=True, help="fixnvpe")
    arguments.add_argument("--tools", type=pathlib.Path, required=True, help="where the fixnvpe_bench_* programs are")
    arguments.add_argument("--only", action="append", choices=["reading", "searching", "walking", "patching", "cloning", "jobs"],
                           help="measure no more than this")
    arguments.add_argument("--quick", action="store_true", help="a tenth of everything, to try it out: the numbers mean nothing")
    options = arguments.parse_args()
    program, tools = options.program.resolve(), options.tools.resolve()
    inputs = tools / ("inputs-quick" if options.quick else "inputs")
    medians, rows = {}, []

    def rounds(n):
        return 3 if options.quick else n

    scale = 10 if options.quick else 1
    check_peers()
    check_space(scale)
    make_inputs(scale)
    for part in (reading, searching, walking, patching, cloning, jobs):
        if not options.only or part.__name__ in options.only:
            talk(part.__name__)
            part()

    about = machine()
    print("\n" + "\n".join(f"{key}: {value}" for key, value in about.items()) + "\n")
    print(table([f.name for f in dataclasses.fields(Row)], [dataclasses.astuple(row) for row in rows]) + "\n")
    print(table(["all that was run", "ms", "peak MiB", "written MB"],
                [[name, f"{s.ms:.2f}", f"{s.peak_mib:.1f}", f"{s.written_mb:.1f}"] for name, s in medians.items()]))
    report = tools / "bench.json"
    report.write_text(json.dumps({"machine": about, "rows": [dataclasses.asdict(row) for row in rows],
                                  "medians": {name: dataclasses.asdict(s) for name, s in medians.items()}}, indent=2))
    print(f"\nthe same as JSON: {report}")
