"""fixnvpe, and what it says."""

import json
import subprocess


class Fixnvpe:
    def __init__(self, program):
        self.program = program

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL)

    def json(self, *words):
        """@return its exit status and its document"""
        done = self.run(*words, "--json", "-v")
        return done.returncode, json.loads(done.stdout)
