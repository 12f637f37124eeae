"""The builds that are put in place, and what other tools make of a DLL: PE files read and written here by ourselves."""

import struct
from typing import NamedTuple

FATBIN_NAMES = (b".nv_fatb", b"__nv_rel")
DYNAMIC_BASE = 0x40
MEM_WRITE = 0x80000000
PE32_PLUS = 0x20B


class Bit(NamedTuple):
    """One that a patch clears."""
    offset: int
    width: int
    mask: int


class Layout(NamedTuple):
    """Where in a file its fields are."""
    machine: int
    stamp: int       # TimeDateStamp
    bits: list
    check_sum: int   # offset
    security: int    # offset of the directory entry of the certificate table
    end: int         # where the raw data of the last section ends


def number(data, offset, width=4):
    return int.from_bytes(data[offset:offset + width], "little")


def layout_of(data):
    """None: no PE file, or cut in its headers."""
    nt = number(data, 60)
    if data[:2] != b"MZ" or data[nt:nt + 4] != b"PE\0\0":
        return None
    machine, sections, stamp, _, _, optional_size = struct.unpack_from("<HHIIIH", data, nt + 4)
    optional = nt + 24
    table = optional + optional_size
    if len(data) < table + 40 * sections:
        return None
    bits, end = [Bit(optional + 70, 2, DYNAMIC_BASE)], 0
    for header in range(table, table + 40 * sections, 40):
        end = max(end, number(data, header + 16) + number(data, header + 20))
        if data[header:header + 8] in FATBIN_NAMES:
            bits.append(Bit(header + 36, 4, MEM_WRITE))
    directories = optional + (112 if number(data, optional, 2) == PE32_PLUS else 96)
    return Layout(machine, stamp, bits, optional + 64, directories + 4 * 8, end)


def is_whole(data):
    layout = layout_of(data)
    return layout is not None and layout.end <= len(data)


def shown_to_be_two(a, b):
    """Machine, or TimeDateStamp where both have one, differs."""
    x, y = layout_of(a), layout_of(b)
    return x and y and (x.machine != y.machine or 0 != x.stamp != y.stamp != 0)


def with_number(data, offset, width, value):
    return data[:offset] + value.to_bytes(width, "little") + data[offset + width:]


def with_check_sum(data):
    """With the right one, as Windows' CheckSumMappedFile has it."""
    offset = layout_of(data).check_sum
    data = with_number(data, offset, 4, 0)
    padded = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f"<{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return with_number(data, offset, 4, total + len(data))


def without_bits(data):
    """What fixNvPe.py writes: CheckSum is left stale."""
    for bit in layout_of(data).bits:
        data = with_number(data, bit.offset, bit.width, number(data, bit.offset, bit.width) & ~bit.mask)
    return data


def is_signed(data):
    return number(data, layout_of(data).security) != 0


def signed(data):
    """As a signing tool does: a certificate table at the end, its directory entry, the right CheckSum."""
    layout = layout_of(data)
    certificate = struct.pack("<IHH", 72, 0x0200, 2) + b"signed!!" * 8  # WIN_CERTIFICATE
    data += bytes(-len(data) % 8)
    entry = struct.pack("<II", len(data), len(certificate))
    return with_check_sum(data[:layout.security] + entry + data[layout.security + 8:] + certificate)


def unsigned(data):
    """Without what signed() adds, but for the padding."""
    layout = layout_of(data)
    begin, size = number(data, layout.security), number(data, layout.security + 4)
    if begin and begin + size == len(data):
        data = data[:layout.security] + bytes(8) + data[layout.security + 8:begin]
    return data + bytes(-len(data) % 8)


def with_other_body(data):
    """Differs far behind the headers, where nothing but a comparison of all bytes sees it."""
    return data[:-8] + b"new body"


def all_builds(testdata):
    """name -> bytes. But for those that are broken, each is longer than the window in which headers are read."""
    def fixture(name, body=b""):
        return (testdata / "pe" / f"{name}.dll").read_bytes() + body

    tail = bytes(range(250)) * 4
    plain = with_check_sum(fixture("x64-writable", tail))
    no_check_sum = fixture("x64-check-sum-zero", tail[:-8] + b"CheckSum")
    return {
        "plain": plain,
        "plain-other-body": with_check_sum(with_other_body(plain)),
        "no-check-sum": no_check_sum,
        "no-check-sum-other-body": with_other_body(no_check_sum),
        "other-stamp": with_check_sum(with_number(plain, number(plain, 60) + 8, 4, 0x5F000000)),
        # Its headers are those of `plain` when that is patched with --aslr keep.
        "read-only": with_check_sum(fixture("x64-read-only", tail[:-8] + b"CUDA 12.")),
        "two-fatbins": with_check_sum(fixture("x64-two-fatbins-one-writable", tail)),
        "no-aslr": with_check_sum(fixture("x64-writable-no-aslr", tail[:-8] + b"no ASLR.")),
        "signed": fixture("x64-signed"),
        "cut-short": plain[:4000],
        "empty": b"",
    }
