"""What pefile (https://github.com/erocarrera/pefile) makes of PE files, for tests/oracle/test_oracle.cpp.

  pefile_oracle.py patch auto|keep|clear FOLDER OUTPUT   patches each file as fixnvpe should, but for CheckSum
  pefile_oracle.py describe FOLDER                       prints one JSON object of what the files in it hold

Files that pefile does not take for PE files are passed by. tests/real asks it, too.
"""

import json
import os
import sys

import pefile

MEM_WRITE = 0x80000000
DYNAMIC_BASE = 0x40


def fatbins(pe):
    return [s for s in pe.sections if s.Name in (b".nv_fatb", b"__nv_rel")]


def patch(pe, policy):
    sections = fatbins(pe)
    writable = any(s.Characteristics & MEM_WRITE for s in sections)
    if (policy == "auto" and writable) or (policy == "clear" and sections):
        pe.OPTIONAL_HEADER.DllCharacteristics &= ~DYNAMIC_BASE
    for section in sections:
        section.Characteristics &= ~MEM_WRITE


def describe(pe):
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


def pe_files(folder):
    for name in sorted(os.listdir(folder)):
        try:
            yield name, pefile.PE(os.path.join(folder, name), fast_load=True)
        except pefile.PEFormatError:
            pass


def main():
    if sys.argv[1] == "patch":
        policy, source, target = sys.argv[2:]
        for name, pe in pe_files(source):
            patch(pe, policy)
            pe.write(os.path.join(target, name))
    else:
        json.dump({name: describe(pe) for name, pe in pe_files(sys.argv[2])}, sys.stdout)


if __name__ == "__main__":
    main()
