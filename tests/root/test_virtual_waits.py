#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e offcpu and -e wall of virtual threads, which leave their carriers while they wait: length, number, reason, stack and name, JDK 21 to 28."""

from hp import *

MS = 2500
JUDGED = [version for version in JDKS if version >= 21 and (version in SETUP_JDKS or find_jdk(version))]
# Of tests/workloads/VirtualWaits.java: the reason, and a method nearer to the leaf than VirtualWaits.KIND.
KINDS = {"sleep": ("sleep", "java.lang.Thread.sleep"),
         "park": ("park", "java.util.concurrent.locks.LockSupport.parkNanos"),
         "objectWait": ("Object.wait", "java.lang.Object.wait"),
         "monitorEnter": ("monitor enter", "VirtualWaits.enter"),
         "lockEnter": ("park", "java.util.concurrent.locks.ReentrantLock.lock"),
         "socketRead": ("socket read", "java.io.DataInputStream.readByte"),
         "busy": ("sleep", "java.lang.Thread.sleep"),
         "often": ("park", "java.util.concurrent.locks.LockSupport.parkNanos")}
# Each of their waits is longer than an interval of -e wall.
ALWAYS_LONG = {"sleep", "park", "objectWait"}
# Until somebody has what they want they park for a millisecond at a time.
ALSO_PARKS = {"monitorEnter", "lockEnter"}
# They also wait for a cpu, and socketRead's library for a lock of its own now and then.
QUEUED = "[run queue]"
REST = 0.005
# Of those whose stack is cut (below) nobody knows what they waited for.
CUT_WAITS = 2
# While its frames go to the heap and come back it runs, and is without a carrier: that counts twice. Most of it are probes.
MOVED_NS = 40_000
# Whose carrier loses its cpu while it is moved waits already, or still, and for the cpu, too: on a busy host that is often
# (seen: 85 of 711 ms in the queue).
QUEUED_TWICE = 0.25
# In its first moments a walk meets what is read a moment later.
MOST_CUT = 0.01

Told = collections.namedtuple("Told", "waits ns life")
# Of who waited before the recording: how it is told.
EARLY = {"earlyPark": "[park]", "earlyEnter": "[monitor enter]"}

Run = collections.namedtuple("Run", "told ns counts cpu stats early")


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: Told(*map(int, row[1:])) for row in rows if len(row) == 4 and row[0] in KINDS}


def record(version, event, *flags):
    need_root()
    process = java(version, "VirtualWaits", MS, flags=("-Xmx256m", *flags), stdin=subprocess.PIPE)
    clock = () if event == "wall" else ("-e", "cpu", "-F", "997")
    recorder = Recorder("-p", process.pid, "-e", event, *clock, "--agent=never")
    time.sleep(1)
    go_to_the_end([process])
    end_ns = time.monotonic_ns()
    back_ns = dict(zip(EARLY, map(int, expect_match(r"early (\d+) (\d+)", process.text).groups())))
    path, name = recorder.end(), event.split("=")[0]
    run_of = Run(read_told(process.text), collapsed(path, "--event", name, "-t", "--total"), collapsed(path, "--event", name, "-t"),
                 collapsed(path, "--event", "cpu", "-t", "--total") if clock else [], read_json(recorder.stats_path), {kind: end_ns - ns for kind, ns in back_ns.items()})
    process.signal(signal.SIGKILL)
    process.finish(code=None)
    expect_equal(run_of.stats["lost"], 0, "lost samples")
    return run_of


@shared
def recorded(version):
    return record(version, "offcpu=0")


def of_kind(lines, kind):
    return [line for line in lines if line.thread.startswith(f"[{kind} #")]


def figure(run_of, name):
    return sum(counter["value"] for counter in run_of.stats["counters"] if counter["name"] == name)


def reasons_of(lines):
    counts = collections.Counter()
    for line in lines:
        counts[line.frames[-1]] += line.count
    return counts


def is_whole(line):
    return "java.lang.VirtualThread.runContinuation" in line.frames


@for_each_jdk(JUDGED)
def waits_have_their_length(version):
    """Of each thread: waiting for what it waits for, and for a cpu; with what it ran its whole life."""
    run_of = recorded(version)
    expect_equal(set(run_of.told), {*KINDS}, "threads that tell")
    for kind, told in run_of.told.items():
        waited, on = total(of_kind(run_of.ns, kind)), total(of_kind(run_of.cpu, kind))
        reasons = reasons_of(of_kind(run_of.ns, kind))
        asleep = waited - reasons[QUEUED]
        print(f"# JDK {version}, {kind}: {asleep / 1e6:.1f} ms, and {reasons[QUEUED] / 1e6:.1f} for a cpu, of {told.ns / 1e6:.1f} ms; with "
              f"{on / 1e6:.1f} on a cpu {100 * ((waited + on) / told.life - 1):+.2f} % of a life of {told.life / 1e6:.1f} ms")
        # On 21 who waits for a monitor keeps its carrier, and is not always known to be virtual then (seen: -2.4 %).
        least = 0.96 if version < 24 and kind == "monitorEnter" else 0.98
        most = 1.02 + (told.waits * MOVED_NS + QUEUED_TWICE * reasons[QUEUED]) / told.life
        expect_between((waited + on) / told.life, least, most, f"life of {kind}")
        # What it measures around its waits has some of its time on and for a cpu in it.
        expect_between(asleep / told.ns, 0.98 - (reasons[QUEUED] + on) / told.ns, 1.02, f"waits of {kind}")


@for_each_jdk(JUDGED)
def waits_have_their_reason(version):
    run_of = recorded(version)
    for kind, (reason, _) in KINDS.items():
        reasons = reasons_of(of_kind(run_of.ns, kind))
        wanted = {f"[{reason}]", QUEUED} | ({"[park]"} if kind in ALSO_PARKS else set())
        strange = {name: ns for name, ns in reasons.items() if name not in wanted}
        print(f"# JDK {version}, {kind}: " + ", ".join(f"{name} {ns / 1e6:.2f} ms" for name, ns in reasons.most_common()))
        cut = CUT_WAITS * run_of.told[kind].ns / run_of.told[kind].waits
        expect(sum(strange.values()) <= REST * sum(reasons.values()) + cut, f"reasons of {kind}: {strange}")


@for_each_jdk(JUDGED)
def waits_are_counted(version):
    """Of who comes back for a monitor or a lock in vain, or finds its byte there, nobody knows how many they are."""
    run_of = recorded(version)
    for kind in ("sleep", "park", "objectWait", "busy", "often"):
        waits = run_of.told[kind].waits
        lines = [line for line in of_kind(run_of.counts, kind) if line.frames[-1] == f"[{KINDS[kind][0]}]"]
        print(f"# JDK {version}, {kind}: {total(lines)} samples of {waits} waits")
        # Its monitor may be told of apart, and its last wait end after its last count.
        expect_between(total(lines), waits - 1, waits + 1, f"waits of {kind}")


@for_each_jdk(JUDGED)
def stacks_are_their_own(version):
    run_of = recorded(version)
    for kind, (reason, method) in KINDS.items():
        # Who loses its cpu just as its frames are moved is in neither place.
        lines = [line for line in of_kind(run_of.counts, kind) if line.frames[-1] == f"[{reason}]"]
        cut = [line for line in lines if not is_whole(line) or "[frozen frames]" in line.frames]
        print(f"# JDK {version}, {kind}: {total(cut)} of {total(lines)} stacks are cut")
        expect(lines and total(cut) <= max(2, MOST_CUT * total(lines)), f"cut stacks of {kind}: {total(cut)} of {total(lines)}")
        for line in lines:
            way = ["java.lang.VirtualThread.runContinuation", "jdk.internal.vm.Continuation.enterSpecial", f"VirtualWaits.{kind}"]
            if kind not in ALSO_PARKS:
                way.append(method)
            expect(line in cut or in_order(line.frames, *way), f"the stack of {kind}: {line.frames}")


def expect_early(version, run_of):
    for kind, reason in EARLY.items():
        # Before JDK 24 there is none.
        if kind == "earlyEnter" and version < 24:
            continue
        lines, wanted = of_kind(run_of.ns, kind), run_of.stats["elapsed_ns"] - run_of.early[kind]
        # -e wall has what it ran, too.
        strange = [line for line in lines if line.frames[-1].startswith("[") and line.frames[-1] not in (reason, QUEUED)]
        print(f"# JDK {version}, {kind}: {total(lines) / 1e6:.1f} ms of {wanted / 1e6:.1f}")
        # The recording also lasts while it ends, and looks who waits: a tenth of a second where nobody gives it a cpu.
        expect_between(total(lines) / wanted, 0.95, 1.01, f"the wait of {kind}")
        expect_equal(strange, [], f"what {kind} waits for")
        expect(any(in_order(line.frames, f"VirtualWaits$Early.{kind}") for line in lines), f"the stack of {kind}: {lines}")


@for_each_jdk(JUDGED)
def who_has_waited_before(version):
    """Since the recording began, and no longer."""
    expect_early(version, recorded(version))


@for_each_jdk(JUDGED)
def breakpoints_are_no_code(version):
    """Whose cpu is taken between a probe's breakpoint and the kernel's look at it has not executed what is probed."""
    run_of = recorded(version)
    reasons, samples = run_of.stats["reasons"], run_of.stats["samples"]
    print(f"# JDK {version}: {samples} samples, {reasons}")
    expect(reasons.get("bad-return-address", 0) <= 0.001 * samples, "stacks with a bad return address")


def expect_parked(version, run_of, name, least_ns, most_ns):
    """One that parks to the end of the recording: one wait, with its own frames, and no carrier's."""
    # Before that it ran.
    parks = [line for line in of_kind(run_of.ns, name) if line.frames[-1] == "[park]"]
    print(f"# JDK {version}, {name}: {total(parks) / 1e6:.1f} ms of {run_of.stats['elapsed_ns'] / 1e6:.1f} in all")
    expect_between(total(parks), least_ns, most_ns, f"the wait of {name}")
    expect_equal(len(parks), 1, f"stacks of {name}")
    frames = parks[0].frames
    expect(frames[0] == "jdk.internal.vm.Continuation.enter" and
           in_order(frames, "java.lang.VirtualThread.run", "VirtualWaits.forever", "java.util.concurrent.locks.LockSupport.park",
                    "java.lang.VirtualThread.yieldContinuation"), f"the stack of {name}: {frames}")


def expect_all_parked(version, run_of):
    elapsed = run_of.stats["elapsed_ns"]
    for i in range(3):
        expect_parked(version, run_of, f"eternal-{i}", 0.99 * elapsed, 1.01 * elapsed)
    expect_parked(version, run_of, "forever", 1e6 * MS, elapsed - 0.9e9)


@for_each_jdk(JUDGED)
def who_has_not_come_back(version):
    """One parks to the end, three from before the begin to the end; beside them those of the JVM that wait for sockets."""
    run_of = recorded(version)
    capture = run_of.stats["capture"]
    print(f"# JDK {version}: {capture['offcpu_virtual']} waits of virtual threads were seen, of {capture['offcpu_virtual_unseen']} more only the end")
    expect_all_parked(version, run_of)
    expect_between(figure(run_of, "offcpu.virtual-told"), 4, 10, "virtual threads that wait at the end, and are told")
    # The one that always comes back may have done so since it was read.
    expect(figure(run_of, "offcpu.virtual-waiting") <= 1, "virtual threads that wait at the end, and are not told")
    expect_equal(figure(run_of, "offcpu.virtual-not-listed"), 0, "JVMs whose virtual threads could not be listed")


@for_each_jdk(JUDGED)
def wall_time_is_a_life(version):
    """Each thread's, whatever it does, and however short its waits are."""
    run_of = record(version, "wall")
    expect_early(version, run_of)
    expect_all_parked(version, run_of)
    for kind, told in run_of.told.items():
        lines = of_kind(run_of.counts, kind)
        ns = total(of_kind(run_of.ns, kind))
        print(f"# JDK {version}, {kind}: {100 * (ns / told.life - 1):+.2f} % of a life of {told.life / 1e6:.1f} ms, {total(lines)} samples")
        # Of what runs, or waits for less than an interval, a sample is 10 ms of 2.5 s by chance: what the last ones have too much or too little
        # is not settled any more, and a cpu may stand still for 100 ms.
        part = 0.03 if kind in ALWAYS_LONG else 0.08
        expect_between(ns / told.life, 1 - part, 1 + part, f"wall time of {kind}")


@test
def heaps_that_are_not_read():
    """Where the collector moves objects beside threads it is said that there are waits which nobody sees."""
    run_of = record(25, "offcpu=0", "-XX:+UseZGC")
    expect_equal(figure(run_of, "offcpu.virtual-not-seen"), 1, "JVMs whose virtual threads are not seen")
    expect_equal(run_of.stats["capture"]["offcpu_virtual"], 0, "waits that are seen")


main(lanes=2)
