"""The zip, the .deb, the manifests and the sums."""

import gzip
import hashlib
import json
import re
import shutil
import zipfile

from lab import equal, expect


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_contents(lab):
    check_zip(lab)
    check_deb(lab)


def check_zip(lab):
    top = f"fixnvpe-{lab.version}-windows-x64"
    with zipfile.ZipFile(lab.one("*.zip")) as archive:
        names = ["LICENSE", "README.md", "README.zh-CN.md", "THIRD-PARTY-NOTICES", "fixnvpe.exe"]
        equal(sorted(archive.namelist()), [f"{top}/{name}" for name in names], "names in the zip")
        archive.extractall(lab.folder)
    check_pages(lab.folder / top)
    program = lab.folder / top / "fixnvpe.exe"
    equal(sha256(program), sha256(lab.windows_build / "fixnvpe.exe"), "fixnvpe.exe is not the one that was tested")
    said = lab.run_windows(program, "--version").stdout
    expect(said.startswith(f"fixnvpe {lab.version} "), f"fixnvpe.exe --version: {said}")


def check_pages(folder):
    """The two README lead to each other."""
    for page, link in ("README.md", "[中文](README.zh-CN.md)"), ("README.zh-CN.md", "[English](README.md)"):
        expect(link in (folder / page).read_text(), f"{page} has no {link}")


def check_deb(lab):
    lab.run("dpkg-deb", "-x", lab.one("*.deb"), lab.folder / "deb")
    share = lab.folder / "deb/usr/share"
    completions = {"bash": share / "bash-completion/completions/fixnvpe",
                   "fish": share / "fish/vendor_completions.d/fixnvpe.fish",
                   "zsh": share / "zsh/vendor-completions/_fixnvpe"}
    page = share / "man/man1/fixnvpe.1.gz"
    program = lab.folder / "deb/usr/bin/fixnvpe"
    documents = [share / "doc/fixnvpe" / name for name in ("LICENSE", "README.md", "README.zh-CN.md", "THIRD-PARTY-NOTICES")]
    check_pages(documents[0].parent)
    files = sorted(path for path in (lab.folder / "deb").rglob("*") if not path.is_dir())
    equal(files, sorted([program, page, *documents, *completions.values()]), "files in the .deb")
    equal(sha256(program), sha256(lab.linux_build / "fixnvpe"), "fixnvpe is not the one that was tested")
    equal(lab.run("dpkg-deb", "-f", lab.one("*.deb"), "Version").strip(), lab.version, "the version of the .deb")
    expect(lab.run(program, "--version").startswith(f"fixnvpe {lab.version} "), "fixnvpe --version")
    for shell, path in completions.items():
        equal(path.read_text(), lab.run(program, "completion", shell), f"the completion for {shell}")
    check_man_page(lab, program, page)


def check_man_page(lab, program, packed):
    """What the program says of itself, the page says, too."""
    text = gzip.decompress(packed.read_bytes()).decode()
    plain = text.replace("\\-", "-")
    wanted = [".SH NAME\nfixnvpe - ", ".SH SYNOPSIS\n", f"fixnvpe {lab.version}"]
    help_text = lab.run(program, "--help")
    commands = re.findall(r"^  ([a-z]+)  ", help_text, re.MULTILINE)
    expect(len(commands) >= 6, f"expected at least six commands in the help, found: {commands}")
    for command in commands:
        wanted.append(f".SS {command}\n")
        help_text += lab.run(program, command, "--help")
    for option in set(re.findall(r"^  (?:-[a-z],)?(--[a-z-]+)", help_text, re.MULTILINE)):
        wanted.append(f"\\fB{option}\\fR")
    for words in wanted:
        expect(words in plain, f"fixnvpe.1 has no {words!r}:\n{text}")

    page = lab.folder / "fixnvpe.1"
    page.write_text(text)
    shown = lab.run_any("groff", "-man", "-Tascii", "-ww", page)
    equal((shown.returncode, shown.stderr), (0, ""), "what groff says of fixnvpe.1")
    expect("User Commands" in shown.stdout, f"fixnvpe.1 is shown as:\n{shown.stdout}")


def check_sums(lab):
    lines = (lab.packages / "SHA256SUMS").read_text().splitlines()
    named = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {path.name: sha256(path) for path in lab.packages.iterdir() if path.name != "SHA256SUMS"}
    equal(named, there, "SHA256SUMS")
    equal(len(there), 8, "number of files: a zip, a .deb, two wheels, four manifests")
    lab.run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=lab.packages)


def check_reproducible(lab):
    again = lab.folder / "again"
    lab.run("cmake", "-DBUILD=OFF", f"-DTO={again}", *repository(lab), "-P", lab.source / "cmake/package.cmake",
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin"})
    equal((again / "SHA256SUMS").read_text(), (lab.packages / "SHA256SUMS").read_text(), "made a second time")


def repository(lab):
    """With which REPOSITORY they were made."""
    return [f"-DREPOSITORY={scoop(lab)['homepage']}"]


def scoop(lab):
    return json.loads(lab.one("fixnvpe.json").read_text())


def check_manifests(lab):
    archive = lab.one("*.zip")
    names = zipfile.ZipFile(archive).namelist()
    manifest = scoop(lab)
    url = f"{manifest['homepage']}/releases/download/v{lab.version}/{archive.name}"
    download = manifest["architecture"]["64bit"]
    equal(manifest["version"], lab.version, "scoop: version")
    equal((download["url"], download["hash"]), (url, sha256(archive)), "scoop: what is downloaded")
    expect(f"{download['extract_dir']}/{manifest['bin']}" in names, f"scoop: the program is not in the zip: {names}")
    later = manifest["autoupdate"]["architecture"]["64bit"]
    equal([later[key].replace("$version", lab.version) for key in ("url", "extract_dir")],
          [url, download["extract_dir"]], "scoop: what a later version is downloaded from")
    found = re.search(manifest["checkver"]["regex"], f"{manifest['homepage']}/releases/tag/v{lab.version}")
    equal(found and found.group(1), lab.version, "scoop: the version as it finds it")

    for part, kind in ("", "version"), (".installer", "installer"), (".locale.en-US", "defaultLocale"):
        text = lab.one(f"fixnvpe.fixnvpe{part}.yaml").read_text()
        values = dict(re.findall(r"^[- ]*(\w+): (.*)$", text, re.MULTILINE))
        expect("@" not in text, f"winget, {kind}: something was not filled in:\n{text}")
        equal([values.get(key) for key in ("PackageIdentifier", "PackageVersion", "ManifestType")],
              ["fixnvpe.fixnvpe", lab.version, kind], f"winget, {kind}")
        if kind == "installer":
            equal([values["InstallerUrl"], values["InstallerSha256"]], [url, sha256(archive).upper()], "winget: zip")
            expect(values["RelativeFilePath"].replace("\\", "/") in names, f"winget: not in the zip: {values}")
