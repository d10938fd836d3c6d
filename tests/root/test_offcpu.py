#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""Time off the cpus: programs that know how long each of their threads waited, for what, and where."""

from hp import *

MS = 2500
# Of tests/workloads/waits.c: the reason of each thread's waits, and its function.
REASONS = {"sleep": "sleep", "futex": "futex", "migrate": "futex", "pipe": "pipe read", "socket": "socket read",
           "sockread": "socket read", "event": "event", "poll": "poll", "flock": "file lock", "fault": "page fault",
           "file": "file I/O", "queued": "run queue", "mixed": "sleep", "forever": "futex"}
# They wait in outer_KIND() itself.
FLAT = ("queued", "mixed", "forever")
# Around it mappings are made and changed.
INNER = {"fault": ["touch_page"]}
# Where /var/tmp is no disk they have nothing to wait for.
OF_DISKS = {"fault", "file"}
# Of tests/workloads/Waits.java: a method that is nearer to the leaf than Waits.KIND.
JAVA = {"sleep": ("sleep", "java.lang.Thread.sleep"), "park": ("park", "java.util.concurrent.locks.LockSupport.parkNanos"),
        "objectWait": ("Object.wait", "java.lang.Object.wait"), "monitorEnter": ("monitor enter", "Waits.enter"),
        "lockEnter": ("park", "java.util.concurrent.locks.ReentrantLock.lock"),
        "socketRead": (None, "java.io.DataInputStream.readByte")}
# JDK 8 to 12 call recv(), later ones poll() before read().
SOCKET_REASONS = ("socket read", "poll")
QUEUED, SAFEPOINT = "[run queue]", "[safepoint]"
MOST_STANDING = 0.01
# Where they tell of their lives: what comes behind is their end.
LIVES = {"job_run", "Waits$Job.run"}
# They switch often beside others: a switch that the kernel does not report is neither on nor off the cpus.
OFTEN = ("fault", "file", "queued", "mixed")
# Nor is what a hypervisor steals, or what interrupts take where the kernel accounts for them apart: of who runs, by how much that is, and at
# least once so long where there is any.
STOLEN_AT_ONCE_NS = 30_000_000
STOLEN_UNEVENLY = 2
# A method's first calls may load and initialize what they need, look for who is called, and ask for their compilation: that is little.
LOADING = re.compile(r"<clinit>|ClassLoader|NativeLibrar|SystemDictionary|link_class|dlopen|LinkResolver|CompileBroker|CompilationPolicy|"
                     r"InterpreterRuntime::(?!monitorenter)|SharedRuntime::resolve")
MOST_LOADING = 0.02

Told = collections.namedtuple("Told", "tid waits ns life")
# Lines of collapsed stacks with threads, of each event: their nanoseconds, and how many waits they are.
Run = collections.namedtuple("Run", "pids told ns counts cpu figures end_ns stolen")


def read_told(text):
    """What each thread of a program says of itself; Java's don't tell their tid."""
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: Told(int(row[1]) if len(row) == 5 else 0, *map(int, row[-3:])) for row in rows if len(row) in (4, 5)}


@shared
def recording(is_native):
    """One recording of each kind of program, for all tests: all together have more waits than are walked, and which are is chance."""
    need_root()
    if is_native:
        processes = {"native": native("waits", MS, stdin=subprocess.PIPE).wait_text()}
    else:
        processes = {version: java(version, "Waits", MS, stdin=subprocess.PIPE) for version in (17, 25)}
    pids = ",".join(str(process.pid) for process in processes.values())
    recorder = Recorder("-p", pids, "-e", "offcpu=0", "-e", "cpu", "-F", "997", "--agent=never")
    before = cpu_ticks()
    go_to_the_end(processes.values())
    end_ns, stolen, path = time.monotonic_ns(), stolen_since(before), recorder.end()
    capture = read_json(recorder.stats_path)["capture"]
    print(f"# a hypervisor and interrupts took {100 * stolen:.1f} % of what the cpus ran; {capture['offcpu_taken']} of "
          f"{capture['offcpu_spans']} waits were walked", flush=True)
    return Run({name: process.pid for name, process in processes.items()},
               {name: read_told(process.text) for name, process in processes.items()},
               collapsed(path, "--event", "offcpu", "-t", "--total"), collapsed(path, "--event", "offcpu", "-t"),
               collapsed(path, "--event", "cpu", "-t", "--total"), read_json(recorder.stats_path), end_ns, stolen)


def recorded(name="native"):
    return recording(name == "native")


def waits(name):
    return of_pid(recorded(name).ns, recorded(name).pids[name])


def told(name):
    return recorded(name).told[name]


def of_thread(lines, name, kind):
    """A native thread's, which is known by its tid, or one of Java's, by its name."""
    tid = told(name)[kind].tid
    return [line for line in lines if LIVES & {*line.frames} and
            (line.thread.endswith(f" tid={tid}]") if tid else line.thread.startswith(f"[{kind} tid="))]


def reasons_of(lines):
    counts = collections.Counter()
    for line in lines:
        counts[line.frames[-1]] += line.count
    return counts


def expect_near(came, wanted, part, what, on_ns=0):
    """Of a thread that ran for ON_NS."""
    stolen = max(recorded(name).stolen for name in ("native", 17))
    need_own_cpus(stolen, "lengths")
    missing = (STOLEN_AT_ONCE_NS + STOLEN_UNEVENLY * stolen * on_ns) / wanted if stolen else 0
    expect_between(came / wanted, 1 - part - missing, 1 + part, f"{what}: {came / 1e6:.2f} ms of {wanted / 1e6:.2f} ms")


def check_lives(name):
    """Time on and off the cpus, of each thread."""
    for kind, thread in told(name).items():
        if kind == "forever":
            continue
        off = total(of_thread(waits(name), name, kind))
        on = total(of_thread(of_pid(recorded(name).cpu, recorded(name).pids[name]), name, kind))
        expect_near(on + off, thread.life, 0.03 if kind in OFTEN else 0.01, f"{kind}: {on / 1e6:.1f} ms on and {off / 1e6:.1f} ms off the cpus",
                    thread.life - thread.ns)


@test
def waits_of_a_program_have_their_length():
    """And their number, also where the thread comes back on another cpu."""
    counts = of_pid(recorded().counts, recorded().pids["native"])
    for kind, thread in told("native").items():
        if kind == "forever":
            continue
        expect_near(total(of_thread(waits("native"), "native", kind)), thread.ns, 0.04 if kind in OFTEN else 0.02, kind,
                    thread.life - thread.ns)
        if kind in ("futex", "migrate", "pipe", "socket"):
            of_kind = [line for line in of_thread(counts, "native", kind)
                       if f"wait_{kind}" in line.frames and line.frames[-1] != QUEUED]
            # One that was woken before it slept is none.
            expect_between(total(of_kind), 0.95 * thread.waits, thread.waits, f"waits of {kind}")


@test
def waits_of_a_program_have_their_reason_and_stack():
    right, wrong = collections.Counter(), collections.Counter()
    for kind in told("native"):
        path = ["job_run", f"outer_{kind}", *([] if kind in FLAT else [f"wait_{kind}"]), *INNER.get(kind, [])]
        for line in of_thread(waits("native"), "native", kind):
            reason = line.frames[-1]
            if path[-1] not in line.frames or (reason == QUEUED and kind != "queued"):
                continue
            good = reason == f"[{REASONS[kind]}]" and in_order(line.frames, *path)
            (right if good else wrong)[kind, reason] += line.count
    expect_equal(wrong, {}, "wrong reasons")
    expect_equal({kind for kind, _ in right} | OF_DISKS, set(REASONS), "kinds that were seen")


@test
def who_does_not_come_back_waits_to_the_end():
    forever = told("native")["forever"]
    lines = [line for line in of_thread(waits("native"), "native", "forever") if "wait_word" in line.frames]
    # The recording ends some milliseconds later.
    expect_between(total(lines) / (recorded().end_ns - forever.ns), 0.99, 1.05, "share of the time until the recording ended")


@test
def time_on_and_off_the_cpus_is_a_life():
    check_lives("native")


def check_java(version):
    counts = of_pid(recorded(version).counts, recorded(version).pids[version])
    for kind, (reason, method) in JAVA.items():
        own = of_thread(waits(version), version, kind)
        of_kind = [line for line in own if f"Waits.{kind}" in line.frames]
        loading = [line for line in of_kind if any(LOADING.search(frame) for frame in line.frames)]
        expect_near(total(own), told(version)[kind].ns, 0.02, kind)
        expect_between(total(of_kind) / total(own), 0.97, 1, f"share of Waits.{kind}()")
        reasons = reasons_of(line for line in of_kind if method in line.frames and line not in loading)
        reasons.pop(QUEUED, None)
        # Who comes back while the JVM has all threads stand waits for that, too.
        stands = reasons.pop(SAFEPOINT, 0)
        expect(stands <= MOST_STANDING * total(own), f"{kind}: {stands / 1e6:.1f} ms of safepoints")
        wanted = SOCKET_REASONS if reason is None else (reason,)
        wrong = {name: ns for name, ns in reasons.items() if name[1:-1] not in wanted}
        for line in of_kind:
            line.frames[-1] in {f"[{name[1:-1]}]" for name in wrong} and print(f"#   {line}", flush=True)
        expect(sum(wrong.values()) <= 0.001 * sum(reasons.values()), f"{kind}: {dict(reasons)}")
        expect(total(loading) <= MOST_LOADING * total(own), f"{kind}: {total(loading) / 1e6:.1f} ms while something is loaded")
        print(f"# JDK {version}, {kind}: {total(own) / 1e6:.0f} ms, {total(loading) / 1e6:.1f} ms of them while something is loaded, "
              f"{stands / 1e6:.1f} at safepoints", flush=True)
        stray = [line for line in counts if line.thread.startswith(f"[{kind} tid=") and line.frames[0].startswith("[unwind")]
        expect_equal(stray, [], f"stacks of {kind} that are not whole")
    check_lives(version)


@test
def waits_of_jdk_17():
    check_java(17)


@test
def waits_of_jdk_25():
    check_java(25)


@test
def chances_are_in_the_figures():
    for name in ("native", 17):
        counters = recorded(name).figures["capture"]
        expect_equal(recorded(name).figures["lost"], 0, "lost samples")
        expect_between(counters["offcpu_taken"], 1, counters["offcpu_spans"], "walks")


main()
