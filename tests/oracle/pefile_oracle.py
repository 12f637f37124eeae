"""What pefile (https://github.com/erocarrera/pefile) makes of PE files, for tests/oracle/test_oracle.cpp.

  pefile_oracle.py patch auto|keep|clear FILE OUTPUT   patches as fixnvpe should, but for CheckSum
  pefile_oracle.py describe FILE...                    prints one JSON object of what they hold
"""

import json
import sys

import pefile

MEM_WRITE = 0x80000000
DYNAMIC_BASE = 0x40


def fatbins(pe):
    return [s for s in pe.sections if s.Name == b".nv_fatb"]


def patch(policy, source, target):
    pe = pefile.PE(source, fast_load=True)
    sections = fatbins(pe)
    writable = any(s.Characteristics & MEM_WRITE for s in sections)
    if (policy == "auto" and writable) or (policy == "clear" and sections):
        pe.OPTIONAL_HEADER.DllCharacteristics &= ~DYNAMIC_BASE
    for section in sections:
        section.Characteristics &= ~MEM_WRITE
    pe.write(target)


def describe(path):
    pe = pefile.PE(path, fast_load=True)
    header = pe.OPTIONAL_HEADER
    return {
        "check_sum_offset": header.get_field_absolute_offset("CheckSum"),
        "check_sum": header.CheckSum,
        "right_check_sum": pe.generate_checksum(),
        "dll_characteristics": header.DllCharacteristics,
        "image_base": header.ImageBase,
        "machine": pe.FILE_HEADER.Machine,
        "fatbins": [{"virtual_size": s.Misc_VirtualSize, "characteristics": s.Characteristics} for s in fatbins(pe)],
    }


if sys.argv[1] == "patch":
    patch(*sys.argv[2:])
else:
    json.dump({path: describe(path) for path in sys.argv[2:]}, sys.stdout)
