"""Gets the packages by their ecosystems' own clients into a folder that is kept."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from say import gb


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def say_disk(talk, packages, cache, work):
    """Says what all takes of the disk before anything is begun. @return whether there is as much"""
    missing = [p for p in packages if not (cache / "archives" / p.archive).exists()]
    download = sum(p.bytes for p in missing)
    # Unpacked twice, installed for Wine, by uv in copies, and backups of what is patched; Maven keeps a second copy of
    # what it brings for a moment.
    needed = download + max((p.bytes for p in missing), default=0) + 5 * sum(p.unpacked for p in packages)
    free = shutil.disk_usage(work).free
    talk.say(f"{len(packages)} packages, {gb(sum(p.bytes for p in packages))}: {gb(download)} to download")
    talk.say(f"takes up to {gb(needed)} of disk in {work} while it runs; {gb(free)} are free")
    return talk.check(needed <= free, f"there is not enough disk: {gb(needed)} needed, {gb(free)} free in {work}")


NO_NETWORK = re.compile(r"(Temporary failure in name resolution|Name or service not known|Network is unreachable|"
                        r"Connection refused|Connection timed out|Unknown host)")


def last_words(text):
    """What a client says of why it failed."""
    if found := NO_NETWORK.search(text):
        return f"no network, or not to its registry: {found[1]}"
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["it said nothing"])[0][:300]


def pip_download(package, folder):
    return [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--retries=2",
            f"--platform={package.platform}", f"--python-version={package.python}", "--implementation=cp",
            f"--dest={folder}", f"{package.name}=={package.version}"]


def maven_copy(package, folder, repository):
    return ["mvn", "--quiet", "--batch-mode", f"-Dmaven.repo.local={repository}",
            "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy",
            f"-Dartifact={package.name}:{package.version}:jar:{package.platform}", f"-DoutputDirectory={folder}"]


def why_no_client(package):
    """None: it is there."""
    if package.ecosystem == "maven":
        return None if shutil.which("mvn") else "there is no mvn (Debian: maven)"
    asked = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    return None if asked.returncode == 0 else f"there is no pip for {sys.executable} (Debian: python3-pip)"


def fetch_one(talk, package, archive):
    """Puts the archive where it is kept. @return whether it is there"""
    why = why_no_client(package)
    if why:
        talk.skip(package.title, why)
        return False
    talk.say(f"fetching {package.title}, {gb(package.bytes)}")
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        repository = archive.parent.parent / "maven"
        if package.ecosystem == "pypi":
            command = pip_download(package, folder)
        else:
            command = maven_copy(package, folder, repository)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        # Maven has copied it from there: one is enough.
        shutil.rmtree(repository / package.name.replace(".", "/").replace(":", "/"), ignore_errors=True)
        got = f"{folder}/{package.archive}"
        if done.returncode != 0 or not os.path.exists(got):
            said = last_words(done.stderr + done.stdout)
            talk.skip(package.title, f"{command[0] if command[0] == 'mvn' else 'pip'} could not get it: {said}")
            return False
        shutil.move(got, archive)
    return True


def fetch(talk, packages, cache):
    """@return those that are there and are what testdata/real.tsv says"""
    archives = cache / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    whole = []
    for package in packages:
        archive = archives / package.archive
        if not archive.exists() and not fetch_one(talk, package, archive):
            continue
        found = sha256(archive)
        if talk.check(found == package.sha256,
                      f"{archive} is damaged, or not the file that testdata/real.tsv means: its SHA-256 is {found}, "
                      f"and {package.sha256} was expected. Remove it, and run this again"):
            whole.append(package)
    return whole
