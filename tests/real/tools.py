"""uv and matplotlib, in a virtual environment that is kept."""

import subprocess
import sys

from fetch import last_words


def python_tools(talk, cache):
    """@return the folder of its programs; tools that could not be had are not in it"""
    home = cache / "tools"
    programs = home / "bin"
    if not (programs / "python3").exists():
        made = subprocess.run([sys.executable, "-m", "venv", home], capture_output=True, text=True)
        if made.returncode != 0:
            talk.skip("uv and matplotlib", f"python3 -m venv failed: {last_words(made.stderr + made.stdout)}")
            return programs
    for name in ("uv", "matplotlib"):
        if subprocess.run([programs / "python3", "-c", f"import {name}"], capture_output=True).returncode == 0:
            continue
        talk.say(f"fetching {name}")
        got = subprocess.run([programs / "python3", "-m", "pip", "install", "--quiet", "--retries=2", name],
                             capture_output=True, text=True)
        if got.returncode != 0:
            talk.skip(name, f"pip could not get it: {last_words(got.stderr)}")
    return programs
