#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""Whole Java stacks of JVMs without agent or flag, judged by what the workload knows.

One case alone, on a JDK of /usr/lib/jvm or of a directory in HOSTPROF_JDKS, with examples of every
stack that is not as it must be; the samples default to 3000, the case may be `all`:

    sudo HOSTPROF_BUILD=build tests/root/test_hotspot.py --case mixed 17 [SAMPLES]

test_judge_java.py shows that the judge rejects what is not whole.
"""
from hp import *
from java_stacks import BELOW_LEAF
from spine_cases import *

SUBSET = ["mixed", "interpreted", "c1", "jni", "deopt", "gc g1"]
SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES", "800"))
# Of all versions that were tested in this process.
cells = {}


def expect_whole(version, rows):
    print_rows(version, rows)
    print_examples(rows)
    cells.update({f"{name} on JDK {version}": row for name, row in rows.items()})
    expect_equal(misses_of(rows, f" on JDK {version}", BELOW_LEAF), [], "cells")


@test
def subset_17():
    """The named small subset of make check-jdks."""
    need_root()
    expect_whole(17, run_cases(SUBSET, 17, SAMPLES, 8))


@test
def subset_25():
    need_root()
    expect_whole(25, run_cases(SUBSET, 25, SAMPLES, 8))


@test
def sum_over_all_cells():
    """Of the tests above, whatever they said of single cells; a second try of one counts instead of its first."""
    if not cells:
        skip("no cell was recorded")
    expect_equal(misses_of_sum(cells.values(), BELOW_LEAF), [], "the sum")


def main_of_case(name, version, samples="3000"):
    names = list(CASES) if name == "all" else name.split(",")
    rows = run_cases(names, int(version), int(samples), 10)
    print_rows(version, rows, reasons=8)
    print_examples(rows, reasons=8, stacks=2)
    for miss in misses_of(rows, "", BELOW_LEAF) + misses_of_sum(rows.values(), BELOW_LEAF):
        print(f"# {miss}")


if sys.argv[1:2] == ["--case"]:
    main_of_case(*sys.argv[2:])
else:
    main()
