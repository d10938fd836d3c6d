#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples have their threads' full Java names as of then, read from outside: JDK 8 to 28, with and without an agent.

Each sample's own frames say which name its thread had (tests/workloads/ThreadNames.java).
"""
import collections
import concurrent.futures
import re

from hp import *
from stream_reader import Line, Model

COMMON = "a-common-prefix-that-is-longer-than-the-kernel-has-room-for-"
# What the kernel has of these, until JDK 25 and since 26.
COMMS = {"a-common-prefix"}
CUT_IN_THE_MIDST = re.compile(r"a-commo\.\..+")
SECONDS = 7
BY_FRAME = {**{f"ThreadNames.steady{i}": f"steady-{i}" for i in range(4)},
            "ThreadNames.selfEven": "self-even", "ThreadNames.selfOdd": "self-odd"}
BY_OTHERS = {"ThreadNames.othersEven": "others-even", "ThreadNames.othersOdd": "others-odd"}
BRIEF = "ThreadNames.brief"
# A thread that another one renames: half a second, and the turn in which it is read.
LATE_NS = 700_000_000
# Threads that have ended when the first sample of theirs is looked at keep the kernel's name.
MOST_COMMS = 0.35
# So does a thread whose name was another one before somebody looked: of 75 in a recording it may be three, while an agent is loaded.
MOST_UNREAD = {"steady": 0.02, "renamed by others": 0.02, "renames itself": 0.05}


class Judge:
    """Samples of the workload: those with their thread's name, with the kernel's instead, and with a wrong one."""

    def __init__(self, brief):
        self.brief = brief  # tid -> name
        self.counts = collections.defaultdict(collections.Counter)
        self.wrong = collections.Counter()
        self.phase, self.phase_ns = None, 0

    def _count(self, kind, sample, name, wanted):
        if name == COMMON + wanted:
            how = "right"
        elif name in COMMS or CUT_IN_THE_MIDST.fullmatch(name):
            how = "comm"
        else:
            how = "wrong"
            self.wrong[f"{kind}: {name} instead of {COMMON + wanted} (tid {sample['tid']})"] += 1
        self.counts[kind][how] += 1

    def _by_others(self, frame, sample, name):
        if frame != self.phase:
            self.phase, self.phase_ns = frame, sample["time_ns"]
        if sample["time_ns"] - self.phase_ns < LATE_NS:
            self.counts["renamed by others, just now"][name == COMMON + BY_OTHERS[frame]] += 1
        else:
            self._count("renamed by others", sample, name, BY_OTHERS[frame])

    def take(self, sample, name):
        frames = {frame["name"] for frame in sample["frames"]}
        for frame in frames & BY_FRAME.keys():
            self._count("renames itself" if "self" in frame else "steady", sample, name, BY_FRAME[frame])
        for frame in frames & BY_OTHERS.keys():
            self._by_others(frame, sample, name)
        if BRIEF in frames and sample["tid"] in self.brief:
            self._count("brief", sample, name, self.brief[sample["tid"]])
        if "ThreadNames.main" in frames:
            self.counts["main"][name] += 1

    def show(self, what):
        for kind, counts in sorted(self.counts.items(), key=str):
            print(f"# {what}: {kind}: {dict(counts)}")


def samples_of(version, *options, flags=(), args=(), seconds=SECONDS):
    """The judged samples of a JVM that runs the workload."""
    jvm = java(version, "ThreadNames", seconds + 1, *args, flags=flags)
    path = temp_path("lines")
    record("-p", jvm.pid, "-F", 499, "-d", seconds, "--stream", path, *options)
    jvm.wait_text("done", timeout=20)
    brief = {int(tid): name.removeprefix(COMMON) for tid, name in re.findall(r"^brief (\d+) (.+)$", jvm.text, re.MULTILINE)}
    with open(path, "rb") as lines:
        model = Model([Line(0, line) for line in lines.read().splitlines()])
    judge = Judge(brief)
    for sample in sorted(model.samples.values(), key=lambda sample: sample["time_ns"]):
        judge.take(sample, model.threads[sample["thread"]]["name"])
    return judge


def expect_right(judge, what, fewest=100):
    judge.show(what)
    expect_equal(dict(judge.wrong), {}, f"{what}: wrong names")
    for kind in ("steady", "renames itself", "renamed by others"):
        counts = judge.counts[kind]
        expect(counts["right"] >= fewest, f"{what}: {kind}: only {counts['right']} samples")
        expect(counts["comm"] <= MOST_UNREAD[kind] * counts.total(), f"{what}: {kind}: {counts['comm']} without a name")
    brief = judge.counts["brief"]
    expect(brief["right"] >= fewest // 2, f"{what}: brief: only {brief['right']} samples")
    expect(brief["comm"] <= MOST_COMMS * brief.total(), f"{what}: brief: {brief['comm']} without a name")
    expect_equal(set(judge.counts["main"]) - {"main"}, set(), f"{what}: names of the main thread")


@for_each_jdk(JDKS)
def names_from_outside(version):
    expect_right(samples_of(version), f"JDK {version}")


MOVES = {"serial": "-XX:+UseSerialGC", "parallel": "-XX:+UseParallelGC", "g1": "-XX:+UseG1GC"}


@for_each_jdk([version for version in JDKS if version in (8, 17, 25)])
def names_while_objects_move(version):
    """While the heap is compacted, references lead to where other strings still are."""
    def look(flag):
        return samples_of(version, flags=[flag, "-Xmx64m"], args=["moves"], seconds=6)

    with concurrent.futures.ThreadPoolExecutor() as beside:
        judges = list(beside.map(look, MOVES.values()))
    for collector, judge in zip(MOVES, judges):
        judge.show(f"JDK {version}, {collector}")
        expect_equal(dict(judge.wrong), {}, f"JDK {version}, {collector}: wrong names")
        expect(judge.counts["steady"]["right"] >= 20, f"JDK {version}, {collector}: too few samples")


@for_each_jdk([version for version in JDKS if version in (17, 25)])
def names_with_an_agent(version):
    """Agents tell of each thread that begins, but of no renames."""
    judge = samples_of(version, "--agent=always")
    expect_right(judge, f"JDK {version} with an agent")
    brief = judge.counts["brief"]
    expect(brief["comm"] <= 0.02 * brief.total(), f"brief: {brief['comm']} without a name")


main(lanes=2)
