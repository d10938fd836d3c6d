#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e lock without an agent: LockSupport.park() by what threads park for, of programs that know how often and how long each did."""

from hp import *

ROUNDS = 60
# Of those that have probes in themselves.
JUDGED = [version for version in JDKS if version >= 11 and (version in SETUP_JDKS or find_jdk(version))]
TWO = (17, 25)
LOCKS = "java.util.concurrent.locks."
# Of tests/workloads/Parks.java: what a thread parks for, its own method, and how much of what it measures it parks at least: a lock is taken, too.
KINDS = {"lock": (LOCKS + "ReentrantLock$NonfairSync", "takeLock", 0.85),
         "condition": (LOCKS + "AbstractQueuedSynchronizer$ConditionObject", "awaitCondition", 0.85),
         "blocker": ("Parks$Gate", "parkForGate", 0.98),
         "nothing": ("[no blocker]", "parkForNothing", 0.98)}
# It parks a hundred times in each round, and goes on at once; on a busy host it may lose its cpu there.
SHORT = 100
MOST_SHORT = 0.1
UNSAFE = {"jdk.internal.misc.Unsafe.park", "sun.misc.Unsafe.park"}

# What a thread says of its parks; the longest may have lost its cpu, or met a safepoint, between the park and the clock.
Told = collections.namedtuple("Told", "parks ns longest")
# Of a JVM what its threads told, and what the recording has of them; as the JDK's own reader sees it.
Run = collections.namedtuple("Run", "told ns counts events stats")


def workload(version, rounds=ROUNDS, flags=()):
    return java(version, "Parks", rounds, flags=flags, stdin=subprocess.PIPE)


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: Told(*map(int, row[1:])) for row in rows if len(row) == 4 and row[0] in (*KINDS, "short")}


def record_all(processes, *options):
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes), "-e", "lock", "--agent=never", *options)
    time.sleep(0.5)
    go_to_the_end(processes)
    path = recorder.end()
    ns, counts = collapsed(path, "--event", "lock", "-t", "--total"), collapsed(path, "--event", "lock", "-t")
    events, stats = read_by_jdk(path, "jdk.ThreadPark"), read_json(recorder.stats_path)
    return [Run(read_told(process.text), of_pid(ns, process.pid), of_pid(counts, process.pid),
                [event for event in events if event["pid"] == process.pid], stats) for process in processes]


@shared
def recorded():
    """Two at a time: more would wait for each other's cpus, which each counts as its own wait."""
    need_root()
    runs = {}
    for at in range(0, len(JUDGED), 2):
        some = JUDGED[at:at + 2]
        processes = [workload(version) for version in some]
        runs.update(zip(some, record_all(processes)))
        for process in processes:
            process.signal(signal.SIGKILL)
            process.finish(code=None)
    return runs


def of_kind(lines, kind):
    """What its thread parks for in the place for it."""
    return [line for line in lines if line.thread.startswith(f"[{kind} tid=") and f"Parks.{KINDS[kind][1]}" in line.frames]


def expect_length(ns, told, kind):
    """Of all parks; by how much the longest took longer than the others that one may be short of."""
    beyond = max(0, told.longest - (told.ns - told.longest) / (told.parks - 1))
    expect_between(ns, KINDS[kind][2] * (told.ns - beyond), 1.02 * told.ns, f"length of {kind}, the longest by {beyond / 1e6:.2f} ms")


def expect_kind(name, run_of, kind, class_name, judges_length=True):
    told, counts, lengths = run_of.told[kind], of_kind(run_of.counts, kind), of_kind(run_of.ns, kind)
    print(f"# {name}, {kind}: {total(counts)} of {told.parks}, {100 * (total(lengths) / told.ns - 1):+.3f} % of {told.ns / 1e6:.1f} ms, "
          f"the longest {told.longest / 1e6:.2f}")
    expect_equal(total(counts), told.parks, f"parks of {kind}")
    if judges_length:
        expect_length(total(lengths), told, kind)
    expect_equal({line.frames[-1] for line in counts}, {class_name}, f"classes of {kind}")
    for line in counts:
        expect(in_order(line.frames, "Parks$Job.run", "Parks$Job.step", f"Parks.{KINDS[kind][1]}"), f"the stack of {kind}: {line.frames}")
        expect_in(line.frames[-2], UNSAFE, f"where {kind} parks")


@for_each_jdk(JUDGED)
def parks_have_their_number_length_class_and_stack(version):
    run_of = recorded()[version]
    for kind, (class_name, _, _) in KINDS.items():
        expect_kind(f"JDK {version}", run_of, kind, class_name)
    short = total([line for line in run_of.counts if "Parks.parkShortly" in line.frames])
    print(f"# {short} of {SHORT * ROUNDS} that return at once took 10 us")
    expect(short <= MOST_SHORT * SHORT * ROUNDS, f"{short} parks that return at once are told")
    expect_equal(run_of.stats["lost"], 0, "lost samples")


def own_events(run_of, kind):
    """What the thread of KIND parks for there."""
    own = [event for event in run_of.events if event["eventThread"]["javaName"] == kind]
    return [event for event in own if ((event["parkedClass"] or {}).get("name") or "").replace("/", ".") == KINDS[kind][0]]


@test
def locks_have_owners():
    """Who has a ReentrantLock when somebody parks for it; what is no lock has none. JDK 11 does not say where its locks lie."""
    for version, run_of in recorded().items():
        for kind in KINDS:
            owners = collections.Counter((event["owner"] or {}).get("javaName") for event in own_events(run_of, kind))
            print(f"# JDK {version}, {kind}: {dict(owners)}")
            expect_equal(set(owners), {"holder" if kind == "lock" and version >= 17 else None}, f"owners of {kind}, JDK {version}")


@test
def others_read_them():
    """The JDK's own reader: number, length, class, and where the object lies."""
    for version in TWO:
        run_of = recorded()[version]
        for kind in KINDS:
            own, told = own_events(run_of, kind), run_of.told[kind]
            expect_equal(len(own), told.parks, f"events of {kind}, JDK {version}")
            expect_length(sum(float(event["duration"][2:-1]) for event in own) * 1e9, told, kind)
            addresses = {int(event["address"]) for event in own}
            expect_equal(len(addresses), 1, f"objects of {kind}: {addresses}")
            expect_equal(addresses == {0}, kind == "nothing", f"object of {kind}")


@test
def as_heaps_are():
    """Whole references, other collectors, compact headers: the class is the same, or said to be unknown where objects move beside Java. Five JVMs take each other's time."""
    need_root()
    cells = {"17 whole references": (17, ("-XX:-UseCompressedOops",), True),
             "17 whole classes": (17, ("-XX:-UseCompressedClassPointers",), True),
             "25 Parallel": (25, ("-XX:+UseParallelGC",), True),
             "25 compact headers": (25, ("-XX:+UseCompactObjectHeaders",), True),
             "25 ZGC": (25, ("-XX:+UseZGC",), False)}
    runs = record_all([workload(version, 20, flags) for version, flags, _ in cells.values()])
    for (name, (_, _, is_read)), run_of in zip(cells.items(), runs):
        for kind, (class_name, _, _) in KINDS.items():
            expect_kind(name, run_of, kind, class_name if is_read else "[unknown class]", judges_length=False)


@test
def rare_ones_stand_for_many():
    """More than a cpu may tell of: some do, and the sums are those of all."""
    need_root()
    process = java(17, "ManyParks", 4, stdin=subprocess.PIPE)
    recorder = Recorder("-p", process.pid, "-e", "lock=0", "--agent=never")
    time.sleep(0.5)
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    parks, ns = map(int, process.text.split("parked ")[1].split()[:2])
    lines = [line for line in collapsed(path, "--event", "lock", "--total") if "ManyParks.parkOnce" in line.frames]
    samples = sum(line.count for line in collapsed(path, "--event", "lock") if "ManyParks.parkOnce" in line.frames)
    print(f"# {samples} samples of {parks} parks, {100 * (total(lines) / ns - 1):+.2f} % of {ns / 1e6:.1f} ms")
    expect(samples * 3 < parks, "all were told of")
    # What a thread measures is a little more than what it parked, and that is some ten microseconds.
    expect_between(total(lines) / ns, 0.75, 1.10, "sum of lengths")


main()
