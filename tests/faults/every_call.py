"""The modes that try every call that changes something: order, kill, error, interrupt."""

import shutil

from scenarios import DONE, SCENARIOS, Places, contents_of, files_of, unkept, untouched
from tracing import CHANGING_CALLS, run_with_fault, unsafe_order

ERRORS = ["ENOSPC", "EIO", "EACCES", "EPERM", "EROFS", "EINTR", "EXDEV", "EOPNOTSUPP"]
MORE_ERRORS = {"linkat": ["EMLINK"], "renameat2": ["EINVAL", "ENOSYS"], "fsync": ["EINVAL"], "openat": ["ETXTBSY"]}
CODES = {"ENOSPC": "disk-full", "EACCES": "access-denied", "EPERM": "access-denied", "EROFS": "access-denied",
         "ETXTBSY": "busy"}  # as "error.code" in the JSON output; any other: io

# Needs root, a file system with attributes, one that can't clone.
SEEN_NOT_EVERYWHERE = {"fchown", "fsetxattr", "ftruncate", "copy_file_range"}

# The only errors that may stay without consequence: (call, errors, on which files, why).
ANY = {*ERRORS, *sum(MORE_ERRORS.values(), [])}
IGNORABLE = [
    ("openat pwrite64 ftruncate copy_file_range fsync flock", {"EINTR"}, lambda call: True,
     "a signal broke it off: it is called again"),
    ("ioctl", ANY, lambda call: True, "no cloning: it copies"),
    ("copy_file_range", ANY - {"ENOSPC", "EIO"}, lambda call: True, "not in the kernel: it copies through memory"),
    ("linkat", {"EPERM", "EOPNOTSUPP", "EMLINK"}, lambda call: True, "no hard links: it renames the original"),
    ("renameat2", {"EINVAL", "ENOSYS"}, lambda call: True, "no exclusive renaming: it looks, then renames"),
    ("flock", {"EOPNOTSUPP"}, lambda call: call.on_temporary, "no locks: to have made the temporary is the lock"),
    ("flock", ANY, lambda call: call.on_temporary and call.which > 1, "the second look, at the lock that is our own"),
    ("openat", {"EACCES"}, lambda call: call.on_folder, "a folder that can't be read can't be flushed"),
    ("fsync", {"EINVAL"}, lambda call: call.on_folder, "a file system that has no such step"),
    ("unlink", ANY, lambda call: call.on_temporary, "the next run removes what a crash left"),
]


def part(files, dll):
    """The files of one DLL, named as if it were a.dll."""
    return {name.replace(dll, "a.dll"): file for name, file in files.items() if dll in name}


class Run:
    """One run with a fault, and what is there after it. Beside the scenario's a.dll, patch may have z.dll to work on."""

    def __init__(self, lab, judge, places, title, call, fault, where, beside=True):
        self.scenario = SCENARIOS[title]
        self.command = self.scenario.arguments[0]
        with places.begin(title) as folder:
            arguments = [*places.arguments(title, folder, beside), "--json"]
            before = files_of(folder)
            self.ended = run_with_fault(lab, folder, arguments, call, fault)
            after = files_of(folder)
        self.before, self.after = part(before, "a.dll"), part(after, "a.dll")
        if fault.startswith("error") and call.name == "unlink" and call.on_temporary:
            self.after.pop("a.dll.fixnvpe-tmp", None)  # it could not be removed
        self.broken = unkept(lab, self.scenario.done, self.before, self.after)
        self.files = judge.report(where, self.ended)["files"]
        mode = arguments[arguments.index("--backup") + 1] if "--backup" in arguments else "full"
        z_before, z_after = part(before, "z.dll"), part(after, "z.dll")
        self.z_broken = unkept(lab, SCENARIOS[f"patch {mode}"].done, z_before, z_after) if z_before else []
        self.z_begun = z_before != z_after
        self.tells_the_truth(judge, where)

    def tells_the_truth(self, judge, where):
        """What the JSON output says of each file is what became of it."""
        for file in self.files:
            name, done = file["path"], file["action"] == DONE[self.command]
            judge.expect(done or file["action"] == "none", where, f"{name} has an action of {self.command}'s: {file['action']}")
            judge.expect(not (done and "error" in file), where, f"{name} is done or an error: {file}")
            if self.command == "clean":
                judge.expect(not done or name not in self.after, where, f"{name} is gone if it says so")
                continue
            broken = self.z_broken if name == "z.dll" else self.broken
            judge.expect(not (done and broken), where, f"{name} is done if it says so: {broken}")
            judge.expect(done or "error" in file, where, f"{name} is done or an error: {file}")


def steps_in_order(lab, judge):
    with Places(lab) as places:
        for title in SCENARIOS:
            calls = places.calls(title)
            judge.expect(any(c.name == "fsync" for c in calls), title, "something is flushed")
            for complaint in unsafe_order(calls):
                judge.expect(False, title, f"a loss of power tears nothing apart: {complaint}")
    print(f"the steps of {len(SCENARIOS)} scenarios")


def nothing_is_lost(lab, judge, where, files, scenario):
    arguments, dll = scenario.arguments, files.get("a.dll")
    original, patched = getattr(lab, scenario.dlls[0]), [getattr(lab, name) for name in scenario.dlls[1]]
    whole = original in (dll, files.get("a.dll.bak"), files.get("a.dll_bak"))
    undoable = "a.dll.fixnvpe-undo" in files
    given_up = "none" in arguments or "--backups" in arguments
    judge.expect(whole or undoable or given_up, where, f"the original exists whole, or an undo file: {sorted(files)}")
    judge.expect(undoable or dll in (original, *patched), where, "the DLL is the original or patched")
    judge.expect(files.get("cache/a.dll", lab.original) == lab.original, where, "the cache's copy is as it was")
    return whole or undoable


def kill_everywhere(lab, judge):
    tried = 0
    with Places(lab) as places:
        for title, scenario in SCENARIOS.items():
            arguments = scenario.arguments
            with places.begin(title) as folder:
                before = files_of(folder)
                lab.run(folder, arguments)
                judge.in_one_of(lab, title, [scenario.done], before, files_of(folder))
                finished = contents_of(folder)
            for call in places.calls(title):
                where = f"{title}, killed at {call}"
                with places.begin(title) as folder:
                    killed = run_with_fault(lab, folder, arguments, call, "signal=SIGKILL")
                    judge.expect(killed.returncode in (-9, 137), where, f"it is killed: exit status {killed.returncode}")
                    tried += 1
                    files = contents_of(folder)
                    has_original = nothing_is_lost(lab, judge, where, files, scenario)

                    seen = lab.run(folder, ["verify", "a.dll"])
                    judge.expect(seen.returncode in (0, 1, 2), where, f"verify does not crash: {seen.returncode}")
                    judge.expect(contents_of(folder) == files, where, "verify writes nothing")

                    copy = folder.parent / "copy"
                    shutil.copytree(folder, copy)
                    again = lab.run(folder, arguments)
                    judge.expect(again.returncode == 0, where, f"the same command finishes: {again.stderr}")
                    judge.expect(contents_of(folder) == finished, where,
                                 f"all is as if it had not been killed: {sorted(files_of(folder))}")

                    # Or the user changes his mind.
                    other = lab.run(copy, ["patch" if arguments[0] == "restore" else "restore", "a.dll"])
                    files = contents_of(copy)
                    wanted = [getattr(lab, name) for name in
                              (scenario.dlls[1] if arguments[0] == "restore" else [scenario.dlls[0]])]
                    if has_original:
                        judge.expect(files["a.dll"] in wanted, where, f"then the other command works: {other.stderr}")
                    if other.returncode == 0:
                        judge.expect("a.dll.fixnvpe-tmp" not in files, where, "the other command removes the temporary")
    print(f"{tried} times killed")
    judge.expect(tried > 0, "all", "something was tried")


def rotated(faults, share, seed):
    """Each n-th fault of each kind of call, beginning with another one for another seed."""
    step = max(1, round(100 / share))
    chosen = []
    for name in CHANGING_CALLS:
        of_kind = [fault for fault in faults if fault[1].name == name]
        chosen += of_kind[seed % min(step, len(of_kind) or 1)::step]
    return chosen


def fail_everywhere(lab, judge, seed, share):
    with Places(lab) as places:
        faults = [(title, call, error) for title in SCENARIOS for call in places.calls(title, beside=True)
                  for error in ERRORS + MORE_ERRORS.get(call.name, [])]
        chosen = rotated(faults, share, seed)
        not_seen = {*CHANGING_CALLS} - {call.name for _, call, _ in chosen}
        judge.expect(not_seen <= SEEN_NOT_EVERYWHERE, "all", f"each kind of call fails: {sorted(not_seen)} not seen")
        ignored = sum(call_fails(lab, judge, places, *fault) for fault in chosen)
    print(f"not seen here: {sorted(not_seen)}")
    print(f"{len(chosen)} errors injected ({share} % of {len(faults)}), {ignored} of them without consequence, as they may be")


def call_fails(lab, judge, places, title, call, error):
    """@return True if the command did its work all the same"""
    where = f"{title}, {error} at {call}"
    run = Run(lab, judge, places, title, call, f"error={error}", where)
    judge.expect(not run.z_broken, where, f"the other file is done: {run.z_broken}")
    if run.ended.returncode == 0:
        judge.expect(any(call.name in calls.split() and error in errors and holds(call)
                         for calls, errors, holds, _ in IGNORABLE), where, "the error is told")
        judge.expect(not run.broken, where, f"it is done as promised: {run.broken}")
        return True
    codes = {CODES.get(error, "io")} | ({"busy"} if call.name == "flock" else set())  # of a leftover: it may be held
    judge.code(where, run.ended, *codes)
    judge.expect(any(line.startswith("fixnvpe: ") and "a.dll" in line for line in run.ended.stderr.splitlines()), where,
                 f"the message names the file: {run.ended.stderr}")
    states = [untouched(run.before), *run.scenario.halfway]
    if call.on_folder or call.name == "openat" and call.on_temporary:
        states += run.scenario.between
    if run.command == "clean" or call.on_folder or call.name in ("fsync", "unlink") and not call.on_temporary:
        # All is in place, but may not be on the disk; or what could not be removed went with the next file.
        states.append(run.scenario.done)
    judge.in_one_of(lab, where, states, run.before, run.after)
    return False


def interrupt_everywhere(lab, judge):
    stopped = finished = 0
    with Places(lab) as places:
        for title in SCENARIOS:
            alone, beside = places.calls(title), places.calls(title, beside=True)
            last_copy = max((i for i, c in enumerate(alone) if c.name in ("ioctl", "copy_file_range")), default=-1)
            for i, calls in enumerate(zip(alone, beside)):
                call = calls[i % 2]
                where = f"{title}, Ctrl-C at {call}"
                run = Run(lab, judge, places, title, call, "signal=SIGINT", where, beside=i % 2 == 1)
                judge.in_one_of(lab, where, [untouched(run.before), *run.scenario.halfway, run.scenario.done],
                                run.before, run.after)
                judge.expect(not run.z_begun or not run.z_broken, where, f"the other file is done or not begun: {run.z_broken}")
                judge.expect(i > last_copy or run.broken, where, "a copy is not finished first")
                all_done = not run.broken and not run.z_broken
                expected = 0 if all_done else 130
                judge.expect(run.ended.returncode == expected, where,
                             f"exit status {expected}: {run.ended.returncode}: {run.broken}, {run.z_broken}")
                judge.expect(("interrupted" in run.ended.stderr) != all_done, where,
                             f"it says so if something is left undone: {run.ended.stderr}")
                codes = {f["error"]["code"] for f in run.files if "error" in f}
                judge.expect(codes <= {"interrupted"}, where, f"nothing else goes wrong: {codes}")
                stopped += not all_done
                finished += all_done
    print(f"{stopped + finished} times Ctrl-C, {stopped} of them before all was done")
    judge.expect(stopped > 0 and finished > 0, "all", "some runs were stopped, and some had done all")
