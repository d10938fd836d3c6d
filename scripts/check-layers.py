#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point downwards only: the table of docs/architecture.md, checked."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BELOW = {
    "base": "",
    "profile": "base",
    "process": "base profile",
    "elf": "base profile",
    "capture": "base profile",
    "jvm": "base profile process elf",
    "unwind": "base profile process elf jvm",
    "symbolize": "base profile process elf jvm unwind",
    "session": "base profile process elf capture jvm unwind symbolize output",
    "output": "base profile",
    "service": "base profile process elf capture jvm unwind symbolize session output",
    "cmd": "base profile process elf capture jvm unwind symbolize session output service",
}
# The two contracts, from anywhere (unwind_reasons.def belongs to wire.h).
CONTRACTS = {"wire.h", "codemap.h", "unwind_reasons.def", "wire_losses.def"}
# The step functions are written once, in bpf/, and seated in userspace by unwind/.
ALSO = {"unwind": {path.name for path in (ROOT / "bpf").glob("*.h")}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def check_file(path, layer):
    """Yield one sentence per include that is not allowed."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if name in CONTRACTS or name in ALSO.get(layer, ()) or name.endswith(".skel.h"):
            continue
        target = name.split("/")[0]
        if "/" not in name:
            yield f'"{name}" has no layer; write "{layer}/{name}"'
        elif target not in BELOW:
            yield f'"{name}" is in no known layer'
        elif target != layer and target not in BELOW[layer].split():
            yield f'{layer}/ must not include "{name}"'


def main():
    bad = 0
    for path in sorted((ROOT / "userspace").glob("*/*.[ch]")):
        layer = path.parent.name
        if layer not in BELOW:
            print(f"{path.relative_to(ROOT)}: {layer}/ is no known layer")
            bad += 1
            continue
        for sentence in check_file(path, layer):
            print(f"{path.relative_to(ROOT)}: {sentence}")
            bad += 1
    for path in sorted((ROOT / "jvmagent").glob("*.[ch]")) + sorted((ROOT / "bpf").glob("*.[ch]")):
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if name.split("/")[0] in BELOW:
                print(f'{path.relative_to(ROOT)}: must not include userspace\'s "{name}"')
                bad += 1
    sys.exit(1 if bad else 0)


main()
