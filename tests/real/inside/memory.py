"""Runs in Windows' Python: how much of this process's image memory is writable, which Windows commits for it."""

import ctypes
from ctypes import wintypes

MEM_COMMIT = 0x1000
MEM_IMAGE = 0x1000000
WRITABLE = 0x04 | 0x08 | 0x40 | 0x80  # PAGE_READWRITE, PAGE_WRITECOPY, and both with EXECUTE

kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)


class MemoryBasicInformation(ctypes.Structure):
    """MEMORY_BASIC_INFORMATION of a 64-bit process (winnt.h)."""

    _fields_ = [("BaseAddress", ctypes.c_void_p), ("AllocationBase", ctypes.c_void_p),
                ("AllocationProtect", wintypes.DWORD), ("PartitionId", wintypes.WORD), ("RegionSize", ctypes.c_size_t),
                ("State", wintypes.DWORD), ("Protect", wintypes.DWORD), ("Type", wintypes.DWORD)]


kernel32.VirtualQuery.argtypes = [ctypes.c_void_p, ctypes.POINTER(MemoryBasicInformation), ctypes.c_size_t]
kernel32.VirtualQuery.restype = ctypes.c_size_t
kernel32.GetModuleFileNameW.argtypes = [wintypes.HMODULE, wintypes.LPWSTR, wintypes.DWORD]


def module_name(base):
    name = ctypes.create_unicode_buffer(32768)
    kernel32.GetModuleFileNameW(base, name, len(name))
    return name.value


def writable_image_memory():
    """Bytes by the path of the module they belong to."""
    by_base = {}
    region = MemoryBasicInformation()
    at = 0
    while kernel32.VirtualQuery(at, ctypes.byref(region), ctypes.sizeof(region)):
        if region.State == MEM_COMMIT and region.Type == MEM_IMAGE and region.Protect & WRITABLE:
            by_base[region.AllocationBase] = by_base.get(region.AllocationBase, 0) + region.RegionSize
        at = (region.BaseAddress or 0) + region.RegionSize
    by_name = {}
    for base, count in by_base.items():
        name = module_name(base)
        by_name[name] = by_name.get(name, 0) + count
    return by_name
