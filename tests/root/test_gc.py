#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e gc: what collectors stop JVMs for, and why, without an agent, pause by pause beside what the JVM logs."""
import datetime
import statistics

from hp import *

ROUNDS = 80
COLLECTORS = ("SerialGC", "ParallelGC", "G1GC", "ZGC")
VERSIONS = [int(v) for v in (os.environ.get("HOSTPROF_MATRIX") or "17,25").split(",")]
STOP = re.compile(r'Safepoint "(\w+)".* At safepoint: +(\d+) ns')
# [gc] GC(13) Pause Full (System.gc()) 32M->2M(92M) 2.084ms; [gc,phases] GC(3) Y: Pause Mark Start (Major) 0.012ms
PAUSE = re.compile(r"GC\((\d+)\) (?:[YyOo]: )?(Pause .*?)(?: \d+M->\S+)? ([\d.]+)ms$")
# ZGC's pauses have none; what they belong to has: GC(8) Major Collection (System.gc()) 40M(42%)->2M(2%) 0.006s
CYCLE = re.compile(r"GC\((\d+)\) (?:Garbage|Major|Minor) Collection \((.*)\) \d+M")
CAUSE = re.compile(r"\(((?:[^()]|\(\))*)\)$")
NEAR = 0.05
# What lies between a pause and the operation that it is in (test_safepoint.py), and our own probes within it, of which memory pools have one each.
AROUND_NS = 300000
# Pauses of one collection that are told of as of another.
MOST_OTHERS = 0.25

Run = collections.namedtuple("Run", "logged ns stopped_ns events early counts stats")


def lines_of(path):
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def operations_in(lines, collector):
    """Of each operation that had a pause, in order: (operation, cause), nanoseconds of its pauses, and of its safepoint, whose end says for which it was."""
    cycles = dict(match.groups() for match in map(CYCLE.search, lines) if match)
    found, lengths, stopped, first, ns = [], [], [], None, 0
    for line in lines:
        if match := PAUSE.search(line):
            number, text, took = match.groups()
            cause = CAUSE.search(text)
            ns += float(took) * 1e6
            first = first or (cycles.get(number, "") if collector == "ZGC" else cause.group(1) if cause else "no cause")
        elif (match := STOP.search(line)) and first is not None:
            found.append((match.group(1), first))
            lengths.append(ns)
            stopped.append(int(match.group(2)))
            first, ns = None, 0
    return found, lengths, stopped


def seconds(event):
    return datetime.datetime.fromisoformat(event["startTime"]).timestamp()


@shared
def recorded(version):
    """One recording of a JVM with each collector."""
    need_root()
    place = temp_dir()
    processes = {}
    for collector in COLLECTORS:
        log = os.path.join(place, collector)
        processes[collector] = java(version, "Safepoints", ROUNDS, stdin=subprocess.PIPE, flags=(
            f"-XX:+Use{collector}", "-Xmx96m", f"-Xlog:safepoint=info,gc=info,gc+phases=info:file={log}:tags"))
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes.values()), "-e", "gc", "--agent=never")
    time.sleep(0.5)
    before, begin = {collector: len(lines_of(os.path.join(place, collector))) for collector in processes}, time.time()
    # One after the other: others would run between the JVM's clock and the probe.
    for process in processes.values():
        process.go()
        process.wait_text("done", 90)
        # ZGC goes on, with nothing to do; what it has begun is in the log by then.
        time.sleep(0.5)
        process.signal(signal.SIGSTOP)
    time.sleep(0.5)
    path = recorder.end()
    events, stats = read_by_jdk(path, "jdk.GCPhasePause"), read_json(recorder.stats_path)
    counts = collapsed(path, "--event", "gc")
    runs = {}
    for collector, process in processes.items():
        lines = lines_of(os.path.join(place, collector))[before[collector]:]
        own = sorted((event for event in events if event["pid"] == process.pid), key=lambda event: event["startTime"])
        early = [event for event in own if seconds(event) < begin]
        runs[collector] = Run(*operations_in(lines, collector), own[len(early):], early, of_pid(counts, process.pid), stats)
    return runs


def nanoseconds(event):
    return float(event["duration"].removeprefix("PT").removesuffix("S")) * 1e9


def check_causes(version, collector, own):
    """Each pause in its order, with the operation and the cause."""
    came = [(event["name"], event["reason"]) for event in own.events]
    print(f"# {collector}: {len(came)} pauses, {dict(collections.Counter(cause for _, cause in came))}")
    expect(len(own.logged) > 20, f"{collector}: only {len(own.logged)} are logged")
    # The cause of a cycle that has not ended yet is not logged.
    logged = [row if row[1] else (row[0], seen[1]) for row, seen in zip(own.logged, came)] + own.logged[len(came):]
    expect_equal([name for name, _ in came], [name for name, _ in logged], f"{collector}: pauses by operation")
    # From JDK 21 on ZGC has two collections at a time, of which the counter has the one that began last.
    if collector == "ZGC" and version >= 21:
        other = sum(seen != row for seen, row in zip(came, logged))
        print(f"# {collector}: {other} have the cause of the other collection that goes on")
        expect(other <= MOST_OTHERS * len(came), f"{collector}: causes of others")
        expect({cause for _, cause in came} <= {cause for _, cause in logged}, f"{collector}: causes that nobody logs")
    else:
        expect_equal(came, logged, f"{collector}: pauses by operation and cause")
    expect("System.gc()" in {event["reason"] for event in own.events}, f"{collector}: nobody asked for one")
    expect_equal(own.stats["lost"], 0, "lost samples")


def check_time(collector, own):
    lengths = [nanoseconds(event) for event in own.events]
    came, logged = sum(lengths), sum(own.ns)
    more = statistics.median(length - pause for length, pause in zip(lengths, own.ns))
    print(f"# {collector}: {logged / 1e6:.3f} ms in the log, came {came / 1e6:.3f} ms ({100 * (came / logged - 1):+.2f} %), {more / 1000:.1f} us more at the median")
    # The log rounds to microseconds.
    expect_between(more, -2000, AROUND_NS, f"{collector}: time around a pause")
    # ZGC's pauses take some 10 us, the operation that each is in some 10 more, and the safepoint around that as much again.
    if collector == "ZGC":
        stopped = sum(own.stopped_ns)
        print(f"# {collector}: {stopped / 1e6:.3f} ms at safepoints in the log")
        expect_between(came, (1 - NEAR) * logged, (1 + NEAR) * stopped, f"{collector}: time of pauses")
    else:
        expect_between(came, (1 - NEAR) * logged, (1 + NEAR) * logged + AROUND_NS * len(lengths), f"{collector}: time of pauses")


def check_stacks(collector, own):
    """Of the VM thread; the cause is in front of the operation."""
    events = own.early + own.events
    expect_equal(total(own.counts), len(events), f"{collector}: pauses in the view")
    seen = collections.Counter((event["name"], event["reason"]) for event in events)
    for line in own.counts:
        expect(in_order(line.frames, "Thread::call_run", "VMThread::run"), f"{collector}: the stack of another: {line.frames}")
    shown = collections.Counter()
    for line in own.counts:
        shown[line.frames[-2][1:-1], line.frames[-1][1:-1]] += line.count
    expect_equal(shown, seen, f"{collector}: the view")


@for_each_jdk(VERSIONS)
def pauses_are_what_the_jvm_logs(version):
    for collector, own in recorded(version).items():
        check_causes(version, collector, own)
        check_time(collector, own)
        check_stacks(collector, own)


@test
def without_its_counters():
    """A JVM that keeps none does not say why."""
    need_root()
    jvm = java(VERSIONS[0], "Safepoints", 20, stdin=subprocess.PIPE, flags=("-XX:+UseSerialGC", "-Xmx96m", "-XX:-UsePerfData"))
    recorder = Recorder("-p", jvm.pid, "-e", "gc", "--agent=never")
    jvm.go()
    jvm.wait_text("done", 60)
    reasons = collections.Counter(event["reason"] for event in read_by_jdk(recorder.end(), "jdk.GCPhasePause"))
    expect_equal(set(reasons), {"unknown cause"}, "causes")


@test
def only_long_ones():
    need_root()
    jvm = java(VERSIONS[0], "Safepoints", 20, stdin=subprocess.PIPE, flags=("-XX:+UseSerialGC", "-Xmx96m"))
    recorder = Recorder("-p", jvm.pid, "-e", "gc=50s", "--agent=never")
    jvm.go()
    jvm.wait_text("done", 60)
    expect_equal(collapsed(recorder.end(), "--event", "gc"), [], "pauses of 50 s")


@test
def who_has_no_probes():
    need_root()
    result = hostprof("record", "-e", "gc", "-o", temp_path("x.jfr"), "--", "sleep", "1", code=None)
    expect_in("no collections were seen", result.err, "the warning")


main(lanes=2)
