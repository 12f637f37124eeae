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
    Flaw("signed", "an undo file of a DLL without CheckSum can't tell another build of the same headers, signed since",
         "wrong", ("sign",), with_no_check_sum),
]
