#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A process of anybody that would have hostprof take memory or time: `hostile.py KIND DIRECTORY`.

It makes what KIND says in DIRECTORY, prints "ready", and spins in code that it mapped from there.
"""
import ctypes
import lzma
import mmap
import os
import signal
import struct
import sys
import threading
import time

PAGE = 4096
GIB = 1 << 30
SPIN = b"\xeb\xfe"  # jmp to itself
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_DYNSYM = 0, 1, 2, 3, 4, 11
PT_LOAD, PT_NOTE = 1, 4
PR_SET_PDEATHSIG = 1
NAMES = b"\0.names\0.rela.plt\0.plt\0.gnu_debugdata\0"

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def section(name, kind, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", NAMES.index(name), kind, 0, 0, offset, size, link, 0, 8, entry)


def segment(kind, offset, size, flags=4):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, offset, offset, size, size, 4)


def write_elf(path, sections=(), segments=(), pieces=(), length=4 * PAGE, count=None):
    """Code in the second page, headers of segments in the third, of sections from the fourth on."""
    segments = [segment(PT_LOAD, PAGE, PAGE, 5), *segments]
    at = (2 * PAGE + 56 * len(segments) + PAGE - 1) // PAGE * PAGE
    names_at = at + 64 * 16
    sections = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count or 0, 0, 0, 0, 0),
                section(b".names", SHT_STRTAB, names_at, len(NAMES)), *sections]
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, PAGE, 2 * PAGE, at, 0, 64, 56, len(segments), 64,
        0 if count else len(sections), 1)
    with open(path, "wb") as file:
        for offset, data in [(0, header), (PAGE, SPIN), (2 * PAGE, b"".join(segments)),
                             (at, b"".join(sections)), (names_at, NAMES), *pieces]:
            file.seek(offset)
            file.write(data)
        file.truncate(max(length, names_at + PAGE))
    return path


def map_code(path):
    fd = os.open(path, os.O_RDONLY)
    at = libc.mmap(None, PAGE, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE, fd, PAGE)
    os.close(fd)
    if at in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    return at


def spin_at(at):
    print("ready", flush=True)
    ctypes.CFUNCTYPE(None)(at)()


def spin_in(path):
    spin_at(map_code(path))


def sections_without_end(directory):
    spin_in(write_elf(f"{directory}/sections.so", count=5_000_000, length=GIB))


def overlapping_notes(directory):
    notes = [segment(PT_NOTE, GIB, (1 << 20) - 4 * i) for i in range(2000)]
    spin_in(write_elf(f"{directory}/notes.so", segments=notes, length=2 * GIB))


def relocations_without_end(directory):
    spin_in(write_elf(f"{directory}/plt.so", length=8 * GIB, sections=[
        section(b".rela.plt", SHT_RELA, GIB, GIB, link=3, entry=24),
        section(b"\0", SHT_DYNSYM, 3 * GIB, GIB // 2, link=1, entry=24),
        section(b".plt", SHT_PROGBITS, 5 * GIB, GIB)]))


def packed_symbols(directory):
    """A quarter of a gigabyte of zeros, by a dictionary of 64 MB."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 64 << 20}]
    coder = lzma.LZMACompressor(filters=filters)
    piece = bytes(1 << 20)
    data = b"".join([coder.compress(piece) for _ in range(250)] + [coder.flush()])
    spin_in(write_elf(f"{directory}/packed.so", length=GIB, pieces=[(64 * PAGE, data)],
                      sections=[section(b".gnu_debugdata", SHT_PROGBITS, 64 * PAGE, len(data))]))


def long_paths(directory):
    """20,000 mappings, each of its own file of a long path, and ten children with the same."""
    deep = directory
    for _ in range(11):
        deep += "/" + "d" * 250
    os.makedirs(deep)
    whole = os.open("/", os.O_RDONLY)
    os.chdir(deep)
    for i in range(20_000):
        with open(f"{i}", "wb") as file:
            file.write(SPIN.ljust(PAGE, b"\0") + SPIN.ljust(PAGE, b"\0"))
        at = map_code(f"{i}")
    os.fchdir(whole)
    for _ in range(10):
        if os.fork() == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            ctypes.CFUNCTYPE(None)(at)()
    spin_at(at)


def write_code_map(fd, ring_bytes, base):
    """As fast as it can: stubs of 64 bytes, each below the one before."""
    memory = mmap.mmap(fd, PAGE + ring_bytes)
    batch = 4096
    size = 16 + 8 + 4 + 4 + 8
    address = base
    while True:
        head, tail = struct.unpack_from("<QQ", memory, 40)
        if head - tail + 2 * batch * size > ring_bytes:
            time.sleep(0.001)
            continue
        records = bytearray()
        for _ in range(batch):
            address -= 64
            records += struct.pack("<IHHQQII8s", size, 4, 0, time.monotonic_ns(), address, 64, 8, b"%08x" % (address & 0xffffffff))
        at = head % ring_bytes
        first = min(len(records), (ring_bytes - at) // size * size)
        memory[PAGE + at:PAGE + at + first] = bytes(records[:first])
        struct.pack_into("<Q", memory, 40, head + first if ring_bytes - at - first >= size else
                         head + ring_bytes - at if ring_bytes - at - first < 16 else head + first)


def fake_code_map(directory):
    ring_bytes = 64 << 20
    at = map_code(write_elf(f"{directory}/libjvm.so"))
    fd = os.memfd_create("hostprof-codemap", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, PAGE + ring_bytes)
    header = struct.pack("<QIIIIIIQQQQIIIIII", 0x31504D4350545348, 1, PAGE, ring_bytes, 0, os.getpid(), 0,
                         0, 0, 0, 0, 0, 0, 0, 0, 0, 7)
    os.pwrite(fd, header, 0)
    F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
    libc.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
    threading.Thread(target=write_code_map, args=(fd, ring_bytes, 1 << 46), daemon=True).start()
    spin_at(at)


KINDS = [sections_without_end, overlapping_notes, relocations_without_end, packed_symbols, long_paths, fake_code_map]

if __name__ == "__main__":
    {kind.__name__: kind for kind in KINDS}[sys.argv[1]](sys.argv[2])
