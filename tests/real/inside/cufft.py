"""Runs in Windows' Python: what cuFFT answers, and what of its image is writable.

    cufft.py DLL [WAIT]     WAIT: seconds to stay, so that another program can look at this process
"""

import ctypes
import json
import os
import sys
import time

import memory

library = ctypes.WinDLL(sys.argv[1])
version = ctypes.c_int(0)
result = library.cufftGetVersion(ctypes.byref(version))
print("cufft", json.dumps([result, version.value]), flush=True)
print("memory", json.dumps(memory.writable_image_memory()), flush=True)
print("process", json.dumps(os.getpid()), flush=True)
if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
