"""Programs for Windows, run in Wine, in a prefix of their own."""

import os
import shutil
import subprocess

FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/lib/wine"])


def find(*names):
    return next((found for name in names if (found := shutil.which(name, path=FOLDERS))), None)


class Wine:
    def __init__(self, prefix):
        self.wine = find("wine64", "wine")
        self.server = find("wineserver")
        self.environment = {**os.environ, "WINEPREFIX": str(prefix), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8",
                            "WINEDLLOVERRIDES": "mscoree,mshtml="}
        # What would make fixnvpe or Python look elsewhere, or Wine open a window.
        for name in ("DISPLAY", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH"):
            self.environment.pop(name, None)

    def there(self):
        return bool(self.wine and self.server)

    def version(self):
        done = subprocess.run([self.wine, "--version"], capture_output=True, text=True, env=self.environment)
        return done.stdout.strip()

    def boot(self):
        subprocess.run([self.wine, "wineboot", "--init"], env=self.environment, capture_output=True, check=True)

    def end(self):
        subprocess.run([self.server, "--kill"], env=self.environment, capture_output=True)

    def start(self, words, folder):
        # Python for Windows does not start in Wine where its standard streams are files: pipes and /dev/null they are.
        return subprocess.Popen([self.wine, *map(str, words)], env=self.environment, cwd=folder, text=True,
                                errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, words, folder, seconds=600):
        """@return exit status, standard output, standard error"""
        process = self.start(words, folder)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return None, out, err + f"\nended after {seconds} s"
        return process.returncode, out, err


def windows_path(path):
    """Wine's drive Z: is the root folder."""
    return "Z:" + str(path).replace("/", "\\")


def unix_path(path):
    return path.removeprefix("\\\\?\\").removeprefix("Z:").replace("\\", "/")
