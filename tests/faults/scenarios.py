"""What fixnvpe is asked to do, on what, and what it promises: SCENARIOS is the table, a row a scenario."""

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from tracing import changing_calls


class Lab:
    """The program, and a DLL in each state that it can be in."""

    def __init__(self, program, testdata):
        self.program = program
        self.original = (testdata / "pe" / "x64-writable.dll").read_bytes()
        other = bytearray((testdata / "pe" / "x64-odd-size.dll").read_bytes())
        other[0x88] ^= 1  # TimeDateStamp: it is shown to be another build
        self.other_build = bytes(other)
        with tempfile.TemporaryDirectory() as folder:
            dll = pathlib.Path(folder) / "a.dll"
            dll.write_bytes(self.original)
            self.run(folder, ["patch", "a.dll"])
            self.patched = dll.read_bytes()
            self.variables = (testdata / "pe" / "x64-variables.dll").read_bytes()
            dll.write_bytes(self.variables)
            self.run(folder, ["patch", "--data", "split", "--backup", "none", "a.dll"])
            self.split = dll.read_bytes()
            dll.write_bytes(self.variables)
            self.run(folder, ["patch", "--backup", "none", "a.dll"])
            self.not_split = dll.read_bytes()
        assert self.patched != self.original, "patch changed nothing"
        assert b".fixnv" in self.split, "patch split nothing"

    def run(self, folder, arguments, prefix=()):
        return subprocess.run([*prefix, str(self.program), *arguments], cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=120)


class Found(NamedTuple):
    """A file as it is there."""
    contents: bytes
    inode: int
    modified: int
    metadata: tuple  # what a copy keeps: mode, owner, group, extended attributes


def files_of(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            s = path.stat()
            attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
            found[str(path.relative_to(folder))] = Found(path.read_bytes(), s.st_ino, s.st_mtime_ns,
                                                         (s.st_mode, s.st_uid, s.st_gid, attributes))
    return found


def contents_of(folder):
    return {name: file.contents for name, file in files_of(folder).items()}


class Promise(NamedTuple):
    """What will stand under a name."""
    of: str               # the file that stood under this name before …
    contents: str = ""    # … with these bytes of the Lab's, or those from before; none: untouched, time and all
    copied: bool = False  # a file of its own, with that one's metadata


def same(name):
    return Promise(name)


def edited(name, contents):
    return Promise(name, contents)


def copied(name, contents):
    return Promise(name, contents, copied=True)


UNDO = Promise("a.dll", "undo", copied=True)  # an undo file: its edits taken back give the original


def explains(undo, patched, original):
    """True if the edits of this undo file, read here by ourselves and taken back, give the original. A split changes
    all of the headers, and the undo file has the old ones."""
    try:
        record = json.loads(undo)
    except ValueError:
        return False
    if "split" in record:
        headers = bytes.fromhex(record["headers"])
        return headers + patched[len(headers):] == original
    dll = bytearray(patched)
    for edit in record["edits"]:
        dll[edit["offset"]:edit["offset"] + edit["width"]] = edit["before"].to_bytes(edit["width"], "little")
    return dll == original


def unkept(lab, promises, before, after):
    """In words, where the files that are there are not what was promised; empty if all is well."""
    wrong = [f"{name} is left" for name in after.keys() - promises.keys()]
    for name, promise in promises.items():
        is_, was = after.get(name), before[promise.of]
        if is_ is None:
            wrong.append(f"{name} is gone")
            continue
        if promise.contents == "undo":
            holds = "a.dll" in after and any(explains(is_.contents, after["a.dll"].contents, original)
                                             for original in (lab.original, lab.variables))
        else:
            as_it_was = promise.contents in ("", "before")
            holds = is_.contents == (was.contents if as_it_was else getattr(lab, promise.contents))
        if not holds:
            wrong.append(f"{name} has other bytes")
        if is_.metadata != was.metadata:
            wrong.append(f"{name} has other metadata: {is_.metadata}, not {was.metadata}")
        # An undo file that was removed and written anew may get its old number.
        others = [other.inode for n, other in before.items() if n != name or promise.contents != "undo"]
        if promise.copied and is_.inode in others:
            wrong.append(f"{name} is no file of its own")
        if not promise.copied and is_.inode != was.inode:
            wrong.append(f"{name} is another file than {promise.of} was")
        if not promise.contents and is_.modified != was.modified:
            wrong.append(f"{name} has another time")
    return wrong


def untouched(before):
    return {name: same(name) for name in before}


def but_for(promises, removed):
    """Each state in which only some of these files are removed."""
    return [promises | {name: same(name) for name in left}
            for n in range(1, len(removed) + 1) for left in itertools.combinations(removed, n)]


# What a scenario begins with.

def plain(lab, folder):
    dll = folder / "a.dll"
    dll.write_bytes(lab.original)
    os.chmod(dll, 0o640)
    with contextlib.suppress(OSError):  # a file system that has none
        os.setxattr(dll, "user.origin", b"wheel")
    if os.geteuid() == 0:
        os.chown(dll, 1, 2)


def with_variables(lab, folder):
    plain(lab, folder)
    (folder / "a.dll").write_bytes(lab.variables)


def hard_linked(lab, folder):
    plain(lab, folder)
    os.mkdir(folder / "cache")
    os.link(folder / "a.dll", folder / "cache" / "a.dll")


def linked(lab, folder):
    """As uv's symlink mode leaves it."""
    plain(lab, folder)
    os.mkdir(folder / "cache")
    os.rename(folder / "a.dll", folder / "cache" / "a.dll")
    os.symlink("cache/a.dll", folder / "a.dll")


def stale_backup(lab, folder):
    plain(lab, folder)
    (folder / "a.dll.bak").write_bytes(lab.other_build)


def patched_by(*options, begin=plain):
    def prepare(lab, folder):
        begin(lab, folder)
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


# What it promises.

DONE = {"patch": "patched", "restore": "restored", "clean": "removed"}  # as "action" in the JSON output

class Scenario(NamedTuple):
    prepare: object     # makes what it begins with
    arguments: list
    done: dict          # name -> what stands there once it is done; nothing else does
    halfway: list = []    # other states that a failure may leave: nothing is lost in them
    between: list = []    # … and these, if it fails between two steps: at the folder's flush, or at the next lock
    dlls: tuple = ("original", ("patched",))   # of the Lab's: the original of the DLL, and what patches make of it


PATCHED = copied("a.dll", "patched")
KEPT = {"a.dll": PATCHED, "a.dll.bak": same("a.dll")}
CACHE = {"cache/a.dll": same("cache/a.dll")}
REVERTED = {"a.dll": edited("a.dll", "original")}
CLEANED = {"a.dll": same("a.dll"), "a.dll.bak": same("a.dll.bak")}
UNDO_ALONE = {"a.dll": same("a.dll"), "a.dll.fixnvpe-undo": UNDO}  # it holds for the original, too
SPLIT = ["--data", "split"]
VARIABLES = ("variables", ("split", "not_split"))
JOINED = {"a.dll": edited("a.dll", "variables")}
LEFTOVERS = ["a.dll.fixnvpe-tmp", "a.dll.bak.1"]

SCENARIOS = {
    "patch full": Scenario(plain, ["patch", "a.dll"], KEPT),
    "patch undo": Scenario(plain, ["patch", "--backup", "undo", "a.dll"],
                           {"a.dll": edited("a.dll", "patched"), "a.dll.fixnvpe-undo": UNDO}, between=[UNDO_ALONE]),
    "patch none": Scenario(plain, ["patch", "--backup", "none", "a.dll"], {"a.dll": edited("a.dll", "patched")}),
    "patch full, hard-linked": Scenario(hard_linked, ["patch", "a.dll"], KEPT | CACHE),
    "patch undo, hard-linked": Scenario(hard_linked, ["patch", "--backup", "undo", "a.dll"],
                                        {"a.dll": PATCHED, "a.dll.fixnvpe-undo": UNDO} | CACHE,
                                        between=[UNDO_ALONE | CACHE]),
    "patch none, hard-linked": Scenario(hard_linked, ["patch", "--backup", "none", "a.dll"], {"a.dll": PATCHED} | CACHE),
    "patch full, a link": Scenario(linked, ["patch", "a.dll"], KEPT | CACHE),
    "patch none, a link": Scenario(linked, ["patch", "--backup", "none", "a.dll"], {"a.dll": PATCHED} | CACHE),
    "patch over a stale backup": Scenario(stale_backup, ["patch", "a.dll"], KEPT | {"a.dll.bak.1": same("a.dll.bak")},
                                          [{"a.dll": same("a.dll"), "a.dll.bak.1": same("a.dll.bak")}]),
    # It goes back to the original first.
    "patch under another policy": Scenario(patched_by("--aslr", "keep", "--backup", "undo"),
                                           ["patch", "--aslr", "clear", "a.dll"],
                                           {"a.dll": PATCHED, "a.dll.bak": edited("a.dll", "original")},
                                           [{"a.dll": edited("a.dll", "before"), "a.dll.fixnvpe-undo": undo}
                                            for undo in (same("a.dll.fixnvpe-undo"), UNDO)]),
    "split full": Scenario(with_variables, ["patch", *SPLIT, "a.dll"],
                           {"a.dll": copied("a.dll", "split"), "a.dll.bak": same("a.dll")}, dlls=VARIABLES),
    "split undo": Scenario(with_variables, ["patch", *SPLIT, "--backup", "undo", "a.dll"],
                           {"a.dll": edited("a.dll", "split"), "a.dll.fixnvpe-undo": UNDO}, between=[UNDO_ALONE],
                           dlls=VARIABLES),
    # Half written, its headers could not be mended: a copy takes its name.
    "split none": Scenario(with_variables, ["patch", *SPLIT, "--backup", "none", "a.dll"],
                           {"a.dll": copied("a.dll", "split")}, dlls=VARIABLES),
    "split after a patch": Scenario(patched_by(begin=with_variables), ["patch", *SPLIT, "--backup", "undo", "a.dll"],
                                    {"a.dll": copied("a.dll", "split"), "a.dll.bak": same("a.dll.bak")},
                                    dlls=VARIABLES),
    "restore a split": Scenario(patched_by(*SPLIT, "--backup", "undo", begin=with_variables),
                                ["restore", "a.dll"], JOINED,
                                but_for(JOINED, ["a.dll.fixnvpe-undo"]), dlls=VARIABLES),
    "restore full": Scenario(patched_by(), ["restore", "a.dll"], {"a.dll": same("a.dll.bak")}),
    "restore full, a link": Scenario(patched_by(begin=linked), ["restore", "a.dll"],
                                     {"a.dll": same("a.dll.bak")} | CACHE),
    "restore undo": Scenario(patched_by("--backup", "undo"), ["restore", "a.dll"], REVERTED,
                             but_for(REVERTED, ["a.dll.fixnvpe-undo"])),
    "restore legacy": Scenario(legacy, ["restore", "a.dll"], {"a.dll": same("a.dll_bak")}),
    "restore --keep-backup": Scenario(patched_by(), ["restore", "--keep-backup", "a.dll"],
                                      {"a.dll": copied("a.dll.bak", "original"), "a.dll.bak": same("a.dll.bak")}),
    "clean": Scenario(with_leftovers, ["clean", "a.dll"], CLEANED, but_for(CLEANED, LEFTOVERS)),
    "clean --backups": Scenario(with_leftovers, ["clean", "--backups", "a.dll"], {"a.dll": same("a.dll")},
                            but_for({"a.dll": same("a.dll")}, ["a.dll.bak", *LEFTOVERS])),
}


class Places:
    """Fresh folders in the state that a scenario begins with, each a copy of one that was prepared."""

    def __init__(self, lab):
        self.lab = lab
        self.prepared = {}

    def __enter__(self):
        self.root = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_):
        self.root.cleanup()

    @contextlib.contextmanager
    def begin(self, title):
        """A folder; what is put beside it goes with it."""
        if title not in self.prepared:
            self.prepared[title] = pathlib.Path(self.root.name) / str(len(self.prepared))
            self.prepared[title].mkdir()
            SCENARIOS[title].prepare(self.lab, self.prepared[title])
        with tempfile.TemporaryDirectory() as top:
            folder = pathlib.Path(top) / "w"
            subprocess.run(["cp", "-a", self.prepared[title], folder], check=True)
            yield folder

    def arguments(self, title, folder, beside):
        """@param beside patch has a second file to work on, after the first"""
        arguments = SCENARIOS[title].arguments
        if not beside or arguments[0] != "patch":
            return arguments
        (folder / "z.dll").write_bytes(self.lab.original)
        # One after the other: strace counts the calls of each thread apart.
        return [*arguments, "-j", "1", "z.dll"]

    def calls(self, title, beside=False):
        """Those of the scenario's own file: what looks ahead at the second one counts, too, where strace counts."""
        with self.begin(title) as folder:
            calls = changing_calls(self.lab, folder, self.arguments(title, folder, beside))
        second = next((i for i, call in enumerate(calls) if "z.dll" in call.changed), len(calls))
        assert second, f"{title}: no changing call was seen"
        return calls[:second]
