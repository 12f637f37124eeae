"""Breaks fixnvpe off at every system call that changes something, and makes every such call fail.

    faults.py kill  PROGRAM TESTDATA [--seed N]         killed at each call: nothing is lost
    faults.py error PROGRAM TESTDATA [--seed N] [--share PERCENT]   each call fails in each way: nothing is lost or left
    faults.py race PROGRAM TESTDATA [--seed N] [--seconds S]        16 processes at once: each file ends as one of the two

The calls are found by running each scenario once under strace; then it runs again for each of them, with the
fault injected at exactly that one. Prints how many it tried, and fails if that is fewer than it listed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

CHANGING_CALLS = [
    "openat", "pwrite64", "ftruncate", "copy_file_range", "ioctl", "linkat", "rename", "renameat2", "unlink",
    "fchmod", "fchown", "fsetxattr", "fsync", "flock",
]
ERRORS = ["ENOSPC", "EIO", "EACCES", "EPERM", "EROFS", "EINTR", "EXDEV", "EOPNOTSUPP"]


class Lab:
    """One folder with one DLL, in the state that a scenario begins with."""

    def __init__(self, program, testdata):
        self.program = program
        self.original = (testdata / "pe" / "x64-writable.dll").read_bytes()
        self.other_build = (testdata / "pe" / "x64-odd-size.dll").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            dll = pathlib.Path(folder) / "a.dll"
            dll.write_bytes(self.original)
            self.run(folder, ["patch", "a.dll"])
            self.patched = dll.read_bytes()
        assert self.patched != self.original, "patch changed nothing"

    def run(self, folder, arguments, prefix=()):
        return subprocess.run([*prefix, str(self.program), *arguments], cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=120)


def plain(lab, folder):
    (folder / "a.dll").write_bytes(lab.original)
    os.chmod(folder / "a.dll", 0o640)


def hard_linked(lab, folder):
    plain(lab, folder)
    os.mkdir(folder / "cache")
    os.link(folder / "a.dll", folder / "cache" / "a.dll")


def stale_backup(lab, folder):
    plain(lab, folder)
    (folder / "a.dll.bak").write_bytes(lab.other_build)


def patched_by(*options):
    def prepare(lab, folder):
        plain(lab, folder)
        done = lab.run(folder, ["patch", *options, "a.dll"])
        assert done.returncode == 0, done.stderr
    return prepare


def legacy(lab, folder):
    plain(lab, folder)
    os.rename(folder / "a.dll", folder / "a.dll_bak")
    (folder / "a.dll").write_bytes(lab.patched)


def with_leftovers(lab, folder):
    patched_by()(lab, folder)
    shutil.copy(folder / "a.dll", folder / "a.dll.fixnvpe-tmp")
    (folder / "a.dll.bak.1").write_bytes(lab.other_build)


SCENARIOS = {
    "patch full": (plain, ["patch", "a.dll"]),
    "patch undo": (plain, ["patch", "--backup", "undo", "a.dll"]),
    "patch none": (plain, ["patch", "--backup", "none", "a.dll"]),
    "patch full, hard-linked": (hard_linked, ["patch", "a.dll"]),
    "patch undo, hard-linked": (hard_linked, ["patch", "--backup", "undo", "a.dll"]),
    "patch none, hard-linked": (hard_linked, ["patch", "--backup", "none", "a.dll"]),
    "patch over a stale backup": (stale_backup, ["patch", "a.dll"]),
    "patch under another policy": (patched_by("--aslr", "keep", "--backup", "undo"),
                                   ["patch", "--aslr", "clear", "a.dll"]),
    "restore full": (patched_by(), ["restore", "a.dll"]),
    "restore undo": (patched_by("--backup", "undo"), ["restore", "a.dll"]),
    "restore legacy": (legacy, ["restore", "a.dll"]),
    "restore --keep-backup": (patched_by(), ["restore", "--keep-backup", "a.dll"]),
    "clean": (with_leftovers, ["clean", "a.dll"]),
    "clean --all": (with_leftovers, ["clean", "--all", "a.dll"]),
}


def changing_calls(lab, prepare, arguments):
    """[(name, which one of that name in the whole run)]"""
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top) / "w"
        folder.mkdir()
        prepare(lab, folder)
        log = pathlib.Path(top) / "log"
        traced = lab.run(folder, arguments, ["strace", "-f", "-qq", "-o", str(log), "-e",
                                             "trace=" + ",".join(CHANGING_CALLS)])
        assert traced.returncode == 0, f"{arguments}: {traced.stderr}"
        calls, seen = [], {}
        for line in log.read_text(errors="replace").splitlines():
            match = re.match(r"\d+\s+(\w+)\((.*)", line)
            if not match:
                continue
            name, rest = match.groups()
            seen[name] = seen.get(name, 0) + 1
            if name == "openat" and not re.search(r"O_CREAT|O_RDWR|O_WRONLY", rest):
                continue
            if name == "ioctl" and "FICLONE" not in rest and "BTRFS_IOC_CLONE" not in rest:
                continue
            calls.append((name, seen[name]))
        return calls


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Judge:
    def __init__(self, lab):
        self.lab = lab
        self.complaints = []

    def expect(self, holds, where, what):
        if not holds:
            self.complaints.append(f"{where}: expected that {what}")

    def nothing_is_lost(self, where, folder, arguments):
        files = files_of(folder)
        dll = files.get("a.dll")
        whole = [n for n in ("a.dll", "a.dll.bak", "a.dll_bak") if files.get(n) == self.lab.original]
        undoable = "a.dll.fixnvpe-undo" in files
        given_up = "none" in arguments or arguments[:2] == ["clean", "--all"]
        self.expect(whole or undoable or given_up, where, f"the original exists whole, or an undo file: {sorted(files)}")
        if not undoable:
            self.expect(dll in (self.lab.original, self.lab.patched), where, "the DLL is the original or patched")
        if (folder / "cache").exists():
            self.expect(files["cache/a.dll"] == self.lab.original, where, "the cache's copy is as it was")
        return files

    def verify_only_looks(self, where, folder, files):
        seen = self.lab.run(folder, ["verify", "a.dll"])
        self.expect(seen.returncode in (0, 1, 2), where, f"verify does not crash: {seen.returncode}")
        self.expect(files_of(folder) == files, where, "verify writes nothing")

    def no_temporary(self, where, folder):
        left = [n for n in files_of(folder) if n.endswith(".fixnvpe-tmp")]
        self.expect(not left, where, f"no temporary is left: {left}")

    def patch_finishes(self, where, folder, arguments):
        done = self.lab.run(folder, arguments if arguments[0] == "patch" else ["patch", "a.dll"])
        self.expect(done.returncode == 0, where, f"patch finishes the job: {done.stderr}")
        self.expect((folder / "a.dll").read_bytes() == self.lab.patched, where, "patch ends with the patched DLL")
        self.no_temporary(where + ", then patch", folder)

    def restore_finishes(self, where, folder, arguments):
        before = files_of(folder)
        done = self.lab.run(folder, ["restore", "a.dll"])
        can = any(before.get(n) == self.lab.original for n in ("a.dll", "a.dll.bak", "a.dll_bak"))
        if can or "a.dll.fixnvpe-undo" in before:
            stale_left = before.get("a.dll.bak") == self.lab.other_build
            self.expect(done.returncode == 0 or stale_left, where, f"restore works: {done.stderr}")
            self.expect((folder / "a.dll").read_bytes() == self.lab.original, where, "restore gives back every byte")
            if done.returncode == 0:
                self.no_temporary(where + ", then restore", folder)


def kill_everywhere(lab, judge):
    listed = tried = 0
    for title, (prepare, arguments) in SCENARIOS.items():
        calls = changing_calls(lab, prepare, arguments)
        assert calls, f"{title}: no changing call was seen"
        listed += len(calls)
        for name, which in calls:
            where = f"{title}, killed at {name} #{which}"
            with tempfile.TemporaryDirectory() as top:
                folder = pathlib.Path(top) / "w"
                folder.mkdir()
                prepare(lab, folder)
                killed = lab.run(folder, arguments, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}",
                                                     "-e", f"inject={name}:signal=SIGKILL:when={which}"])
                if killed.returncode not in (-9, 137):
                    judge.expect(False, where, f"it is killed: exit status {killed.returncode}")
                    continue
                tried += 1
                files = judge.nothing_is_lost(where, folder, arguments)
                judge.verify_only_looks(where, folder, files)
                copy = pathlib.Path(top) / "copy"
                shutil.copytree(folder, copy, symlinks=True)
                judge.patch_finishes(where, folder, arguments)
                judge.restore_finishes(where, copy, arguments)
        print(f"{title}: killed at {len(calls)} points", flush=True)
    print(f"{tried} kill points tried, {listed} listed")
    judge.expect(tried == listed, "all", "each kill point was tried")


def fail_everywhere(lab, judge, rng, share):
    listed = tried = handled = 0
    for title, (prepare, arguments) in SCENARIOS.items():
        for name, which in changing_calls(lab, prepare, arguments):
            for error in ERRORS:
                listed += 1
                if rng.random() * 100 >= share:
                    continue
                tried += 1
                where = f"{title}, {error} at {name} #{which}"
                with tempfile.TemporaryDirectory() as top:
                    folder = pathlib.Path(top) / "w"
                    folder.mkdir()
                    prepare(lab, folder)
                    (folder / "z.dll").write_bytes(lab.original)  # another file of the same run
                    before = files_of(folder)
                    # strace counts the calls of each thread by itself: with two, the second file would fail, too.
                    failed = lab.run(folder, [*arguments, "-j", "1", "z.dll"] if arguments[0] == "patch" else arguments,
                                     ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
                                      f"inject={name}:error={error}:when={which}"])
                    judge.nothing_is_lost(where, folder, arguments)
                    if name != "unlink":  # what can't be removed stays, until the next patch
                        judge.no_temporary(where, folder)
                    judge.expect(failed.returncode in (0, 2), where,
                                 f"exit status 0 or 2: {failed.returncode}: {failed.stderr}")
                    if arguments[0] == "patch":
                        judge.expect((folder / "z.dll").read_bytes() == lab.patched, where, "the other file is done")
                    if failed.returncode == 0:
                        handled += 1
                        continue
                    judge.expect("a.dll" in failed.stderr, where, f"the message names the file: {failed.stderr}")
                    judge.expect(re.search(r"fixnvpe: [^:]+: [^:]+: .+", failed.stderr), where,
                                 f"the message names path, step and reason: {failed.stderr}")
                    after = (folder / "a.dll").read_bytes()
                    # A flush that fails once all is in place is told, and what is there is whole.
                    if name not in ("fsync", "unlink", "openat", "flock"):
                        as_before = [before["a.dll"]]
                        if title == "patch under another policy":
                            as_before.append(lab.original)  # it goes back to the original first
                        judge.expect(after in as_before, where, "the file is as before")
    print(f"{tried} errors injected ({share} % of {listed}), {handled} of them handled without loss of function")
    judge.expect(tried > 0, "all", "errors were injected")


def race(lab, judge, seed, seconds):
    """16 processes patch and restore the same three files, in all modes, for some seconds."""
    names = ["a.dll", "b.dll", "c.dll"]
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        for name in names:
            (folder / name).write_bytes(lab.original)
        end = time.monotonic() + seconds

        def work(number):
            rng = random.Random(seed * 1000 + number)
            counts = {}
            while time.monotonic() < end:
                arguments = ["restore"] if rng.random() < 0.4 else ["patch", "--backup", rng.choice(["full", "undo"])]
                done = lab.run(folder, [*arguments, *rng.sample(names, 3)])
                counts[done.returncode] = counts.get(done.returncode, 0) + 1
                if done.returncode not in (0, 2) or "internal error" in done.stderr:
                    judge.expect(False, arguments, f"no run crashes: {done.returncode}: {done.stderr}")
            return counts

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            totals = {}
            for counts in pool.map(work, range(16)):
                for status, n in counts.items():
                    totals[status] = totals.get(status, 0) + n
        files = files_of(folder)
        judge.expect(totals.get(0, 0) > 0, "race", "some runs get their turn")
        for name in names:
            judge.expect(files[name] in (lab.original, lab.patched), name, "it ends as the original or patched")
            backup = name + ".bak" in files or name + ".fixnvpe-undo" in files
            judge.expect(files[name] == lab.original or backup, name, "a patched file has its backup")
            judge.expect(files.get(name + ".bak", lab.original) == lab.original, name, "its backup is the original")
        judge.no_temporary("race", folder)
        done = lab.run(folder, ["restore", *names])
        judge.expect(done.returncode == 0, "race", f"restore works afterwards: {done.stderr}")
        for name in names:
            judge.expect((folder / name).read_bytes() == lab.original, name, "restore gives back every byte")
        print(f"{sum(totals.values())} runs by 16 processes; by exit status: {totals}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["kill", "error", "race"])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("testdata", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    lab = Lab(options.program.resolve(), options.testdata.resolve())
    judge = Judge(lab)
    if options.mode == "kill":
        kill_everywhere(lab, judge)
    elif options.mode == "race":
        race(lab, judge, options.seed, options.seconds)
    else:
        fail_everywhere(lab, judge, random.Random(options.seed), options.share)
    for complaint in judge.complaints[:40]:
        print(complaint)
    print(f"{len(judge.complaints)} complaints")
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
