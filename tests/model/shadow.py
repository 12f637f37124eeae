"""The shadow: what the original of the DLL in place is, and how much of it a folder still holds. Knows bytes only."""

import json
from typing import NamedTuple

from builds import is_whole, layout_of, number, unsigned, with_number

DLL = "x.dll"
BACKUP, LEGACY, UNDO = f"{DLL}.bak", f"{DLL}_bak", f"{DLL}.fixnvpe-undo"


def is_undo(name):
    return name.startswith(UNDO) and not is_temporary(name)


def is_temporary(name):
    return name.endswith(".fixnvpe-tmp")


class Key(NamedTuple):
    """How good a file is as the original: the more the better."""
    exact: bool
    bits: int   # of those that a patch clears, how many are set


NOTHING = Key(False, -1)


class TakenBack(NamedTuple):
    """A DLL and an undo file beside it."""
    done: int         # how many of its edits are carried out …
    open: int         # … and how many are not
    contents: bytes   # the DLL with none carried out; None: the undo file is not about this DLL


def take_back(dll, undo, only=None):
    """@param only which of the edits, by number; else all"""
    nothing = TakenBack(0, 0, None)
    try:
        record = json.loads(undo)
        edits = [(e["offset"], e["width"], e["before"], e["after"]) for e in record["edits"]]
    except (ValueError, KeyError, TypeError):
        return nothing
    if dll is None or record.get("size") != len(dll):
        return nothing
    done = still_open = 0
    for i, (offset, width, before, after) in enumerate(edits):
        now = number(dll, offset, width)
        if now not in (before, after):
            return nothing
        done += now == after
        still_open += now == before
        dll = with_number(dll, offset, width, before) if only is None or i in only else dll
    return TakenBack(done, still_open, dll)


def skeleton(data):
    """What all files of one build have in common, patched or not, signed since or not."""
    layout = layout_of(data)
    if layout is None:
        return data
    for bit in layout.bits:
        data = with_number(data, bit.offset, bit.width, number(data, bit.offset, bit.width) & ~bit.mask)
    return unsigned(with_number(data, layout.check_sum, 4, 0))


def bits_set(data):
    layout = layout_of(data)
    if layout is None:
        return set()
    return {bit.offset for bit in layout.bits if number(data, bit.offset, bit.width) & bit.mask}


class Shadow:
    """Follows one DLL."""

    def __init__(self):
        self.original = None

    def put_in_place(self, data):
        self.original = data

    def signed_in_place(self, before, after, files):
        """If it was the original, then what is signed is the original; if it was patched, that stays what it was."""
        if self.key(before) == self.best(files):
            self.original = after

    def key(self, data):
        if data is None or skeleton(data) != skeleton(self.original) or not bits_set(data) <= bits_set(self.original):
            return NOTHING
        return Key(data == self.original, len(bits_set(data)))

    def best(self, files):
        """The best that is there, be it only by taking back what an undo file says."""
        dll = files.get(DLL)
        found = [self.key(dll)]
        for name, data in files.items():
            if is_undo(name):
                found.append(self.key(take_back(dll, data).contents))
            elif not is_temporary(name):
                found.append(self.key(data))
        return max(found)

    def is_broken(self, files):
        """Cut short or empty: restore may put any whole backup in its place."""
        return DLL in files and not is_whole(files[DLL])
