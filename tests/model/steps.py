"""The steps: fixnvpe's commands, with a fault or without, and what users and other tools do beside it."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "faults"))

from builds import is_signed, is_whole, number, signed, with_number, without_bits
from shadow import BACKUP, DLL, LEGACY, UNDO, broken_off
from tracing import QUICK, Call, run_with_fault

KILLED = (-9, 137)

# The calls that a fault may come at, and how many of each a run makes at most.
CALLS = {"openat": 12, "pwrite64": 2, "ftruncate": 1, "copy_file_range": 1, "linkat": 1, "rename": 2, "renameat2": 2,
         "unlink": 3, "fchmod": 2, "fsync": 4, "flock": 3}
FAULTS = ["signal=SIGKILL"] * 4 + [f"error={name}" for name in ("ENOSPC", "EIO", "EACCES", "EPERM")]
# What a file system may lack: hard links, locks, exclusive renaming.
LACKS = ["linkat:error=EPERM", "linkat:error=EPERM", "flock:error=EOPNOTSUPP", "renameat2:error=EINVAL"]


class Step(NamedTuple):
    what: str             # fixnvpe, or what else is done
    words: tuple = ()     # arguments of the program; a build; a file
    call: str = ""        # the call of this name …
    which: int = 0        # … and this number …
    fault: str = ""       # … has this fault, as strace's option inject has it
    lacks: str = ""       # each call of a name has one: the file system lacks something

    def __str__(self):
        faults = [f"{self.call}:{self.fault}:when={self.which}"] if self.fault else []
        faults += [self.lacks] if self.lacks else []
        strace = ["strace", *(f"-e inject={fault}" for fault in faults)] if faults else []
        return " ".join([*strace, self.what, *self.words])

    def is_program(self):
        return self.what == "fixnvpe"

    def writes(self):
        return self.is_program() and self.words[0] in ("patch", "restore", "clean") and "-n" not in self.words


KINDS = {"patch": 30, "restore": 16, "clean": 10, "look": 6, "put": 14, "sign": 4, "fixNvPe.py": 6, "cp": 7, "rm": 6,
         "touch": 2, "half": 6}  # how often


class Mood(NamedTuple):
    """What the steps of one sequence are made of. One that has little of all meets more of what needs several steps."""
    builds: list   # that may be put in place
    kinds: list    # of KINDS
    modes: list    # of patch's backups


def random_mood(random, builds):
    names = random.choice([builds, builds, ["plain", "plain-other-body", "other-stamp", "cut-short"],
                           ["no-check-sum", "no-check-sum-other-body", "read-only"]])
    kinds = ["patch", *(kind for kind in KINDS if kind != "patch" and random.random() < 0.6)]
    modes = random.choice([["full", "full", "full", "undo", "undo", "none"], ["full", "undo"], ["undo"]])
    return Mood(names, kinds, modes)


def random_step(random, mood):
    what = random.choices(mood.kinds, [KINDS[kind] for kind in mood.kinds])[0]
    if what == "put":
        return Step(random.choice(["put", "put", "link-from-cache", "symlink-to-cache"]), (random.choice(mood.builds),))
    if what == "cp":
        return Step("cp", (DLL, BACKUP))
    if what == "rm":
        return Step("rm", (random.choice([BACKUP, BACKUP, UNDO, LEGACY]),))
    if what == "half":
        return Step(what, (random.choice(["0", "1", "2", "0,1", "0,2", "1,2"]), DLL))
    if what in ("sign", "fixNvPe.py", "touch"):
        return Step(what, (DLL,))
    if what == "look":
        words = random.choice([["verify"], ["verify", "--require-backup"], ["scan"]])
    elif what == "patch":
        policy, mode = random.choice(["auto", "keep", "clear"]), random.choice(mood.modes)
        data = random.choice(["keep", "split"])
        words = ["patch", "-j", "1", "--aslr", policy, "--data", data, "--backup", mode]
    elif what == "restore":
        words = ["restore", *random.choice([[], [], [], ["--keep-backup"]])]
    else:
        words = ["clean", *random.choice([[], [], [], ["--backups"]])]
    dry = what in ("patch", "restore", "clean") and random.random() < 0.08
    step = Step("fixnvpe", (*words, *(["-n"] if dry else []), random.choice([DLL, DLL, DLL, "."])))
    if step.writes() and random.random() < 0.15:
        step = step._replace(lacks=random.choice(LACKS))
    if step.writes() and random.random() < 0.3:
        call = random.choice([name for name in CALLS if not step.lacks.startswith(name + ":")])
        step = step._replace(call=call, which=random.randint(1, CALLS[call]), fault=random.choice(FAULTS))
    return step


class Found(NamedTuple):
    """A file as it is there."""
    contents: bytes
    inode: int
    modified: int


def look(folder):
    found = {}
    for entry in os.scandir(folder):
        s = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            found[entry.name] = Found(file.read(), s.st_ino, s.st_mtime_ns)
    return found


def contents(found):
    return {name: file.contents for name, file in found.items()}


class Said(NamedTuple):
    """What a run of the program said."""
    status: int
    text: str
    files: list     # of the JSON document

    @property
    def actions(self):
        return {file["action"] for file in self.files}

    def __str__(self):
        told = [[f[key] for key in ("action", "path", "reason", "notes", "error") if f.get(key)] for f in self.files]
        return f"exit status {self.status}: {told or self.text.strip()}"

    def killed(self):
        return self.status in KILLED


class Lab:
    """The program, and a folder with the DLL. The builds lie in a package cache beside it."""

    def __init__(self, program, builds, top):
        self.program, self.builds = program, builds
        self.folder, self.cache = top / "w", top / "cache"
        self.lacking = []
        self.killed = 0
        os.mkdir(self.folder)
        os.mkdir(self.cache)
        self.fill_cache()

    def fill_cache(self):
        for name, data in self.builds.items():
            (self.cache / name).write_bytes(data)

    def poisoned(self):
        return [name for name, data in self.builds.items() if (self.cache / name).read_bytes() != data]

    def begin(self, files=None):
        """Only these files are in the folder."""
        for entry in os.scandir(self.folder):
            os.unlink(entry.path)
        for name, data in (files or {}).items():
            (self.folder / name).write_bytes(data)

    def run(self, folder, arguments, prefix=()):
        prefix = [*prefix, *self.lacking] if prefix else []
        return subprocess.run([*prefix, str(self.program), *arguments, "--json"], cwd=folder, capture_output=True,
                              text=True, errors="replace", timeout=60)

    def fixnvpe(self, step):
        lacks = step.lacks.split(":")[0]
        trace = ",".join(name for name in (lacks, step.call) if name)
        self.lacking = ["-e", f"trace={trace}", "-e", f"inject={step.lacks}"] if lacks else []
        if step.fault:
            ended = run_with_fault(self, self.folder, step.words, Call(step.call, step.which, ()), step.fault)
        else:
            ended = self.run(self.folder, step.words, [*QUICK, "-o", "/dev/null"] if lacks else [])
        self.killed += ended.returncode in KILLED
        files = []
        with contextlib.suppress(ValueError):
            files = json.loads(ended.stdout)["files"]
        return Said(ended.returncode, ended.stdout + ended.stderr, files)

    def write_new(self, name, data):
        """As installers do: a file of its own takes the name."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.write_bytes(data)

    def by_others(self, step, shadow):
        """What is no command of fixnvpe's; nothing, where that can't be done."""
        files = contents(look(self.folder))
        dll, word = files.get(DLL), step.words[-1]
        path = self.folder / word
        if step.what in ("put", "link-from-cache", "symlink-to-cache"):
            self.write_new(DLL, self.builds[word])
            if step.what != "put":
                os.unlink(self.folder / DLL)
                make = os.link if step.what == "link-from-cache" else os.symlink
                make(self.cache / word, self.folder / DLL)
            shadow.put_in_place(self.builds[word])
        elif step.what == "rm":
            path.unlink(missing_ok=True)
        elif dll is None:
            pass
        elif step.what == "cp":
            self.write_new(word, dll)
        elif step.what == "touch":
            os.utime(path)
        elif step.what == "half":  # the power went off while it was edited in place
            half = broken_off(dll, files.get(UNDO, b""), [int(i) for i in step.words[0].split(",")])
            if half is not None:
                self.write_new(DLL, half)
        elif is_whole(dll) and step.what == "sign" and not is_signed(dll):
            self.write_new(DLL, signed(dll))
            shadow.signed_in_place(dll, signed(dll), files)
        elif is_whole(dll) and step.what == "fixNvPe.py":
            if LEGACY not in files:
                self.write_new(LEGACY, dll)
            self.write_new(DLL, without_bits(dll))
