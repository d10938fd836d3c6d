# SPDX-License-Identifier: Apache-2.0
"""A host as many are: how soon it is sampled, and what that takes of it."""
import os
import re
import statistics
import subprocess
import sys
import time

from hp import (HOSTPROF, expect_match, family, hostprof, java, plain, read_json, start, temp_path, timed_lines)
from table import cpu_clock_ns, enable_bpf_stats, row

JVMS = int(os.environ.get("HOSTPROF_BENCH_JVMS", "20"))
OTHERS, FORKS = 300, 30
# Its children end with it: prctl(PR_SET_PDEATHSIG, SIGKILL).
FORKING = f"""import ctypes, os, time
for _ in range({FORKS} - 1):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, 9)
        break
while True:
    sum(i * i for i in range(5000))
    time.sleep(1)
"""
# After these many seconds the start's cost is over (symbols read, agents attached).
START_SECONDS = 10
HOST_SECONDS = 30
STARTS = 11
# Root and leaf side of what a thread of Bench does all the time; C2 inlines the recursion between.
BENCH_STACK = re.compile(r"(?:\[thread start\]|(?:__)?clone3?);.*;java\.lang\.Thread\.run;Bench\.run;Bench\.descend\b")


def peak_rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return int(expect_match(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) / 1024


def pss_mb(pid):
    """What is shared is divided among those who share it."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8", errors="replace") as rollup:
            return int(expect_match(r"\nPss:\s+(\d+) kB", rollup.read()).group(1)) / 1024
    except OSError:
        return 0  # it has ended


def cpu_ns(pid):
    try:
        return cpu_clock_ns(pid)
    except OSError:
        return 0


def family_cpu_ns(pid):
    return {each: cpu_ns(each) for each in family(pid)}


def bpf_figures(stats, what):
    capture = stats["capture"]
    # Runs that found nothing to record (other processes, idle) are charged to the samples too.
    row(f"{what}: BPF time per sample", capture["bpf_run_ns"] / max(stats["samples"], 1) / 1000,
        "us", 8)
    row(f"{what}: complete stacks", 100 * stats["complete_share"], "%")
    for reason, count in sorted(stats["reasons"].items(), key=lambda item: -item[1])[:5]:
        row(f"{what}: samples that end {reason}", count, "", digits=0)
    row(f"{what}: lost samples", stats["lost"], "", digits=0)


def other_processes():
    """As a host has them: each wakes up once a second and does a little."""
    for _ in range(OTHERS // FORKS):
        start([sys.executable, "-c", FORKING])


def busy_jvms():
    flags = ["-Xmx48m", "-XX:+UseSerialGC", "-XX:CICompilerCount=2"]
    jvms = [java(17, "Bench", 1, 60, flags=flags, ready=None, stdin=subprocess.PIPE)
            for _ in range(JVMS)]
    for jvm in jvms:
        jvm.wait_text(timeout=120)
    return {jvm.pid for jvm in jvms}


def start_once(pids):
    """Ms from hostprof's exec to the first sample of one of these JVMs that is whole, and CPU ms of all its processes."""
    path, stats = temp_path("start.jfr"), temp_path("start.json")
    origin = time.monotonic_ns()
    hostprof("record", "-F", 99, "-d", 1, "-o", path, "--stats", stats)
    first = min(time_ns - origin for time_ns, line in timed_lines(path)
                if int(line.process.rpartition("-")[2]) in pids and BENCH_STACK.match(";".join(map(plain, line.frames))))
    return first / 1e6, read_json(stats)["own_cpu_ns"] / 1e6


def start_up():
    pids = busy_jvms()
    other_processes()
    first, cpu = zip(*(start_once(pids) for _ in range(STARTS)))
    what = f"{JVMS} JVMs, {OTHERS} more: start to first whole sample"
    row(f"{what} (median of {STARTS})", statistics.median(first), "ms", 300, digits=0)
    row(f"{what}: the shortest", min(first), "ms", digits=0)
    row(f"{what}: the longest", max(first), "ms", digits=0)
    row("own CPU of a recording of 1 s there (median)", statistics.median(cpu), "ms", digits=0)


def host():
    busy_jvms()
    other_processes()
    enable_bpf_stats()
    stats = temp_path("stats.json")
    recorder = start([HOSTPROF, "record", "-F", 99, "-d", START_SECONDS + HOST_SECONDS, "-o",
                      temp_path("x.jfr"), "--stats", stats], stderr=subprocess.DEVNULL)
    time.sleep(START_SECONDS)
    begin = family_cpu_ns(recorder.pid)
    time.sleep(HOST_SECONDS - 2)
    end = family_cpu_ns(recorder.pid)
    steady = sum(ns - begin.get(pid, 0) for pid, ns in end.items())
    memory, peak = sum(pss_mb(pid) for pid in end), peak_rss_mb(recorder.pid)
    recorder.finish(timeout=120)
    figures = read_json(stats)
    what = f"99 Hz, {JVMS} JVMs, {OTHERS} more"
    row(f"{what}: own CPU of the first {START_SECONDS} s", sum(begin.values()) / START_SECONDS / 1e7, "% core")
    row(f"{what}: own CPU after that", steady / (HOST_SECONDS - 2) / 1e7, "% core", 1)
    row(f"{what}: peak RSS of the recorder", peak, "MB", 64)
    row(f"{what}: memory of all {len(end)} processes (PSS)", memory, "MB", 64)
    row(f"{what}: BPF maps", figures["capture"]["map_bytes"] / 2**20, "MB", 64)
    row(f"{what}: samples", figures["samples"], "", digits=0)
    bpf_figures(figures, what)
