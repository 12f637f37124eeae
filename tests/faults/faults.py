"""Breaks fixnvpe off at every system call that changes something, and makes every such call fail.

    faults.py MODE PROGRAM TESTDATA [--seed N] [--share PERCENT] [--seconds S]

    kill       killed at each call: nothing is lost
    error      each call fails in each way (or a share of them): nothing is lost or left
    interrupt  Ctrl-C at each call: what was begun is finished or undone, and nothing is left
    race       16 processes at once for some seconds: each file ends as one of the two
    replace    another program puts another file in place while fixnvpe is about to write: that file is left alone
    disk       a real full disk, a small one mounted for it: refused before anything is written, and when it fills midway

The calls are found by running each scenario once under strace; then it runs again for each of them, with the
fault injected at exactly that one. Prints how many it tried, and fails if that is fewer than it listed.
"""

import argparse
import concurrent.futures
import contextlib
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


@contextlib.contextmanager
def prepared(lab, prepare):
    """A folder in the state that a scenario begins with; what is put beside it goes with it."""
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top) / "w"
        folder.mkdir()
        prepare(lab, folder)
        yield folder


def run_with_fault(lab, folder, arguments, name, which, fault):
    """Runs the program with a fault of strace's at the `which`-th call of that name."""
    return lab.run(folder, arguments, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
                                       f"inject={name}:{fault}:when={which}"])


def changing_calls(lab, prepare, arguments):
    """[(name, which one of that name in the whole run)]"""
    with prepared(lab, prepare) as folder:
        log = folder.parent / "log"
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
            with prepared(lab, prepare) as folder:
                killed = run_with_fault(lab, folder, arguments, name, which, "signal=SIGKILL")
                if killed.returncode not in (-9, 137):
                    judge.expect(False, where, f"it is killed: exit status {killed.returncode}")
                    continue
                tried += 1
                files = judge.nothing_is_lost(where, folder, arguments)
                judge.verify_only_looks(where, folder, files)
                copy = folder.parent / "copy"
                shutil.copytree(folder, copy, symlinks=True)
                judge.patch_finishes(where, folder, arguments)
                judge.restore_finishes(where, copy, arguments)
        print(f"{title}: killed at {len(calls)} points", flush=True)
    print(f"{tried} kill points tried, {listed} listed")
    judge.expect(tried == listed, "all", "each kill point was tried")


def with_another(arguments):
    """The same for two files, one after the other: strace counts the calls of each thread apart."""
    return [*arguments, "-j", "1", "z.dll"] if arguments[0] == "patch" else arguments


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
                with prepared(lab, prepare) as folder:
                    (folder / "z.dll").write_bytes(lab.original)  # another file of the same run
                    before = files_of(folder)
                    failed = run_with_fault(lab, folder, with_another(arguments), name, which, f"error={error}")
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


def interrupt_everywhere(lab, judge):
    listed = stopped = 0
    for title, (prepare, arguments) in SCENARIOS.items():
        for name, which in changing_calls(lab, prepare, arguments):
            listed += 1
            where = f"{title}, Ctrl-C at {name} #{which}"
            with prepared(lab, prepare) as folder:
                (folder / "z.dll").write_bytes(lab.original)
                before = files_of(folder)
                ended = run_with_fault(lab, folder, with_another(arguments), name, which, "signal=SIGINT")
                files = judge.nothing_is_lost(where, folder, arguments)
                judge.expect(ended.returncode in (0, 130), where,
                             f"exit status 130, or 0 if all was done: {ended.returncode}: {ended.stderr}")
                judge.no_temporary(where, folder)
                if arguments[0] != "clean":
                    judge.expect(files["a.dll"] in (before["a.dll"], lab.original, lab.patched), where, "no mix is left")
                judge.expect(files["z.dll"] in (lab.original, lab.patched), where, "nor of the other file")
                if ended.returncode == 130:
                    stopped += 1
                    judge.expect(re.search(r"interrupted: [0-9]+ files? not begun", ended.stderr), where,
                                 f"it says so: {ended.stderr}")
    print(f"{listed} times Ctrl-C, {stopped} of them before all was done")
    judge.expect(stopped > 0, "all", "some runs were stopped")


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


REPLACED = ["patch full", "patch undo", "patch none", "patch full, hard-linked", "restore full", "restore undo",
            "restore --keep-backup"]


def replace_before_writing(lab, judge):
    """The first call that creates something is held up, and meanwhile another build takes the file's place."""
    for title in REPLACED:
        prepare, arguments = SCENARIOS[title]
        which = next(n for name, n in changing_calls(lab, prepare, arguments) if name == "openat")
        with prepared(lab, prepare) as folder:
            (folder / "upgrade").write_bytes(lab.other_build)
            before = files_of(folder)
            held = subprocess.Popen(
                ["strace", "-f", "-qq", "-e", "trace=openat", "-e", f"inject=openat:delay_enter=1000000:when={which}",
                 str(lab.program), *arguments], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            seen = 0
            for line in held.stderr:  # strace writes each call when it is over
                seen += line.count("openat(")
                if seen == which - 1:
                    break
            os.rename(folder / "upgrade", folder / "a.dll")
            messages = held.communicate(timeout=60)[1]
            where = f"{title}, replaced before it writes"
            expected = before | {"a.dll": lab.other_build}
            del expected["upgrade"]
            judge.expect(held.returncode == 2, where, f"exit status 2: {held.returncode}: {messages}")
            judge.expect("changed the file meanwhile" in messages, where, f"it says so: {messages}")
            judge.expect(files_of(folder) == expected, where, f"all else is as before: {sorted(files_of(folder))}")
    print(f"{len(REPLACED)} files replaced before the first write")


def full_disk(lab, judge):
    size, limit = 5 << 20, 8 << 20
    big = lab.original + b"overlay" * (size // 7)
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={limit}", "tmpfs", top], capture_output=True, text=True)
        if mounted.returncode != 0:
            judge.expect(False, "disk", f"a small tmpfs can be mounted: {mounted.stderr}")
            return
        try:
            (folder / "a.dll").write_bytes(big)
            before = files_of(folder)

            log = subprocess.run(["strace", "-f", "-qq", "-e", "trace=pwrite64,copy_file_range,ftruncate",
                                  str(lab.program), "patch", "a.dll"], cwd=folder, capture_output=True, text=True)
            judge.expect(log.returncode == 2, "too small a disk", f"exit status 2: {log.returncode}")
            judge.expect(re.search(r"copy: needs 5.0 MiB, has [23]\.\d MiB\n.*--backup undo", log.stderr), "too small a disk",
                         f"it says what is needed, what is there and what to do: {log.stderr}")
            judge.expect("pwrite64(" not in log.stderr and "ftruncate(" not in log.stderr, "too small a disk",
                         f"it is refused before anything is written: {log.stderr}")
            judge.expect(files_of(folder) == before, "too small a disk", "all is as before")

            done = lab.run(folder, ["patch", "--backup", "undo", "a.dll"])
            judge.expect(done.returncode == 0, "too small a disk", f"--backup undo works: {done.stderr}")
            done = lab.run(folder, ["restore", "a.dll"])
            judge.expect(done.returncode == 0 and files_of(folder) == before, "too small a disk",
                         f"and restore gives back every byte: {done.stderr}")

            # There is room at first; while it is held up, somebody else takes it.
            small = big[: 3 << 20]
            (folder / "a.dll").write_bytes(small)
            held = subprocess.Popen(
                ["strace", "-f", "-qq", "-e", "trace=ftruncate", "-e", "inject=ftruncate:delay_exit=1000000",
                 str(lab.program), "patch", "a.dll"], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            while not (folder / "a.dll.fixnvpe-tmp").exists() or (folder / "a.dll.fixnvpe-tmp").stat().st_size == 0:
                assert held.poll() is None, held.stderr.read()
                time.sleep(0.01)
            free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
            (folder / "eater").write_bytes(b"x" * (free - (1 << 20)))
            messages = held.communicate(timeout=60)[1]
            judge.expect(held.returncode == 2, "a disk that fills", f"exit status 2: {held.returncode}: {messages}")
            judge.expect(re.search(r"fixnvpe: a\.dll\S*: copy: No space left on device", messages), "a disk that fills",
                         f"it names the file, the step and the reason: {messages}")
            (folder / "eater").unlink()
            judge.expect(files_of(folder) == {"a.dll": small}, "a disk that fills", f"all is as before: {sorted(files_of(folder))}")
            done = lab.run(folder, ["patch", "a.dll"])
            judge.expect(done.returncode == 0, "a disk that has room again", f"patch works: {done.stderr}")

            # Not even an undo file fits.
            done = lab.run(folder, ["restore", "a.dll"])
            free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
            (folder / "eater").write_bytes(b"x" * free)
            done = lab.run(folder, ["patch", "--backup", "undo", "a.dll"])
            judge.expect(done.returncode == 2 and "No space left on device" in done.stderr, "a disk without any room",
                         f"it fails and says why: {done.returncode}: {done.stderr}")
            (folder / "eater").unlink()
            judge.expect(files_of(folder) == {"a.dll": small}, "a disk without any room", f"all is as before: {sorted(files_of(folder))}")
        finally:
            subprocess.run(["umount", top], check=True)
    print("full disks: too small from the start, filled midway, without any room")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["kill", "error", "interrupt", "race", "replace", "disk"])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("testdata", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    if options.mode == "disk" and os.geteuid() != 0:  # who may mount one in a namespace of their own
        os.execvp("unshare", ["unshare", "--map-root-user", "--mount", sys.executable, *sys.argv])
    print(f"seed {options.seed}")
    lab = Lab(options.program.resolve(), options.testdata.resolve())
    judge = Judge(lab)
    if options.mode == "kill":
        kill_everywhere(lab, judge)
    elif options.mode == "interrupt":
        interrupt_everywhere(lab, judge)
    elif options.mode == "race":
        race(lab, judge, options.seed, options.seconds)
    elif options.mode == "replace":
        replace_before_writing(lab, judge)
    elif options.mode == "disk":
        full_disk(lab, judge)
    else:
        fail_everywhere(lab, judge, random.Random(options.seed), options.share)
    for complaint in judge.complaints[:40]:
        print(complaint)
    print(f"{len(judge.complaints)} complaints")
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
