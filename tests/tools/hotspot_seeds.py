#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make seeds of tests/fuzz/fuzz_hotspot.c out of recorded Java stacks (tests/data/java).

    hotspot_seeds.py OUT-DIRECTORY RECORDING...

The code blobs that a stack uses are laid beside each other in the fuzzer's piece of code, what is read
of the interpreter too; the stack, the metadata and all words that point into one of them move along.
One seed of each stack that fits into the fuzzer's pieces."""
import os
import re
import struct
import sys

STACK, CODE, SEGMAP, META, NATIVE = (n << 56 for n in range(1, 6))
LIMIT = 60000
BLOCK = 1024  # of metadata
AROUND = 64   # bytes of the interpreter around a pc

# struct wire_jvm behind its heaps; see bpf/wire_jvm.h
U16 = ("blob_bytes blob_size frame_size frame_complete code_begin deopt deopt_mh orig_pc compile_id").split()
U8 = "frame_complete_bytes code_begin_kind deopt_kind const_method_ids".split()
MORE = "thread_saved_pc thread_anchor thread_cont_entry anchor_sp anchor_pc anchor_fp wrapper_anchor".split()
ABSENT = 0xffff
SLOTS = "method_slot bcp_slot sender_sp_slot".split()
CHAIN = "method_const_method const_method_constants pool_holder klass_name".split()


def parse_memory(lines, memory):
    for line in lines:
        if line.startswith("memory "):
            _, address, data = line.split()
            for i, byte in enumerate(bytes.fromhex(data)):
                memory[int(address, 16) + i] = byte


class Jvm:
    def __init__(self, text):
        head, *self.stacks = re.split(r"^(?=stack )", text, flags=re.MULTILINE)
        lines = head.splitlines()
        self.fields = {w[1]: int(w[2], 16) for w in map(str.split, lines) if w and w[0] == "jvm"}
        self.heaps = [[int(v, 16) for v in line.split()[1:]] for line in lines if line.startswith("heap ")]
        self.ranges = [[int(v, 16) for v in line.split()[1:3]] for line in lines if line.startswith("range ")]
        self.memory = {}
        parse_memory(lines, self.memory)


class Seed:
    def __init__(self, jvm, text):
        lines = text.splitlines()
        self.jvm, self.memory = jvm, dict(jvm.memory)
        parse_memory(lines, self.memory)
        words = [line.split() for line in lines]
        self.regs = [int(w[2], 16) for w in words if w[0] == "reg"]
        self.pc = next(int(w[1], 16) for w in words if w[0] == "pc")
        self.thread = next(int(w[1], 16) for w in words if w[0] == "thread")
        self.pcs = [int(w[1], 16) for w in words if w[0] == "frame"]
        self.code, self.segmap, self.spans, self.blocks = bytearray(), bytearray(), [], {}
        self.low = self.regs[7] - 256
        self.high = max((a for a in self.memory if self.low <= a < self.low + LIMIT), default=self.low)

    def bytes_at(self, address, length):
        return bytes(self.memory.get(address + i, 0) for i in range(length))

    def pad(self):
        shift = self.jvm.fields["log2_segment"]
        self.code += bytes(-len(self.code) % (1 << shift))

    def add_blob(self, pc):
        """The block of the blob at PC: its map is made anew."""
        f, shift = self.jvm.fields, self.jvm.fields["log2_segment"]
        heap = next((h for h in self.jvm.heaps if h[0] <= pc < h[1]), None)
        if not heap or any(start <= pc < end for start, end, _ in self.spans):
            return
        segment = (pc - heap[0]) >> shift
        while 0 < self.memory.get(heap[2] + segment, 0) < 255:
            segment -= self.memory[heap[2] + segment]
        block = heap[0] + (segment << shift)
        size = struct.unpack("<i", self.bytes_at(block + f["block_header"] + f["blob_size"], 4))[0]
        if not 0 < size < LIMIT:
            return
        self.pad()
        length = f["block_header"] + size
        self.spans.append((block, block + length, len(self.code)))
        self.code += self.bytes_at(block, length)
        self.pad()
        count = (len(self.code) >> shift) - len(self.segmap)
        self.segmap += bytes(min(i, 254) for i in range(count))

    def add_interpreter(self, pc):
        if self.jvm.fields["interpreter_start"] <= pc < self.jvm.fields["interpreter_end"]:
            self.spans.append((pc - AROUND, pc + AROUND, len(self.code)))
            self.code += self.bytes_at(pc - AROUND, 2 * AROUND)

    def moved(self, value):
        if self.low <= value <= self.high:
            return STACK | value - self.low
        for start, end, at in self.spans:
            if start <= value < end:
                return CODE | at + value - start
        if any(start <= value < end for start, end in self.jvm.ranges):
            return NATIVE | value & 0xffff
        if value // BLOCK in self.blocks:
            return META | self.blocks[value // BLOCK] * BLOCK + value % BLOCK
        return value & (1 << 56) - 1

    def words(self, data):
        data += bytes(-len(data) % 8)
        return b"".join(struct.pack("<Q", self.moved(w)) for (w,) in struct.iter_unpack("<Q", data))

    def wire_jvm(self, interpreter):
        f, moved = self.jvm.fields, self.moved
        end = len(self.code)
        out = struct.pack("<IBBBB", f["serial"], 1, f["log2_segment"], f["block_header"], 0)
        out += struct.pack("<7Q", CODE | interpreter, CODE | end, CODE, CODE | end,
                           *(moved(f[name]) for name in ("call_stub_return", "return_barrier", "enter_return")))
        out += struct.pack("<QQQ", CODE, CODE | end, SEGMAP) + bytes(5 * 24)
        out += struct.pack("<9H", *(f[name] for name in U16))
        out += struct.pack("<4B", *(f[name] for name in U8))
        out += struct.pack("<7H", *(f.get(name, ABSENT) for name in MORE))
        out += struct.pack("<3Bx", *(f[name] & 0xff for name in SLOTS))
        out += struct.pack("<4I", *(f[name] & 0xffffffff for name in CHAIN))
        out += bytes(-len(out) % 8) + struct.pack("<QQ", f["symbol_mask"], 0)
        return out + bytes(48 * 4)

    def make(self):
        for pc in self.pcs:
            if not self.jvm.fields["interpreter_start"] <= pc < self.jvm.fields["interpreter_end"]:
                self.add_blob(pc)
        interpreter = len(self.code)
        for pc in self.pcs:
            self.add_interpreter(pc)
        known = [a for a in self.memory if not self.low <= a <= self.high and
                 not any(h[0] <= a < h[1] or h[2] <= a < h[2] + (1 << 22) for h in self.jvm.heaps)]
        for address in sorted(known):
            self.blocks.setdefault(address // BLOCK, len(self.blocks))
        meta = b"".join(self.bytes_at(n * BLOCK, BLOCK) for n in self.blocks)
        if max(len(self.code), len(meta), self.high - self.low) > LIMIT:
            return None
        stack = self.words(self.bytes_at(self.low & ~7, (self.high - self.low & ~7) + 8))
        fixed = struct.pack("<BBHHH", 0, 40, len(stack), len(self.code), len(self.segmap))
        fixed += struct.pack("<Q16Q", self.moved(self.pc), *map(self.moved, self.regs))
        fixed += struct.pack("<Q3QQ", self.moved(self.thread), 0, 0, 0, 0)
        fixed += self.wire_jvm(interpreter) + bytes(4 * 16)
        return fixed + stack + bytes(self.code) + bytes(self.segmap) + self.words(meta)


def main():
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            jvm = Jvm(file.read())
        for text in jvm.stacks:
            data = Seed(jvm, text).make()
            if data:
                name = os.path.basename(path).replace(".stacks", "") + "_" + text.split()[1]
                with open(os.path.join(sys.argv[1], name), "wb") as file:
                    file.write(data)


if __name__ == "__main__":
    main()
