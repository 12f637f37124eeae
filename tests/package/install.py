"""The wheels as users install them: pip, uv; on Windows, too."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from lab import Skipped, equal, expect


def fetch_tools(lab):
    """A folder of tools that is made once, for all builds of this tree."""
    wanted = (lab.source / "cmake/python/requirements.txt").read_text()
    stamp = lab.tools / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(lab.tools, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", lab.tools], check=True)
    uv = next(line for line in wanted.splitlines() if line.startswith("uv="))
    for command in (["python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", uv],
                    ["uv", "pip", "install", "--quiet", "--python", lab.tools, *wanted.split()]):
        done = subprocess.run([lab.tools / "bin" / command[0], *command[1:]], capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(f"what comes from PyPI can't be had: {done.stderr.strip()[-500:]}")
    stamp.write_text(wanted)


def uv_of(lab):
    if not (lab.tools / "bin/uv").exists():
        raise Skipped("uv is not here: PyPI could not be reached")
    return lab.tools / "bin/uv"


class Environment:
    """A virtual environment, in which a torch with CUDA code is, or not."""

    def __init__(self, lab, name, create):
        self.prefix = lab.folder / name
        create(self.prefix)
        self.bin = self.prefix / "bin"
        self.python = self.bin / "python"
        self.site = next(self.prefix.glob("lib/python3*/site-packages"))
        self.lab = lab

    def add_torch(self):
        shutil.copytree(self.lab.source / "testdata/sample/torch", self.site / "torch")
        info = self.site / "torch-1.12.1+cu113.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.12.1+cu113\n")
        files = sorted(path for path in (self.site / "torch").rglob("*") if path.is_file())
        (info / "RECORD").write_text("".join(f"{path.relative_to(self.site)},,\n" for path in files))

    def files(self):
        return {path.relative_to(self.prefix) for path in self.prefix.rglob("*")}

    def chosen(self, *command, **more):
        """@return how verify says that it found this environment, or none"""
        return chosen_by(self.lab.run_any(*command, "verify", "--json", **more), self.prefix)


def chosen_by(done, prefix):
    environment = json.loads(done.stdout)["environment"]
    if environment and pathlib.Path(environment["prefix"]).resolve() == prefix.resolve():
        return environment["chosen_by"]
    return None


def make_venv(lab):
    return lambda prefix: lab.run(sys.executable, "-m", "venv", prefix)


def check_pip(lab):
    venv = Environment(lab, "venv", make_venv(lab))
    pip = [venv.python, "-m", "pip"]
    before = venv.files()
    lab.run(*pip, "install", lab.linux_wheel)
    expect(lab.run(*pip, "check") == "No broken requirements found.\n", "pip check")
    program = venv.bin / "fixnvpe"
    equal(lab.run(program, "--version"), lab.run(lab.linux_build / "fixnvpe", "--version"), "fixnvpe --version")
    equal(lab.run(venv.python, "-m", "fixnvpe", "--version"), lab.run(program, "--version"), "python -m fixnvpe")

    # Nothing but fixnvpe is there: as if it were nowhere. With a torch beside it, that is what is meant.
    equal(venv.chosen(program), None, "an environment of fixnvpe alone, chosen by")
    venv.add_torch()
    equal(venv.chosen(program), "fixnvpe is installed there", "an environment with torch, chosen by")
    equal(lab.run_any(program, "verify").returncode, 1, "verify: an exit status of 1, the DLLs need patching")

    # The Python that runs it comes before the one that is active, and passes everything on.
    other = Environment(lab, "other", lambda prefix: (prefix / "lib/python3.11/site-packages").mkdir(parents=True))
    active = {"VIRTUAL_ENV": str(other.prefix)}
    equal(venv.chosen(program, environment=active), None, "with another one active, chosen by")
    equal(venv.chosen(venv.python, "-m", "fixnvpe", environment=active), "python -m fixnvpe", "chosen by")
    equal(lab.run_any(venv.python, "-m", "fixnvpe", "verify").returncode, 1, "the exit status through python -m")
    equal(lab.run_any(venv.python, "-m", "fixnvpe", "patch", "a b", 'c"d', "").stderr.splitlines()[0],
          lab.run_any(program, "patch", "a b", 'c"d', "").stderr.splitlines()[0], "the words through python -m")
    equal(ended_by_signal(lab, venv.python, "-m", "fixnvpe"), ended_by_signal(lab, program), "the end by a signal")

    shutil.rmtree(venv.site / "torch")
    shutil.rmtree(venv.site / "torch-1.12.1+cu113.dist-info")
    lab.run(*pip, "uninstall", "--yes", "fixnvpe")
    equal(venv.files() ^ before, set(), "left behind by pip uninstall")

    check_schemes(lab, pip)
    check_windows_places(lab)


def check_schemes(lab, pip):
    """`python -m fixnvpe` finds its own program wherever pip puts things, and no other."""
    site = next(lab.folder.glob("venv/lib/python3*")).name + "/site-packages"
    target, prefix, home = lab.folder / "target", lab.folder / "prefix", lab.folder / "home"
    lab.run(*pip, "install", "--target", target, lab.linux_wheel)
    lab.run(*pip, "install", "--prefix", prefix, lab.linux_wheel)
    # What Debian's own Python installs for the user
    lab.run(pip[0], "-m", "pip", "--python", "/usr/bin/python3", "install", "--user", "--break-system-packages",
            lab.linux_wheel, environment={"PYTHONUSERBASE": str(home)})
    for packages, folder in (target, target / "bin"), (prefix / "lib" / site, prefix / "bin"), (
            home / "lib" / site, home / "bin"):
        program = folder / "fixnvpe"
        expect(program.exists(), f"pip did not install {program}")
        environment = {"PYTHONPATH": str(packages), "PYTHONUSERBASE": str(home)}
        command = ["/usr/bin/python3", "-m", "fixnvpe"]
        lab.run(*command, "--version", environment=environment)
        program.rename(folder / "elsewhere")  # is it that one which ran?
        lost = lab.run_any(*command, "--version", environment=environment)
        equal((lost.returncode, lost.stdout), (2, ""), f"without its program, {packages}")
        expect(str(program) in lost.stderr, f"it does not say where it looked:\n{lost.stderr}")


def check_windows_places(lab):
    """What `pip install --user` makes on Windows, for which there is no pip here."""
    sys.path.insert(0, str(lab.source / "cmake/python"))
    from fixnvpe.__main__ import places

    user = lab.folder / "AppData/Python" / f"Python{sys.version_info.major}{sys.version_info.minor}"
    expect(str(user / "Scripts/fixnvpe") in places(str(user / "site-packages"), "nt"), "the user's own Scripts on Windows")


def ended_by_signal(lab, *command):
    """@return the exit status after SIGTERM. So much is printed that it waits for us to read."""
    folder = lab.folder / "many"
    if not folder.exists():
        folder.mkdir()
        dll = lab.folder / "one"
        shutil.copy(next(lab.source.glob("testdata/sample/torch/lib/torch_cuda_cu.dll")), dll)
        for number in range(400):
            os.link(dll, folder / f"{number}.dll")
    process = subprocess.Popen([*map(str, command), "verify", "--json", str(folder)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    try:
        process.stdout.read(1)  # it runs, and has begun to print
        time.sleep(0.1)
        equal(os.readlink(f"/proc/{process.pid}/exe").rpartition("/")[2], "fixnvpe", "what runs")
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        return process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()


def check_uv(lab):
    uv = uv_of(lab)
    wheel = lab.linux_wheel
    version = lab.run(lab.linux_build / "fixnvpe", "--version")

    venv = Environment(lab, "uv", lambda prefix: lab.run(uv, "venv", "--python", sys.executable, prefix))
    before = venv.files()
    lab.run(uv, "pip", "install", "--python", venv.python, wheel)
    venv.add_torch()
    equal(lab.run(venv.bin / "fixnvpe", "--version"), version, "fixnvpe --version")
    equal(venv.chosen(venv.bin / "fixnvpe"), "fixnvpe is installed there", "chosen by")
    equal(venv.chosen(venv.python, "-m", "fixnvpe"), "python -m fixnvpe", "chosen by")
    shutil.rmtree(venv.site / "torch")
    shutil.rmtree(venv.site / "torch-1.12.1+cu113.dist-info")
    lab.run(uv, "pip", "uninstall", "--python", venv.python, "fixnvpe")
    equal(venv.files() ^ before, {pathlib.Path(".lock")}, "left behind by uv pip uninstall, but for its own lock")
    target = lab.folder / "uv-target"
    lab.run(uv, "pip", "install", "--python", sys.executable, "--target", target, wheel)
    equal(lab.run(sys.executable, "-m", "fixnvpe", "--version", environment={"PYTHONPATH": str(target)}), version,
          "uv pip install --target, python -m")

    # An environment of its own is not what is meant: the one that is active is, or the Python on PATH.
    other = Environment(lab, "torch", lambda prefix: lab.run(uv, "venv", "--python", sys.executable, prefix))
    other.add_torch()
    tools = {"UV_TOOL_DIR": str(lab.folder / "uv-tools"), "UV_TOOL_BIN_DIR": str(lab.folder / "uv-bin"),
             "UV_PYTHON": sys.executable}
    on_path = {**tools, "PATH": f"{other.bin}:/usr/bin:/bin"}
    uvx = [lab.tools / "bin/uvx", "--from", wheel, "fixnvpe"]
    equal(lab.run(*uvx, "--version", environment=tools), version, "uvx fixnvpe --version")
    equal(other.chosen(*uvx, environment=on_path), "python on PATH", "uvx, chosen by")
    equal(other.chosen(*uvx, environment={**tools, "VIRTUAL_ENV": str(other.prefix)}), "VIRTUAL_ENV", "uvx, chosen by")
    equal(lab.run_any(*uvx, "verify", environment=on_path).returncode, 1, "the exit status through uvx")

    lab.run(uv, "tool", "install", wheel, environment=tools)
    program = lab.folder / "uv-bin/fixnvpe"
    equal(lab.run(program, "--version"), version, "uv tool install, fixnvpe --version")
    equal(other.chosen(program, environment=on_path), "python on PATH", "uv tool, chosen by")
    lab.run(uv, "tool", "uninstall", "fixnvpe", environment=tools)
    expect(not program.is_symlink() and not program.exists(), "left behind by uv tool uninstall")
    equal([path.name for path in (lab.folder / "uv-tools").glob("fixnvpe*")], [], "left behind by uv tool uninstall")


def install_for_windows(lab):
    target = lab.folder / "target"
    lab.run(lab.tools / "bin/python", "-m", "pip", "install", "--platform", "win_amd64", "--only-binary", ":all:",
            "--target", target, lab.windows_wheel)
    return target


def check_windows(lab):
    said = lab.run_windows(install_for_windows(lab) / "bin/fixnvpe.exe", "--version")
    expect(said.returncode == 0 and said.stdout.startswith(f"fixnvpe {lab.version} "), f"fixnvpe.exe: {said}")


def check_windows_python(lab):
    if "FIXNVPE_WINDOWS_PYTHON" not in os.environ:
        raise Skipped("FIXNVPE_WINDOWS_PYTHON=FILE names no python.exe")
    target = install_for_windows(lab)
    version = lab.run_windows(target / "bin/fixnvpe.exe", "--version").stdout
    check_in_windows(lab, target, version)

    # As `pip install --user` has it there, and no other place: so the program is found by its way from site-packages.
    python = pathlib.Path(os.environ["FIXNVPE_WINDOWS_PYTHON"])
    numbers = lab.run_windows(python, "-c", "import sys; print(sys.version_info[0], sys.version_info[1], sep='')").stdout
    user = lab.folder / "user" / f"Python{numbers.strip()}"
    user.mkdir(parents=True)
    (target / "bin").rename(user / "Scripts")
    target.rename(user / "site-packages")
    check_in_windows(lab, user / "site-packages", version)


def check_in_windows(lab, site, version):
    python = [os.environ["FIXNVPE_WINDOWS_PYTHON"], "-m", "fixnvpe"]
    path = {"PYTHONPATH": windows_path(site)}
    equal(lab.run_windows(*python, "--version", environment=path).stdout, version, f"python.exe -m fixnvpe, {site}")
    sample = windows_path(lab.source / "testdata/sample")
    for words, status in ((["verify", sample], 1), (["patch", "no such"], 2), (["scan", sample], 0)):
        equal(lab.run_windows(*python, *words, environment=path).returncode, status, f"exit status of {words}")
    environment = json.loads(lab.run_windows(*python, "verify", "--json", environment=path).stdout)["environment"]
    equal(environment and environment["chosen_by"], "python -m fixnvpe", "chosen by")


def windows_path(path):
    return "Z:" + str(path).replace("/", "\\")
