"""What a Python script does with pefile, for bench.py. Like fixNvPe.py, but in the fewest steps:

  pefile_peer.py open FILE      opens it and looks
  pefile_peer.py patch FILE     keeps a copy as FILE_bak, clears both flags, writes the file anew
  pefile_peer.py flush FILE     the same, and waits until the new file is on the disk, as fixnvpe does
"""

import os
import shutil
import sys

import pefile

MEM_WRITE = 0x80000000
DYNAMIC_BASE = 0x40

mode, path = sys.argv[1:]
if mode != "open":
    shutil.copy2(path, path + "_bak")
pe = pefile.PE(path, fast_load=True)
fatbins = [s for s in pe.sections if s.Name in (b".nv_fatb", b"__nv_rel")]
if mode != "open":
    pe.OPTIONAL_HEADER.DllCharacteristics &= ~DYNAMIC_BASE
    for section in fatbins:
        section.Characteristics &= ~MEM_WRITE
    new = path + "_new"
    pe.write(new)
    pe.close()
    if mode == "flush":
        with open(new, "rb") as file:
            os.fsync(file.fileno())
    os.replace(new, path)
else:
    print(any(s.Characteristics & MEM_WRITE for s in fatbins))
