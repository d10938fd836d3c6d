# SPDX-License-Identifier: Apache-2.0
"""What each event costs a JVM that does a little of everything, alone and all together: bench.py's part events.

Operations per CPU second of the JVM, while the whole host is recorded, beside windows without a recording. HOSTPROF_BENCH_EVENTS chooses
some of them by their names, blanks between.
"""
import os
import statistics
import subprocess

from hp import *
from rates import alternate, rate, rate_recorded
from table import row

PAIRS = int(os.environ.get("HOSTPROF_BENCH_PAIRS", "5"))
FIVE = "cpu,offcpu,lock,alloc,page-faults"
# By what they are called here: -e, and options.
EVENTS = {
    "cpu": ("cpu",), "cpu, 997 Hz": ("cpu", "-F", 997), "offcpu": ("offcpu",), "offcpu --waker": ("offcpu", "--waker"), "wall": ("wall",), "lock": ("lock",),
    "nativelock": ("nativelock",), "alloc": ("alloc",), "malloc": ("malloc",), "malloc --live": ("malloc", "--live"), "page-faults": ("page-faults",),
    "context-switches": ("context-switches",), "gc": ("gc",), "safepoint": ("safepoint",), "jit": ("jit",), "classload": ("classload",), FIVE: (FIVE,),
}
# What throughput a JVM keeps at least; of the five together what is seen is said.
KEPT = {"cpu": 0.985, "cpu, 997 Hz": 0.985, "malloc": 0.95, "malloc --live": 0.95}
# Of virtual threads, JDK 25: the probes of their parks, and of their waits, are hit each time.
VIRTUAL = {"lock": ("lock", "--agent=never"), "offcpu": ("offcpu",), "wall": ("wall",), "cpu": ("cpu",)}


def chosen():
    names = os.environ.get("HOSTPROF_BENCH_EVENTS")
    return [what for what in EVENTS if not names or EVENTS[what][0] in names.split()]


def measure(jvm, ways, title=""):
    """WAYS: -e and options, by what they are called."""
    stats = {what: temp_path(f"events-{number}.json") for number, what in enumerate(ways)}
    own = {what: [] for what in ways}
    recorded = [rate_recorded(jvm, ["-a", "-e", *options], stats[what], own[what]) for what, options in ways.items()]
    for what, ratios in zip(ways, alternate(jvm, recorded, PAIRS)):
        figures, name = read_json(stats[what]), title + what
        row(f"{name}: throughput kept (median of {len(ratios)})", statistics.median(ratios), "", KEPT.get(name), upper=False, digits=4)
        row(f"{name}: lowest", min(ratios), "", digits=4)
        row(f"{name}: highest", max(ratios), "", digits=4)
        row(f"{name}: own CPU", 100 * statistics.median(own[what]), "% core")
        row(f"{name}: samples of the last recording", figures["samples"], "", digits=0)
        row(f"{name}: lost", figures["lost"], "", 0, digits=0)


def events():
    jvm = java(17, "Varied", 2, flags=["-Xmx256m"], stdin=subprocess.PIPE)
    row("JVM of five events: operations", rate(jvm), "/s CPU", digits=0)
    measure(jvm, {what: EVENTS[what] for what in chosen()})


def virtual():
    jvm = java(25, "VirtualPairs", 4, flags=["-Xmx256m"], stdin=subprocess.PIPE)
    row("virtual threads: parks", rate(jvm), "/s CPU", digits=0)
    measure(jvm, VIRTUAL, "virtual threads, ")
