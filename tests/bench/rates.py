# SPDX-License-Identifier: Apache-2.0
"""Operations per CPU second of a JVM that counts them, while it is recorded and while it is not."""
import os
import time

from hp import expect_match
from table import cpu_clock_ns

WINDOW = float(os.environ.get("HOSTPROF_BENCH_SECONDS", "4"))


def ask(jvm):
    """(operations, CPU ns) of a JVM so far, which prints "ops N" for each line that it is given."""
    jvm.text = ""
    jvm.popen.stdin.write(b"\n")
    jvm.popen.stdin.flush()
    jvm.wait_text("\n")
    ops = int(expect_match(r"ops (\d+)", jvm.text).group(1))
    return ops, cpu_clock_ns(jvm.pid)


def rate(jvm):
    """Operations per CPU second over one window."""
    ops, cpu = ask(jvm)
    time.sleep(WINDOW)
    more_ops, more_cpu = ask(jvm)
    return (more_ops - ops) / (more_cpu - cpu) * 1e9


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
