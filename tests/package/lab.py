"""What the checks share: the files, a folder that goes away, and running programs."""

import os
import pathlib
import shutil
import subprocess
import tempfile


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failure(what)


def equal(found, wanted, what):
    if found != wanted:
        raise Failure(f"{what}\n  expected: {wanted}\n  found:    {found}")


class Lab:
    def __init__(self, options):
        self.packages = pathlib.Path(os.environ.get("FIXNVPE_TEST_PACKAGES") or options.packages).resolve()
        self.source = options.source.resolve()
        self.tools = options.tools.resolve()
        self.runner = options.runner
        self.linux_build = self.source / "build" / "release"
        self.windows_build = self.source / "build" / "mingw"

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fixnvpe-package-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def one(self, pattern):
        found = list(self.packages.glob(pattern))
        expect(len(found) == 1, f"expected one {pattern} in {self.packages}, found: {found}")
        return found[0]

    @property
    def version(self):
        for line in (self.linux_build / "CMakeCache.txt").read_text().splitlines():
            if line.startswith("CMAKE_PROJECT_VERSION:"):
                return line.partition("=")[2]
        raise Failure("no version in build/release/CMakeCache.txt")

    @property
    def linux_wheel(self):
        return self.one("*linux*.whl")

    @property
    def windows_wheel(self):
        return self.one("*-win_amd64.whl")

    def run(self, *command, status=0, **more):
        """@return standard output. The environment is a bare one: no Python environment is active."""
        done = self.run_any(*command, **more)
        words = " ".join(map(str, command))
        equal(done.returncode, status, f"{words}: exit status\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run_any(self, *command, environment=None, **more):
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", "UV_OFFLINE": "1",
                "UV_CACHE_DIR": str(self.folder / "uv-cache")}
        more.setdefault("cwd", self.folder)
        return subprocess.run([str(word) for word in command], env={**bare, **(environment or {})}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300, **more)

    def run_windows(self, *command, **more):
        """As run(), through Wine."""
        return self.run_any(*self.runner, *command, environment={**os.environ, **more.pop("environment", {})}, **more)
