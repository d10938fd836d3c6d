#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-jdks: the completeness suite on each JDK, and a table of cases and JDKs.

usage: jdk_matrix.py [VERSION…]
HOSTPROF_SAMPLES is how many samples each cell needs (3000), HOSTPROF_JDKS where the JDKs are. Each cell is
recorded once. All are shown and summed up before one of them fails the test.
"""
from gates import AIM
from hp import *
from java_stacks import BELOW_LEAF
from spine_cases import *

SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES", "3000"))
SECONDS = 15

versions = [int(arg) for arg in sys.argv[1:]] or JDKS
del sys.argv[1:]


def print_matrix(table):
    """One line per case: samples and share of those that are bad, per JDK."""
    print("# " + " ".join([f"{'':14}"] + [f"{f'JDK {version}':>14}" for version in table]))
    for name in [*CASES, OTHERS]:
        cells = [cell_of(rows.get(name)) for rows in table.values()]
        print("# " + " ".join([f"{name:14}", *cells]))


def cell_of(row):
    return f"{row.samples:>6} {100 * bad(row) / row.samples:6.3f}%" if row else f"{'-':>14}"


def stacks_are_whole_on_each_jdk():
    need_root()
    table = {}
    for version in versions:
        table[version] = run_cases(list(CASES), version, SAMPLES, SECONDS)
        print_rows(version, table[version])
        print_examples(table[version], reasons=3)
    print_matrix(table)
    cells = [row for rows in table.values() for row in rows.values()]
    reached = sum(bad(row) <= AIM * row.samples for row in cells)
    print(f"# {reached} of {len(cells)} cells have no more than {100 * AIM} % that are not whole")
    misses = misses_of_sum(cells, BELOW_LEAF)
    misses += [miss for version, rows in table.items()
               for miss in misses_of(rows, f" on JDK {version}", BELOW_LEAF)]
    for miss in misses:
        print(f"# {miss}")
    return not misses


# No test of the harness, which would try it again: what failed once has failed.
try:
    whole = stacks_are_whole_on_each_jdk()
    print("ok" if whole else "FAIL: cells or their sum, see above")
    sys.exit(0 if whole else 1)
except Skipped as error:
    print(f"skip: {error}")
