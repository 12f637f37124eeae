"""The packages installed as people install them: by pip, and by uv in each of its link modes."""

import os
import shutil
import subprocess
import sys
import zipfile

import check
from fetch import sha256

LINK_MODES = ("hardlink", "symlink", "clone", "copy")
# Those whose DLLs change, for one Python.
FOR_UV = {"xgboost", "spconv-cu102"}


def install(talk, package, cache, folder):
    """A wheel by pip, a jar's DLLs unpacked. @return whether it is done"""
    archive = cache / "archives" / package.archive
    folder.mkdir(parents=True, exist_ok=True)
    if package.ecosystem == "maven":
        with zipfile.ZipFile(archive) as jar:
            jar.extractall(folder)
        return True
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile",
                           "--only-binary=:all:", f"--platform={package.platform}", "--implementation=cp",
                           f"--python-version={package.python}", "--target", folder, archive],
                          capture_output=True, text=True)
    return talk.check(done.returncode == 0, f"pip install --target of {package.title}: {done.stderr.strip()[-300:]}")


def digests(folder):
    return {str(path): sha256(path) for path in check.pe_files(folder)}


def uv_install(uv, mode, packages, cache, uv_cache, target):
    words = [uv, "pip", "install", "--quiet", "--no-index", "--find-links", cache / "archives", "--no-deps",
             "--link-mode", mode, "--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.8",
             "--target", target, *(f"{package.name}=={package.version}" for package in packages)]
    return subprocess.run(words, capture_output=True, text=True,
                          env={**os.environ, "UV_CACHE_DIR": str(uv_cache), "UV_PYTHON_DOWNLOADS": "never"})


def how_linked(path):
    """What the installer really made of a file."""
    return "symlink" if path.is_symlink() else "hardlink" if path.stat().st_nlink > 1 else "copy"


def check_uv(talk, fixnvpe, uv, packages, cache, work):
    """Whatever the link mode and the backup: patch does its work, and uv's cache keeps its bytes; restore brings back
    what was there. @return what each mode really made"""
    packages = [package for package in packages if package.name in FOR_UV]
    if not packages:
        talk.skip("uv's link modes", "none of the packages for them is there")
        return {}
    if not uv.exists():
        talk.skip("uv's link modes", "there is no uv")
        return {}
    made = {}
    target, uv_cache = work / "site-packages", work / "cache"
    cached = None
    for mode in LINK_MODES:
        for backup in check.BACKUP:
            shutil.rmtree(target, ignore_errors=True)
            done = uv_install(uv, mode, packages, cache, uv_cache, target)
            if not talk.check(done.returncode == 0, f"uv --link-mode {mode}: {done.stderr.strip()[-300:]}"):
                continue
            cached = cached or digests(uv_cache)
            installed = digests(target)
            what = f"uv --link-mode {mode}, patch --backup {backup}"
            made[mode] = sorted({how_linked(path) for path in check.pe_files(target)})
            talk.check(cached and installed, f"{what}: no PE file in uv's cache, or none installed")
            status, said = fixnvpe.json("patch", "--backup", backup, target)
            done = [file["path"] for file in said["files"] if file["action"] == "patched"]
            talk.check(status == 0 and len(done) == 2, f"{what}: exit status {status}, patched {done}")
            talk.check(digests(uv_cache) == cached, f"{what}: uv's cache has changed")
            talk.check(all(sha256(path) != installed[path] for path in done), f"{what}: a file is as it was")
            if backup != "none":
                status, _ = fixnvpe.json("restore", target)
                talk.check(status == 0 and digests(target) == installed, f"{what}: restore did not bring all back")
                talk.check(digests(uv_cache) == cached, f"{what}: uv's cache has changed by restore")
    shutil.rmtree(work, ignore_errors=True)
    return made
