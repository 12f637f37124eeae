"""Says what was expected and did not happen."""

import json

from scenarios import unkept


class Judge:
    def __init__(self):
        self.complaints = []

    def expect(self, holds, where, what):
        if not holds:
            self.complaints.append(f"{where}: expected that {what}")

    def report(self, where, ended):
        """The JSON document of a run; it says what really became of the run."""
        try:
            report = json.loads(ended.stdout)
        except ValueError:
            self.expect(False, where, f"there is a JSON document: {ended.stdout}{ended.stderr}")
            return {"files": []}
        self.expect(report["exit_status"] == ended.returncode, where,
                    f"JSON says the exit status {ended.returncode}: {report['exit_status']}")
        return report

    def code(self, where, ended, *codes):
        """It fails, and says why in one of these words."""
        report = self.report(where, ended)
        said = [f["error"]["code"] for f in [*report["files"], report] if "error" in f]
        self.expect(ended.returncode == 2, where, f"exit status 2: {ended.returncode}: {ended.stderr}")
        self.expect(said and set(said) <= {*codes}, where, f"the reason is {' or '.join(codes)}: {said}: {ended.stderr}")

    def in_one_of(self, lab, where, states, before, after):
        wrong = [unkept(lab, state, before, after) for state in states]
        self.expect([] in wrong, where, f"the files are as promised: {min(wrong, key=len)}")
