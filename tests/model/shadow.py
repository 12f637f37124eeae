"""The shadow: what the original of the DLL in place is, and how much of it a folder still holds. Knows bytes only."""

import json
from typing import NamedTuple

from builds import (is_split, is_whole, joined, layout_of, number, split, unsigned, with_check_sum,
                    with_number)

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


class Record(NamedTuple):
    """What an undo file says."""
    size: int
    headers: bytes   # of the original
    edits: list      # of (offset, width, before, after)
    pages: list      # of (address, size): what was split
    moves: bool      # and the NT headers were moved

    def edited(self):
        data = self.headers
        for offset, width, _, after in self.edits:
            data = with_number(data, offset, width, after)
        return split(data, self.pages, self.moves) if self.pages else data


def read_record(undo):
    """None: it is none."""
    try:
        record = json.loads(undo)
        edits = [(e["offset"], e["width"], e["before"], e["after"]) for e in record["edits"]]
        pages = [(p["address"], p["size"]) for p in record.get("split", [])]
        moves = record.get("moves_nt_headers", False)
        return Record(record["size"], bytes.fromhex(record["headers"]), edits, pages, moves)
    except (ValueError, KeyError, TypeError):
        return None


class TakenBack(NamedTuple):
    """A DLL and an undo file beside it."""
    done: int         # how many of its edits are carried out …
    open: int         # … and how many are not
    contents: bytes   # the original that it leads to; None: the undo file is not about this DLL


def take_back(dll, undo):
    nothing = TakenBack(0, 0, None)
    record = read_record(undo)
    if record is None or dll is None or len(dll) < record.size:
        return nothing
    contents = record.headers + dll[len(record.headers):record.size]
    signed_since = len(dll) > record.size
    window, edited = dll[:len(record.headers)], record.edited()
    if record.pages and not signed_since and all(w in (o, e) for w, o, e in zip(window, record.headers, edited)):
        return TakenBack(window != record.headers, window != edited, contents)
    if skeleton(contents) != skeleton(dll):
        return nothing
    if record.pages:
        check_sums = {number(d, layout_of(d).check_sum) for d in (record.headers, edited)}
        if not signed_since and number(window, layout_of(window).check_sum) not in check_sums:
            return nothing
        check_sum = layout_of(contents).check_sum
        if signed_since and number(contents, check_sum) and contents != with_check_sum(contents):
            return nothing
        return TakenBack(1, 0, contents)
    now = [number(window, offset, width) for offset, width, _, _ in record.edits]
    still_open = sum(value == before for value, (_, _, before, _) in zip(now, record.edits))
    explained = all(w in (o, e) for w, o, e in zip(window, record.headers, edited))
    if not signed_since and explained:
        return TakenBack(len(now) - still_open, still_open, contents)
    check_sum = layout_of(contents).check_sum
    if signed_since and number(contents, check_sum) and contents != with_check_sum(contents):
        return nothing
    if not signed_since and number(window, check_sum) not in (number(record.headers, check_sum),
                                                              number(edited, check_sum)):
        return nothing
    return TakenBack(len(now), 0, contents)


def broken_off(dll, undo, which):
    """The patched DLL with these of the edits not carried out, by number; None if it is not as they left it."""
    record = read_record(undo)
    if record is None or not dll.startswith(record.edited()):
        return None
    if record.pages:  # the first of its bytes were not written
        at = 128 * (1 + sum(which))
        return record.headers[:at] + dll[at:]
    for offset, width, before, _ in (record.edits[i] for i in which if i < len(record.edits)):
        dll = with_number(dll, offset, width, before)
    return dll


def skeleton(data):
    """What all files of one build have in common, patched or not, signed since or not."""
    data = joined(data)
    layout = layout_of(data)
    if layout is None:
        return data
    for bit in layout.bits:
        data = with_number(data, bit.offset, bit.width, number(data, bit.offset, bit.width) & ~bit.mask)
    return unsigned(with_number(data, layout.check_sum, 4, 0))


def bits_set(data):
    unsplit = set() if is_split(data) else {"not split"}
    data = joined(data)
    layout = layout_of(data)
    if layout is None:
        return set()
    return unsplit | {bit.offset for bit in layout.bits if number(data, bit.offset, bit.width) & bit.mask}


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
        if DLL not in files or is_whole(files[DLL]):
            return False
        undone = [take_back(files[DLL], data) for name, data in files.items() if is_undo(name)]
        return not any(undo.done and undo.open for undo in undone)
