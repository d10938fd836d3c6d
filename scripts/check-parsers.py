#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`check-parsers.py BUILD`: which objects refer to libelf, libdw, liblzma, Zydis and the demangler, and who calls into those. What may be
taken over by a file is called by readers alone; each other way in is a door that is named here, with the reason why no file
of somebody else's comes through it."""
import collections
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "userspace"
# What parses files in one way or another, and who carries out what readers are asked for.
INSIDE = re.compile(r"elf/(elf_\w+|far_symbols|debug/debugdata|demangle|plt|symbols|image_parse|cfi/\w+|cfi_digest|go/\w+|probe/\w+|infer/\w+|reader/reader_(serve_\w+|trade|rights))")
LIBRARIES = re.compile(r"(elf|gelf|dwarf|dwfl|dwelf|ebl|lzma)_\w+|elf(32|64)_\w+|Zydis\w+|(cplus|rust|dlang|ada)_demangle\w*|__cxa_demangle")
# Ours that are named alike.
OURS = re.compile(r"elf_(file|data|counts)_\w+")
VDSO = "the kernel's vDSO, which no process wrote"
NO_FILE = "no byte of a file: what a reader brought, and was checked"
DOORS = {
    "reader_trade": "what a wall is told to make; in place only without one",
    "cfi_digest_begin": "a key is chosen",
    "symbols_are_sound": NO_FILE, "symbols_bytes": NO_FILE, "symbols_find": NO_FILE, "symbols_release": NO_FILE, "symbols_find_go": NO_FILE,
    "go_frames_are_sound": NO_FILE,
    "cfi_segments_address": NO_FILE,
    **{name: VDSO for name in ("cfi_file_address", "cfi_file_build_id", "cfi_file_bytes", "cfi_file_close", "cfi_file_digest",
                               "cfi_file_open_memory", "cfi_file_page", "elf_file_build_id", "elf_file_segments", "image_parse_end",
                               "image_parse_open_memory", "image_parse_own", "image_parse_release")},
}


def symbols_of(path):
    """(defined, referred to): names of an object; nm -P: NAME TYPE …"""
    defined, used = set(), set()
    for line in subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True).stdout.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            used.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, used


def complaints(objects):
    home = {name: at for at, (defined, _) in objects.items() if INSIDE.fullmatch(at) for name in defined}
    doors = collections.Counter()
    for at, (_, used) in objects.items():
        if INSIDE.fullmatch(at):
            continue
        for name in sorted(used):
            if LIBRARIES.fullmatch(name) and not OURS.fullmatch(name):
                yield f"{at} calls {name}(): files are parsed by readers (userspace/elf/reader/)"
            elif name in home and name not in DOORS:
                yield f"{at} refers to {name} of {home[name]}: files are parsed by readers, or it is a door of scripts/check-parsers.py"
            doors[name] += name in DOORS
    for name in DOORS:
        if not doors[name]:
            yield f"nobody uses the door {name} any more"


def main():
    root = pathlib.Path(sys.argv[1]) / "obj" / "userspace"
    objects = {at: symbols_of(path) for path in sorted(root.rglob("*.o"))
               if (SOURCES / (at := str(path.relative_to(root).with_suffix("")))).with_suffix(".c").exists()}
    if not any(LIBRARIES.fullmatch(name) for _, used in objects.values() for name in used):
        sys.exit(f"{root}: no object refers to libelf; build first")
    found = list(complaints(objects))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
