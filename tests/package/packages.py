"""Holds what cmake/package.cmake makes against what it promises.

    packages.py CHECK PACKAGES SOURCE TOOLS [RUNNER...]

    tools           what comes from PyPI, installed into the folder TOOLS: uv, twine, check-wheel-contents
    contents        the zip and the .deb hold what they should, and the very programs that were tested; both run
    sums            SHA256SUMS names each file, and nothing else
    reproducible    the same programs make the same packages, byte for byte
    notices         the license of all that the compiler and the linker took is in THIRD-PARTY-NOTICES
    manifests       scoop's and winget's say what the zip is
    wheel           both wheels keep to the specification, and their tags to the truth
    wheel_tools     twine and check-wheel-contents have nothing to say
    pip             the real pip installs, runs and uninstalls the wheel
    uv              so do uv pip, uvx and uv tool
    action          what .github/actions/fixnvpe runs gets the program, and runs it
    windows         pip installs the wheel for Windows, and fixnvpe.exe runs
    windows_python  so does `python -m fixnvpe`, by the python.exe that FIXNVPE_WINDOWS_PYTHON in the environment names

PACKAGES is the folder that package.cmake made, RUNNER what starts a program of Windows. In the environment,
FIXNVPE_TEST_PACKAGES names another folder. A check that lacks a tool says so, and ends with 77: skipped.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the sources

import action
import archives
import install
import licences
import wheels
from lab import Failure, Lab, Skipped

CHECKS = {
    "action": action.check_action,
    "tools": install.fetch_tools,
    "contents": archives.check_contents,
    "sums": archives.check_sums,
    "reproducible": archives.check_reproducible,
    "notices": licences.check_notices,
    "manifests": archives.check_manifests,
    "wheel": wheels.check_format,
    "wheel_tools": wheels.check_with_tools,
    "pip": install.check_pip,
    "uv": install.check_uv,
    "windows": install.check_windows,
    "windows_python": install.check_windows_python,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("runner", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    try:
        with Lab(options) as lab:
            CHECKS[options.check](lab)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 77
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
