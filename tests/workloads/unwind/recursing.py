# SPDX-License-Identifier: Apache-2.0
"""usage: recursing.py SECONDS

Recurses DEPTH times through C (sorted() calls its key function), so that every level is a C frame of
the interpreter's loop, and burns at the bottom.
"""
import sys
import time

DEPTH = 40


def bottom():
    total = 0
    for number in range(100000):
        total += number * number
    return total


def descend(left):
    if left == 0:
        return bottom()
    return sorted([left], key=lambda number: descend(number - 1))[0]


end = time.monotonic() + float(sys.argv[1])
print("ready", flush=True)
while time.monotonic() < end:
    descend(DEPTH)
