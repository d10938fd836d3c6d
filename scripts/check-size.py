#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function over 70 lines, no file over 500. With --stats: the figures of the tree."""
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 500
PLACES = ("userspace/**/*.[ch]", "bpf/**/*.[ch]", "jvmagent/*.[ch]", "tests/**/*.c", "tests/*/*.py")


def functions(lines):
    """Yield (name, first line, number of lines from "{" to "}") in kernel style."""
    begin, name = None, ""
    for at, line in enumerate(lines, 1):
        found = re.match(r"[A-Za-z_].*?([A-Za-z_]\w*)\(", line)
        if found and not line.startswith(("#", "typedef")):
            name = found.group(1)
        if line == "{" and begin is None:
            begin = at
        elif line == "}" and begin is not None:
            yield name, begin, at - begin + 1
            begin = None


def main():
    lengths, bad = [], 0
    for path in sorted(p for place in PLACES for p in ROOT.glob(place)):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MAX_FILE_LINES:
            print(f"{path.relative_to(ROOT)}: {len(lines)} lines, more than {MAX_FILE_LINES}")
            bad += 1
        for name, at, length in functions(lines):
            lengths.append(length)
            if length > MAX_FUNCTION_LINES:
                print(f"{path.relative_to(ROOT)}:{at}: {name}() has {length} lines, more than "
                      f"{MAX_FUNCTION_LINES}")
                bad += 1
    if "--stats" in sys.argv:
        lengths.sort()
        print(f"{len(lengths)} functions: median {statistics.median(lengths):.0f} lines, 90 % up to "
              f"{lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}")
    sys.exit(1 if bad else 0)


main()
