#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e alloc of nine classes from 24 B to 2 MB, three of them in random order: sums and stacks; make check-alloc on a small scale."""
from alloc_cells import *
from alloc_judge import *
from hp import *

WITH_AGENT = [version for version in JDKS if version >= 11 and (version in SETUP_JDKS or find_jdk(version))]
SECONDS = 6
# Of each class in SECONDS; a busy machine allocates less.
LEAST = 500


def judge(version, collector, outside):
    cell, stats = record_cell(version, collector, outside, SECONDS)
    rows = rows_of([cell], outside)
    for row in rows:
        print(f"# {row.name}: {row.samples} samples, bytes {row.bytes_off:+.2%}, objects {row.objects_off:+.2%}")
    reasons, examples = judge_stacks(cell, version, outside)
    print("".join(f"# {reasons[why]} {why}: {example}\n" for why, example in examples.items()), end="")
    misses = misses_of_rows(rows, LEAST) + misses_of_stacks(reasons, sum(count for _, count in cell.stacks))
    expect_equal(misses, [], "what is wrong")
    expect_equal([stats[name] for name in gates.DROPPED], [0] * len(gates.DROPPED), "dropped samples")


@for_each_jdk(WITH_AGENT)
def with_agent(version):
    """In a small heap, where the sampler of JVMs before 25 misjudges most: by a third without bpf/sample/between.h."""
    judge(version, "Small", outside=False)


@for_each_jdk([8])
def without_agent(version):
    """JDK 8, whose symbols are in a package of their own, as scripts/get-jdks.sh fetches it."""
    if not has_tracer(version):
        skip(f"no debug files of JDK {version}")
    judge(version, "Parallel", outside=True)


main(lanes=2)
