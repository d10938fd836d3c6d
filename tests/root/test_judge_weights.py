#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of what real programs' samples weigh rejects what is damaged. Needs no root and no JVM."""
import random
import sys

from hp import *

sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
from thread_clocks import Clock, Polling, ProcessClocks  # noqa: E402  (the path is set above)
from weighing import Weighing  # noqa: E402

MS, S = 1_000_000, 1_000_000_000
PID, THREADS, FREQUENCY = 7, 60, 997
START, END = 100 * S + 17 * MS, 110 * S + 23 * MS


# --- clocks -------------------------------------------------------------------------------------


def clock_of(*readings, missed=None, gone=None):
    clock = Clock("t", missed and missed * MS)
    for time_ms, run_ms in readings:
        clock.add(time_ms * MS, run_ms * MS)
    clock.gone_ns = gone and gone * MS
    return clock


def span(clock, start, end):
    return tuple(value / MS for value in clock.between(start * MS, end * MS))


@test
def clocks_are_read_between_polls():
    steady = clock_of((0, 0), (100, 50), (200, 100), (300, 150))
    expect_equal(span(steady, 100, 200), (50, 50, 50), "at polls")
    # At 150 it was 50 to 100, at 250 it was 100 to 150.
    expect_equal(span(steady, 150, 250), (0, 50, 100), "between them")
    busy = clock_of((0, 0), (100, 100), (200, 200))
    expect_equal(span(busy, 30, 170), (140, 140, 140), "always running: nothing else is possible")
    asleep = clock_of((0, 5), (100, 5), (200, 5))
    expect_equal(span(asleep, 30, 170), (0, 0, 0), "never running")
    expect_equal(span(clock_of((0, 0), (100, 10), (200, 10)), 50, 150), (0, 5, 10), "ten of the first hundred")


@test
def threads_are_born_and_die():
    born = clock_of((200, 40), (300, 60), missed=100)
    expect_equal(span(born, 50, 300), (60, 60, 60), "born in between")
    expect_equal(span(born, 150, 300), (20, 40, 60), "born about when it began")
    died = clock_of((0, 0), (40, 0), (100, 60), gone=200)
    expect_equal(span(died, 40, 500), (60, 60, 160), "what it ran after its last reading")
    expect_equal(span(died, 40, 130), (60, 60, 90), "the end comes first")
    for what, clock in {"before": clock_of((200, 40), (600, 60)), "after": clock_of((0, 0), (300, 60))}.items():
        try:
            clock.between(100 * MS, 500 * MS)
        except Failed:
            continue
        raise Failed(f"accepted: no reading {what}")


@test
def a_process_is_polled():
    own = os.getpid()
    with Polling([own]) as clocks:
        began = time.thread_time_ns()
        while time.thread_time_ns() < began + 200 * MS:
            pass
    readings = clocks.processes[own].threads[own].readings
    expect(clocks.rounds == len(readings) > 2, f"{clocks.rounds} rounds, {len(readings)} readings")
    # The scheduler brings the clock of a running thread up to date at its ticks.
    expect_between(readings[-1].run_ns - readings[0].run_ns, 150 * MS, 60 * S, "run time")
    whole = clocks.processes[own].whole.readings
    expect_between(whole[-1].run_ns - whole[0].run_ns, 150 * MS, 60 * S, "of the process")


# --- weights ------------------------------------------------------------------------------------


def clocks_of(runs):
    """ProcessClocks whose threads ran so many nanoseconds each in the recording, and as much a second before."""
    process = ProcessClocks(PID)
    sum_ = [0] * 4
    times = (START - S, START, END, END + S)
    for tid, run_ns in enumerate(runs):
        process.threads[tid] = clock = Clock(f"t{tid}", 0)
        for i, (time_ns, value) in enumerate(zip(times, (0, run_ns, 2 * run_ns, 2 * run_ns))):
            clock.add(time_ns, value)
            sum_[i] += value
    for time_ns, value in zip(times, sum_):
        process.whole.add(time_ns, value)
    return process


def samples_by_chance(run_ns, chance):
    count, passed = 0, chance.expovariate(FREQUENCY)
    while passed < run_ns / 1e9:
        count += 1
        passed += chance.expovariate(FREQUENCY)
    return count


def sums_of(runs, chance=None):
    """What as many samples as come by chance, or without it, weigh, each a period."""
    counts = [samples_by_chance(ns, chance) if chance else round(ns * FREQUENCY / 1e9) for ns in runs]
    return {(PID, tid): (int(count * 1e9 / FREQUENCY), count) for tid, count in enumerate(counts)}


def runs_of(chance):
    """Threads of 10 us to 4 s."""
    return [int(10_000 * 10 ** (5.6 * chance.random())) for _ in range(THREADS)]


def faults(runs, sums, lost_ns=0):
    return list(Weighing(clocks_of(runs), sums, lost_ns, START, END, FREQUENCY).faults())


@test
def right_weights_are_accepted():
    chance = random.Random(11)
    bad = []
    for _ in range(30):
        runs = runs_of(chance)
        bad += faults(runs, sums_of(runs, chance))
    expect(len(bad) <= 1, f"rejected: {bad}")
    # Threads that hardly run: one sample is far more than they did.
    runs = [50_000] * 400 + [4 * S] * 2
    expect_equal(faults(runs, sums_of(runs, chance)), [], "threads of a twentieth of a sample each")
    runs = [3 * S, S]
    expect_equal(faults(runs, {(PID, 0): (2900 * MS, 2900), (PID, 1): (S, 1000)}, 100 * MS), [], "some are lost")


def damaged(runs, sums):
    """(what, sums) of weights that cannot be."""
    longest = max(range(len(runs)), key=lambda tid: runs[tid])
    whole = sum(row[0] for row in sums.values())
    yield "four percent more", {key: (int(1.04 * ns), count) for key, (ns, count) in sums.items()}
    yield "four percent less", {key: (int(0.96 * ns), count) for key, (ns, count) in sums.items()}
    yield "every twentieth sample", {key: (ns - count // 20 * MS, count) for key, (ns, count) in sums.items()}
    yield "none", {}
    yield "the longest thread", {key: row for key, row in sums.items() if key != (PID, longest)}
    yield "all are the first's", {(PID, 0): (whole, 1)}
    order = list(sums.values())
    yield "threads change places", dict(zip(sums, order[1:] + order[:1]))
    # Each takes some from the next, so that the sum is right.
    shifted = dict(sums)
    for tid in range(0, len(runs) - 1, 2):
        ns = min(sums[PID, tid][0], 200 * MS)
        shifted[PID, tid] = (sums[PID, tid][0] - ns, 1)
        shifted[PID, tid + 1] = (sums[PID, tid + 1][0] + ns, 1)
    yield "from each to its neighbour", shifted
    some = min(range(len(runs)), key=lambda tid: abs(runs[tid] - 200 * MS))
    yield "one thread, twice what it ran", {**sums, (PID, some): (2 * runs[some], 1)}
    yield "threads that were never polled", {**sums, (PID, 999): (whole // 20, 1)}


@test
def wrong_weights_are_rejected():
    chance = random.Random(12)
    for _ in range(10):
        runs = runs_of(chance)
        sums = sums_of(runs)
        expect_equal(faults(runs, sums), [], "exact sums")
        for what, bad in damaged(runs, sums):
            expect(faults(runs, bad), f"accepted: {what}")
        expect(faults(runs, sums, sum(runs) // 20), "accepted: samples lost that nobody had")
    # Of each of these alone it could be chance.
    runs = [9 * S] * 3 + [3 * MS] * 200
    for part in 2, 0.5:
        sums = sums_of(runs[:3]) | {(PID, tid): (int(3 * MS * part), 3) for tid in range(3, len(runs))}
        expect(faults(runs, sums), f"accepted: threads that seldom run weigh {part} of what they ran")


main()
