"""Breaks fixnvpe off at every system call that changes something, and makes every such call fail.

    faults.py MODE PROGRAM TESTDATA [--seed N] [--share PERCENT] [--seconds S]

    order      the steps of each run come in the order that a loss of power needs
    kill       killed at each call: nothing is lost, and the same command finishes the job
    error      each call fails in each way (or a share of them): done as promised, or an error is told and nothing is lost
    interrupt  Ctrl-C at each call: what was begun is finished or undone, and what was not is told
    race       16 processes at once for some seconds: each file ends as one of the two
    replace    another program puts another file in place before fixnvpe writes: that file is left alone
    swap       a folder gives way to a link after it was listed: what lies behind it is left alone
    disk       a real full disk, a small one mounted for it: refused before anything is written, and when it fills midway

scenarios.py says what is done and what is promised. tracing.py finds the calls, by running each scenario once under
strace; then it runs again for each of them, with the fault injected at exactly that one.
"""

import argparse
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the sources

import every_call
import others
from judge import Judge
from scenarios import Lab

MODES = {
    "order": lambda lab, judge, options: every_call.steps_in_order(lab, judge),
    "kill": lambda lab, judge, options: every_call.kill_everywhere(lab, judge),
    "error": lambda lab, judge, options: every_call.fail_everywhere(lab, judge, options.seed, options.share),
    "interrupt": lambda lab, judge, options: every_call.interrupt_everywhere(lab, judge),
    "race": lambda lab, judge, options: others.race(lab, judge, options.seed, options.seconds),
    "replace": lambda lab, judge, options: others.replace_before_writing(lab, judge),
    "swap": lambda lab, judge, options: others.folder_swapped(lab, judge),
    "disk": lambda lab, judge, options: others.full_disk(lab, judge),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("testdata", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    if options.mode == "disk" and os.geteuid() != 0:  # who may mount one in a namespace of their own
        os.execvp("unshare", ["unshare", "--map-root-user", "--mount", sys.executable, *sys.argv])
    print(f"seed {options.seed}")
    judge = Judge()
    MODES[options.mode](Lab(options.program.resolve(), options.testdata.resolve()), judge, options)
    for complaint in judge.complaints[:40]:
        print(complaint)
    print(f"{len(judge.complaints)} complaints")
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
