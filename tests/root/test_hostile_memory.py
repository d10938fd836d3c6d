#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that would have hostprof take all memory, or the loop's time: the recording ends on its
deadline, below --memory-limit at each look, and other processes are as rightly named as ever."""
import json

import hostile
from hp import *
from hp_memory import MB, MemoryWatch, expect_within

LIMIT = 128 * MB
SECONDS = 4
# What the figures say of whom.
TOLD = {"sections_without_end": "it says that it has 5000000 sections", "packed_symbols": "compressed symbols of",
        "relocations_without_end": "more than --memory-limit leaves for one file", "long_paths": "limits.mappings"}


def attack(kind, *args):
    """Record while KIND and a program of ours run."""
    need_root()
    directory = temp_dir()
    burn = native("burn", 60)
    start([os.path.join(HERE, "hostile.py"), kind, directory]).wait_text("ready", 120)
    path, stats = temp_path("out.jfr"), temp_path("stats.json")
    recorder = start([HOSTPROF, "record", "-F", 199, "-d", SECONDS, "-o", path, "--stats", stats, *args],
                     stderr=subprocess.PIPE)
    watch = MemoryWatch(recorder.pid)
    began = time.monotonic()
    recorder.finish(SECONDS + 20)
    took = time.monotonic() - began
    expect_within(watch.finish(), LIMIT)
    expect(took < SECONDS + 10, f"it ended after {took:.1f} s")
    expect_named(path, burn.pid)
    expect_in(TOLD.get(kind, ""), json.dumps(read_json(stats)), "the figures")


def expect_named(path, pid):
    lines = of_pid(collapsed(path), pid)
    expect(total(lines) > 30, f"only {total(lines)} samples of the program of ours")
    wrong = [line for line in lines if not in_order(line.frames, "main", "level_one", "level_two")
             and "level_three" in line.frames]
    expect_equal(wrong, [], "stacks of the program of ours")


# Which take longest.
SLOW = {"long_paths"}


def register(kind):
    def run_it():
        attack(kind)
    run_it.__name__ = kind
    test(slow(run_it) if kind in SLOW else run_it)


for _kind in hostile.KINDS[:-1]:
    register(_kind.__name__)


@test
def fake_code_map():
    attack("fake_code_map", "--agent=auto")


if __name__ == "__main__":
    main()
