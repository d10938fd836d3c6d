#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e lock of virtual threads that park and leave their carriers: number, length, class, owner, stack and name, JDK 21 to 28, without an agent."""

from hp import *

ROUNDS, CROWD = 40, 100
JUDGED = [version for version in JDKS if version >= 21 and (version in SETUP_JDKS or find_jdk(version))]
LOCKS = "java.util.concurrent.locks."
# Of tests/workloads/VirtualParks.java: what a thread parks for, its own method, and how much of what it measures it parks at least: a lock is taken, too, and a timer set.
# Of the crowd each waits for longer, so that this is little: it judges lengths.
KINDS = {"lock": (LOCKS + "ReentrantLock$NonfairSync", "takeLock", 0.85, 1.02),
         "condition": (LOCKS + "AbstractQueuedSynchronizer$ConditionObject", "awaitCondition", 0.85, 1.02),
         "blocker": ("VirtualParks$Gate", "parkForGate", 0.9, 1.02),
         "crowd": ("VirtualParks$Fence", "parkInCrowd", 0.98, 1.02)}
# Whose time is over before it parks does not park (awaitNanos() asks once more), which a host that stands still for 12 ms makes of one.
MAY_NOT_PARK = {"condition": 1}
# They leave their carriers for no object.
SILENT = {"sleep": "sleepAWhile", "yield": "yieldOften"}
# In its first moments a walk meets what is read a moment later: then frames in the heap are those of another time.
MOST_CUT = 0.01

Run = collections.namedtuple("Run", "told ns counts stats events")


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[0] in (*KINDS, *SILENT)}


def record(version, *flags, rounds=ROUNDS, crowd=CROWD):
    need_root()
    process = java(version, "VirtualParks", rounds, crowd, flags=("-Xmx256m", *flags), stdin=subprocess.PIPE)
    recorder = Recorder("-p", process.pid, "-e", "lock=100us", "--agent=never")
    time.sleep(1)
    go_to_the_end([process])
    path = recorder.end()
    run_of = Run(read_told(process.text), collapsed(path, "--event", "lock", "-t", "--total"), collapsed(path, "--event", "lock", "-t"),
                 read_json(recorder.stats_path), read_by_jdk(path, "jdk.ThreadPark"))
    process.signal(signal.SIGKILL)
    process.finish(code=None)
    return run_of


@shared
def recorded(version):
    return record(version)


def not_seen(run_of):
    return sum(counter["value"] for counter in run_of.stats["counters"] if counter["name"] == "lock.virtual-parks-not-seen")


def of_kind(lines, kind):
    """Those of its object: a virtual thread may wait for others in java.base."""
    return [line for line in lines if line.thread.startswith(f"[{kind} #") and line.frames[-1] == KINDS[kind][0]]


def expect_kind(run_of, kind, name):
    _, method, least, most = KINDS[kind]
    parks, ns = run_of.told[kind]
    counts, lengths = of_kind(run_of.counts, kind), of_kind(run_of.ns, kind)
    print(f"# {name}, {kind}: {total(counts)} samples of {parks} parks, {100 * (total(lengths) / ns - 1):+.3f} % of {ns / 1e6:.1f} ms")
    for line in run_of.counts:
        if line.thread.startswith(f"[{kind} #") and total(counts) < parks and line not in counts:
            print(f"#   of another object: {line.count} {line.frames[-3:]}")
    expect_between(total(counts), parks - MAY_NOT_PARK.get(kind, 0), parks, f"samples of {kind}")
    expect_between(total(lengths) / ns, least, most, f"length of {kind}")
    cut = [line for line in counts if "[frozen frames]" in line.frames]
    expect(total(cut) <= max(2, MOST_CUT * total(counts)), f"{total(cut)} of {total(counts)} stacks of {kind} are cut")
    for line in counts:
        way = () if line in cut else ("VirtualParks.repeat", f"VirtualParks.{method}", "java.lang.VirtualThread.yieldContinuation")
        expect(in_order(line.frames, "java.lang.VirtualThread.runContinuation", "jdk.internal.vm.Continuation.enterSpecial", *way),
               f"the stack of {kind}: {line.frames}")


def expect_all(run_of, name):
    capture = run_of.stats["capture"]
    print(f"# {name}: {capture['lock_yields']} parks of virtual threads were seen, of {capture['lock_yields_unseen']} more only the end")
    for kind in KINDS:
        expect_kind(run_of, kind, name)
    for kind, method in SILENT.items():
        strange = [line for line in run_of.counts if line.thread.startswith(f"[{kind} #") and f"VirtualParks.{method}" in line.frames]
        expect_equal(strange, [], f"{kind} waits for no object")
    expect(capture["lock_yields"] >= sum(run_of.told[kind][0] for kind in KINDS), f"parks that were seen: {capture['lock_yields']}")
    expect_equal(run_of.stats["lost"], 0, "lost samples")


@for_each_jdk(JUDGED)
def parks_of_virtual_threads(version):
    expect_all(recorded(version), f"JDK {version}")


@for_each_jdk(JUDGED)
def their_locks_have_owners(version):
    """JFR's own type, by the JDK's own reader: who has the lock is a virtual thread, too."""
    own = [event for event in recorded(version).events if event["eventThread"]["javaName"].split()[0] == "lock" and
           (event["parkedClass"] or {}).get("name", "").replace("/", ".") == KINDS["lock"][0]]
    owners = [event["owner"] or {} for event in own]
    print(f"# JDK {version}: {dict(collections.Counter((owner.get('javaName') or '').split(' ')[0] for owner in owners))}")
    expect_equal(len(own), recorded(version).told["lock"][0], "events")
    # Each time another one, of which nothing but its number is known.
    expect_equal({owner.get("javaName", "").split(" ")[0] for owner in owners}, {"VirtualThread"}, "owners")
    expect_equal(len({owner["javaThreadId"] for owner in owners} - {event["eventThread"]["javaThreadId"] for event in own}), len(own),
                 "different owners, none of them who waits")


@test
def as_heaps_are():
    """Whole references, compact headers, and collectors that move what is parked for."""
    for flags in (("-XX:+UseSerialGC", "-XX:-UseCompressedOops"), ("-XX:+UseParallelGC", "-XX:+UseCompactObjectHeaders")):
        run_of = record(25, *flags, rounds=20, crowd=50)
        expect_all(run_of, " ".join(flags))
        expect_equal(not_seen(run_of), 0, "JVMs whose virtual threads are not seen")


@test
def heaps_that_are_not_read():
    """Where the collector moves objects beside threads: nothing is told, nothing false, and that is said."""
    for flag in ("-XX:+UseZGC", "-XX:+UseShenandoahGC"):
        run_of = record(25, flag, rounds=10, crowd=10)
        expect_equal([line for line in run_of.counts if line.thread.startswith(("[blocker #", "[crowd #"))], [], f"parks with {flag}")
        expect_equal(not_seen(run_of), 1, f"JVMs whose virtual threads are not seen, {flag}")


main(lanes=2)
