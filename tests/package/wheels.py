"""The wheels against https://packaging.python.org/en/latest/specifications/binary-distribution-format/."""

import base64
import csv
import email
import hashlib
import io
import itertools
import platform
import struct
import zipfile

from archives import sha256
from lab import Skipped, equal, expect

def check_format(lab):
    for wheel, program, build in ((lab.linux_wheel, "fixnvpe", lab.linux_build),
                                  (lab.windows_wheel, "fixnvpe.exe", lab.windows_build)):
        with zipfile.ZipFile(wheel) as archive:
            check_names(lab, archive, program)
            check_record(lab, archive)
            check_metadata(lab, archive, wheel)
            entry = archive.getinfo(f"fixnvpe-{lab.version}.data/scripts/{program}")
            expect(entry.external_attr >> 16 & 0o111 == 0o111, f"{entry.filename} can't be run: pip asks these bits")
            content = archive.read(entry)
            equal(hashlib.sha256(content).hexdigest(), sha256(build / program),
                  f"the program in {wheel.name} is not the one that was tested")
            if program == "fixnvpe":
                check_static(content)


def check_names(lab, archive, program):
    top = f"fixnvpe-{lab.version}"
    names = archive.namelist()
    equal(sorted(names), sorted(
        ["fixnvpe/__init__.py", "fixnvpe/__main__.py", f"{top}.data/scripts/{program}",
         *(f"{top}.dist-info/{name}" for name in
           ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE", "licenses/THIRD-PARTY-NOTICES"))]), "names in the wheel")
    expect(names[-1] == f"{top}.dist-info/RECORD", "RECORD should be the last: it names all others")
    expect(all(entry.external_attr >> 28 in (0, 0o10) for entry in archive.infolist()), "something is no plain file")


def check_record(lab, archive):
    record = f"fixnvpe-{lab.version}.dist-info/RECORD"
    rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
    wanted = []
    for name in archive.namelist():
        content = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        wanted.append([name, "", ""] if name == record else [name, f"sha256={digest}", str(len(content))])
    equal(sorted(rows), sorted(wanted), "RECORD")


def check_metadata(lab, archive, wheel):
    """The name of the file says what METADATA and WHEEL say."""
    def headers(name):
        return email.message_from_bytes(archive.read(f"fixnvpe-{lab.version}.dist-info/{name}"))

    name, version, *tags = wheel.name.removesuffix(".whl").split("-")
    equal(len(tags), 3, f"tags in {wheel.name}")
    described = headers("WHEEL")
    equal(described["Wheel-Version"], "1.0", "Wheel-Version")
    equal(described["Root-Is-Purelib"], "false", "Root-Is-Purelib: what holds a program is for one platform")
    equal(sorted(described.get_all("Tag")),
          sorted("-".join(tag) for tag in itertools.product(*(part.split(".") for part in tags))), "tags in WHEEL")
    equal(tags[:2], ["py3", "none"], "tags: any Python 3, no ABI")
    machine = platform.machine()
    wanted = ["manylinux2014", "manylinux_2_17", "musllinux_1_1"]
    equal(tags[2].split("."), [f"{name}_{machine}" for name in wanted] if "linux" in tags[2] else ["win_amd64"],
          "tags: the platforms; manylinux2014 is manylinux_2_17 to a pip before 20.3")

    about = headers("METADATA")
    equal([about["Name"], about["Version"]], [name, version], "name and version in METADATA")
    equal(version, lab.version, "the version")
    expect(about["Requires-Python"] == ">=3.6", "Requires-Python")
    for licence in about.get_all("License-File"):
        archive.getinfo(f"fixnvpe-{lab.version}.dist-info/licenses/{licence}")
    description = about.get_payload()
    expect(description.strip().startswith("# fixnvpe"), "the description is not README.md")
    expect("](cmake/" not in description and "](.github/" not in description, "a link leads nowhere outside the repository")


def check_static(program):
    """What the tags of Linux promise: no interpreter, no library, and no kernel later than theirs have."""
    expect(program[:6] == b"\x7fELF\x02\x01", "no ELF file of 64 bits")
    offset, = struct.unpack_from("<Q", program, 0x20)
    size, count = struct.unpack_from("<HH", program, 0x36)
    kernel = None
    for index in range(count):
        kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", program, offset + index * size)
        expect(kind != 3, "it asks for an interpreter: it is not linked statically")
        if kind == 2:
            tags = {struct.unpack_from("<q", program, at)[0] for at in range(start, start + length, 16)}
            expect(1 not in tags, "it asks for libraries (DT_NEEDED)")
        at = start
        while kind == 4 and at < start + length:
            name_size, text_size, note = struct.unpack_from("<III", program, at)
            name = program[at + 12:at + 12 + name_size]
            at += 12 + (name_size + 3 & ~3)
            if (name, note) == (b"GNU\0", 1):
                kernel = struct.unpack_from("<4I", program, at)[1:]
            at += text_size + 3 & ~3
    expect(kernel is not None and kernel <= (3, 10, 0), f"the kernel that it asks for is {kernel}: manylinux_2_17's is 3.10")


def check_with_tools(lab):
    for name, *words in (("twine", "check", "--strict"), ("check-wheel-contents",)):
        tool = lab.tools / "bin" / name
        if not tool.exists():
            raise Skipped(f"{name} is not here: PyPI could not be reached")
        done = lab.run_any(tool, *words, lab.linux_wheel, lab.windows_wheel)
        said = done.stdout + done.stderr
        expect(done.returncode == 0 and "warning" not in said.lower(), f"{name}:\n{said}")
