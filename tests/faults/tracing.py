"""Runs fixnvpe under strace: lists the calls that change something, and injects a fault at exactly one of them."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
from typing import NamedTuple

CHANGING_CALLS = [
    "openat", "pwrite64", "ftruncate", "copy_file_range", "ioctl", "linkat", "rename", "renameat2", "unlink",
    "fchmod", "fchown", "fsetxattr", "fsync", "flock",
]
STRACE = ["strace", "-f", "-qq"]
QUICK = [*STRACE, "--seccomp-bpf"]  # only the calls that are asked for cost time; no signal can be injected


class Call(NamedTuple):
    name: str
    which: int      # counted over all calls of that name in the whole run, as strace counts
    paths: tuple    # what it names, relative to the folder: one, or from and to; "." is the folder

    @property
    def changed(self):
        return self.paths[-1]

    @property
    def on_temporary(self):
        return self.changed.endswith(".fixnvpe-tmp")

    @property
    def on_folder(self):
        return self.changed == "."

    def __str__(self):
        return f"{self.name} #{self.which} ({' -> '.join(self.paths)})"


def paths_of(name, rest, folder):
    if name in ("openat", "linkat", "rename", "renameat2", "unlink"):
        return tuple(re.findall(r'"([^"]*)"', rest))
    opened = [p.replace(str(folder), "", 1).lstrip("/") or "." for p in re.findall(r"\d<([^<>]*)>", rest)]
    return tuple(opened[:2] if name == "copy_file_range" else opened[:1])


def changes_something(name, rest):
    """Opening a folder changes nothing, but it is the first half of flushing it."""
    if name == "openat":
        return re.search(r"O_CREAT|O_RDWR|O_WRONLY|O_DIRECTORY", rest)
    return name != "ioctl" or re.search(r"FICLONE|BTRFS_IOC_CLONE", rest)


def changing_calls(lab, folder, arguments):
    """The calls that a run of these arguments changes something with, in their order. Runs it."""
    log = folder.parent / "log"
    traced = lab.run(folder, arguments, [*QUICK, "-y", "-o", str(log), "-e", "trace=" + ",".join(CHANGING_CALLS)])
    assert traced.returncode == 0, f"{arguments}: {traced.stderr}"
    calls, seen = [], {}
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"\d+\s+(\w+)\((.*)", line)
        if not match:
            continue
        name, rest = match.groups()
        seen[name] = seen.get(name, 0) + 1
        if changes_something(name, rest):
            calls.append(Call(name, seen[name], paths_of(name, rest, folder)))
    only_listed = {i for i, call in enumerate(calls) if call.name == "openat" and call.on_folder and
                   not (i + 1 < len(calls) and calls[i + 1].name == "fsync" and calls[i + 1].on_folder)}
    return [call for i, call in enumerate(calls) if i not in only_listed]


def run_with_fault(lab, folder, arguments, call, fault):
    """Runs the program with a fault of strace's at that call."""
    strace = STRACE if fault.startswith("signal") else QUICK
    return lab.run(folder, arguments, [*strace, "-o", "/dev/null", "-e", f"trace={call.name}", "-e",
                                       f"inject={call.name}:{fault}:when={call.which}"])


@contextlib.contextmanager
def held_after(lab, folder, arguments, call):
    """The program, stopped after that call; it goes on when it is asked for what it said."""
    strace = subprocess.Popen([*STRACE, "-e", f"trace={call.name}", "-e",
                               f"inject={call.name}:signal=SIGSTOP:when={call.which}", str(lab.program), *arguments],
                              cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in strace.stderr:
        if "stopped by SIGSTOP" in line:
            break
    else:
        raise AssertionError(f"{arguments} ended before {call}")
    program = int(pathlib.Path(f"/proc/{strace.pid}/task/{strace.pid}/children").read_text().split()[0])

    def go_on():
        os.kill(program, signal.SIGCONT)
        out, err = strace.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, strace.returncode, out, err)

    try:
        yield go_on
    finally:
        if strace.poll() is None:
            os.kill(program, signal.SIGKILL)
            strace.communicate()


def unsafe_order(calls):
    """What a loss of power could tear apart, though each call works. Only what was flushed is sure to be there.

    A file is flushed, metadata and all, before it gets its name or the run ends. The name of an undo file is flushed
    before the edit that it explains, and the edit before the undo file goes. What was renamed, linked or removed is
    flushed with the folder before the run ends.
    """
    written, named = set(), set()  # and not flushed yet
    for call in calls:
        in_place = not call.on_temporary
        if call.name in ("pwrite64", "ftruncate", "copy_file_range", "ioctl", "fchmod", "fchown", "fsetxattr"):
            if in_place and (named or written - {call.changed}):
                yield f"{call}: edited in place while {sorted(named | written)} are not flushed"
            written.add(call.changed)
        elif call.name == "fsync" and call.on_folder:
            named.clear()
        elif call.name == "fsync":
            written.discard(call.changed)
        elif call.name == "unlink" and call.on_temporary:
            written.discard(call.changed)
        elif call.name in ("rename", "renameat2", "linkat", "unlink"):
            if written:
                yield f"{call}: while {sorted(written)} are not flushed"
            named.add(call.changed)
    if written or named:
        yield f"at the end {sorted(written | named)} are not flushed"
