"""What other programs read in a PE file: pefile and llvm-readobj, which must agree, and CheckSum by its definition."""

import dataclasses
import functools
import pathlib
import re
import subprocess
import sys

import pefile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from pefile_oracle import DYNAMIC_BASE, MEM_WRITE, fatbins  # noqa: E402

MEM_SHARED = 0x10000000
PAGE = 4096
SECURITY = 4
MACHINES = {0x8664: "x64", 0x014C: "x86", 0xAA64: "arm64"}


@dataclasses.dataclass
class Section:
    name: str
    virtual_size: int
    raw_size: int
    characteristics: int
    characteristics_at: int  # file offset
    is_fatbin: bool
    virtual_address: int
    raw_pointer: int  # file offset

    @property
    def writable(self):
        return bool(self.characteristics & MEM_WRITE)

    @property
    def commit(self):
        """Bytes that Windows charges each process for it."""
        if not self.writable or self.characteristics & MEM_SHARED:
            return 0
        return -(-(self.virtual_size or self.raw_size) // PAGE) * PAGE


@dataclasses.dataclass
class Image:
    machine: str
    image_base: int
    dll_characteristics: int
    dll_characteristics_at: int  # file offset
    check_sum: int
    check_sum_at: int  # file offset
    signed: bool
    sections: list

    @property
    def fatbins(self):
        return [section for section in self.sections if section.is_fatbin]

    @property
    def commit(self):
        return sum(section.commit for section in self.sections)

    @property
    def saved(self):
        return sum(section.commit for section in self.fatbins)

    def edits(self, aslr):
        """What patch is to change, but for CheckSum. @return file offset and width: value"""
        edits = {(s.characteristics_at, 4): s.characteristics & ~MEM_WRITE for s in self.fatbins if s.writable}
        wanted = self.fatbins if aslr == "clear" else edits if aslr == "auto" else []
        if wanted and self.dll_characteristics & DYNAMIC_BASE:
            edits[self.dll_characteristics_at, 2] = self.dll_characteristics & ~DYNAMIC_BASE
        return edits

    def status(self, aslr):
        if not self.fatbins:
            return "no-fatbin"
        if self.edits(aslr):
            return "unpatched"
        return "not-needed" if self.dll_characteristics & DYNAMIC_BASE else "patched"


def read_by_pefile(path):
    """None: no PE file."""
    try:
        pe = pefile.PE(str(path), fast_load=True)
    except (pefile.PEFormatError, OSError):
        return None
    try:
        header = pe.OPTIONAL_HEADER
        gpu = [id(section) for section in fatbins(pe)]
        directories = header.DATA_DIRECTORY
        return Image(
            machine=MACHINES.get(pe.FILE_HEADER.Machine, hex(pe.FILE_HEADER.Machine)),
            image_base=header.ImageBase,
            dll_characteristics=header.DllCharacteristics,
            dll_characteristics_at=header.get_field_absolute_offset("DllCharacteristics"),
            check_sum=header.CheckSum,
            check_sum_at=header.get_field_absolute_offset("CheckSum"),
            signed=len(directories) > SECURITY and directories[SECURITY].VirtualAddress != 0,
            sections=[Section(s.Name.rstrip(b"\0").decode("latin-1"), s.Misc_VirtualSize, s.SizeOfRawData,
                              s.Characteristics, s.get_field_absolute_offset("Characteristics"), id(s) in gpu,
                              s.VirtualAddress, s.PointerToRawData)
                      for s in pe.sections])
    finally:
        pe.close()


def readobj_sections(path):
    """(VirtualSize, RawDataSize, Characteristics) of each, and DllCharacteristics"""
    text = subprocess.run(["llvm-readobj", "--file-headers", "--sections", path], capture_output=True, text=True,
                          errors="replace", check=True).stdout
    flags = re.findall(r"Characteristics \[ \(0x([0-9A-F]+)\)", text)
    sizes = re.findall(r"VirtualSize: 0x([0-9A-F]+)", text)
    raw = re.findall(r"RawDataSize: (\d+)", text)
    # Those of the file and of the optional header come first.
    return ([(int(size, 16), int(length), int(flag, 16)) for size, length, flag in zip(sizes, raw, flags[2:])],
            int(flags[1], 16))


def end_of_headers(path):
    """The file offset of the first byte that is no header."""
    return min(s.raw_pointer for s in read_by_pefile(path).sections if s.raw_size)


def pages_of(path):
    """Where each page of memory comes from in the file (None: from nowhere), and how it is protected."""
    pages = {}
    for s in read_by_pefile(path).sections:
        for at in range(0, s.virtual_size or s.raw_size, PAGE):
            place = s.raw_pointer + at if at < s.raw_size else None
            pages[(s.virtual_address + at) // PAGE] = (place, s.characteristics)
    return pages


def raw_of_page(path, page):
    """The section that a page lies in: file offset and size of its data, and the page's file offset."""
    for s in read_by_pefile(path).sections:
        if s.virtual_address <= page * PAGE < s.virtual_address + s.raw_size:
            return s.raw_pointer, s.raw_size, s.raw_pointer + page * PAGE - s.virtual_address
    raise ValueError(f"{path}: no page {page}")


def in_fat_binaries(raw, begin, size, page):
    """Do fat binaries, and nothing but zeros between them, cover this page? By their headers alone, from the section's
    first byte on."""
    covered = runs_in(raw, begin, size)
    return any(first <= page and page + PAGE <= last for first, last in covered)


@functools.lru_cache(maxsize=1)
def runs_in(raw, begin, size):
    """Unbroken chains of fat binaries in a section. @return file offsets of their first byte and of that behind them"""
    runs = []
    at = begin
    end = begin + size
    while (at := raw.find(b"\x50\xed\x55\xba\x01\x00\x10\x00", at, end)) != -1:
        length = 16 + int.from_bytes(raw[at + 8:at + 16], "little")
        if at % 16 or length <= 16 or at + length > end:
            at += 1
            continue
        gap = runs and raw[runs[-1][1]:at]
        if runs and at - runs[-1][1] < 16 and not any(gap):
            runs[-1][1] = at + length
        else:
            runs.append([at, at + length])
        at += length
    return runs


def check_sum(path, at):
    """By its definition: the 16-bit words, CheckSum itself left out, with end-around carry, which is their sum modulo
    0xFFFF; and the size."""
    total = size = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            if size <= at < size + len(piece):
                piece = piece[:at - size] + bytes(4) + piece[at - size + 4:]
            total += int.from_bytes(piece, "little") % 0xFFFF
            size += len(piece)
    return ((total % 0xFFFF or 0xFFFF) + size) & 0xFFFFFFFF
