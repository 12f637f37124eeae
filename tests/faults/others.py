"""The modes in which something else comes in between: race, replace, disk."""

import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

from scenarios import DONE, SCENARIOS, Places, contents_of, files_of, same, untouched
from tracing import Call, held_after


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
                done = lab.run(folder, [*arguments, *rng.sample(names, 3), "--json"])
                report = judge.report(" ".join(arguments), done)
                said = [f.get("error", {"code": f["action"]})["code"] for f in report["files"]]
                for word in said:
                    counts[word] = counts.get(word, 0) + 1
                judge.expect(done.returncode in (0, 2), arguments, f"no run crashes: {done.returncode}: {done.stderr}")
            return counts

        totals = {}
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for counts in pool.map(work, range(16)):
                for word, n in counts.items():
                    totals[word] = totals.get(word, 0) + n
        judge.expect(totals.get("patched", 0) > 0 and totals.get("restored", 0) > 0, "race", "some runs get their turn")
        # no-backup, not-found: it looked, without the lock yet, while the backup was put back.
        judge.expect(totals.keys() <= {*DONE.values(), "none", "busy", "changed", "no-backup", "not-found"}, "race",
                     f"the others are told that the file is busy or has changed: {totals}")
        files = contents_of(folder)
        for name in names:
            judge.expect(files[name] in (lab.original, lab.patched), name, "it ends as the original or patched")
            backup = name + ".bak" in files or name + ".fixnvpe-undo" in files
            judge.expect(files[name] == lab.original or backup, name, "a patched file has its backup")
            judge.expect(files.get(name + ".bak", lab.original) == lab.original, name, "its backup is the original")
        done = lab.run(folder, ["restore", *names])
        judge.expect(done.returncode == 0, "race", f"restore works afterwards: {done.stderr}")
        files = contents_of(folder)
        judge.expect(files == {name: lab.original for name in names}, "race",
                     f"restore gives back every byte, and nothing is left: {sorted(files)}")
    print(f"16 processes; what became of the files: {totals}")


REPLACED = ["patch full", "patch undo", "patch none", "patch full, hard-linked", "restore full", "restore undo",
            "restore --keep-backup"]


def moments_before_writing(calls):
    """Just before it makes its temporary, and after each later step until it opens, renames or links the file."""
    first = next(call for call in calls if call.name == "openat")
    yield first._replace(which=first.which - 1, paths=("the call before its temporary",))
    for call in calls:
        if call.changed == "a.dll" or call.name in ("linkat", "renameat2"):
            return
        yield call


def replace_before_writing(lab, judge):
    """At each such moment it is stopped, and meanwhile another build takes the file's place, or the same one again."""
    held = 0
    with Places(lab) as places:
        for title in REPLACED:
            for i, call in enumerate(moments_before_writing(places.calls(title))):
                for build in ("another build", "the same build"):
                    replaced(lab, judge, places, title, call, build)
                    held += 1
                # At the first it need not have looked yet; the time of a file of several names tells of these, too.
                if i > 0 and "hard-linked" not in title:
                    written_to(lab, judge, places, title, call)
                    held += 1
    print(f"{held} times a file was replaced, or written to, before the first write")
    judge.expect(held > 0, "all", "files were replaced")


def replaced(lab, judge, places, title, call, build):
    where = f"{title}, replaced by {build} after {call}"
    arguments = [*SCENARIOS[title].arguments, "--json"]
    with places.begin(title) as folder:
        (folder / "upgrade").write_bytes(lab.other_build if build == "another build" else (folder / "a.dll").read_bytes())
        before = files_of(folder)
        with held_after(lab, folder, arguments, call) as go_on:
            os.rename(folder / "upgrade", folder / "a.dll")
            ended = go_on()
        after = files_of(folder)
    expected = untouched(before) | {"a.dll": same("upgrade")}
    del expected["upgrade"]
    if "undo" in arguments:
        after.pop("a.dll.fixnvpe-undo", None)  # of the file that was replaced: known as stale
    judge.code(where, ended, "changed")
    judge.in_one_of(lab, where, [expected], before, after)


def written_to(lab, judge, places, title, call):
    """In place, and its time is put back: only the time of its last change tells."""
    where = f"{title}, written to after {call}"
    with places.begin(title) as folder:
        dll = folder / "a.dll"
        with held_after(lab, folder, [*SCENARIOS[title].arguments, "--json"], call) as go_on:
            modified = dll.stat().st_mtime_ns
            with open(dll, "r+b") as file:
                file.seek(-1, os.SEEK_END)
                file.write(b"!")
            os.utime(dll, ns=(modified, modified))
            written = files_of(folder)["a.dll"]
            ended = go_on()
        after = files_of(folder)
    judge.code(where, ended, "changed")
    judge.expect(after.get("a.dll") == written, where, "the file is as the other program left it")


SWAPPED = ["patch full", "patch undo", "patch none", "restore full", "restore undo", "clean"]


def folder_swapped(lab, judge):
    """After each listing a folder gives way to a link: what lies behind it nobody named."""
    listings = 2 * len(("tree", "tree/sub", "tree/sub/deep"))
    with Places(lab) as places:
        for title in SWAPPED:
            for which in range(1, listings + 1):
                for swapped in ("sub", "sub/deep"):
                    swapped_for_a_link(lab, judge, places, title, which, swapped)
    print(f"{len(SWAPPED) * listings * 2} times a folder was swapped for a link after it was found")


def swapped_for_a_link(lab, judge, places, title, which, swapped):
    where = f"{title}, {swapped} swapped for a link after listing {which}"
    with places.begin(title) as folder:
        tree, outside = folder.parent / "tree", folder.parent / "outside"
        shutil.copytree(folder, tree / "sub" / "deep")
        shutil.copytree(folder, outside / "deep")
        before = files_of(outside)
        arguments = [*SCENARIOS[title].arguments[:-1], "."]
        with held_after(lab, tree, arguments, Call("getdents64", which, (swapped,))) as go_on:
            (tree / swapped).rename(folder.parent / "taken-away")
            (tree / swapped).symlink_to(outside if swapped == "sub" else outside / "deep")
            ended = go_on()
        judge.expect(files_of(outside) == before, where, "nothing behind the link is touched")
        said = "replaced the folder meanwhile" in ended.stderr or "not followed" in ended.stdout + ended.stderr
        judge.expect(ended.returncode == 2 or said, where, f"it is told: {ended}")


DISK, BIG, SMALL, MIB = 8 << 20, 5 << 20, 3 << 20, 1 << 20


def free_on(folder):
    s = os.statvfs(folder)
    return s.f_bavail * s.f_frsize


def full_disk(lab, judge):
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", top], capture_output=True, text=True)
        if mounted.returncode != 0:
            judge.expect(False, "disk", f"a small tmpfs can be mounted: {mounted.stderr}")
            return
        try:
            (folder / "a.dll").write_bytes((lab.original + b"overlay" * BIG)[:BIG])
            too_small(lab, judge, folder)
            (folder / "a.dll").write_bytes((folder / "a.dll").read_bytes()[:SMALL])
            fills_midway(lab, judge, folder)
            without_any_room(lab, judge, folder)
        finally:
            subprocess.run(["umount", top], check=True)
    print("full disks: too small from the start, filled midway, without any room")


def too_small(lab, judge, folder):
    where, before = "too small a disk", contents_of(folder)
    refused = lab.run(folder, ["patch", "--json", "a.dll"])
    judge.code(where, refused, "disk-full")
    judge.expect("5.0 MiB" in refused.stderr, where, f"it says what is needed: {refused.stderr}")
    judge.expect(contents_of(folder) == before, where, "all is as before")
    traced = lab.run(folder, ["patch", "a.dll"], ["strace", "-f", "-qq", "-e", "trace=pwrite64,copy_file_range,ftruncate"])
    judge.expect("pwrite64(" not in traced.stderr and "ftruncate(" not in traced.stderr and
                 "copy_file_range(" not in traced.stderr, where, f"nothing is written: {traced.stderr}")

    done = lab.run(folder, ["patch", "--backup", "undo", "a.dll"])
    judge.expect(done.returncode == 0, where, f"--backup undo works: {done.stderr}")
    done = lab.run(folder, ["restore", "a.dll"])
    judge.expect(done.returncode == 0 and contents_of(folder) == before, where, f"and restore: {done.stderr}")


def fills_midway(lab, judge, folder):
    """There is room at first; while it is stopped, somebody else takes it."""
    where, before = "a disk that fills", contents_of(folder)
    with held_after(lab, folder, ["patch", "--json", "a.dll"], Call("ftruncate", 1, ("a.dll.fixnvpe-tmp",))) as go_on:
        (folder / "eater").write_bytes(b"x" * (free_on(folder) - MIB))
        ended = go_on()
    judge.code(where, ended, "disk-full")
    judge.expect("a.dll" in ended.stderr, where, f"it names the file: {ended.stderr}")
    (folder / "eater").unlink()
    judge.expect(contents_of(folder) == before, where, f"all is as before: {sorted(files_of(folder))}")
    done = lab.run(folder, ["patch", "a.dll"])
    judge.expect(done.returncode == 0, where, f"with room again, patch works: {done.stderr}")
    lab.run(folder, ["restore", "a.dll"])
    judge.expect(contents_of(folder) == before, where, "and restore")


def without_any_room(lab, judge, folder):
    """Not even an undo file fits."""
    where, before = "a disk without any room", contents_of(folder)
    (folder / "eater").write_bytes(b"x" * free_on(folder))
    judge.code(where, lab.run(folder, ["patch", "--json", "--backup", "undo", "a.dll"]), "disk-full")
    (folder / "eater").unlink()
    judge.expect(contents_of(folder) == before, where, f"all is as before: {sorted(files_of(folder))}")
