"""THIRD-PARTY-NOTICES against what the compiler read and the linker took."""

import pathlib
import re
import shlex
import zipfile

from lab import Failure, expect

# Declarations of the kernel's interface, and no code.
NO_CODE = {"linux-libc-dev"}


def check_notices(lab):
    check_lief(lab)
    for wheel, build in (lab.linux_wheel, lab.linux_build), (lab.windows_wheel, lab.windows_build):
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith("/THIRD-PARTY-NOTICES"))
            notices = archive.read(name).decode()
        files = headers(lab, build) | linked(lab, build)
        lief = folder_of_lief(build)
        if lief:
            theirs = list(lief.glob("share/*/copyright"))
            expect(theirs, f"no license of LIEF's in {lief}")
            for path in theirs:
                expect(path.read_text() in notices, f"{wheel.name} has not what {path} says")
            files = {path for path in files if lief not in path.parents}
        packages = owners(lab, files) - NO_CODE
        expect(len(packages) >= 5, f"{wheel.name}: made of {packages} alone?")
        for package in sorted(packages):
            text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
            expect(text in notices, f"{wheel.name} has no license of {package}")
        for named in re.findall(r"/usr/share/common-licenses/[\w.-]*\w", notices):
            expect(pathlib.Path(named).read_text() in notices, f"{wheel.name} names {named} without its text")


def check_lief(lab):
    """A LIEF that was built for the program brings its own, wherever LIEF_DIR leads in what it was installed to."""
    prefix = lab.folder / "lief"
    script = lab.folder / "notices.cmake"
    notices = lab.folder / "NOTICES"

    def write(lief, status=0):
        script.write_text(f'include("{lab.source}/cmake/notices.cmake")\n'
                          f'fixnvpe_write_notices("{notices}" "libfmt-dev" "{lief}")\n')
        lab.run("cmake", "-P", script, status=status, environment={"PATH": "/usr/local/bin:/usr/bin:/bin"})

    (prefix / "lib/cmake/LIEF").mkdir(parents=True)
    write(prefix, status=1)  # no license
    for name in ("lief", "mbedtls"):
        (prefix / "share" / name).mkdir(parents=True)
        (prefix / "share" / name / "copyright").write_text(f"of {name}\n")
    for folder in (prefix, prefix / "share/lief", prefix / "lib/cmake/LIEF"):
        notices.unlink(missing_ok=True)
        write(folder)
        for name in ("lief", "mbedtls"):
            expect(f"\nof {name}\n" in notices.read_text(), f"LIEF_DIR={folder}: the license of {name} is not taken")


def folder_of_lief(build):
    """Where a LIEF that is not Debian's was installed to, if it is in the program."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^LIEF_DIR:\w+=(/.*)$", cache, re.MULTILINE)
    if not found or not re.search(r"^FIXNVPE_WITH_LIEF:BOOL=ON$", cache, re.MULTILINE):
        return None
    named = pathlib.Path(found.group(1)).resolve()
    return next((folder for folder in (named, *named.parents) if (folder / "share/lief/copyright").exists()), None)


def headers(lab, build):
    """All that the program's objects were compiled from, as ninja remembers it."""
    found = set()
    objects = set(lab.run("ninja", "-C", build, "-t", "inputs", "fixnvpe").split())
    block = False
    for line in lab.run("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            block = line.partition(":")[0] in objects
        elif block:
            found.add((build / line.strip()).resolve())
    return found


def linked(lab, build):
    """What the linker opens when the program is linked once more."""
    program = "fixnvpe.exe" if build == lab.windows_build else "fixnvpe"
    command = lab.run("ninja", "-C", build, "-t", "commands", program).splitlines()[-1]
    link = re.fullmatch(r": && (.*) && :", command)
    if not link:
        raise Failure(f"how is {program} linked? {command}")
    words = shlex.split(link.group(1))
    words[words.index("-o") + 1] = str(lab.folder / program)
    words = [word for word in words if not word.startswith("-Wl,--out-implib")]
    traced = lab.run(*words, "-Wl,--trace", cwd=build)
    return {(build / re.sub(r"^\(?([^()]*).*$", r"\1", line)).resolve() for line in traced.splitlines() if line}


def owners(lab, files):
    """The Debian packages of those files that are not the project's own."""
    others = sorted(str(path) for path in files if path.exists() and lab.source not in path.parents)
    said = lab.run_any("dpkg-query", "-S", *others)
    expect(said.returncode == 0, f"whose files are these?\n{said.stderr}")
    return {name.partition(":")[0] for line in said.stdout.splitlines() for name in line.rpartition(": ")[0].split(", ")}
