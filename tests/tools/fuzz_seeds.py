#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make seeds of tests/fuzz/fuzz_unwind_rows.c out of recorded stacks.

    fuzz_seeds.py OUT-DIRECTORY RECORDING...

The pages of code that a recording uses are laid side by side from the fuzzer's CODE_AT on, its
stack begins at STACK_AT, and the words that point into one of them are moved with it. Recordings
that do not fit (two stacks, too many pages) are passed over."""
import os
import struct
import sys

IN_STACK, IN_CODE = 1 << 56, 2 << 56  # place() in the fuzzer makes addresses of these
CODE_PAGE = 0x400000 >> 12
SERIAL = 7
JVM_BYTES = 472  # struct wire_jvm: there is none
MAX_PAGES, MAX_STACK = 200, 16384


class Recording:
    def __init__(self, path):
        self.regs, self.ranges, self.rows, self.memory, self.pc = [0] * 16, [], {}, {}, 0
        with open(path) as f:
            for line in f:
                self.add(line.split())

    def add(self, fields):
        word, values = fields[0], fields[1:]
        if word == 'pc':
            self.pc = int(values[0], 16)
        elif word == 'reg':
            self.regs[int(values[0])] = int(values[1], 16)
        elif word == 'range':
            self.ranges.append((int(values[0], 16), int(values[1], 16), int(values[2], 16), int(values[3])))
        elif word == 'row':
            page = (int(values[0]), int(values[1], 16))
            self.rows.setdefault(page, []).append((int(values[2], 16), tuple(int(v) for v in values[3:])))
        elif word == 'memory':
            for i, byte in enumerate(bytes.fromhex(values[1])):
                self.memory[int(values[0], 16) + i] = byte

    def pages(self):
        """Page of the process -> number beside each other."""
        found = {}
        for start, end, bias, number in self.ranges:
            for file, page in self.rows:
                address = (page << 12) + bias
                if file == number and start - 4096 < address < end:
                    found.setdefault(address >> 12, (len(found), (file, page)))
        return found


def rule_bytes(rule):
    kind, reg, offset, add, ra, rbx, rbp, r13, r15, index, home = rule
    return struct.pack('<BBBBihHBBBB', kind, reg, ra, rbx, offset, add, rbp, r13, r15, index, home)


def stack_of(recording):
    """(lowest address, bytes) from the red zone up; None when it is not one piece."""
    sp = recording.regs[7]
    low = (sp - 128) & ~7
    above = [a for a in recording.memory if low <= a < low + MAX_STACK]
    if not above:
        return None
    high = (max(above) + 8) & ~7
    return low, bytes(recording.memory.get(a, 0) for a in range(low, high))


def seed(recording):
    pages, stack = recording.pages(), stack_of(recording)
    if not stack or not 0 < len(pages) <= MAX_PAGES:
        return None
    low, data = stack

    def moved(value):
        if low <= value <= low + len(data):
            return IN_STACK | value - low
        if value >> 12 in pages:
            return IN_CODE | pages[value >> 12][0] << 12 | value & 4095
        return value & (1 << 56) - 1

    rules, blocks, entries = {(0,) * 11: 0}, [bytes(512)], []
    for number, key in pages.values():
        rows = b''.join(struct.pack('<HH', offset, rules.setdefault(rule, len(rules)))
                        for offset, rule in recording.rows[key][:124])
        entries.append(struct.pack('<IIII', 1, CODE_PAGE + number, len(blocks), 1))
        blocks.append((struct.pack('<IIIHH', 1, 0, 0, len(rows) // 4, 0) + rows).ljust(512, b'\0'))
    if len(rules) > 255:
        return None
    words = b''.join(struct.pack('<Q', moved(w)) for (w,) in struct.iter_unpack('<Q', data))
    span = struct.pack('<QQQII', IN_CODE, IN_CODE | len(pages) << 12, 0, 1, SERIAL)
    fixed = struct.pack('<BBBBBBHIIII', 16, 1, len(rules), len(entries), len(blocks), 0, len(words), SERIAL,
                        0, 1, 1000)
    fixed += struct.pack('<Q16Q', moved(recording.pc), *map(moved, recording.regs)) + bytes(JVM_BYTES + 4 * 16)
    return fixed + span + b''.join(map(rule_bytes, rules)) + b''.join(entries + blocks) + words


def main():
    for path in sys.argv[2:]:
        made = seed(Recording(path))
        if made:
            with open(os.path.join(sys.argv[1], os.path.basename(path).replace('.stack', '')), 'wb') as f:
                f.write(made)


if __name__ == '__main__':
    main()
