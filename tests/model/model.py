"""Random sequences of steps on one DLL, held against a shadow of what its original is.

    model.py PROGRAM TESTDATA [--seed N] [--first N] [--count N] [--failures N]

builds.py has the builds that are put in place, steps.py the steps, shadow.py what the original is, judge.py what must
hold after each step. A sequence is made from the seed and its number alone; one that fails is printed, without the
steps that it fails without.
"""

import argparse
import pathlib
import sys
import tempfile
from collections import Counter
from random import Random

sys.dont_write_bytecode = True  # nothing is written into the sources

from builds import all_builds
from judge import RULES, Judge
from known import KNOWN
from shadow import Shadow
from steps import Lab, Step, random_mood, random_step

LONGEST = 14

def sequence(seed, n, builds):
    random = Random(f"{seed}/{n}")
    mood = random_mood(random, list(builds))
    first = Step("put", (random.choice(mood.builds),))
    return [first] + [random_step(random, mood) for _ in range(random.randint(3, LONGEST - 1))]


class Model:
    def __init__(self, program, builds, top):
        (top / "beside").mkdir()
        self.lab = Lab(program, builds, top)
        self.judge = Judge(self.lab, top / "beside")
        self.steps_taken = 0

    def run(self, steps):
        """@return the steps up to the first complaint, and that; or all, and None"""
        self.lab.begin()
        shadow = Shadow()
        for i, step in enumerate(steps):
            complaint = self.judge.take(step, shadow)
            self.steps_taken += 1
            if complaint:
                return steps[:i + 1], complaint
        return steps, None

    def shrunk(self, steps, complaint):
        """Without the steps that it breaks the same rule without, and without the faults."""
        smaller = True
        while smaller:
            smaller = False
            fewer = [steps[:i] + steps[i + 1:] for i in range(1, len(steps))]
            simpler = [steps[:i] + [plain] + steps[i + 1:] for i, step in enumerate(steps) for plain in
                       (step._replace(call="", which=0, fault=""), step._replace(lacks="")) if plain != step]
            for candidate in fewer + simpler:
                failed, other = self.run(candidate)
                if other and other.rule == complaint.rule:
                    steps, complaint, smaller = failed, other, True
                    break
        return steps, complaint


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("testdata", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--failures", type=int, default=5, help="end after so many")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    builds = all_builds(options.testdata.resolve())
    failures, tolerated, n = 0, Counter(), options.first
    with tempfile.TemporaryDirectory() as top:
        model = Model(options.program.resolve(), builds, pathlib.Path(top))
        for n in range(options.first, options.first + options.count):
            if failures == options.failures:
                break
            steps, complaint = model.run(sequence(options.seed, n, builds))
            if complaint is None:
                continue
            if flaw := next((flaw for flaw in KNOWN if flaw.is_it(complaint, steps)), None):
                tolerated[flaw] += 1
                continue
            failures += 1
            steps, complaint = model.shrunk(steps, complaint)
            print(f"\nsequence {n}, {complaint.rule}: {RULES[complaint.rule]}")
            print("".join(f"    {step}\n" for step in steps) + f"  {complaint.text.strip()}", flush=True)
    print(f"sequences {options.first} to {n}, {model.steps_taken} steps, {model.lab.killed} kills, {failures} failures")
    for flaw in KNOWN:
        print(f"known, met {tolerated[flaw]} times: {flaw.name}: {flaw.why}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
