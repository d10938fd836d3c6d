#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-alloc: allocation profiles on each JDK, with the agent and without it, by several collectors.

usage: alloc_matrix.py [VERSION…]
HOSTPROF_JDKS is where the JDKs are; one that is not there is skipped and counted. HOSTPROF_SECONDS: how long each
collector is recorded (17 with the agent, 30 without); they take turns, up to HOSTPROF_ROUNDS (4) times, until all recordings of
a JDK together have HOSTPROF_SAMPLES (20000) of each class. HOSTPROF_COLLECTORS names some of them (Serial,G1),
HOSTPROF_SOURCES "agent" or "outside". All are shown before one of them fails the check.
"""
from alloc_cells import *
from alloc_judge import *
from hp import *

WITH_AGENT, OUTSIDE = (11, 17, 21, 25, 28), (8, 17, 25)
SECONDS = int(os.environ.get("HOSTPROF_SECONDS", "17"))
# Without the agent the budget is shared less evenly, so that it takes longer.
LONGER_OUTSIDE = 1.8
# A recording of fewer says nothing.
LEAST_OF_CELL = 200
ROUNDS = int(os.environ.get("HOSTPROF_ROUNDS", "4"))
LEAST = int(os.environ.get("HOSTPROF_SAMPLES", str(ENOUGH)))

versions = [int(arg) for arg in sys.argv[1:]] or sorted({*WITH_AGENT, *OUTSIDE})
del sys.argv[1:]


def print_rows(what, rows):
    print(f"# {what}")
    for row in rows:
        print(f"#   {row.name:20} {row.samples:7} samples  bytes {row.bytes_off:+7.2%} (bound {row.bound:.2%})"
              f"  objects {row.objects_off:+7.2%}", flush=True)


def judge_cell(version, collector, outside):
    """(Cell, why it fails)."""
    cell, stats = record_cell(version, collector, outside, round(SECONDS * LONGER_OUTSIDE) if outside else SECONDS)
    run_cleanups()
    what = f"{version} {collector} {'without' if outside else 'with'} agent"
    rows, (reasons, examples) = rows_of([cell], outside), judge_stacks(cell, version, outside)
    samples = sum(count for _, count in cell.stacks)
    print_rows(f"{what}: {samples} samples, not as the source: {dict(reasons) or 0}, lost {stats['lost']}", rows)
    for why, example in examples.items():
        print(f"#   {why}: {example}")
    misses = misses_of_rows(rows, LEAST_OF_CELL) + misses_of_stacks(reasons, samples)
    misses += [f"{stats[name]} {name}" for name in gates.DROPPED if stats[name]]
    return cell, [f"{what}: {miss}" for miss in misses]


def judge_source(version, outside):
    """All collectors of a JDK, each and together; why it fails."""
    wanted = os.environ.get("HOSTPROF_COLLECTORS", "Serial,Parallel,G1,Z,Shenandoah").split(",")
    collectors = [name for name in wanted if has_collector(version, name)] or skip(f"JDK {version} has none of {wanted}")
    cells, misses, rows = [], [], []
    for _ in range(ROUNDS):
        for collector in collectors:
            cell, failed = judge_cell(version, collector, outside)
            cells.append(cell)
            misses += failed
        rows = rows_of(cells, outside)
        if all(row.samples >= LEAST for row in rows):
            break
    what = f"{version} {'without' if outside else 'with'} agent"
    print_rows(f"{what}, {len(cells)} recordings together", rows)
    return misses + [f"{what}: {miss}" for miss in misses_of_rows(rows, LEAST)]


def allocations_are_right_on_each_jdk():
    need_root()
    misses, skipped, judged = [], 0, 0
    sources = os.environ.get("HOSTPROF_SOURCES", "agent,outside").split(",")
    for version in versions:
        for outside in (False, True):
            if version not in (OUTSIDE if outside else WITH_AGENT) or ("outside" if outside else "agent") not in sources:
                continue
            if not find_jdk(version) or outside and not has_tracer(version):
                print(f"# skip JDK {version}{' without agent' if outside else ''}: it, or its symbols, are not installed")
                skipped += 1
                continue
            misses += judge_source(version, outside)
            judged += 1
    for miss in misses:
        print(f"# {miss}")
    print(f"# {judged} JDKs and sources judged, {skipped} skipped")
    return judged > 0 and not misses


# No test of the harness, which would try it again: what failed once has failed.
try:
    right = allocations_are_right_on_each_jdk()
    print("ok" if right else "FAIL: see above")
    sys.exit(0 if right else 1)
except Skipped as error:
    print(f"skip: {error}")
