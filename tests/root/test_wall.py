#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""Wall-clock time: each thread of a program has the time of the recording, running and waiting, also who was parked before."""

from hp import *

SECONDS = 4
# Of tests/workloads/walls.c: what is between a parked thread's first function and its system call, and its reason.
PARKED = {"futex": "futex", "poll": "poll", "sleep": "sleep"}
EQUAL = ("equal0", "equal1", "equal2")
KINDS = (*PARKED, *EQUAL, "busy", "short", "bursts")
# Of tests/workloads/Walls.java: the method, one nearer to the leaf, and the reason.
JAVA_PARKED = {"parkedPark": ("java.util.concurrent.locks.LockSupport.park", "park"),
               "parkedWait": ("java.lang.Object.wait", "Object.wait"),
               "parkedSleep": ("java.lang.Thread.sleep", "sleep")}
JAVA_KINDS = (*JAVA_PARKED, *EQUAL, "busy", "short")

# WEIGHT, INTERVALS and SAMPLES: of all profiler.WallClockSample.
Run = collections.namedtuple("Run", "pids ns elapsed weight intervals samples")


def read_events(path):
    return read_by_jdk(path, "profiler.WallClockSample", version=17, depth=1)


@shared
def recorded():
    """One recording of all programs, for all tests."""
    need_root()
    processes = {"native": native("walls", stdin=subprocess.PIPE).wait_text("ready"),
                 17: java(17, "Walls", stdin=subprocess.PIPE), 25: java(25, "Walls", stdin=subprocess.PIPE)}
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes.values()), "-e", "wall", "--agent=never")
    time.sleep(SECONDS)
    path = recorder.end()
    for process in processes.values():
        process.popen.stdin.close()
    events = read_events(path)
    return Run({name: process.pid for name, process in processes.items()}, collapsed(path, "-t", "--total"),
               read_json(recorder.stats_path)["elapsed_ns"], sum(event["weight"] for event in events),
               sum(event["samples"] for event in events), len(events))


def of_thread(name, kind):
    return [line for line in of_pid(recorded().ns, recorded().pids[name]) if line.thread.startswith(f"[{kind} tid=")]


def expect_near(came, wanted, part, what):
    expect_between(came / wanted, 1 - part, 1 + part, f"{what}: {came / 1e6:.2f} ms of {wanted / 1e6:.2f} ms")


def reasons_of(lines):
    counts = collections.Counter()
    for line in lines:
        counts[line.frames[-1] if line.frames[-1][0] == "[" else "running"] += line.count
    return counts


def check_lives(name, kinds):
    for kind in kinds:
        lines = of_thread(name, kind)
        print(f"# {name} {kind}: {total(lines) / recorded().elapsed:.4f}  {dict(reasons_of(lines))}", flush=True)
    for kind in kinds:
        expect_near(total(of_thread(name, kind)), recorded().elapsed, 0.02, kind)


def check_equal(name):
    times = [total(of_thread(name, kind)) for kind in EQUAL]
    expect(max(times) <= 1.03 * min(times), f"three equal threads: {times}")


def check_parked(name, kind, reason, path):
    lines = of_thread(name, kind)
    expect_near(total(lines), recorded().elapsed, 0.01, kind)
    expect_equal(set(reasons_of(lines)), {f"[{reason}]"}, f"reasons of {kind}")
    for line in lines:
        expect(in_order(line.frames, *path), f"{kind}: {line.frames}")


@test
def threads_of_a_program_have_the_time_of_the_recording():
    check_lives("native", KINDS)
    check_equal("native")


@test
def who_was_parked_before_is_known():
    for kind, reason in PARKED.items():
        check_parked("native", kind, reason, ["run", f"outer_{kind}"])


def check_java(version):
    check_lives(version, JAVA_KINDS)
    check_equal(version)
    for kind, (method, reason) in JAVA_PARKED.items():
        check_parked(version, kind, reason, ["java.lang.Thread.run", f"Walls.{kind}", method])


@test
def threads_of_jdk_17():
    check_java(17)


@test
def threads_of_jdk_25():
    check_java(25)


@test
def others_count_intervals():
    """profiler.WallClockSample, whose samples are as many intervals as its weight is on the average."""
    expect_equal(recorded().weight, total(recorded().ns), "weights of all samples")
    expect_near(recorded().intervals * 10_000_000, recorded().weight, 0.02, f"intervals of {recorded().samples} samples")


main()
