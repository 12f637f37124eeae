"""Tries fixnvpe on real packages: cmake -P cmake/real.cmake builds it and runs this.

    real.py --source DIR --cache DIR --work DIR --program FILE --windows-program FILE [--large]

packages.py has the packages, fetch.py gets them, install.py installs them, check.py holds what fixnvpe says and does
against other programs, run_in_wine.py runs them (environment.py and wine.py do it, inside/ has what runs in there), and
report.py and picture.py tell of it. Nothing of the packages leaves the folders that are named.
"""

import argparse
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True  # nothing is written into the sources

import check
import fetch
import install
import picture
import report
import run_in_wine
import tools
from packages import read_packages
from program import Fixnvpe
from say import Talk


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "cache", "work", "program", "windows-program"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    talk = Talk()
    scratch = options.work / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)

    packages = read_packages(options.source / "testdata/real.tsv", options.large)
    if not fetch.say_disk(talk, packages, options.cache, options.work):
        return talk.end()
    packages = fetch.fetch(talk, packages, options.cache)
    if talk.failures:
        return talk.end()
    if not talk.check(packages, "none of the packages could be had, so nothing was tried"):
        return talk.end()
    programs = tools.python_tools(talk, options.cache)

    fixnvpe = Fixnvpe(options.program)
    rows = []
    for package in packages:
        talk.say(f"checking {package.title}")
        folder = scratch / "installed" / package.folder
        if install.install(talk, package, options.cache, folder):
            facts = check.check_package(talk, fixnvpe, folder, scratch / "policies", options.large)
            rows.append({"package": package.name, "version": package.version, "platform": package.platform, **facts})
    talk.say("installing by uv, in each link mode")
    links = install.check_uv(talk, fixnvpe, programs / "uv", packages, options.cache, scratch / "uv")
    ran = run_in_wine.run(talk, options, packages, scratch)

    result = report.assemble(talk, rows, links, ran, fixnvpe)
    report.write(result, options.work)
    picture.draw(talk, programs / "python3", options.work)
    if not talk.failures:  # else what failed is there to be looked at, until the next run
        shutil.rmtree(scratch, ignore_errors=True)
    return talk.end()


if __name__ == "__main__":
    sys.exit(main())
