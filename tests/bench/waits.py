# SPDX-License-Identifier: Apache-2.0
"""What -e offcpu costs where threads switch all the time: others' switches, and the target's, walked or not."""
import shutil
import statistics

from hp import *
from table import enable_bpf_stats, row

ROUNDS = 3
# Two threads that wake each other, and 400 that do. Each takes some seconds.
STORMS = {"pipe": ["pipe", "-T", "-l", 200_000], "messaging": ["messaging", "-t", "-g", 10, "-l", 300]}
# Waits are so much shorter that only the least chance is left.
RARELY = "offcpu=60s"


def perf(storm):
    return ["perf", "bench", "-f", "simple", "sched", *STORMS[storm]]


def seconds_of(out):
    """The last figure is how long the storm took."""
    return float(out.split()[-1])


def alone(storm):
    return seconds_of(run(perf(storm), code=0, timeout=300).out)


def beside(storm):
    """A recording of somebody who sleeps: (seconds, ns of BPF for each switch or waking of others)."""
    sleeper = start(["sleep", 600])
    recorder = Recorder("-p", sleeper.pid, "-e", "offcpu")
    seconds = alone(storm)
    recorder.end()
    sleeper.stop()
    capture = read_json(recorder.stats_path)["capture"]
    return seconds, capture["bpf_run_ns"] / max(capture["bpf_run_count"], 1)


def recorded(storm, event):
    """(seconds, figures of the capture)."""
    stats = temp_path("stats.json")
    out = hostprof("record", "-e", event, "--stats", stats, "-o", temp_path("x.jfr"), "--", *perf(storm), timeout=300).out
    return seconds_of(out), read_json(stats)["capture"]


def costs(rare, usual):
    """Two recordings with unequal shares of walks: ns of a wait, and what a walk adds."""
    (a, b, c), (d, e, f) = ((one["offcpu_spans"], one["offcpu_taken"], one["bpf_run_ns"]) for one in (rare, usual))
    det = a * e - b * d
    return (c * e - b * f) / det, (a * f - c * d) / det


def storm_rows(storm):
    base, others, rare, usual = [], [], [], []
    for _ in range(ROUNDS):
        base.append(alone(storm))
        others.append(beside(storm))
        rare.append(recorded(storm, RARELY))
        usual.append(recorded(storm, "offcpu"))
    pairs = [costs(one[1], two[1]) for one, two in zip(rare, usual)]
    what = f"sched {storm}"
    row(f"{what}: alone", statistics.median(base), "s", digits=3)
    for name, times in (("others recorded", others), ("recorded, offcpu=60s", rare), ("recorded, offcpu", usual)):
        row(f"{what}: {name}: time", statistics.median(one[0] / two for one, two in zip(times, base)), "x")
    row(f"{what}: others recorded: a run of BPF", statistics.median(ns for _, ns in others), "ns", digits=0)
    row(f"{what}: recorded: a wait that is not walked", statistics.median(ns for ns, _ in pairs), "ns", digits=0)
    row(f"{what}: recorded: a walk adds", statistics.median(ns for _, ns in pairs), "ns", digits=0)
    for name, runs in (("offcpu=60s", rare), ("offcpu", usual)):
        figures = runs[-1][1]
        row(f"{what}: {name}: waits", figures["offcpu_spans"], "", digits=0)
        row(f"{what}: {name}: walks", figures["offcpu_taken"], "", digits=0)


def waits():
    if not shutil.which("perf"):
        skip("there is no perf")
    enable_bpf_stats()
    for storm in STORMS:
        storm_rows(storm)
