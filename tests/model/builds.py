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
    if len(data) < nt + 24:
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


MOVED = 0x80  # where a split moves the NT headers to


def table_of(headers):
    """Where the section table is, and its entries."""
    nt = number(headers, 60)
    count, size = number(headers, nt + 6, 2), number(headers, nt + 20, 2)
    table = nt + 24 + size
    return table, [headers[table + 40 * i:table + 40 * i + 40] for i in range(count)]


def with_table(headers, sections):
    table, old = table_of(headers)
    nt, end = number(headers, 60), table + 40 * max(len(old), len(sections))
    entries = b"".join(sections)
    headers = headers[:table] + entries + bytes(end - table - len(entries)) + headers[end:]
    return with_number(headers, nt + 6, 2, len(sections))


def moved_down(headers):
    """With the NT headers where a split puts them."""
    nt, (table, sections) = number(headers, 60), table_of(headers)
    if nt <= MOVED:
        return headers
    end = table + 40 * len(sections)
    headers = headers[:MOVED] + headers[nt:end] + bytes(nt - MOVED) + headers[end:]
    return with_number(headers, 60, 4, MOVED)


def part(section, begin, end):
    """Of a section, from and up to these bytes from its beginning."""
    size, address, raw_size, raw = struct.unpack_from("<4I", section, 8)
    raw_end = raw_size if end == size else end
    raw_size = max(raw_end - begin, 0)
    fields = struct.pack("<4I", end - begin, address + begin, raw_size, raw + begin if raw_size else 0)
    return section[:8] + fields + section[24:]


def split(headers, pages, moves):
    """What fixnvpe makes of headers, from its README and with none of its code."""
    sections = table_of(headers)[1]
    for address, length in pages:
        for i, whole in enumerate(sections):
            size, begin = struct.unpack_from("<2I", whole, 8)
            if begin <= address < begin + size:
                at = address - begin
                piece = part(whole, at, at + length)
                piece = b".fixnv\0\0" + piece[8:36] + struct.pack("<I", number(piece, 36) & ~MEM_WRITE)
                sections[i:i + 1] = [*([part(whole, 0, at)] if at else []), piece, part(whole, at + length, size)]
                break
    return with_table(moved_down(headers) if moves else headers, sections)


def is_split(data):
    return layout_of(data) is not None and any(s.startswith(b".fixnv\0") for s in table_of(data)[1])


def joined(data):
    """As before it was split, but with the NT headers moved down."""
    if layout_of(data) is None:
        return data
    sections, result = iter(table_of(data)[1]), []
    for section in sections:
        parts = [section]
        if section.startswith(b".fixnv\0"):
            parts.append(next(sections))
            if result and result[-1][:8] == parts[-1][:8]:
                parts.insert(0, result.pop())
        sizes, addresses, raw_sizes, raws = zip(*(struct.unpack_from("<4I", p, 8) for p in parts))
        fields = struct.pack("<4I", sum(sizes), addresses[0], sum(raw_sizes), raws[0])
        result.append(parts[-1][:8] + fields + parts[-1][24:])
    return moved_down(with_table(data, result))


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
        "variables": with_check_sum(fixture("x64-variables", tail[:-8] + b"split me")),
        "signed": fixture("x64-signed"),
        "cut-short": plain[:4000],
        "empty": b"",
    }
