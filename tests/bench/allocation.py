# SPDX-License-Identifier: Apache-2.0
"""What an allocation profile costs: bench.py's part of that name.

ASPROF names async-profiler's command: then it records in the same run of the JVM, in turn.
"""
import os
import signal
import statistics
import subprocess
import time

from hp import (BUILD, HOSTPROF, expect, expect_match, java, read_json, run, start, temp_path)
from rates import alternate, rate
from table import enable_bpf_stats, row

PAIRS = 6
SETTLE = 1.5
# What is kept of a JVM's throughput that allocates 1 GB per CPU second.
KEPT = {"512k": 0.99, "64k": 0.97}
HITS = 2_000_000


def ours(jvm, interval, stats):
    def recorded():
        recorder = start([HOSTPROF, "record", "-p", jvm.pid, "-e", f"alloc={interval}", "-o", temp_path("a.jfr"),
                          "--stats", stats], stderr=subprocess.DEVNULL)
        time.sleep(SETTLE)
        value = rate(jvm)
        recorder.signal(signal.SIGINT)
        recorder.finish(timeout=60)
        time.sleep(SETTLE / 3)
        return value
    return recorded


def theirs(asprof, jvm, interval):
    def recorded():
        path = temp_path("theirs.jfr")
        run([asprof, "start", "-e", "alloc", "--alloc", interval, "-f", path, jvm.pid], code=0, timeout=60)
        time.sleep(SETTLE)
        value = rate(jvm)
        run([asprof, "stop", "-f", path, jvm.pid], code=0, timeout=60)
        time.sleep(SETTLE / 3)
        return value
    return recorded


def show(what, ratios, budget=None):
    row(f"{what}: throughput kept (median of {len(ratios)})", statistics.median(ratios), "", budget, upper=False,
        digits=4)
    row(f"{what}: lowest", min(ratios), "", digits=4)
    row(f"{what}: highest", max(ratios), "", digits=4)


def throughput_kept():
    asprof = os.environ.get("ASPROF")
    stats = {interval: temp_path(f"{interval}.json") for interval in KEPT}
    jvm = java(17, "Allocating", 1, 1000, flags=["-Xmx512m"], stdin=subprocess.PIPE)
    row("JVM that allocates 1 GB per CPU second: operations", rate(jvm), "/s CPU", digits=0)
    ways = {f"alloc={interval}": ours(jvm, interval, stats[interval]) for interval in KEPT}
    if asprof:
        ways |= {f"async-profiler --alloc {interval}": theirs(asprof, jvm, interval) for interval in KEPT}
    found = dict(zip(ways, alternate(jvm, list(ways.values()), PAIRS)))
    for what, ratios in found.items():
        show(what, ratios, KEPT.get(what.removeprefix("alloc=")))
    for interval, path in stats.items():
        figures = read_json(path)
        expect(figures["samples"] > 0, f"alloc={interval}: no samples")
        row(f"alloc={interval}: samples of the last window", figures["samples"], "", digits=0)
        row(f"alloc={interval}: lost", figures["lost"], "", digits=0)


def probe_hit():
    """What the empty function costs when nobody listens, and when somebody does who takes no sample of it."""
    tool = os.path.join(BUILD, "tools", "probe_hits")
    library = os.path.join(BUILD, "libhostprof-agent.so")

    def per_call():
        return float(expect_match(r"([\d.]+) ns", run([tool, library, "hostprof_alloc", HITS], code=0).out).group(1))

    alone = per_call()
    listener = start([HOSTPROF, "record", "-p", os.getpid(), "-e", f"uprobe:{library}:hostprof_alloc", "-o",
                      temp_path("hits.jfr")], stderr=subprocess.DEVNULL)
    time.sleep(SETTLE)
    probed = per_call()
    listener.signal(signal.SIGINT)
    listener.finish(timeout=60)
    row("hostprof_alloc(): a call without a probe", alone, "ns")
    row("hostprof_alloc(): a hit whose sample is not wanted", probed, "ns")


def allocation():
    enable_bpf_stats()
    throughput_kept()
    probe_hit()
