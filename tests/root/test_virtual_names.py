#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of virtual threads have their numbers and names of that moment, and exact chains of calls: JDK 21 and 25.

A sample's own frames say whose they are (tests/workloads/VirtualNames.java).
"""
import collections
import re

from hp import *
from stream_reader import Line, Model
from virtual_judge import MOVING

PREFIX = "a-request-whose-name-is-longer-than-the-kernel-has-room-for-"
DEPTH = 40
# Of each JVM.
CPU_SECONDS = 1.5
BITS = {"VirtualNames.zero": "0", "VirtualNames.one": "1"}
ENDS = {"VirtualNames.even": "-even", "VirtualNames.odd": "-odd"}
UNNAMED = "VirtualThread"
# HotSpot has cut a thread's frames in two at that moment.
FROZEN = "[frozen frames]"
# Until these are over the current thread is the carrier: VirtualThread.java.
SWITCHES = re.compile(r"java\.lang\.VirtualThread\.")
MOST_SWITCHES = 0.05
# Of the samples in a chain: those without a virtual thread's name, or without all calls.
MOST_UNTOLD = MOST_CUT = 0.001
# A carrier is not known while its walks end in native code that userspace has yet to read.
FIRST_ONES = 4
# Until the JVM is known, which is met for the first time, frames in its heap cannot be read.
FIRST_SECONDS = 0.2
# Of the later ones. Frames that HotSpot brings to the stack or away are in two places, or none; by its interpreter that takes long.
MOST_LOST, MOST_MOVING = 0.001, 0.02


class Judge:
    def __init__(self):
        self.counts, self.wrong = collections.Counter(), collections.Counter()
        self.begin_ns = None

    def _named(self, sample, thread, frames):
        """The number of the sample's thread; None: it is not known."""
        if not thread.get("virtual"):
            return None
        number = thread["java_tid"]
        end = next((end for name, end in ENDS.items() if name in frames), "(-even|-odd)")
        wanted = UNNAMED if number % 3 == 0 else f"{PREFIX}{number}{end}"
        if not re.fullmatch(wanted, thread["name"]):
            self.wrong[f"{thread['name']} instead of {wanted}"] += 1
        return number

    def _take_frozen(self, sample, frames):
        if sample["time_ns"] - self.begin_ns < FIRST_SECONDS * 1e9:
            self.counts["not known yet"] += 1
        elif any(MOVING.match(frame) for frame in frames):
            self.counts["moving"] += 1
        else:
            self.counts["lost"] += 1
            print(f"# lost: {';'.join(frames[:6])}")

    def take(self, sample, thread):
        frames = [frame["name"] for frame in sample["frames"]]
        bits = "".join(BITS[name] for name in frames if name in BITS)
        if not bits:
            return
        self.begin_ns = self.begin_ns or sample["time_ns"]
        number = self._named(sample, thread, frames)
        at_end = any(name in ENDS for name in frames)
        if FROZEN in frames:
            self._take_frozen(sample, frames[:frames.index(FROZEN)])
        elif at_end and len(bits) != DEPTH:
            self.counts["cut"] += 1
        elif number is None:
            first = next(at for at, name in enumerate(frames) if name in BITS)
            switches = any(SWITCHES.match(name) for name in frames[:first])
            self.counts["on or off" if switches else "untold"] += 1
            if not switches:
                print(f"# untold, {thread['name']}: {';'.join(frames[:first])}")
        elif int(bits, 2) != number % (1 << len(bits)):
            self.wrong[f"{bits} of {number}"] += 1
        else:
            self.counts["exact" if at_end else "on the way"] += 1

    def expect_right(self, what, fewest):
        print(f"# {what}: {dict(self.counts)}, wrong: {sum(self.wrong.values())}")
        expect_equal(dict(self.wrong), {}, f"{what}: wrong names or chains")
        expect(self.counts["exact"] >= fewest, f"{what}: only {self.counts['exact']} samples")
        total = self.counts.total()
        expect(self.counts["untold"] <= MOST_UNTOLD * total + FIRST_ONES, f"{what}: {self.counts['untold']} without a name")
        expect(self.counts["on or off"] <= MOST_SWITCHES * total, f"{what}: {self.counts['on or off']} while it is switched")
        expect(self.counts["lost"] <= MOST_LOST * total + 1, f"{what}: {self.counts['lost']} with frozen frames")
        expect(self.counts["moving"] <= MOST_MOVING * total, f"{what}: {self.counts['moving']} with frames that move")
        expect(self.counts["cut"] <= MOST_CUT * total + 1, f"{what}: {self.counts['cut']} cut chains")


def begin(version, *args, flags=()):
    return java(version, "VirtualNames", 120, *args,
                flags=["-Djdk.virtualThreadScheduler.parallelism=2", "-XX:CompileCommand=quiet", "-Xmx128m",
                       "-XX:CompileCommand=dontinline,VirtualNames::*", *flags])


def recorded(jvms, *args):
    """A recording in which each JVM runs as long."""
    recorder = Recorder("-F", 499, *args)
    since = {jvm.pid: cpu_seconds(jvm.pid) for jvm in jvms}
    wait_until(lambda: all(cpu_seconds(pid) - before > CPU_SECONDS for pid, before in since.items()), 90, "the JVMs' time")
    return recorder.end()


def judged(path, jvms):
    """The samples of each JVM."""
    with open(path, "rb") as lines:
        model = Model([Line(0, line) for line in lines.read().splitlines()])
    judges = {jvm.pid: Judge() for jvm in jvms}
    for sample in model.samples.values():
        if sample["pid"] in judges:
            judges[sample["pid"]].take(sample, model.threads[sample["thread"]])
    return [judges[jvm.pid] for jvm in jvms]


def expect_in_views(recording):
    """Of those that no stream has."""
    titles = {line.thread for line in collapsed(recording, "-t")}
    named = [found for title in titles if (found := re.fullmatch(rf"\[{PREFIX}(\d+)-(?:even|odd) #(\d+) tid=\d+\]", title))]
    expect(len(named) > 10 and all(found[1] == found[2] for found in named), f"titles: {sorted(titles)[:20]}")
    expect(any(re.fullmatch(rf"\[{UNNAMED} #\d+ tid=\d+\]", title) for title in titles), "threads without a name")
    groups = {line.frames[0] for line in collapsed(recording, "-t", "--thread-groups")}
    expect({f"[{UNNAMED}]", f"[{PREFIX}*-even]", f"[{PREFIX}*-odd]"} <= groups, f"groups: {sorted(groups)}")


@for_each_jdk([21, 25])
def names_from_outside(version):
    """Also with a collector that compacts the heap."""
    cases = {f"JDK {version}": ([], []), f"JDK {version}, moving": (["moves"], ["-XX:+UseParallelGC"])}
    jvms = [begin(version, *args, flags=flags) for args, flags in cases.values()]
    path = temp_path("lines")
    recording = recorded(jvms, "-p", ",".join(str(jvm.pid) for jvm in jvms), "--stream", path)
    for what, judge in zip(cases, judged(path, jvms)):
        judge.expect_right(what, 20 if "moving" in what else 100)
    expect_in_views(recording)


@for_each_jdk([25])
def names_beside_an_agent(version):
    """It knows the carriers."""
    jvm, path = begin(version), temp_path("lines")
    recorded([jvm], "-p", jvm.pid, "--agent=always", "--stream", path)
    judged(path, [jvm])[0].expect_right(f"JDK {version} with an agent", 100)


main(lanes=2)
