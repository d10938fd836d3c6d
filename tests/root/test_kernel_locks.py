#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e kernellock: waits for locks of the kernel's own, beside perf's view of the same tracepoints and what the threads measure themselves."""

from hp import *

ROUNDS = 60
STORM_ROUNDS = 100000
TRACEFS = "/sys/kernel/tracing"
# Of tests/workloads/kernel_locks.c: the reason, the system call's function in user code, in the kernel what is called for the lock, in how many of the rounds
# it waits and how much of what the thread measures, at least. Of a rwsem the kernel tells only when it has given up spinning for it, which it does where the owner loses its cpu.
KINDS = {"place": ("mutex", "read", "fdget_pos", 0.25, 0.95), "file": ("rwsem write", "__libc_pwrite", "down_write", 0.05, 0.02),
         "memory": ("rwsem write mmap_lock", "__mprotect", "do_mprotect_pkey", 0.25, 0.95)}
TRACED = re.compile(r"^\s*(\d+) +(\d+)\.(\d{9}): +lock:contention_(begin|end): +(0x[0-9a-f]+) \((?:flags=([A-Z|]*))?")

# What the threads told, perf's waits, and the recording: as views and as the JDK have it.
Run = collections.namedtuple("Run", "told waits counts ns events stats")
# A wait as perf's events have it.
Wait = collections.namedtuple("Wait", "tid flags ns")


def need_tracepoints():
    need_root()
    rows = {row["name"]: row for row in json_of("list", "events", "--json")}
    if not rows["kernellock[=MIN]"]["works"]:
        skip(rows["kernellock[=MIN]"]["why"])


def need_perf():
    """And tracefs: mounted, and not any more when the test is over, if it was not before."""
    if not shutil.which("perf"):
        skip("perf is not installed")
    if os.path.isdir(f"{TRACEFS}/events"):
        return
    if run(["mount", "-t", "tracefs", "tracefs", TRACEFS]).code:
        skip("tracefs cannot be mounted")
    cleanup(run, ["umount", TRACEFS])


def workload(rounds, *more):
    name = f"/dev/shm/hostprof-kernel-locks-{os.getpid()}"
    cleanup(lambda: os.path.exists(name) and os.unlink(name))
    return native("kernel_locks", name, rounds, *more, stdin=subprocess.PIPE).wait_text()


def read_waits(data):
    """Every begin with its end; the begins of one wait are one."""
    out = run(["perf", "script", "-i", data, "-F", "tid,time,event,trace", "--ns"], code=0, timeout=120).out
    begun, waits = {}, []
    for line in out.splitlines():
        found = TRACED.match(line)
        if not found:
            continue
        tid, seconds, nanoseconds, side, lock, flags = found.groups()
        key, now = (int(tid), lock), int(seconds) * 10**9 + int(nanoseconds)
        if side == "begin":
            first = begun.get(key)
            begun[key] = (first[0] if first and "MUTEX" in flags else now, flags)
        elif key in begun:
            begin, flags = begun.pop(key)
            waits.append(Wait(int(tid), flags, now - begin))
    return waits


def start_perf(pid):
    data = temp_path("perf.data")
    judge = start(["perf", "record", "-q", "-m", "8M", "-e", "lock:contention_begin,lock:contention_end", "-p", pid, "-o", data])
    time.sleep(1.5)
    return judge, data


def end_perf(judge, data):
    judge.signal(signal.SIGINT)
    judge.finish(timeout=60, code=None)
    return read_waits(data)


def record_kinds(*events):
    process = workload(ROUNDS)
    recorder = Recorder("-p", process.pid, *events)
    time.sleep(0.5)
    judge, data = start_perf(process.pid)
    process.go()
    process.wait_text("done", 60)
    waits = end_perf(judge, data)
    path = recorder.end()
    rows = [line.split() for line in process.text.splitlines()]
    told = {row[0]: (int(row[1]), int(row[3])) for row in rows if len(row) == 4 and row[0] in KINDS}
    process.go()
    counts, ns = (collapsed(path, "--event", "kernellock", "-t", *more) for more in ((), ("--total",)))
    return Run(told, waits, counts, ns, events_of(path), read_json(recorder.stats_path))


@shared
def recorded():
    need_tracepoints()
    need_perf()
    return record_kinds("-e", "kernellock=0")


def events_of(path):
    return read_by_jdk(path, "hostprof.KernelLock")


def stats_of_locks(stats):
    return {name: stats["capture"][f"contention_{name}"] for name in ("waits", "ns", "ours", "no_books")}


def of_thread(lines, tid, reason):
    return [line for line in lines if line.thread.endswith(f" tid={tid}]") and line.frames[-1] == f"[{reason}]"]


@test
def waits_have_their_number_length_lock_and_stack():
    seen = recorded()
    for kind, (reason, call, asks, often, least) in KINDS.items():
        tid, told_ns = seen.told[kind]
        counts, lengths = of_thread(seen.counts, tid, reason), of_thread(seen.ns, tid, reason)
        judged = [wait.ns for wait in seen.waits if wait.tid == tid and wait.flags != "SPIN"]
        print(f"# {kind}: {total(counts)} of {len(judged)} waits, {100 * (total(lengths) / sum(judged) - 1):+.3f} % of perf's, "
              f"{100 * total(lengths) / told_ns:.2f} % of what the thread measured")
        expect_equal(total(counts), len(judged), f"waits of {kind}")
        expect(len(judged) >= often * ROUNDS, f"{kind}: only {len(judged)} waits")
        expect_between(total(lengths) / sum(judged), 0.98, 1.01, f"length of {kind} beside perf's")
        expect_between(total(lengths) / told_ns, least, 1.001, f"length of {kind} beside the thread's")
        for line in counts:
            expect(in_order(line.frames, "wait_all", f"outer_{kind}", call, f"[{reason}]") and
                   any(frame.endswith(asks) for frame in line.frames), f"the stack of {kind}: {line.frames}")
            expect(not any(frame.startswith(("bpf_", "__bpf_", "__traceiter_")) for frame in line.frames), f"frames of ours: {line.frames}")
            expect(line.frames[0] in ("clone3", "__clone3", "[thread start]"), f"no whole stack: {line.frames}")
    expect_equal(seen.stats["lost"], 0, "lost samples")


@test
def spinning_counts_too():
    seen = recorded()
    judged = [wait for wait in seen.waits if wait.flags == "SPIN"]
    spun = [line for line in seen.counts if line.frames[-1].startswith("[spinlock")]
    print(f"# {total(spun)} of {len(judged)} waits for spinlocks; {total(seen.counts)} of {len(seen.waits)} of all; figures {stats_of_locks(seen.stats)}")
    # perf begins to look later, and waits for a lock where we don't.
    expect_between(total(spun), 0.8 * len(judged) - 5, 1.2 * len(judged) + 5, "waits for spinlocks")
    expect_between(total(seen.counts), 0.95 * len(seen.waits) - 5, 1.05 * len(seen.waits) + 10, "waits")
    expect_equal(total(seen.counts), stats_of_locks(seen.stats)["waits"], "waits beside BPF's count")


@test
def short_ones_are_left_out():
    need_tracepoints()
    need_perf()
    seen = record_kinds("-e", "kernellock=4ms")
    tid, _ = seen.told["place"]
    found = total(of_thread(seen.counts, tid, "mutex"))
    low, high = (sum(wait.tid == tid and wait.ns >= least for wait in seen.waits) for least in (4.04e6, 3.98e6))
    print(f"# {found} waits of 4 ms at least, {low} to {high} by perf, of {sum(wait.tid == tid for wait in seen.waits)}")
    expect_between(found, low, high, "long waits")
    shortest = min(float(event["duration"][2:-1]) for event in seen.events)
    expect(shortest >= 0.004, f"a wait of {shortest} s")


@test
def others_read_them():
    """The JDK's reader: each wait, with its length and why; and no address."""
    seen = recorded()
    for kind, (reason, *_) in KINDS.items():
        tid, _ = seen.told[kind]
        own = [event for event in seen.events if event["sampledThread"]["osThreadId"] == tid and event["reason"] == reason]
        lengths = sum(float(event["duration"][2:-1]) * 1e9 for event in own)
        expect_equal(len(own), total(of_thread(seen.counts, tid, reason)), f"events of {kind}")
        expect_between(lengths / total(of_thread(seen.ns, tid, reason)), 0.9999, 1.0001, f"durations of {kind}")
    expect(all("address" not in event for event in seen.events), "a lock's address is told")


@test
def rare_ones_stand_for_many():
    """More than a cpu may tell of: some are told, and their weights are what all waited, by BPF's own sums."""
    need_tracepoints()
    process = workload(STORM_ROUNDS, "storm")
    recorder = Recorder("-p", process.pid, "-e", "kernellock=0")
    time.sleep(0.5)
    process.go()
    process.wait_text("done", 120)
    path = recorder.end()
    locks = stats_of_locks(read_json(recorder.stats_path))
    samples, ns = (total(collapsed(path, "--event", "kernellock", *more)) for more in ((), ("--total",)))
    print(f"# {samples} samples of {locks['waits']} waits, {100 * (ns / locks['ns'] - 1):+.2f} % of {locks['ns'] / 1e6:.1f} ms; {locks}")
    expect(samples * 2 < locks["waits"], "all were told of")
    expect_between(ns / locks["ns"], 0.93, 1.07, "sum of lengths")
    process.go()


main()
