#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e alloc through the agent: bytes of each class, their stacks, and that the JVM is left as it was found."""
import subprocess
import time

import codemap
from hp import *

# Of a JVM with JDK 17 and 25, at most: the bound, and four deviations of the samples that came.
BOUND = 0.03
DEVIATIONS = 4
SITES = {"Allocations$Small": ("small", "newSmall"), "java.lang.String": ("text", "newText"),
         "byte[]": ("bytes", "newBytes"), "java.lang.String[]": ("texts", "newTexts"),
         "long[]": ("longs", "newLongs")}


def workload(version, megabytes, *args, flags=()):
    if version >= 21:
        flags += ("-XX:+EnableDynamicAgentLoading",)
    return java(version, "Allocations", megabytes, *args, flags=("-Xmx512m", *flags),
                stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


def say(process):
    process.popen.stdin.write(b"\n")
    process.popen.stdin.flush()


def begin(process, *args):
    """A recording beside the test that has loaded the agent."""
    path = temp_path("out.jfr")
    recorder = Process([HOSTPROF, "record", "-p", process.pid, "-o", path, *args])
    wait_until(lambda: codemap.find(process.pid), 20, "the agent")
    time.sleep(1)
    return recorder, path


def end(recorder):
    recorder.signal(signal.SIGINT)
    recorder.finish()


def by_class(path, *args):
    """Weight of each leaf."""
    sums = collections.Counter()
    for line in collapsed(path, "--event", "alloc", *args):
        sums[line.frames[-1]] += line.count
    return sums


def check_sums(path, process):
    totals, samples = by_class(path, "--total"), by_class(path)
    for row in process.text.splitlines():
        name, *numbers = row.split(" ")
        if name not in SITES:
            continue
        true = int(numbers[0]) * int(numbers[1])
        bound = BOUND + DEVIATIONS / samples[name] ** 0.5
        off = totals[name] / true - 1
        print(f"# {name}: {samples[name]} samples, {100 * off:+.2f} % (bound {100 * bound:.2f} %)")
        expect(abs(off) < bound, f"bytes of {name} within {bound:.3f}: {off:+.4f}")


def check_sites(path, version):
    """Whole stacks are those of the source; where code was compiled a moment ago inlined methods may miss."""
    found = collections.Counter()
    for line in collapsed(path, "--event", "alloc"):
        site = SITES.get(line.frames[-1])
        if site and in_order(line.frames, "java.lang.Thread.run", "Allocations.run", "Allocations.work",
                             *(f"Allocations.{method}" for method in site)):
            found[line.frames[-1]] += line.count
            at = line.frames.index("java.lang.Thread.run")
            # JDK 21 has a method more.
            expect_equal(line.frames[at:-1],
                         ["java.lang.Thread.run", *(["java.lang.Thread.runWith"] if version >= 21 else []),
                          "Allocations.run", "Allocations.work",
                          *(f"Allocations.{method}" for method in site)], "the stack of a site")
    for name in SITES:
        expect(found[name] > 0, f"a whole stack of {name}")


@for_each_jdk(SETUP_JDKS)
def sums_of_classes(version):
    process = workload(version, 2000)
    recorder, path = begin(process, "-e", "cpu,alloc=64k")
    say(process)
    process.wait_text("done", timeout=120)
    end(recorder)
    check_sums(path, process)
    check_sites(path, version)
    expect(total(collapsed(path, "--event", "cpu")) > 0, "samples of cpu")
    # Loaded for the recording, it has gone with it.
    expect(not codemap.find(process.pid), "no code map is left")
    say(process)
    process.finish()


@for_each_jdk(SETUP_JDKS)
def killed(version):
    """After kill -9 the agent turns its events off, and the next recording works."""
    process = workload(version, 10, 60)
    recorder, _ = begin(process, "-e", "alloc")
    say(process)
    time.sleep(1)
    recorder.signal(signal.SIGKILL)
    recorder.finish(code=None)
    wait_until(lambda: not codemap.CodeMap(process.pid)["events_on"], 10, "events off")
    path = record("-e", "alloc", "-d", 5, "-p", process.pid)
    expect(sum(by_class(path).values()) > 0, "samples in the next recording")


main()
