#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brokers and readers that are ended a hundred times each while ten JVMs are recorded: it goes on, and what is missing are names, and few."""
import random

import gates
from hp import *

FREQUENCY = 199
TIMES = 100
# Of the Java frames' samples, those that were taken while nobody could be asked.
MOST_NAMELESS = 0.02
NAMELESS = {"[JIT]", "[interpreted]", "[evicted]", "[unknown]"}
CHAIN = ("java.lang.Thread.run", "Chain.run", "Chain.first", "Chain.second", "Chain.third")


class Crowd:
    """Ten JVMs that run all the time, and one that is new every second or so."""

    def __init__(self):
        self.pids = [java(version, "Chain", 120).pid for version in (17, 25) * 5]
        self.due = 0

    def one_more(self):
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + 1.5
        self.pids.append(java((17, 25)[len(self.pids) % 2], "Chain", 3).pid)


def end_workers(recorder, crowd, name, number):
    """A random one of that name each time, by a signal."""
    dice, done, end = random.Random(14), 0, time.monotonic() + 60
    while done < TIMES and time.monotonic() < end:
        expect(recorder.running(), "hostprof has ended")
        crowd.one_more()
        workers = below(recorder.pid, name)
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(workers), number)
                done += 1
        time.sleep(dice.random() * 0.1)
    expect_equal(done, TIMES, f"{name} that were ended")


def judge(lines):
    """Of the threads that know their frames: samples, those whose stack is not whole, those that lack a name, and wrong ones."""
    sums = collections.Counter()
    for line in lines:
        if not line.thread.startswith("[chain-worker"):
            continue
        sums["samples"] += line.count
        user = [frame for frame in line.frames if not frame.endswith("_[k]")]
        if any(frame.startswith("[unwind:") for frame in user):
            sums["cut"] += line.count
        elif NAMELESS & {frame.rsplit("_[", 1)[0] for frame in user}:
            sums["nameless"] += line.count
        elif not in_order([frame.rsplit("_[", 1)[0] for frame in user], *CHAIN) and "Chain.third_[j]" in user:
            sums["wrong"] += line.count
    return sums


def check(name, number):
    need_root()
    crowd = Crowd()
    recorder = Recorder("-F", FREQUENCY)
    time.sleep(1)
    end_workers(recorder, crowd, name, number)
    stopped = below(recorder.pid, name)
    recorder.signal(signal.SIGINT)
    begin = time.monotonic()
    recorder.end()
    took = time.monotonic() - begin
    stats = read_json(recorder.stats_path)
    lines = collapsed(recorder.path, "--annotate", "-t")
    sums = judge([line for pid in set(crowd.pids) for line in of_pid(lines, pid)])
    print(f"# {name} by {signal.Signals(number).name}: {dict(sums)}; ended in {took:.1f} s; wall {stats['wall']}; readers {stats['readers']}; "
          f"{len(stopped)} at the end", flush=True)
    expect(sums["samples"] > 1000, "too few samples of the JVMs")
    expect(took < 5, f"it ended {took:.1f} s after SIGINT")
    expect_equal(stats["lost"], 0, "lost samples")
    expect_equal(sums["wrong"], 0, "stacks with other frames")
    expect(sums["cut"] <= gates.most_bad(sums["samples"], 0.001), f"{sums['cut']} of {sums['samples']} are not whole")
    expect(sums["nameless"] <= MOST_NAMELESS * sums["samples"], f"{sums['nameless']} of {sums['samples']} lack names")
    wait_until(lambda: not any(status_of(f"/proc/{pid}").get("Name") == name for pid in stopped), 20, f"the end of all {name}")


for each in ("hostprof-broker", "hostprof-reader"):
    for signal_number, how in ((signal.SIGKILL, "killed"), (signal.SIGSTOP, "stopped")):
        def ended(each=each, signal_number=signal_number):
            check(each, signal_number)
        ended.__name__ = f"{each.partition('-')[2]}s_are_{how}_beside_ten_jvms"
        test(ended)

main()
