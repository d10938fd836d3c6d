#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""Which of the C library's locks a thread waits for, of glibc, and of musl where it is installed: -e offcpu tells, and -e nativelock has mutexes and read-write locks alone; asprof's."""

from hp import *

ROUNDS = 40
# Of tests/workloads/native_locks.c: the reason, and how much of a round it is at least: the thread asks its partner first, and sleeps for that.
KINDS = {"mutex": ("mutex", 0.7), "rwlock": ("rwlock", 0.7), "writing": ("rwlock", 0.7), "condition": ("condition", 0.95), "semaphore": ("semaphore", 0.95),
         "barrier": ("barrier", 0.95), "join": ("thread join", 0.95)}
# Those that are locks, and what they call: musl's functions end in a jump to those with a timeout.
LOCKS = {"mutex": "pthread_mutex_lock", "rwlock": "pthread_rwlock_rdlock", "writing": "pthread_rwlock_wrlock"}
LOCKS_OF_MUSL = {"mutex": "__pthread_mutex_timedlock", "rwlock": "__pthread_rwlock_timedrdlock", "writing": "__pthread_rwlock_timedwrlock"}
STORM_ROUNDS = 30000


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in rows if len(row) == 4 and row[0] in KINDS}


def read_taking(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[1]: (int(row[2]), int(row[3]), int(row[4])) for row in rows if len(row) == 5 and row[0] == "in"}


def start_locks(program=None, rounds=ROUNDS, *more):
    if program is None:
        return native("native_locks", rounds, *more, stdin=subprocess.PIPE).wait_text()
    process = start([program, rounds], stdin=subprocess.PIPE)
    process.wait_text("ready", 20)
    return process


def check(title, program=None):
    need_root()
    process = start_locks(program)
    recorder = Recorder("-p", process.pid, "-e", "offcpu=0")
    time.sleep(0.3)
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    counts, ns = collapsed(path, "--event", "offcpu", "-t"), collapsed(path, "--event", "offcpu", "-t", "--total")
    for kind, (reason, least) in KINDS.items():
        tid, rounds, told_ns = read_told(process.text)[kind]
        mine = [[line for line in lines if line.thread.endswith(f" tid={tid}]") and f"outer_{kind}" in line.frames and
                 line.frames[-1] != "[sleep]"] for lines in (counts, ns)]
        found = collections.Counter()
        for line in mine[0]:
            if line.frames[-1] != "[run queue]":
                found[line.frames[-1]] += line.count
        print(f"# {title}, {kind}: {dict(found)} of {rounds}, {total(mine[1]) / 1e6:.1f} of {told_ns / 1e6:.1f} ms", flush=True)
        # A thread may wait a second time where another was faster; musl's join does for a thread that isn't quite gone yet.
        expect_between(found[f"[{reason}]"], rounds - 1, 2 * rounds, f"waits of {kind}")
        others = sum(found.values()) - found[f"[{reason}]"]
        expect(others <= 0.1 * rounds, f"{kind} waits for something else: {dict(found)}")
        expect_between(total(mine[1]) / told_ns, least, 1.02, f"length of {kind}")


@test
def locks_of_glibc():
    check("glibc")


def of_musl():
    if not shutil.which("musl-gcc"):
        skip("musl-gcc is not installed")
    program = os.path.join(temp_dir(), "native_locks_musl")
    run(["musl-gcc", "-O1", "-fno-inline", "-static", "-o", program, os.path.join(ROOT, "tests", "workloads", "native_locks.c")], code=0)
    return program


@test
def locks_of_musl():
    need_root()
    check("musl", of_musl())


def check_alone(title, locks, program=None, *events):
    need_root()
    process = start_locks(program)
    recorder = Recorder("-p", process.pid, "-e", "nativelock", *events)
    time.sleep(0.3)
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    counts, ns = collapsed(path, "--event", "nativelock", "-t"), collapsed(path, "--event", "nativelock", "-t", "--total")
    expect(all(line.frames[-1] in ("[mutex]", "[rwlock]", "[run queue]") for line in ns), "another reason")
    # The waits of those that ask their partner, and of conditions, are none.
    for line in counts:
        kind = [kind for kind in locks if f"outer_{kind}" in line.frames]
        expect(len(kind) == 1 and line.frames[-1] == f"[{KINDS[kind[0]][0]}]", f"a stack of no lock: {line.frames}")
    for kind, call in locks.items():
        tid, rounds, taken_ns = read_taking(process.text)[kind]
        mine = [[line for line in lines if line.thread.endswith(f" tid={tid}]") and f"outer_{kind}" in line.frames] for lines in (counts, ns)]
        print(f"# {title}, {kind}: {total(mine[0])} of {rounds}, {100 * (total(mine[1]) / taken_ns - 1):+.3f} % of {taken_ns / 1e6:.1f} ms", flush=True)
        expect_between(total(mine[0]), rounds - 1, rounds + 1, f"waits of {kind}")
        expect_between(total(mine[1]) / taken_ns, 0.98, 1.001, f"length of {kind}")
        for line in mine[0]:
            expect(not any(frame.startswith("[unwind") for frame in line.frames), f"no whole stack: {line.frames}")
            at = line.frames.index("wait_all")
            expect_equal(list(line.frames[at + 1:at + 3]), [f"outer_{kind}", call], f"the stack of {kind}")
    return path, recorder


@test
def alone_of_glibc():
    """In a recording with another event; and as other tools read it."""
    path, recorder = check_alone("glibc", LOCKS, None, "-e", "cpu")
    stats = read_json(recorder.stats_path)
    others = {row["detail"]: row["value"] for row in stats["counters"] if row["name"] == "nativelock.others"}
    print(f"# left out: {others}; lost: {stats['lost']}")
    expect(others["condition"] >= ROUNDS - 1 and "mutex" not in others, f"others: {others}")
    expect_equal(stats["lost"], 0, "lost samples")
    events = read_by_jdk(path, "profiler.NativeLock")
    expect_equal(collections.Counter(event["reason"] for event in events), {"mutex": ROUNDS, "rwlock": 2 * ROUNDS}, "events")
    ns = sum(float(event["duration"][2:-1]) * event["chance"] for event in events) * 1e9
    expect_between(ns / total(collapsed(path, "--event", "nativelock", "--total")), 0.9999, 1.0001, "durations")


@test
def alone_of_musl():
    need_root()
    check_alone("musl", LOCKS_OF_MUSL, of_musl())


@test
def short_ones_stand_for_many():
    """Many more waits than stacks are walked: the sum is that of BPF's books, which count each."""
    need_root()
    process = start_locks(None, STORM_ROUNDS, "storm")
    recorder = Recorder("-p", process.pid, "-e", "nativelock=0")
    time.sleep(0.3)
    process.go()
    process.wait_text("done", 30)
    path = recorder.end()
    stats = read_json(recorder.stats_path)["capture"]
    samples, ns = (total([line for line in collapsed(path, "--event", "nativelock", *more) if "storm" in line.frames]) for more in ((), ("--total",)))
    told_ns = int(re.search(r"in storm (\d+)", process.text).group(1))
    print(f"# {samples} samples of {stats['offcpu_spans']} waits, {100 * (ns / stats['offcpu_ns'] - 1):+.2f} % of {stats['offcpu_ns'] / 1e6:.1f} ms, "
          f"{100 * ns / told_ns:.1f} % of what the threads measured")
    expect(samples * 1.2 < stats["offcpu_spans"], "all were walked")
    expect_between(ns / stats["offcpu_ns"], 0.9, 1.1, "sum of lengths")
    expect_between(ns / told_ns, 0.5, 1.05, "sum of lengths beside the threads' own")


@test
def streams_have_whole_lines():
    """What turns out to be a lock is told then; what does not never."""
    need_root()
    process = start_locks(rounds=400)
    process.go()
    out = run([HOSTPROF, "stream", "-p", process.pid, "-e", "nativelock", "-d", 2], code=0, timeout=30).out
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = collections.Counter(line["type"] for line in lines)
    samples = [line for line in lines if line["type"] == "sample"]
    print(f"# {dict(kinds)}")
    expect(len(samples) > 100 and not kinds["correction"], f"lines: {kinds}")
    expect_equal({line["reason"] for line in samples}, {"mutex", "rwlock"}, "reasons")
    expect_equal(len(samples), lines[-1]["samples"], "samples of the last line")
    process.signal(signal.SIGKILL)
    process.finish(code=None)


@test
def asprof_knows_them():
    """Mutexes and read-write locks, and nothing else that threads wait for."""
    need_root()
    process = start_locks(rounds=400)
    process.go()
    out = run([os.path.join(ROOT, "scripts", "asprof"), "-e", "nativelock", "-d", 2, "-o", "collapsed", process.pid], code=0, timeout=60,
              env={**os.environ, "HOSTPROF": HOSTPROF, "XDG_RUNTIME_DIR": temp_dir()}).out
    leaves = {line.rsplit(" ", 1)[0].rsplit(";", 1)[1] for line in out.splitlines() if line.strip()}
    expect_equal(leaves, {"[mutex]", "[rwlock]"}, "leaves")
    for kind in ("mutex", "rwlock"):
        expect_match(rf"(?m);outer_{kind};.*;\[{kind}\] \d+$", out)
    process.signal(signal.SIGKILL)
    process.finish(code=None)


main()
