"""Flaws of the program that are known and open: the only ones that are tolerated. What is mended is taken out."""

from typing import Callable, NamedTuple


class Flaw(NamedTuple):
    name: str
    why: str
    rule: str
    last: tuple   # what the step is after which it shows
    also: Callable = lambda steps, text: True

    def is_it(self, complaint, steps):
        last = steps[-1]
        return (complaint.rule == self.rule and self.also(steps, complaint.text) and
                (last.words[0] if last.is_program() else last.what) in self.last)


def were(*whats):
    """There were steps of each of these kinds."""
    return lambda steps, _: all(any(what == s.what or what in s.words for s in steps) for what in whats)


def with_no_check_sum(steps, _):
    return were("undo")(steps, _) and any(word.startswith("no-check-sum") for s in steps for word in s.words)


def with_half_done_edit(_, text):
    return "half way" in text


def with_error(_, text):
    return "exit status 2" in text


def with_one_told(_, text):
    return "was moved to" in text


def with_numbered_file(_, text):
    return ".bak.1'" in text or "undo.1'" in text


KNOWN = [
    Flaw("unsigned copy", "a backup with the same bits, of a DLL signed since, counts as an equal copy: restore "
         "puts it over the signed file", "wrong", ("sign",)),
    Flaw("unsigned copy, cleaned", "the same: clean removes it as equal", "vanished", ("clean",), were("sign")),
    Flaw("copy of the patched file", "a change of policy over an undo file edits the DLL back, then removes NAME.bak, "
         "which was equal before", "vanished", ("patch",), were("undo")),
    Flaw("fixNvPe.py over --aslr keep", "it leaves CheckSum stale, which contradicts the original's: that counts as "
         "another build's, and restore takes the patched NAME_bak", "wrong", ("fixNvPe.py",)),
    Flaw("undo file without CheckSum", "one of a build that has none is not held against the DLL's: it undoes what was "
         "never done to another build", "wrong", ("put", "link-from-cache", "patch"), with_no_check_sum),
    Flaw("two moves", "of two files that patch moves aside, only the last one is named", "unsaid", ("patch",),
         with_one_told),
    Flaw("restored twice", "the second restore removes an equal NAME_bak, and says restored", "again", ("restore",)),
    Flaw("numbered files", "restore looks at none, though what was moved aside may hold more than what stands there",
         "wrong", ("patch", "rm"), with_numbered_file),
    Flaw("moved, then failed", "what was moved aside before patch failed is not named", "unsaid", ("patch",),
         with_error),
    Flaw("half-done beside a backup", "the plan is made from the backup, so what the undo file says is never finished, "
         "and patch says again and again that it was; fixNvPe.py, or patch --backup none, makes a spent one look "
         "half-done", "again", ("patch",), with_half_done_edit),
]
