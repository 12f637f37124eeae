"""What cmake/real.cmake says where something is amiss, without a network: a damaged archive, no client, a client that
can't reach its registry, too little disk; and that its checks notice what they are for.

    told.py PROGRAM TESTDATA
"""

import contextlib
import dataclasses
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written into the sources

import check
import fetch
from packages import Package, read_packages
from program import Fixnvpe
from say import Talk

PROGRAM, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2])
WHEEL = Package("small", "pypi", "no-such-thing-as-this", "1.0", "win_amd64", "3.10", "thing.whl", 5, 5,
                "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")  # of "hello"
# A client that makes a file of these bytes, where mvn is told to.
BRINGS = 'for word; do case $word in -DoutputDirectory=*) printf {} > "${{word#*=}}/thing.jar";; esac; done'
JAR = dataclasses.replace(WHEEL, ecosystem="maven", name="org.example:thing", archive="thing.jar")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.environment = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(self.environment)))
        self.talk = Talk()
        self.archives = self.folder / "archives"
        self.archives.mkdir()


class Told(Case):
    def put_client(self, name, script):
        """The only program on PATH, but for those of the system."""
        client = self.folder / "bin" / name
        client.parent.mkdir(exist_ok=True)
        client.write_text(f"#!/bin/sh\n{script}\n")
        client.chmod(0o755)
        os.environ["PATH"] = f"{client.parent}:/bin"

    def fetch(self, package):
        return fetch.fetch(self.talk, [package], self.folder)

    def test_whole_archive_is_taken_from_the_cache(self):
        (self.archives / "thing.whl").write_text("hello")
        os.environ["PATH"] = ""
        self.assertEqual(self.fetch(WHEEL), [WHEEL])
        self.assertEqual((self.talk.failures, self.talk.skipped, self.talk.end()), ([], [], 0))

    def test_damaged_archive_is_an_error_that_names_it(self):
        (self.archives / "thing.whl").write_text("hallo")
        self.assertEqual(self.fetch(WHEEL), [])
        self.assertEqual(self.talk.end(), 1)
        archive = self.archives / "thing.whl"
        for word in (str(archive), WHEEL.sha256, fetch.sha256(archive), "Remove it"):
            self.assertIn(word, self.talk.failures[0])

    def test_archive_that_came_otherwise_is_an_error(self):
        self.put_client("mvn", BRINGS.format("hallo"))
        self.assertEqual(self.fetch(JAR), [])
        self.assertIn("SHA-256", self.talk.failures[0])

    def test_what_a_client_brings_is_kept(self):
        self.put_client("mvn", BRINGS.format("hello"))
        self.assertEqual(self.fetch(JAR), [JAR])
        self.assertEqual((self.archives / "thing.jar").read_text(), "hello")

    def test_missing_client_is_skipped_and_counted(self):
        os.environ["PATH"] = str(self.folder)
        self.assertEqual(self.fetch(JAR), [])
        self.assertEqual(self.talk.skipped,
                         [{"what": "org.example:thing 1.0", "why": "there is no mvn (Debian: maven)"}])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(self.talk.end(), 0)
        self.assertIn("1 skipped", said.getvalue())

    def test_no_network(self):
        self.put_client("mvn", "echo '[ERROR] repo.example: Temporary failure in name resolution' >&2; exit 1")
        self.assertEqual(self.fetch(JAR), [])
        self.assertIn("mvn could not get it: no network, or not to its registry: Temporary failure",
                      self.talk.skipped[0]["why"])

    def test_what_a_registry_does_not_have_is_told_in_the_words_of_the_client(self):
        self.put_client("mvn", "printf '\\033[1m[INFO]\\n\\033[31m[ERROR] Could not find artifact\\n' >&2; exit 1")
        self.assertEqual(self.fetch(JAR), [])
        self.assertEqual(self.talk.skipped[0]["why"], "mvn could not get it: [ERROR] Could not find artifact")

    def test_no_network_for_pip(self):
        os.environ.update({"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"})
        self.assertEqual(self.fetch(WHEEL), [])
        self.assertIn("pip could not get it: no network", self.talk.skipped[0]["why"])
        self.assertEqual(os.listdir(self.archives), [])

    def test_too_little_disk(self):
        self.assertTrue(fetch.say_disk(self.talk, [WHEEL], self.folder, self.folder))
        large = dataclasses.replace(WHEEL, unpacked=1 << 60)
        self.assertFalse(fetch.say_disk(self.talk, [large], self.folder, self.folder))
        self.assertIn("not enough disk", self.talk.failures[0])

    def test_table_of_packages(self):
        small, all_of_them = (read_packages(TESTDATA / "real.tsv", large) for large in (False, True))
        self.assertTrue(0 < len(small) < len(all_of_them))
        self.assertEqual(len({package.archive for package in all_of_them}), len(all_of_them))
        for package in all_of_them:
            self.assertRegex(package.sha256, "^[0-9a-f]{64}$")
            self.assertEqual(package.ecosystem == "pypi", package.python != "")


class Noticed(Case):
    """The checks of a package, with files of testdata, and with a program that does something else, too."""

    def setUp(self):
        super().setUp()
        self.package = self.folder / "package"
        self.package.mkdir()
        for name in ("x64-writable.dll", "x64-read-only.dll", "x64-signed.dll", "x64-check-sum-zero.dll"):
            shutil.copy(TESTDATA / "pe" / name, self.package)

    def check_package(self, also="", everything=False):
        """@param also what the program does after each command, to `$dll`"""
        program = self.folder / "program"
        program.write_text(f'#!/bin/sh\n{PROGRAM} "$@"\nstatus=$?\nfor dll in {self.package}/x64-writable.dll '
                           f'{self.folder}/work/*.dll; do\n  command=$1; [ -e "$dll" ] || continue\n  {also or ":"}\n'
                           f'done\nexit $status\n')
        program.chmod(0o755)
        return check.check_package(self.talk, Fixnvpe(program), self.package, self.folder / "work", everything)

    def noticed(self, words):
        self.assertTrue(any(words in failure for failure in self.talk.failures), self.talk.failures)

    def test_nothing_amiss(self):
        facts = self.check_package(everything=True)
        self.assertEqual(self.talk.failures, [])
        self.assertEqual((facts["files"], facts["with_gpu_code"], facts["patched"], facts["signed"]), (4, 4, 3, 1))
        self.assertGreater(facts["commit_now"], facts["commit_after"])

    def poke(self, offset, command):
        return (f"[ $command = {command} ] && printf '\\377' | dd of=\"$dll\" bs=1 seek={offset} conv=notrunc "
                f"2>/dev/null")

    def test_byte_outside_the_plan(self):
        self.check_package(self.poke(1000, "patch"))
        self.noticed("bytes outside the plan changed: [1000]")

    def test_wrong_check_sum(self):
        self.check_package(self.poke(128 + 24 + 64, "patch"))
        self.noticed("CheckSum was right, and is not")

    def test_byte_that_restore_leaves(self):
        self.check_package(self.poke(1000, "restore"))
        self.noticed("did not give back every byte")

    def test_other_time_after_restore(self):
        self.check_package('[ $command = restore ] && touch "$dll"')
        self.noticed("another mtime")

    def test_command_that_only_looks_and_writes(self):
        self.check_package(self.poke(1000, "verify"))
        self.noticed("x64-writable.dll")

    def test_file_that_is_left_behind(self):
        self.check_package('[ $command = restore ] && : > "$dll.left"')
        self.noticed("other files than before")

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
