# SPDX-License-Identifier: Apache-2.0
"""Waiting for what shall be, and for CPU time rather than seconds: how long that takes is the host's."""
import contextlib
import glob
import os
import re
import time

from hp_expect import Failed, skip


def wait_until(condition, timeout=10, what="condition", step=0.02):
    """Wait until CONDITION() gives something true; returns it."""
    until = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Failed(f"{what}: not within {timeout} s")
        time.sleep(step)


def cpu_seconds(pid):
    """User and system time of all threads, to the clock tick."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_seconds(pid, name):
    """As cpu_seconds(), of the threads with this name; the kernel keeps 15 letters of it."""
    ticks = 0
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as stat:
            _, comm, fields = re.fullmatch(r"(\d+) \((.*)\) (.*)", stat.read().strip()).groups()
            if comm == name[:15]:
                ticks += sum(map(int, fields.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def let_run(pid, frequency, samples, timeout=150):
    """Wait until each thread of SAMPLES (name → number) has run for as long as its samples take, and
    a tenth more: on a busy machine that is much longer than on an idle one."""
    wanted = {name: thread_seconds(pid, name) + 1.1 * count / frequency
              for name, count in samples.items()}
    wait_until(lambda: all(thread_seconds(pid, name) >= seconds for name, seconds in wanted.items()),
               timeout, f"CPU time of {', '.join(samples)}", step=0.1)


# A hypervisor that takes more than this part of what the cpus run makes clocks of cpus and of waits differ.
MOST_STOLEN = 0.15


def cpu_ticks(cpu=""):
    """Of this one or all: what was stolen, or went to interrupts, our own samples' among them, and what ran."""
    with open("/proc/stat", encoding="ascii") as file:
        lines = {name: map(int, ticks) for name, *ticks in map(str.split, file)}
    user, nice, system, _, _, irq, softirq, steal, *_ = lines[f"cpu{cpu}"]
    return steal + irq + softirq, user + nice + system + irq + softirq


def stolen_since(before, cpu=""):
    """The part of what it ran, or they, since these ticks."""
    after = cpu_ticks(cpu)
    return (after[0] - before[0]) / max(after[1] - before[1], 1)


def need_own_cpus(stolen, what):
    """Skips where so much was stolen that WHAT does not show."""
    if stolen > MOST_STOLEN:
        skip(f"a hypervisor and interrupts took {100 * stolen:.0f} % of what the cpus ran; cpus of its own would show {what}")
