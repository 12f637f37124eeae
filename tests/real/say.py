"""What is said on the way, and what is kept of it for the end."""

import sys
import time


class Talk:
    def __init__(self):
        self.began = time.monotonic()
        self.failures = []
        self.skipped = []
        self.checks = 0

    def say(self, text):
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    def skip(self, what, why):
        self.skipped.append({"what": what, "why": why})
        self.say(f"SKIPPED {what}: {why}")

    def fail(self, text):
        self.failures.append(text)
        self.say(f"FAILED {text}")

    def check(self, right, text):
        """One thing that must hold. @param text what doesn't, if it doesn't"""
        self.checks += 1
        if not right:
            self.fail(text)
        return right

    def end(self):
        """The last words. @return the exit status"""
        for line in self.skipped:
            print(f"skipped: {line['what']}: {line['why']}")
        for text in self.failures:
            print(f"failed: {text}")
        print(f"{self.checks} checks, {len(self.failures)} failed, {len(self.skipped)} skipped")
        sys.stdout.flush()
        return 1 if self.failures else 0


def mib(count):
    return f"{count / 2**20:,.1f} MiB"


def gb(count):
    return f"{count / 1e9:.1f} GB"
