#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""Whole stacks of a Java/JNI program made at random: exact frames and shares, JDK 17 and 25.

The seed is printed; HOSTPROF_SEED=N makes that program again, HOSTPROF_SEEDS=N tries N programs.
"""
import atexit
import random
import tempfile

import gates
from hp import *
from jvm_frames import over_allowance
from native_programs import Recording
from random_judge import (LineJudge, compiled, judge_pid, parse_clocks, print_row,
                          strange_shares)
from random_program import Program

FREQUENCY = 997
SECONDS = 7
MODES = {"default": [], "-Xint": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"]}

first_seed = int(os.environ.get("HOSTPROF_SEED") or random.randrange(2**31))
seeds = [first_seed + number for number in range(int(os.environ.get("HOSTPROF_SEEDS") or 1))]
directories = {}
sums = collections.defaultdict(collections.Counter)  # by JDK: samples, bad


def program_of(seed):
    """Where the program of a seed is; it is compiled once for all tests."""
    if seed not in directories:
        directory = tempfile.mkdtemp(prefix="hostprof-random-")
        atexit.register(shutil.rmtree, directory, True)
        directories[seed] = compiled(Program(seed), directory)
    return directories[seed]


class Running:
    """The program in one JVM."""

    def __init__(self, directory, home, version, flags):
        allowed = ["--enable-native-access=ALL-UNNAMED"] if version > 21 else []
        self.process = start([f"{home}/bin/java", "-Xmx64m", "-XX:+UseSerialGC", *allowed, *flags,
                              "-cp", directory, "made.Plan", f"{directory}/libmade.so", 500],
                             stdin=subprocess.PIPE)
        self.asked = 0

    def clocks(self):
        """What each path, and each worker in all, took so far."""
        self.process.wait_text("ready")
        self.asked += 1
        seen = len(self.process.text)
        self.process.popen.stdin.write(b"?")
        self.process.popen.stdin.flush()
        self.process.wait_text(f"shown {self.asked}\n")
        return parse_clocks(self.process.text[seen:])


def judged(version, seed):
    """Each mode's row of the program of a seed, its clocks' differences, and how many samples were dropped."""
    home, directory = jdk(version), program_of(seed)
    judge = LineJudge(Program(seed), directory)
    jvms = {mode: Running(directory, home, version, flags) for mode, flags in MODES.items()}
    before = {mode: jvm.clocks() for mode, jvm in jvms.items()}
    recording = Recording("--max-depth", 2048)
    time.sleep(SECONDS)
    took = {mode: jvm.clocks().since(before[mode]) for mode, jvm in jvms.items()}
    lines, stats = recording.finish("-t")
    # They are not to run beside what judges them.
    for jvm in jvms.values():
        jvm.process.popen.stdin.close()
        jvm.process.finish()
    rows = {}
    for mode, jvm in jvms.items():
        print(f"# JDK {version} {mode}, seed {seed}")
        rows[mode] = judge_pid(judge, lines, jvm.process.pid)
        print_row(mode, rows[mode])
    return rows, took, gates.dropped(stats)


def stacks_are_exact(version, seed):
    rows, took, dropped = judged(version, seed)
    for mode, row in rows.items():
        count = row.kinds.total()
        sums[version].update(samples=count, bad=row.kinds["bad"])
        expect(count > 60 * SECONDS, f"{mode}: only {count} samples")
    sums[version].update(samples=dropped, bad=dropped)
    for mode, row in rows.items():
        expect_few(row.kinds["bad"], row.kinds.total(), f"JDK {version} {mode}")
        why = strange_shares(row, took[mode], FREQUENCY) + \
            over_allowance(row.allowed, row.kinds.total())
        expect(not why, f"{mode}: {'; '.join(why)}")
    count = sum(row.kinds.total() for row in rows.values())
    expect_few(dropped, count, "lost, late or thrown away")


def expect_few(bad, samples, what):
    most = gates.most_bad(samples)
    expect(bad <= most, f"{what}: {bad} of {samples} are bad; {most} may be")


def try_seeds(version):
    need_root()
    for seed in seeds:
        print(f"# JDK {version}: again with HOSTPROF_SEED={seed}", flush=True)
        stacks_are_exact(version, seed)


@test
def random_program_17():
    try_seeds(17)


@test
def random_program_25():
    try_seeds(25)


@test
def random_programs_together():
    """The sum over what the tests before recorded."""
    if not sums:
        skip("it judges what other tests of this file record")
    both = sum(sums.values(), collections.Counter())
    most = gates.most_bad_of_suite(both["samples"])
    print(f"# {both['bad']} of {both['samples']} are bad; {most} may be")
    expect(both["bad"] <= most, f"{both['bad']} of {both['samples']} are bad")


main()
