#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole stacks of a Java/JNI program made at random: exact frames and shares, JDK 17 and 25.

The seed is printed; HOSTPROF_SEED=N makes that program again, HOSTPROF_SEEDS=N tries N programs.
"""
import atexit
import math
import random
import tempfile

from hp import *
from native_programs import Recording
from random_judge import LineJudge, compiled, judge_pid, print_row
from random_program import Program

FREQUENCY = 997
SECONDS = 9
MUST_SHARE = 0.002
MODES = {"default": [], "-Xint": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"]}

first_seed = int(os.environ.get("HOSTPROF_SEED") or random.randrange(2**31))
seeds = [first_seed + number for number in range(int(os.environ.get("HOSTPROF_SEEDS") or 1))]
directories = {}


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
                              "-cp", directory, "made.Plan", f"{directory}/libmade.so", 500], stdin=subprocess.PIPE)
        self.asked = 0

    def clocks(self):
        """(worker, path) → CPU time in ns and turns, so far."""
        self.process.wait_text("ready")
        self.asked += 1
        seen = len(self.process.text)
        self.process.popen.stdin.write(b"?")
        self.process.popen.stdin.flush()
        self.process.wait_text(f"shown {self.asked}\n")
        rows = re.findall(r"^path (\d+) (\d+) (\d+) (\d+)$", self.process.text[seen:], re.MULTILINE)
        return {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in rows}


def expect_shares(row, before, after):
    """Each path has its part of its worker's samples; a call may lie across either end."""
    for worker in sorted({worker for worker, _ in after}):
        paths = [key for key in after if key[0] == worker]
        spent = {key: after[key][0] - before[key][0] for key in paths}
        samples = sum(row.paths[key] for key in paths)
        for key in paths:
            part = spent[key] / sum(spent.values())
            one_call = spent[key] / max(after[key][1] - before[key][1], 1) * FREQUENCY / 1e9
            slack = 4 * math.sqrt(samples * part * (1 - part)) + 2 * one_call
            expect(abs(row.paths[key] - part * samples) <= slack,
                   f"path {key}: {row.paths[key]} samples of {samples}, "
                   f"{part * samples:.0f} ± {slack:.0f} by its clock")


def stacks_are_exact(version, seed):
    home, directory = jdk(version), program_of(seed)
    judge = LineJudge(Program(seed), directory)
    jvms = {mode: Running(directory, home, version, flags) for mode, flags in MODES.items()}
    before = {mode: jvm.clocks() for mode, jvm in jvms.items()}
    recording = Recording("--max-depth", 2048)
    time.sleep(SECONDS)
    lines, _ = recording.finish("-t")
    rows = {}
    for mode, jvm in jvms.items():
        print(f"# JDK {version} {mode}, seed {seed}")
        rows[mode] = judge_pid(judge, lines, jvm.process.pid)
        print_row(mode, rows[mode])
    for mode, row in rows.items():
        count = row.kinds.total()
        expect(count > 60 * SECONDS, f"{mode}: only {count} samples")
        expect(row.kinds["leaf"] > 0.5 * count, f"{mode}: {row.kinds['leaf']} of {count} at a leaf")
        # Of few samples; several seeds together must keep to the share itself.
        must = MUST_SHARE * count
        expect(row.kinds["bad"] <= must + 4 * math.sqrt(must),
               f"{mode}: {row.kinds['bad']} of {count} are bad")
        expect_shares(row, before[mode], jvms[mode].clocks())
    for jvm in jvms.values():
        jvm.process.popen.stdin.close()
        jvm.process.finish()
    return rows


def try_seeds(version):
    need_root()
    kinds = collections.defaultdict(collections.Counter)
    for seed in seeds:
        print(f"# JDK {version}: again with HOSTPROF_SEED={seed}", flush=True)
        for mode, row in stacks_are_exact(version, seed).items():
            kinds[mode].update(row.kinds)
    for mode, sums in kinds.items() if len(seeds) > 1 else ():
        print(f"# JDK {version} {mode}: {sums['bad']} of {sums.total()} are bad")
        expect(sums["bad"] <= MUST_SHARE * sums.total(), f"{mode}: {sums['bad']} are bad")


@test
def random_program_17():
    try_seeds(17)


@test
def random_program_25():
    try_seeds(25)


main()
