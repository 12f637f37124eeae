"""What must hold after each step: RULES has it in words."""

from typing import NamedTuple

from builds import is_whole, shown_to_be_two
from shadow import DLL, NOTHING, UNDO, bits_set, is_temporary, is_undo, read_record, take_back
from steps import Lab, Step, contents, look

RULES = {
    "lost": "the original is there, or restore gets it, unless it was given up by name",
    "wrong": "restore never says restored and leaves anything but the best that was there",
    "set": "patch clears bits, and sets none",
    "read-only": "what only looks changes nothing",
    "again": "a second run changes nothing",
    "vanished": "nothing that stood under a sidecar's name vanishes but what may",
    "unsaid": "what is moved is named",
    "cache": "what is hard-linked to a package cache is never written to",
    "crash": "the program ends by itself",
}


class Complaint(NamedTuple):
    rule: str
    text: str


def may_vanish(step, shadow, name, data, before, after):
    """Of a sidecar whose bytes are nowhere any more: an undo file that has nothing to undo, or whose original is there,
    or is explained by another one; what clean removes by its rules, but nothing half-done."""
    dll, now = before.get(DLL), after.get(DLL)
    undo, left = take_back(dll, data), take_back(now, data)
    if is_undo(name) and left.contents == now and not left.done:
        return True
    if is_undo(name) and shadow.key(undo.contents) != NOTHING:
        states = [*after.values(), *(take_back(now, d).contents for n, d in after.items() if is_undo(n))]
        half_done = undo.done and undo.open
        spent = not undo.done or left == (0, undo.done + undo.open, now)
        if spent or undo.contents in states or step.words[0] == "patch" and half_done and now != dll:
            return True
        return "--backups" in step.words and not half_done
    if step.words[0] != "clean":
        return False
    backup = read_record(data).headers if is_undo(name) else data
    return "--backups" in step.words or dll is not None and is_whole(dll) and bool(shown_to_be_two(dll, backup))


def was_half_done(files):
    """An edit that fails to be finished is taken back."""
    undo = take_back(files[DLL], files.get(UNDO, b""))
    return undo.done and undo.open


class Judge:
    """Looks at the folder before and after each step."""

    def __init__(self, lab, other_top):
        self.lab = lab
        self.beside = Lab(lab.program, {}, other_top)  # where restore is tried
        self.tried = {}

    def try_restore(self, files):
        """@return whether restore says restored, and the DLL after it"""
        key = frozenset(files.items())
        if key not in self.tried:
            self.beside.begin(files)
            said = self.beside.fixnvpe(Step("fixnvpe", ("restore", DLL)))
            self.tried[key] = "restored" in said.actions, contents(look(self.beside.folder)).get(DLL)
        return self.tried[key]

    def gettable(self, shadow, files):
        said, dll = self.try_restore(files)
        return shadow.key(dll) if said else NOTHING

    def take(self, step, shadow):
        """Takes a step. @return the first complaint, or None"""
        before = look(self.lab.folder)
        files = contents(before)
        if not step.is_program():
            self.lab.by_others(step, shadow)
            return next(self.can_be_restored(shadow, contents(look(self.lab.folder))), None)
        said = self.lab.fixnvpe(step)
        after = look(self.lab.folder)
        return next(self.complaints(step, shadow, before, files, said, after), None)

    def complaints(self, step, shadow, before, files, said, after):
        now = contents(after)
        if said.status not in (0, 1, 2) and not said.killed():
            yield Complaint("crash", str(said))
        if not step.writes():
            if after != before:
                yield Complaint("read-only", f"{sorted(before)} became {sorted(after)}")
            return
        yield from self.is_kept(step, shadow, files, now)
        if step.words[0] == "patch" and DLL in files and DLL in now and not said.killed():
            was, is_ = bits_set(files[DLL]), bits_set(now[DLL])
            finished = was_half_done(files) and shadow.key(now[DLL]).exact
            if not is_ <= was and not finished:
                yield Complaint("set", f"those at {was} became those at {is_}")
        yield from self.restored_the_best(shadow, files, now, said)
        yield from self.nothing_vanished(step, shadow, files, now, said)
        if poisoned := self.lab.poisoned():
            self.lab.fill_cache()
            yield Complaint("cache", f"{poisoned} was written to")
        yield from self.can_be_restored(shadow, now)
        if not step.fault:
            second = self.lab.fixnvpe(step)
            if look(self.lab.folder) != after:
                yield Complaint("again", f"{sorted(after)} became {sorted(look(self.lab.folder))}: {second}")

    def is_kept(self, step, shadow, files, now):
        """What is there, and what restore gets, is no worse than before."""
        was, own = shadow.best(files), shadow.key(files.get(DLL))
        given_up = "--backups" in step.words or "none" in step.words and own == was
        if given_up or shadow.is_broken(files):
            return
        is_, own_now = shadow.best(now), shadow.key(now.get(DLL))
        if is_ < was:
            yield Complaint("lost", f"there was {was}, now {is_}: {sorted(files)}, {sorted(now)}")
        was, is_ = max(own, self.gettable(shadow, files)), max(own_now, self.gettable(shadow, now))
        if is_ < was:
            yield Complaint("lost", f"restore would have got {was}, now {is_}: {sorted(files)}, {sorted(now)}")

    def restored_the_best(self, shadow, files, now, said):
        if "restored" not in said.actions:
            return
        if shadow.is_broken(files) and now.get(DLL) != files[DLL]:
            undone = [take_back(data, undo).contents for data in files.values()
                      for name, undo in files.items() if is_undo(name)]
            whole = now.get(DLL) in (*files.values(), *undone) and is_whole(now[DLL])
            if not whole or files[DLL] and files[DLL] not in now.values():
                yield Complaint("wrong", f"a broken file was restored, or lost: {sorted(now)}")
            shadow.put_in_place(now[DLL])
        elif shadow.key(now.get(DLL)) < shadow.best(files):
            yield Complaint("wrong", f"there was {shadow.best(files)}, it left {shadow.key(now.get(DLL))}: {said}")

    def can_be_restored(self, shadow, files):
        """Whatever state it is in: were it restored now, it would not be wrong."""
        said, dll = self.try_restore(files)
        if said and not shadow.is_broken(files) and shadow.key(dll) < shadow.best(files):
            left, best = shadow.key(dll), shadow.best(files)
            yield Complaint("wrong", f"restore would leave {left}, there is {best}: {sorted(files)}")

    def nothing_vanished(self, step, shadow, files, now, said):
        for name, data in files.items():
            if name == DLL or is_temporary(name):
                continue
            if data not in now.values():
                if not may_vanish(step, shadow, name, data, files, now):
                    yield Complaint("vanished", f"what was {name}: {sorted(files)} became {sorted(now)}: {said}")
            elif now.get(name) != data and not said.killed():
                new = [n for n, d in now.items() if d == data and n != DLL and files.get(n) != data]
                if new and data not in (files.get(DLL), now.get(DLL)) and not any(n in said.text for n in new):
                    yield Complaint("unsaid", f"{name} is {new} now: {said}")
