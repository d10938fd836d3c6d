# SPDX-License-Identifier: Apache-2.0
"""The table that bench.py prints, and what its parts measure with."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "root"))
from hp import cleanup

BPF_STATS = "/proc/sys/kernel/bpf_stats_enabled"

rows = []


def row(what, value, unit, budget=None, upper=True, digits=2):
    """One line of the table; BUDGET is a limit from above unless UPPER is false."""
    good = budget is None or (value <= budget if upper else value >= budget)
    rows.append({"what": what, "value": value, "unit": unit, "budget": budget, "good": good})
    sign = "" if budget is None else f"{'<=' if upper else '>='} {budget:g}"
    mark = "" if good else "  MISSED"
    print(f"{what:<58} {value:>12,.{digits}f} {unit:<8} {sign:<10}{mark}", flush=True)


def cpu_clock_ns(pid):
    """CLOCK_PROCESS_CPUTIME_ID of another process: linux/posix-timers.h, CPUCLOCK_SCHED."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def write_file(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enable_bpf_stats():
    """Until the part is over the kernel counts what BPF programs take."""
    with open(BPF_STATS, encoding="ascii") as file:
        before = file.read()
    write_file(BPF_STATS, "1")
    cleanup(write_file, BPF_STATS, before)
