#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e lock: waits for monitors by class, of programs that know how often and how long each of their threads waited."""

import codemap
from hp import *

ROUNDS = 60
# Of JDK 8 to 28; those of `make setup`, and of HOSTPROF_JDKS. By two the files of hostprof and the ends are judged.
JUDGED = [version for version in JDKS if version in SETUP_JDKS or find_jdk(version)]
TWO = (17, 25)
WANT_LOCKS = 16
# Of tests/workloads/Locks.java: what a thread waits for, what kind it is, and its stack between run() and the class.
KINDS = {"enter": ("Locks$Gate", "monitor enter", ["Locks$Job.step", "Locks.enterGate", "Locks.passGate"]),
         "timed": ("Locks$Alarm", "Object.wait", ["Locks$Job.step", "Locks.waitForAlarm"]),
         "notified": ("Locks$Box", "Object.wait", ["Locks$Job.step", "Locks.waitForBox"])}
WAITS = {"java.lang.Object.wait", "java.lang.Object.wait0"}
# Of virtual threads, which are being put on when they have a monitor at last: a name cannot be read in each moment of that.
LEAST_NAMED = 0.5
# JFR's types: whose field is the class.
TYPES = {"monitor enter": "jdk.JavaMonitorEnter", "Object.wait": "jdk.JavaMonitorWait"}

# Of a JVM what its threads told, what the recording has of them, what the JDK's own reader has, what it printed, and whether it lives without an agent.
Run = collections.namedtuple("Run", "told ns counts events stats text lives")


def workload(version, rounds=ROUNDS):
    flags = ("-XX:+EnableDynamicAgentLoading",) if version >= 21 else ()
    # It slows the JVM down.
    if version not in TWO:
        flags += ("-Xcheck:jni",)
    return java(version, "Locks", rounds, flags=flags, stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


def await_events(process):
    wait_until(lambda: codemap.find(process.pid) and codemap.CodeMap(process.pid)["events_on"] & WANT_LOCKS, 30, "events on")


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[0] in (*KINDS, "free")}


@shared
def recorded():
    """Two programs at a time: more would wait for each other's cpus, which each counts as its own wait."""
    need_root()
    runs = {}
    for at in range(0, len(JUDGED), 2):
        runs.update(record_some(JUDGED[at:at + 2]))
    return runs


def record_some(versions):
    """Each has told of its locks before it begins."""
    processes = {version: workload(version) for version in versions}
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes.values()), "-e", "lock")
    for process in processes.values():
        await_events(process)
    time.sleep(0.3)
    go_to_the_end(processes.values())
    path = recorder.end()
    ns, counts = collapsed(path, "--event", "lock", "-t", "--total"), collapsed(path, "--event", "lock", "-t")
    events, stats = read_by_jdk(path, *TYPES.values()), read_json(recorder.stats_path)
    runs = {version: Run(read_told(process.text), of_pid(ns, process.pid), of_pid(counts, process.pid),
                         [event for event in events if event["pid"] == process.pid], stats, process.text,
                         process.running() and not codemap.find(process.pid))
            for version, process in processes.items()}
    for process in processes.values():
        process.signal(signal.SIGKILL)
        process.finish(code=None)
    return runs


def of_thread(lines, kind):
    return [line for line in lines if line.thread.startswith(f"[{kind} tid=")]


def of_kind(lines, kind):
    """What its thread waits for in the place for it. Sleep() and others may have classes to wait for, which others initialize."""
    path = KINDS[kind][2]
    return [line for line in of_thread(lines, kind) if in_order(line.frames, *path) and (kind == "enter" or WAITS & {*line.frames})]


def expect_stack(frames, kind):
    class_name, _, path = KINDS[kind]
    at = frames.index("Locks$Job.run")
    own = frames[at + 1:]
    expect_equal([frame for frame in own if frame not in WAITS], [*path, class_name], f"the stack of {kind}")
    expect_equal(len(own) > len(path) + 1, kind != "enter", f"Object.wait() in the stack of {kind}: {own}")


@for_each_jdk(JUDGED)
def waits_have_their_number_length_class_and_stack(version):
    run_of = recorded()[version]
    for kind, (class_name, _, _) in KINDS.items():
        waits, ns = run_of.told[kind]
        counts, lengths = of_kind(run_of.counts, kind), of_kind(run_of.ns, kind)
        print(f"# JDK {version}, {kind}: {total(counts)} of {waits} waits, {100 * (total(lengths) / ns - 1):+.3f} % of {ns / 1e6:.1f} ms")
        # From JDK 27 on HotSpot tells of the enter, too, with which Object.wait() ends.
        expect_between(total(counts), waits, 2 * waits if version >= 27 and kind == "notified" else waits, f"waits of {kind}")
        expect_between(total(lengths) / ns, 0.98, 1.02, f"length of {kind}")
        expect_equal({line.frames[-1] for line in counts}, {class_name}, f"classes of {kind}")
        for line in counts:
            expect_stack(line.frames, kind)
    expect_equal([line for line in of_thread(run_of.counts, "free") if "Locks.enterQuiet" == line.frames[-2]], [],
                 "waits of who waits for nobody")
    expect_equal([line for line in run_of.counts if "Locks$Quiet" in line.frames], [], "waits for what nobody has")
    expect_equal(run_of.stats["lost"], 0, "lost samples")
    for words in ("native method", "JNI", "FATAL"):
        # JDK 8's launcher is told of before.
        expect_not_in(words, run_of.text.partition("ready")[2], "the JVM's output")


@test
def others_read_them():
    """The JDK's own reader: types, lengths, classes, and one identity for each object."""
    for version, run_of in recorded().items():
        identities = set()
        for kind, (class_name, reason, _) in KINDS.items():
            own = [event for event in run_of.events if event["type"] == TYPES[reason] and event["eventThread"]["javaName"] == kind and
                   event["monitorClass"]["name"].replace("/", ".") == class_name]
            waits, ns = run_of.told[kind]
            expect_equal(len(own), waits, f"events of {kind}, JDK {version}")
            expect_between(sum(float(event["duration"][2:-1]) for event in own) * 1e9 / ns, 0.98, 1.02, f"durations of {kind}")
            found = {event["address"] for event in own}
            expect_equal(len(found), 1, f"identities of {kind}: {found}")
            owners = collections.Counter((event["owner"] or {}).get("javaName") for event in own)
            print(f"# JDK {version}, {kind}: owners {dict(owners)}")
            expect_equal(set(owners) - {None}, {"holder"} if kind == "enter" else set(), f"owners of {kind}, JDK {version}")
            # A lightweight lock does not tell at its first wait; who is asked at once may be late on a busy host.
            if kind == "enter":
                expect(owners[None] <= (1 if version >= 21 else 0), f"waits without an owner: {owners[None]}")
            expect_equal([event["owner"] for event in own], [event["previousOwner"] if kind == "enter" else None for event in own],
                         f"JFR's own field, {kind}")
            identities |= found
        expect_equal(len(identities), len(KINDS), "identities")


def record_virtual(version):
    process = java(version, "VirtualLocks", ROUNDS, flags=("-XX:+EnableDynamicAgentLoading",), stdin=subprocess.PIPE)
    recorder = Recorder("-p", process.pid, "-e", "lock")
    await_events(process)
    time.sleep(0.3)
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    process.signal(signal.SIGKILL)
    process.finish(code=None)
    return read_told(process.text)["enter"], [event for event in read_by_jdk(path, *TYPES.values()) if event["type"] == "jdk.JavaMonitorEnter"]


@for_each_jdk([version for version in JUDGED if version >= 21])
def virtual_threads_wait(version):
    """Number, length, class, whose it was, and the virtual thread's own name, wherever it runs on. Before JDK 24 it keeps its carrier meanwhile."""
    need_root()
    (waits, ns), events = record_virtual(version)
    own = [event for event in events if event["monitorClass"]["name"] == "VirtualLocks$Gate"]
    owners = collections.Counter((event["owner"] or {}).get("javaName") for event in own)
    names = collections.Counter(event["eventThread"]["javaName"].split()[0] for event in own)
    length = sum(float(event["duration"][2:-1]) for event in own) * 1e9 / ns
    print(f"# JDK {version}: {len(own)} of {waits} waits, {100 * (length - 1):+.3f} % of {ns / 1e6:.1f} ms; owners {dict(owners)}, names {dict(names)}")
    expect_equal((waits, len(own)), (ROUNDS, ROUNDS), "waits")
    expect_between(length, 0.98, 1.02, "length")
    expect(owners["main"] >= waits - 1 and set(owners) <= {"main", None}, f"owners: {owners}")
    expect(names["request"] >= LEAST_NAMED * waits, f"names: {names}")


@test
def asprof_knows_them():
    """Its top frame is the class."""
    need_root()
    process = workload(17, 3000)
    process.go()
    out = run([os.path.join(ROOT, "scripts", "asprof"), "-e", "lock", "--lock", "100us", "-d", 2, "-o", "collapsed", process.pid], code=0,
              timeout=60, env={**os.environ, "HOSTPROF": HOSTPROF, "XDG_RUNTIME_DIR": temp_dir()}).out
    expect_match(r"(?m);Locks.enterGate;Locks.passGate;Locks\$Gate_\[i\] \d+$", out)
    process.signal(signal.SIGKILL)
    process.finish(code=None)


@test
def detached_and_killed():
    """The agent of a recording ends with it; after kill -9 its events are off, and the next recording works."""
    for version, each in recorded().items():
        expect(each.lives, f"JDK {version} lives, and has no code map any more")
    processes = [workload(version, 3000) for version in TWO]
    pids = ",".join(str(process.pid) for process in processes)
    first = Recorder("-p", pids, "-e", "lock")
    for process in processes:
        await_events(process)
        process.go()
    time.sleep(0.5)
    first.signal(signal.SIGKILL)
    first.finish(code=None)
    for process in processes:
        wait_until(lambda: not codemap.CodeMap(process.pid)["events_on"], 10, "events off")
    lines = collapsed(record("-e", "lock=1ms", "-d", 2, "-p", pids), "-t")
    for process in processes:
        expect(total(of_kind(of_pid(lines, process.pid), "timed")) > 5, "waits in the next recording")
        expect(process.running(), "the JVM lives")
        process.signal(signal.SIGKILL)
        process.finish(code=None)


main()
