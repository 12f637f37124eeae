"""Runs in Windows' Python: loads DLLs as torch loads those of torch/lib, in the order given, and says how that went.

    load.py LIST [WAIT]     LIST: a file with a path a line; WAIT: seconds to stay, so that others run at the same time
"""

import ctypes
import json
import os
import sys
import time
from ctypes import wintypes

import memory

# LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS (libloaderapi.h)
SEARCH = 0x0100 | 0x1000

kernel32 = memory.kernel32
kernel32.LoadLibraryExW.argtypes = [wintypes.LPCWSTR, wintypes.HANDLE, wintypes.DWORD]
kernel32.LoadLibraryExW.restype = wintypes.HMODULE

with open(sys.argv[1], encoding="utf-8") as listed:
    paths = listed.read().splitlines()
folders = [os.add_dll_directory(folder) for folder in sorted({os.path.dirname(path) for path in paths})]
for path in paths:
    print("loading", json.dumps(path), flush=True)
    error = 0 if kernel32.LoadLibraryExW(path, None, SEARCH) else ctypes.get_last_error()
    print("loaded", json.dumps([path, error]), flush=True)
if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
print("memory", json.dumps(memory.writable_image_memory()), flush=True)
