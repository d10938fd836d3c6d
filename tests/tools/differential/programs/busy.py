# SPDX-License-Identifier: Apache-2.0
"""Keeps CPython busy for some seconds: recursion, sorting with callbacks, re, json, zlib, hashlib."""
import hashlib
import json
import re
import sys
import time
import zlib


def grow(depth, key):
    return (grow(depth - 1, 2 * key), key, grow(depth - 1, 2 * key + 1)) if depth else None


def total(tree):
    return total(tree[0]) + tree[1] + total(tree[2]) if tree else 0


class Key:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


def words():
    text = ' '.join(str(i * 7919 % 1000) for i in range(20000))
    keys = sorted(text.split()[:3000], key=Key)
    swapped = re.sub(r'(\d)(\d)', lambda m: m.group(2) + m.group(1), text)
    return len(json.loads(json.dumps(keys))) + len(swapped)


def packed():
    return hashlib.sha256(zlib.compress(b'hostprof' * 20000, 9)).digest()[0]


end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 2)
result = 0
while time.time() < end:
    result += total(grow(11, 1)) + words() + packed()
print(result)
