"""The action of .github/actions/fixnvpe, run as GitHub would run its two scripts."""

import shutil
import zipfile

from lab import equal, expect

# Instead of GitHub's own: it takes what was asked for from the folder PACKAGES.
GH = """#!/usr/bin/python3
import fnmatch, os, pathlib, shutil, sys
words = sys.argv[1:]
values = lambda option: [words[at + 1] for at, word in enumerate(words) if word == option]
assert words[:2] == ["release", "download"] and values("--repo") == ["owner/fixnvpe"], words
assert words[2] == os.environ.get("WANTED", "--repo"), words
for path in pathlib.Path(os.environ["PACKAGES"]).iterdir():
    if any(fnmatch.fnmatch(path.name, pattern) for pattern in values("--pattern")):
        shutil.copy(path, values("--dir")[0])
"""


def check_action(lab):
    folder = lab.source / ".github/actions/fixnvpe"
    output, summary = lab.folder / "output", lab.folder / "summary"
    bin_folder = lab.folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "gh").write_text(GH)
    (bin_folder / "gh").chmod(0o755)
    packages = lab.folder / "packages"
    shutil.copytree(lab.packages, packages)
    common = {"PATH": f"{bin_folder}:/usr/bin:/bin", "RUNNER_TEMP": str(lab.folder), "GITHUB_OUTPUT": str(output),
              "GITHUB_STEP_SUMMARY": str(summary), "FIXNVPE_REPOSITORY": "owner/fixnvpe", "PACKAGES": str(packages)}

    def get(system, status=0, **more):
        output.write_text("")
        lab.run("bash", folder / "get.sh", status=status,
                environment={**common, "RUNNER_OS": system, "FIXNVPE_PROGRAM": "", "FIXNVPE_VERSION": "", **more})
        return output.read_text().strip().removeprefix("program=")

    def run(program, command, *words, status=0):
        summary.write_text("")
        said = lab.run("bash", folder / "run.sh", status=status, environment={
            **common, "FIXNVPE_PROGRAM": program, "FIXNVPE_COMMAND": command, "FIXNVPE_WORDS": "\n".join(words)})
        equal(summary.read_text(), f"```\n$ fixnvpe {command} {' '.join(filter(None, words))}\n{said}```\n", "the summary")
        return said

    equal(get("Linux", FIXNVPE_PROGRAM="here/fixnvpe"), "here/fixnvpe", "a program that is here already")
    program = get("Linux")
    equal(lab.run(program, "--version"), lab.run(lab.linux_build / "fixnvpe", "--version"), "the downloaded program")
    equal(get("Linux", FIXNVPE_VERSION="9.9.9", WANTED="v9.9.9").rpartition("/")[2], "fixnvpe", "a release by its version")
    expect(get("Windows").endswith("/fixnvpe.exe"), "the program for Windows")
    equal(get("macOS", status=2), "", "a system that there is no program for")

    sample = lab.folder / "sample tree"
    shutil.copytree(lab.source / "testdata/sample", sample)
    run(program, "verify", str(sample), status=1)
    run(program, "patch", "--backup", "undo", "", str(sample))
    expect("patched" in run(program, "verify", str(sample), "--require-backup"), "verify says what is patched")
    run(program, "patch", str(lab.folder / "nothing"), status=2)

    # What was changed on its way is not run.
    wheel = next(packages.glob("*linux*.whl"))
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("more", "")
    equal(get("Linux", status=1), "", "a wheel that is not what SHA256SUMS says")
