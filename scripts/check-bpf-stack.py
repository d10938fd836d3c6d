#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The deepest stack of the BPF programs, as Linux 6.1 adds it up: check-bpf-stack.py FILE.bpf.o

kernel/bpf/verifier.c, check_max_stack_depth(): each function's stack is rounded up to 32 bytes, 512
may be used by a chain of calls, of 8 functions at most. Later kernels round up to 16, so that what
loads on the machine at hand may not load on the oldest one that is promised."""
import collections
import functools
import re
import subprocess
import sys

MAX_BYTES, MAX_CALLS, ROUND = 512, 8, 32

Function = collections.namedtuple("Function", "name calls slots")


def dump(path):
    argv = ["llvm-objdump", "-d", "-r", path]
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def functions_of(lines):
    """Name → function, and (section, offset) → name."""
    functions, places, section, here, value, base = {}, {}, "", None, 0, None
    for line in lines:
        if found := re.match(r"Disassembly of section (.*):", line):
            section = found.group(1)
        elif found := re.match(r"([0-9a-f]+) <(\w+)>:", line):
            if not found.group(2).startswith("LBB"):
                here = functions.setdefault(found.group(2), Function(found.group(2), set(), {1}))
                places[section, int(found.group(1), 16)] = here.name
        elif found := re.search(r"R_BPF_64_32\s+(\w+)$", line):
            here.calls.add(found.group(1))
        elif "R_BPF_64_32" in line:
            here.calls.add((".text", 8 * (value + 1)))  # a static function, from another section
        elif "R_BPF_64_64" in line and ".text" in line:
            here.calls.add((".text", value))  # the address of what bpf_loop() is to call
        elif here:
            here.slots.update(int(n, 0) for n in re.findall(r"r10 - (0x[0-9a-f]+|\d+)", line))
            if found := re.search(r"(\d+):\s+85 10 .*call (-?\d+)$", line):
                # Within a section: instructions from the next one, if no relocation follows.
                value = int(found.group(2))
                here.calls.add((section, 8 * (int(found.group(1)) + 1 + value)))
            elif found := re.search(r"r\d+ = (\w+) ll$", line):
                value = int(found.group(1), 0)
            elif found := re.search(r"(r\d+) \+= -(\d+)$", line):
                here.slots.update({int(found.group(2))} if found.group(1) == base else ())
            found = re.search(r"(r\d+) = r10$", line)
            base = found.group(1) if found else None
    return functions, places


def deepest(functions, places, name):
    """Bytes and functions of the deepest chain of calls that NAME begins, and the longest's length."""
    @functools.lru_cache(None)
    def chain(name):
        below = [chain(target) for target in
                 (each if isinstance(each, str) else places.get(each) for each in functions[name].calls)
                 if target in functions]
        bytes_below, names, calls = max(below, default=(0, (), 0))
        own = max(functions[name].slots)
        return (bytes_below + (own + ROUND - 1) // ROUND * ROUND, (f"{name} {own}", *names),
                1 + max([each[2] for each in below], default=0))
    return chain(name)


def main():
    functions, places = functions_of(dump(sys.argv[1]))
    called = {target if isinstance(target, str) else places.get(target)
              for function in functions.values() for target in function.calls}
    bad = 0
    for name in sorted(functions.keys() - called):
        used, names, calls = deepest(functions, places, name)
        text = f"{name}: {used} of {MAX_BYTES} bytes of stack: {' > '.join(names)}"
        if used > MAX_BYTES or calls > MAX_CALLS:
            print(f"{text}; {calls} of {MAX_CALLS} calls")
            bad += 1
        elif "--stats" in sys.argv:
            print(text)
    return 1 if bad else 0


sys.exit(main())
