#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""Safepoints of JVMs without an agent: their number, length, operation and stack, beside what the JVM logs of them."""
import collections

from hp import *

ROUNDS = 160
COLLECTORS = ("SerialGC", "ParallelGC", "G1GC", "ZGC")
VERSIONS = [int(v) for v in (os.environ.get("HOSTPROF_MATRIX") or "17,25").split(",")]
LOGGED = re.compile(r'Safepoint "(\w+)", .*Reaching safepoint: +(\d+) ns, .*Total: +(\d+) ns')
# What the log calls a pause of the collector; ZGC's have lines of their own.
PAUSES = re.compile(r"GC\(\d+\) (?:[YyOo]: )?Pause .*?([\d.]+)ms$")
# The issue's; the log measures within what the probes are around.
NEAR = 0.05
# What lies between the log's clock and the probes, of each safepoint; and between a pause and the operation that it is in, which matters
# where pauses take 10 us (ZGC).
BETWEEN_NS = 1500
AROUND_NS = 50000
LEAVING = "[leaving safepoint]"
TYPES = ("jdk.ExecuteVMOperation", "jdk.SafepointBegin", "jdk.SafepointEnd")
OF_COLLECTORS = "[GC: "
REACHING = "[reaching safepoint]"
# Stacks that are not whole, of all.
MOST_CUT = 0.0001

Run = collections.namedtuple("Run", "logged pauses ns counts events alive")


def logged_in(path):
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


@shared
def recorded(version):
    """One recording of a JVM with each collector."""
    need_root()
    place = temp_dir()
    processes = {}
    for collector in COLLECTORS:
        log = os.path.join(place, collector)
        processes[collector] = java(version, "Safepoints", ROUNDS, stdin=subprocess.PIPE, flags=(
            f"-XX:+Use{collector}", "-Xmx96m", "-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0",
            f"-Xlog:safepoint=info,gc=info,gc+phases=info:file={log}:tags"))
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes.values()), "-e", "safepoint",
                        "--agent=never")
    before = {collector: len(logged_in(os.path.join(place, collector))) for collector in processes}
    # One after the other: between the JVM's clock and the probe others would run.
    for process in processes.values():
        process.go()
        process.wait_text("done", 90)
        # ZGC goes on, with nothing to do.
        process.signal(signal.SIGSTOP)
    time.sleep(0.5)
    path = recorder.end()
    events = read_by_jdk(path, *TYPES)
    expect_equal(read_json(recorder.stats_path)["lost"], 0, "lost samples")
    ns, counts = collapsed(path, "--event", "safepoint", "--total"), collapsed(path, "--event", "safepoint")
    runs = {}
    for collector, process in processes.items():
        lines = logged_in(os.path.join(place, collector))[before[collector]:]
        found = [match.groups() for match in map(LOGGED.search, lines) if match]
        runs[collector] = Run([(name, int(reaching), int(whole)) for name, reaching, whole in found],
                              [float(match.group(1)) * 1e6 for match in map(PAUSES.search, lines) if match],
                              of_pid(ns, process.pid), of_pid(counts, process.pid), [event for event in events if event["pid"] == process.pid],
                              process.running())
    return runs


def operation(frame):
    return frame[1:-1].removeprefix("GC: ")


def by_leaf(lines):
    sums = collections.Counter()
    for line in lines:
        sums[line.frames[-1]] += line.count
    return sums


def check_parts(collector, run):
    """Each safepoint has three parts: until its threads stand still, its operation, which counts, and until they go on."""
    counts, ns = by_leaf(run.counts), by_leaf(run.ns)
    logged = collections.Counter(name for name, _, _ in run.logged)
    came = collections.Counter({operation(leaf): count for leaf, count in counts.items() if leaf not in (REACHING, LEAVING)})
    reaching, whole = (sum(row[at] for row in run.logged) for at in (1, 2))
    between = BETWEEN_NS * len(run.logged)
    print(f"# {collector}: {len(run.logged)} safepoints, {dict(logged)}, {whole / 1e6:.3f} ms, "
          f"came {sum(ns.values()) / 1e6:.3f} ms ({100 * (sum(ns.values()) / whole - 1):+.2f} %), "
          f"reached in {reaching / 1e6:.3f} and {ns[REACHING] / 1e6:.3f} ms")
    expect_equal(came, logged, f"{collector}: safepoints by operation")
    expect_between(ns[LEAVING], 1, whole, f"{collector}: time until the threads went on")
    expect_between(sum(ns.values()), (1 - NEAR) * whole, (1 + NEAR) * whole + between, f"{collector}: time")


def check_pauses(collector, run):
    """What collectors call a pause is their operation, or several are: a full collection may follow upon a young one."""
    ns, counts = by_leaf(run.ns), by_leaf(run.counts)
    of_gc = sum(count for leaf, count in ns.items() if leaf.startswith(OF_COLLECTORS))
    number = sum(count for leaf, count in counts.items() if leaf.startswith(OF_COLLECTORS))
    logged = sum(run.pauses)
    print(f"# {collector}: {len(run.pauses)} pauses, {logged / 1e6:.3f} ms; {number} came, {of_gc / 1e6:.3f} ms "
          f"({100 * (of_gc / logged - 1):+.2f} %)")
    expect_between(len(run.pauses), number, number + 4, f"{collector}: pauses")
    # The log rounds to microseconds.
    expect_between(of_gc, (1 - NEAR) * logged - 1000 * number, (1 + NEAR) * logged + AROUND_NS * number,
                   f"{collector}: time of pauses")


def check_stacks(collector, run):
    """Of the VM thread, from its start on, without the JVM's own way of telling."""
    cut = [line for line in run.counts if line.frames[0].startswith("[unwind")]
    wrong = [line for line in run.counts if line not in cut and
             not in_order(line.frames, "start_thread", "VMThread::run")]
    expect(total(cut) <= MOST_CUT * total(run.counts), f"{collector}: not whole: {cut[:2]}")
    expect_equal(wrong, [], f"{collector}: stacks of others")
    expect(run.alive, f"{collector}: the JVM has ended")


def check(version):
    for collector, run in recorded(version).items():
        expect(len(run.logged) > 20, f"{collector}: only {len(run.logged)} safepoints are logged")
        check_parts(collector, run)
        check_pauses(collector, run)
        check_stacks(collector, run)
        check_events(collector, run)


def define(version):
    def judge():
        check(version)
    judge.__name__ = f"safepoints_are_what_the_jvm_logs_{version}"
    test(judge)


for each in VERSIONS:
    define(each)


def check_events(collector, run):
    """In the file each safepoint is one of each type, with the operation's name."""
    operations = collections.Counter(event["operation"].removeprefix("GC: ") for event in run.events
                                     if event["type"] == TYPES[0] and event["safepoint"])
    expect_equal(operations, collections.Counter(name for name, _, _ in run.logged), f"{collector}: {TYPES[0]}")
    for each in TYPES[1:]:
        expect_equal(len([event for event in run.events if event["type"] == each]), len(run.logged), f"{collector}: {each}")


@test
def only_long_ones():
    """Shorter parts than MIN are left out."""
    need_root()
    jvm = java(VERSIONS[0], "Safepoints", 40, stdin=subprocess.PIPE, flags=("-XX:+UseSerialGC", "-Xmx96m"))
    recorder = Recorder("-p", jvm.pid, "-e", "safepoint=50s")
    jvm.go()
    jvm.wait_text("done", 60)
    expect_equal(collapsed(recorder.end(), "--event", "safepoint"), [], "safepoints of 50 s")


@test
def who_has_no_probes():
    """A program that is no JVM: it is said that nothing was seen."""
    need_root()
    result = hostprof("record", "-e", "safepoint", "-o", temp_path("x.jfr"), "--", "sleep", "1", code=None)
    expect_in("no safepoints were seen", result.err, "the warning")


main()
