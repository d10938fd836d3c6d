#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point downwards only, as the table of docs/architecture.md says; no circle, no crowded folder."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FILES = 30

BELOW = {
    "base": "",
    "wall": "base",
    "profile": "base",
    "process": "base wall profile",
    "elf": "base wall profile",
    "capture": "base profile",
    "jvm": "base wall profile process elf",
    "unwind": "base wall profile process elf jvm",
    "symbolize": "base wall profile process elf jvm unwind",
    "recording": "base profile",
    "output": "base profile recording",
    "sink": "base profile recording",
    "session": "base wall profile process elf capture jvm unwind symbolize",
    "service": "base wall profile process elf capture jvm unwind symbolize session recording output sink",
    "cmd": "base wall profile process elf capture jvm unwind symbolize session recording output sink service",
}
# The rooms of bpf/: what every step shares, steps, what the kernel tells of itself, and what makes samples of walks.
BPF_BELOW = {
    "unwind": "",
    "native": "unwind",
    "hotspot": "unwind native",
    "kernel": "",
    "sample": "unwind native hotspot kernel",
}
# The two contracts, from anywhere (the .def files belong to wire.h).
CONTRACTS = {"wire.h", "codemap.h", "unwind_reasons.def", "wire_losses.def", "wire_counters.def",
             "wire_triggers.def", "wire_states.def", "wire_waits.def"}
# The step functions are written once, in bpf/, and seated in userspace by unwind/.
ALSO = {"unwind": {str(path.relative_to(ROOT / "bpf")) for path in (ROOT / "bpf").rglob("*.h")}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def check_file(path, layer):
    """Yield one sentence per include that is not allowed."""
    for name in includes(path):
        if name in CONTRACTS or name in ALSO.get(layer, ()) or name.endswith(".skel.h"):
            continue
        target = name.split("/")[0]
        if "/" not in name:
            yield f'"{name}" has no layer; write "{layer}/{name}"'
        elif target not in BELOW:
            yield f'"{name}" is in no known layer'
        elif target != layer and target not in BELOW[layer].split():
            yield f'{layer}/ must not include "{name}"'


def check_userspace():
    for path in sorted((ROOT / "userspace").rglob("*.[ch]")):
        layer = path.relative_to(ROOT / "userspace").parts[0]
        if layer not in BELOW:
            yield f"{path.relative_to(ROOT)}: {layer}/ is no known layer"
            continue
        for sentence in check_file(path, layer):
            yield f"{path.relative_to(ROOT)}: {sentence}"


def check_bpf():
    for path in sorted((ROOT / "bpf").rglob("*.[ch]")):
        room = path.parent.name
        for name in includes(path):
            target = name.split("/")[0]
            if not (ROOT / "bpf" / name).exists() and name != "vmlinux.h":
                yield f'{path.relative_to(ROOT)}: "{name}" is not in bpf/'
            elif room in BPF_BELOW and target != room and target not in BPF_BELOW[room].split() and "/" in name:
                yield f'{path.relative_to(ROOT)}: {room}/ must not include "{name}"'


def check_agent():
    for path in sorted((ROOT / "jvmagent").glob("*.[ch]")):
        for name in includes(path):
            if name.split("/")[0] in BELOW:
                yield f'{path.relative_to(ROOT)}: must not include userspace\'s "{name}"'


def check_folders():
    for folder in [ROOT / "jvmagent", *(p for top in ("bpf", "userspace") for p in (ROOT / top).rglob("*"))]:
        if folder.is_dir() and (count := sum(p.is_file() for p in folder.iterdir())) > MOST_FILES:
            yield f"{folder.relative_to(ROOT)}: {count} files, more than {MOST_FILES}"


def is_one_module(circle):
    """A module and its parts: files of a folder whose names begin with another's."""
    return any(all(other == whole or other.startswith(f"{whole}_") for other in circle) for whole in circle)


def check_circles():
    """Files that include each other, straight or by way of others, a header and its source taken as one."""
    root = ROOT / "userspace"
    below = {}
    for path in root.rglob("*.[ch]"):
        names = {name.removesuffix(".h") for name in includes(path) if (root / name).exists()}
        below.setdefault(str(path.relative_to(root).with_suffix("")), set()).update(names)
    left = sorted(below)
    while left:
        circle = sorted(other for other in reached(below, left[0]) if left[0] in reached(below, other))
        if len(circle) > 1 and not is_one_module(circle):
            yield f"userspace: a circle of {', '.join(circle)}"
        left = [stem for stem in left[1:] if stem not in circle]


def reached(below, stem):
    """All files that STEM includes, by way of others too."""
    found, left = set(), [stem]
    while left:
        for other in below.get(left.pop(), ()):
            if other not in found:
                found.add(other)
                left.append(other)
    return found


def main():
    bad = 0
    for check in (check_userspace, check_bpf, check_agent, check_folders, check_circles):
        for sentence in check():
            print(sentence)
            bad += 1
    sys.exit(1 if bad else 0)


main()
