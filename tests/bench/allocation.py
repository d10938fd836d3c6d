# SPDX-License-Identifier: Apache-2.0
"""What profiles of allocations and of native memory cost: bench.py's parts allocation and memory.

ASPROF names async-profiler's command: then it records in the same run of the JVM, in turn.
"""
import os
import signal
import statistics
import subprocess
import time

from hp import (BUILD, HOSTPROF, expect, expect_match, java, read_json, run, start, temp_path)
from rates import SETTLE, alternate, rate, rate_recorded
from table import enable_bpf_stats, row

PAIRS = 6
# What is kept of a JVM's throughput that allocates 1 GB per CPU second.
KEPT = {"512k": 0.99, "64k": 0.97}
HITS = 2_000_000
# Of a JVM with 50 threads, by what is recorded.
MEMORY_KEPT = {"malloc": 0.95, "malloc --live": 0.95}
MEMORY_RUNS = 5
TAKEN = 20_000


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
    ways = {f"alloc={interval}": rate_recorded(jvm, ["-p", jvm.pid, "-e", f"alloc={interval}"], stats[interval]) for interval in KEPT}
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


# --- native memory ----------------------------------------------------------------------------


def memory_pair(size, count, *options):
    """CPU ns of a malloc() and a free(), the median of some runs, their spread, and the last one's samples."""
    command, stats = [os.path.join(BUILD, "tools", "malloc_hits"), size, count], temp_path("pair.json")
    if options:
        command = [HOSTPROF, "record", "-o", temp_path("pair.jfr"), "--stats", stats, *options, "--", *command]
    found = sorted(float(expect_match(r"([\d.]+) ns", run(command, code=0, timeout=300).out).group(1)) for _ in range(MEMORY_RUNS))
    return statistics.median(found), found[-1] - found[0], read_json(stats)["samples"] if options else 0


def memory_hits():
    """Of small objects hardly one is taken; with an interval of 0 each is, as many as a recording holds."""
    alone, _, _ = memory_pair(24, HITS)
    row("malloc() and free(): without a probe", alone, "ns", digits=1)
    for what, size, count, options in (("not taken", 24, HITS // 4, ["-e", "malloc=1G"]),
                                       ("not taken, --live", 24, HITS // 4, ["-e", "malloc=1G", "--live"]),
                                       ("taken", 24, TAKEN, ["-e", "malloc=0"]),
                                       ("taken, --live", 24, TAKEN, ["-e", "malloc=0", "--live"])):
        cost, spread, samples = memory_pair(size, count, *options)
        row(f"malloc() and free(), {what}", cost - alone, "ns", digits=0)
        row(f"malloc() and free(), {what}: spread of {MEMORY_RUNS}", spread, "ns", digits=0)
        row(f"malloc() and free(), {what}: samples of {count}", samples, "", digits=0)


def memory_kept():
    """Two JVMs of 50 threads, one after the other: those of the one ask for next to no native memory, of the other's each 1,000th task does."""
    for name, workload in (("50 threads", ("Bench", 50, 20)), ("50 threads that serve", ("Varied", 25))):
        jvm = java(17, *workload, flags=["-Xmx256m"], stdin=subprocess.PIPE)
        stats = {what: temp_path(f"{number}.json") for number, what in enumerate(MEMORY_KEPT)}
        ways = [rate_recorded(jvm, ["-p", jvm.pid, "-e", "malloc", *what.split()[1:]], path) for what, path in stats.items()]
        for what, ratios in zip(stats, alternate(jvm, ways, PAIRS)):
            show(f"{name}, {what}", ratios, MEMORY_KEPT[what])
            row(f"{name}, {what}: samples of the last window", read_json(stats[what])["samples"], "", digits=0)
        jvm.stop()


def allocation():
    enable_bpf_stats()
    throughput_kept()
    probe_hit()


def memory():
    enable_bpf_stats()
    memory_hits()
    memory_kept()
