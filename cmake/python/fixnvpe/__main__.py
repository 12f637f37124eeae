"""`python -m fixnvpe`: runs the program that came with this package, and names this Python to it.

It runs on Python 3.6 and later: those that need fixnvpe most are old.
"""

import os
import subprocess
import sys
import sysconfig


def places(package, system=os.name):
    """Where the program may lie, seen from the folder that the package is in.

    The way from site-packages to the scripts is the same for a prefix of any name, but another for the user's own; and
    `--target` makes a bin beside the packages.
    """
    folders = []
    for scheme in (None, system + "_user"):
        of_scheme = {} if scheme is None else {"scheme": scheme}
        if scheme is None or scheme in sysconfig.get_scheme_names():
            scripts = sysconfig.get_path("scripts", **of_scheme)
            for packages in ("platlib", "purelib"):
                way = os.path.relpath(scripts, sysconfig.get_path(packages, **of_scheme))
                folders.append(os.path.normpath(os.path.join(package, way)))
    folders.append(os.path.join(package, "bin"))
    name = "fixnvpe" + (sysconfig.get_config_var("EXE") or "")
    return [os.path.join(folder, name) for folder in folders]


def run(program, words):
    """Does not return where a program can take another's place: signals then reach it, and its end is this one's."""
    command = [program] + words
    environment = dict(os.environ, FIXNVPE_PYTHON=sys.prefix)
    if os.name != "nt":
        os.execve(program, command, environment)
    child = subprocess.Popen(command, env=environment)
    while True:
        try:
            status = child.wait()
            break
        except KeyboardInterrupt:
            pass  # the console told the program, too, and how that ends is what counts
    return status - (1 << 32) if status >= 1 << 31 else status  # sys.exit takes no more


def main():
    candidates = places(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for program in candidates:
        if os.path.isfile(program):
            return run(program, sys.argv[1:])
    print("fixnvpe: its program is not where it was installed to: " + ", ".join(sorted(set(candidates))), file=sys.stderr)
    print("install it again: pip install --force-reinstall fixnvpe", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
