# SPDX-License-Identifier: Apache-2.0
"""What Java stacks cost, by the kind of their frames: stock JVMs, no flag that helps, no agent. Every
frame of Deep is of a class of its own; the mixed case is that of the completeness suite, deeper: 80 levels of
recursion through interfaces, lambdas, reflection, JNI, which are some 95 frames."""
import statistics

from hp import *
from spine_cases import LEAVES, paths, spine, start_spine
from table import enable_bpf_stats, row
from unwinding import FAST_HZ, ROUNDS, WINDOW, cost, idle_run_ns, settle

SHALLOW, DEEP = 20, 80
MIXED_LEVELS = 80
MIXED = spine([], *paths("ABCDEFGHLRMYXJ", 4, LEAVES + "tu", length=MIXED_LEVELS))
# A walk of some 95 frames, all kinds, may take so long; a tick at 1 kHz is 1,000 us apart.
MIXED_BUDGET_NS = 8000
# So many chains that the cache of hot code is of no use: each link is code of its own.
COLD_CHAINS = 40

APART = ["-XX:-Inline", "-Xmx256m"]
HALF_INTERPRETED = [*APART, "-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Deep$Even::applyAsInt"]
LONG_WARM_UP = "-Ddeep.warmup=400000"

# name, JDKs, flags, chains
CASES = [
    ("compiled, hot", (17, 25), APART, 1),
    ("compiled, cold", (17,), [*APART, LONG_WARM_UP], COLD_CHAINS),
    ("half interpreted", (17,), HALF_INTERPRETED, 1),
    ("-Xint", (17, 25), ["-Xint", "-Ddeep.warmup=100"], 1),
]


def frames_of(capture):
    """All user frames that BPF left, and the last one of each walk."""
    return (capture["row_frames"] + capture["fp_frames"] + capture["jit_frames"] +
            capture["java_frames"]) / max(capture["samples"], 1) + 1


def measure(jvm, idle_ns):
    """(ns per sample, frames per sample, Java frames per sample, the figures): medians."""
    settle(jvm)
    runs = [cost(jvm, idle_ns, hz=FAST_HZ, seconds=WINDOW / 2) for _ in range(ROUNDS)]
    jvm.stop()
    samples = [max(figures["capture"]["samples"], 1) for _, figures in runs]
    return (statistics.median(ns for ns, _ in runs),
            statistics.median(frames_of(figures["capture"]) for _, figures in runs),
            statistics.median(figures["capture"]["java_frames"] / n for (_, figures), n in zip(runs, samples)),
            runs[-1][1])


def sample_rows(what, measured, budget=None):
    ns, frames, _, figures = measured
    capture = figures["capture"]
    row(f"{what}: frames per sample", frames, "", digits=1)
    row(f"{what}: BPF time per sample", ns, "ns", budget, digits=0)
    row(f"{what}: Java frames that the caches had",
        100 * capture["java_hot_frames"] / max(capture["java_frames"], 1), "%", digits=1)
    row(f"{what}: complete stacks", 100 * figures["complete_share"], "%")
    row(f"{what}: samples", figures["samples"], "", digits=0)


def case_rows(name, version, flags, chains, idle_ns):
    what = f"JDK {version}, {name}"
    shallow, deep = (measure(java(version, "Deep", chains, frames, flags=flags, stdin=subprocess.PIPE), idle_ns)
                     for frames in (SHALLOW, DEEP))
    sample_rows(what, deep)
    row(f"{what}: one more Java frame", (deep[0] - shallow[0]) / max(deep[2] - shallow[2], 1), "ns", digits=1)


def java_unwinding():
    enable_bpf_stats()
    idle_ns = idle_run_ns(FAST_HZ)
    for version in (17, 25):
        jvm = start_spine(MIXED, version, 120).wait_text(timeout=60)
        sample_rows(f"JDK {version}, mixed", measure(jvm, idle_ns), MIXED_BUDGET_NS)
    for name, versions, flags, chains in CASES:
        for version in versions:
            case_rows(name, version, flags, chains, idle_ns)
