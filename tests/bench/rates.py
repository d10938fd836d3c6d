# SPDX-License-Identifier: Apache-2.0
"""Operations per CPU second of a JVM that counts them, while it is recorded and while it is not."""
import os
import signal
import subprocess
import time

from hp import HOSTPROF, cpu_seconds, expect_match, family, start, temp_path
from table import cpu_clock_ns

WINDOW = float(os.environ.get("HOSTPROF_BENCH_SECONDS", "4"))
# Time for a recording to begin, and to let go, before a window is measured.
SETTLE = 1.5


def ask(jvm):
    """(operations, CPU ns) of a JVM so far, which prints "ops N" for each line that it is given."""
    jvm.text = ""
    jvm.go().wait_text("\n")
    ops = int(expect_match(r"ops (\d+)", jvm.text).group(1))
    return ops, cpu_clock_ns(jvm.pid)


def rate(jvm):
    """Operations per CPU second over one window."""
    ops, cpu = ask(jvm)
    time.sleep(WINDOW)
    more_ops, more_cpu = ask(jvm)
    return (more_ops - ops) / (more_cpu - cpu) * 1e9


def rate_recorded(jvm, options, stats, own=None):
    """
    A way of alternate(): a recording with OPTIONS, whose figures go to STATS; the CPU time of all of hostprof's processes in the
    window, as a share of a core, is added to OWN.
    """
    def recorded():
        recorder = start([HOSTPROF, "record", *options, "-o", temp_path("a.jfr"), "--stats", stats], stderr=subprocess.DEVNULL)
        time.sleep(SETTLE)
        before, begin = sum(map(cpu_seconds, family(recorder.pid))), time.monotonic()
        value = rate(jvm)
        if own is not None:
            own.append((sum(map(cpu_seconds, family(recorder.pid))) - before) / (time.monotonic() - begin))
        recorder.signal(signal.SIGINT)
        recorder.finish(timeout=60)
        time.sleep(SETTLE / 3)
        return value
    return recorded


def alternate(jvm, ways, pairs):
    """
    WAYS: functions that return the rate of a window in which the JVM is recorded in one way each. For each way the
    ratios of that rate to the mean of the two windows beside it, PAIRS of them, all ways in turn.
    """
    ratios = [[] for _ in ways]
    before = rate(jvm)
    for _ in range(pairs):
        for way, found in zip(ways, ratios):
            recorded = way()
            after = rate(jvm)
            found.append(2 * recorded / (before + after))
            before = after
    return ratios
