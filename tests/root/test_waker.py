#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""--waker: programs whose threads know who wakes them, from the same process, another one, Java, and by an interrupt; and who lets go of locks."""

from hp import *

MS = 8000
JAVA_MS = 8000
WOKEN_BY = "[woken by]"
QUEUED = "[run queue]"
# What starts a thread.
THREAD = ["start_thread", "clone3"]
# Of tests/workloads/wakers.c.
KINDS = ("futex", "shared", "condition", "pipe", "event", "tcp")
# So many rounds make a wait at least, where the machine has other things to do, too.
LEAST = 300
# As the class is called.
JAVA_KINDS = {"notify": "Notify", "unpark": "Unpark"}
RIGHT = 0.999
# A wait may be long enough only by what it waits for a cpu.
MOST_WITHOUT = 0.01
# A virtual machine's kernel may tell of nothing that one of its cpus does while it is idle: neither that a thread is back there (offcpu.late) nor that
# a timer wakes one.
WITHOUT_OF_LATE = 10
# Of tests/workloads/Locks.java and Parks.java: who waits, for what, where, and where its holder lets go of it.
ROUNDS = 60
LOCK_KINDS = {"Locks": ("enter", "Locks$Gate", "Locks.enterGate", "Locks.holdGate"),
              "Parks": ("lock", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "Parks.takeLock", "Parks.holdLock")}
# Which ends while the thread spins, and has not been woken, or nobody tells of it (above).
FEW = 2
# In a call for which a method's counters have run over, the JVM's own locks may be waited for.
ASKING = re.compile(r"CompileBroker|CompilationPolicy|frequency_counter_overflow")

# A wait: its own frames, root first, its reason, those of its waker, leaf first, that one's thread and process; "" where there is none.
Wait = collections.namedtuple("Wait", "frames reason waker thread process count")
# Lines with threads, what the program says of its own, and jfr's text.
Recorded = collections.namedtuple("Recorded", "pid lines figures told printed")


def read_waits(lines):
    waits = []
    for line in lines:
        at = line.frames.index(WOKEN_BY) if WOKEN_BY in line.frames else len(line.frames)
        waker, thread, process = line.frames[at + 1:], "", ""
        if waker and waker[-1] == "[interrupt]":
            waker, thread = waker[:-1], waker[-1]
        elif waker:
            waker, thread, process = waker[:-2], waker[-2], waker[-1]
        waits.append(Wait(line.frames[:at - 1], line.frames[at - 1], waker, thread, process, line.count))
    return waits


def record_waits(process, *args):
    """The recording's path, its lines with threads, and the figures."""
    recorder = Recorder("-p", process.pid, "--agent=never", "--waker", *args)
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    return path, collapsed(path, "-t"), read_json(recorder.stats_path)


def waits_of(lines, thread):
    """Of the only process that has such a thread."""
    return [wait for wait in read_waits([line for line in lines if line.thread.startswith(f"[{thread} tid=")]) if wait.reason != QUEUED]


def check(title, waits, is_right, least=LEAST, late=0):
    """Nearly all that have a waker have the right one, and few have none."""
    sums, wrong = collections.Counter(), ""
    for wait in waits:
        what = "right" if is_right(wait) else "wrong" if wait.thread else "none"
        sums[what] += wait.count
        if what == "wrong":
            wrong = f"{wait.thread} by {';'.join(wait.waker)[-200:]}"
            print(f"# {title}: {';'.join(wait.frames)} is woken by {';'.join(wait.waker)} of {wait.thread}, {wait.process}", flush=True)
    print(f"# {title}: {sums['right']} right, {sums['wrong']} wrong, {sums['none']} without a waker", flush=True)
    expect(sums["right"] >= least, f"{title}: {dict(sums)}: at least {least} right ones were expected")
    expect(sums["wrong"] <= (1 - RIGHT) * (sums["right"] + sums["wrong"]), f"{title}: {dict(sums)}: wrong ones, the last {wrong}")
    expect(sums["none"] <= MOST_WITHOUT * sum(sums.values()) + WITHOUT_OF_LATE * late, f"{title}: {dict(sums)}: without one")


def round_of(frames, does, kind):
    """"even" or "odd"; None: of no round."""
    for part in ("even", "odd"):
        if in_order(frames, f"{part}_{does}_{kind}", f"{does}_{kind}"):
            return part
    return None


@shared
def recording():
    need_root()
    process = native("wakers", MS, stdin=subprocess.PIPE).wait_text()
    path, lines, figures = record_waits(process, "-e", "offcpu")
    told = {row[0]: row[1:] for row in map(str.split, process.text.splitlines()) if len(row) == 4}
    printed = jfr_tool(25, "print", "--events", "hostprof.OffCpuSample", "--stack-depth", "64", path).out
    return Recorded(process.pid, lines, figures, told, printed)


def check_kind(kind):
    _, giver_pid, giver_tid = recording().told[kind]

    def is_right(wait):
        part = round_of(wait.frames, "wait", kind)
        own = [f"give_{kind}", f"{part}_give_{kind}", "job_give", "give_main", *([] if kind == "shared" else THREAD)]
        at = wait.waker.index(own[0]) if own[0] in wait.waker else 0
        rest = wait.waker[at + len(own):]
        return wait.thread == f"[g-{kind} tid={giver_tid}]" and wait.process.endswith(f"-{giver_pid}") and \
            wait.waker[0] == "try_to_wake_up" and wait.waker[at:at + len(own)] == own and \
            ((rest[0], rest[-1]) == ("main", "_start") if kind == "shared" else rest == [])

    waits = [wait for wait in waits_of(recording().lines, f"w-{kind}") if round_of(wait.frames, "wait", kind)]
    check(kind, waits, is_right)


@test
def threads_of_one_process():
    for kind in KINDS:
        if kind not in ("shared", "tcp"):
            check_kind(kind)


@test
def another_process():
    """That is not recorded itself."""
    expect_equal({line.process for line in recording().lines}, {f"wakers-{recording().pid}"}, "processes that were recorded")
    check_kind("shared")


@test
def what_a_thread_sends_to_its_own_host():
    """It arrives in the second half of an interrupt, which the thread serves as it sends."""
    check_kind("tcp")


@test
def a_timer_is_no_thread():
    waits = [wait for wait in waits_of(recording().lines, "w-sleep") if "wait_sleep" in wait.frames]
    check("sleep", waits, lambda wait: wait.thread == "[interrupt]" and "hrtimer_wakeup" in wait.waker and
          re.fullmatch("asm_sysvec_.*", wait.waker[-1]) is not None, late=recording().figures["capture"]["offcpu_late"])


@test
def waits_are_what_they_are():
    """Figures, and that a wait keeps its own stack in front; nobody is lost."""
    figures = recording().figures
    capture, counters = figures["capture"], {row["name"]: row["value"] for row in figures["counters"]}
    expect_equal(figures["lost"], 0, "lost samples")
    print(f"# {capture['offcpu_taken']} waits were walked, {capture['offcpu_wakers']} wakers, {capture['offcpu_wakers_dropped']} dropped; "
          f"{counters.get('offcpu.no-waker', 0)} without one", flush=True)
    expect_between(capture["offcpu_wakers"], 7 * LEAST, capture["offcpu_taken"], "wakers")
    expect(counters.get("offcpu.no-waker", 0) <= MOST_WITHOUT * capture["offcpu_wakers"] + WITHOUT_OF_LATE * capture["offcpu_late"],
           "waits without a waker")
    event = next(text for text in recording().printed.split("hostprof.OffCpuSample {") if "even_wait_shared" in text and "even_give_shared" in text)
    for field in ('waker = "g-shared" (', 'wakerProcess = "g-shared"', "wakerPid = ", "wakerStackTrace = {", "wakers.job_give()"):
        expect_in(field, event)


@test
def nobody_asks():
    """The option is none of other events', and without it nothing is told."""
    process = native("wakers", 300, stdin=subprocess.PIPE).wait_text()
    need_root()
    recorder = Recorder("-p", process.pid, "-e", "offcpu")
    process.go()
    process.wait_text("done", 20)
    path = recorder.end()
    expect(not [line for line in collapsed(path) if WOKEN_BY in line.frames], "somebody was told of")
    with open(path, "rb") as file:
        expect(b"wakerStackTrace" not in file.read(), "there is a field")
    expect_in("there is no -e offcpu, nativelock, wall or lock", hostprof("record", "--waker", "-d", "1s", code=2).err)


@test
def wall_clock():
    need_root()
    process = native("wakers", 2000, stdin=subprocess.PIPE).wait_text()
    _, lines, _ = record_waits(process, "-e", "wall=1ms")
    told = {row[0]: row[1:] for row in map(str.split, process.text.splitlines()) if len(row) == 4}
    waits = [wait for wait in waits_of(lines, "w-pipe") if round_of(wait.frames, "wait", "pipe")]
    # Samples of the clock, in the same functions, are of who runs.
    waits = [wait for wait in waits if wait.reason == "[pipe read]"]
    check("wall, pipe", waits, lambda wait: wait.thread == f"[g-pipe tid={told['pipe'][2]}]" and
          f"{round_of(wait.frames, 'wait', 'pipe')}_give_pipe" in wait.waker, least=100)


def check_java(version):
    need_root()
    process = java(version, "Wakers", JAVA_MS, stdin=subprocess.PIPE)
    _, lines, _ = record_waits(process, "-e", "offcpu")
    for kind, name in JAVA_KINDS.items():
        def frames_of_giver(wait, of=f"Wakers${name}"):
            for part in ("even", "odd"):
                if in_order(wait.frames, f"{of}.{part}Wait", f"{of}.await"):
                    return [f"{of}.signal", f"{of}.{part}Give", "Wakers$Pair.giveRounds", "Wakers$Giver.run"]
            return None

        def is_right(wait):
            own, wanted = [frame for frame in wait.waker if frame.startswith("Wakers")], frames_of_giver(wait)
            # HotSpot lets go of the lock of a method that was inlined in its caller.
            return own in (wanted, wanted[1:]) and wait.waker[-len(THREAD):] == THREAD and \
                wait.process.endswith(f"-{process.pid}") and wait.thread.startswith(f"[g-{kind} tid=")

        waits = [wait for wait in waits_of(lines, f"w-{kind}") if frames_of_giver(wait) and wait.reason in ("[Object.wait]", "[park]")
                 and not any(map(ASKING.search, wait.frames))]
        check(f"JDK {version}, {kind}", waits, is_right)


@test
def threads_of_jdk_17():
    check_java(17)


@test
def threads_of_jdk_25():
    check_java(25)


def check_locks(version):
    """Who lets go of a lock for which another thread waits: of a monitor, which the agent tells of, and of java.util.concurrent's."""
    need_root()
    flags = ("-XX:+EnableDynamicAgentLoading",) if version >= 21 else ()
    processes = {workload: java(version, workload, ROUNDS, flags=flags, stdin=subprocess.PIPE) for workload in LOCK_KINDS}
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes.values()), "-e", "lock", "--waker")
    for process in processes.values():
        recorder.wait_lease(process.pid)
    time.sleep(0.5)
    go_to_the_end(processes.values())
    path = recorder.end()
    lines, figures = collapsed(path, "-t"), read_json(recorder.stats_path)
    expect_equal(figures["lost"], 0, "lost samples")
    events = read_by_jdk(path, "jdk.JavaMonitorEnter", "jdk.ThreadPark")
    for workload, (kind, class_name, own, giver) in LOCK_KINDS.items():
        waits = [wait for wait in read_waits([line for line in of_pid(lines, processes[workload].pid) if line.thread.startswith(f"[{kind} tid=")])
                 if wait.reason == class_name]

        def is_right(wait):
            return wait.thread.startswith("[holder tid=") and wait.process.endswith(f"-{processes[workload].pid}") and \
                giver in wait.waker and own in wait.frames and wait.waker[-len(THREAD):] == THREAD

        expect_equal(sum(wait.count for wait in waits), ROUNDS, f"JDK {version}: waits of {kind}")
        # Who has the lock already may have to wait for a safepoint to be over: the last one who wakes it is the VM's thread then. And up to JDK 23
        # one of those that want a monitor looks for itself now and then, and finds it free (ObjectMonitor::EnterI() in share/runtime/objectMonitor.cpp).
        other = [wait for wait in waits if wait.thread.startswith(("[VM Thread", "[interrupt]"))]
        print(f"# JDK {version}, lock, {kind}: {sum(wait.count for wait in other)} ended with a safepoint or a timer", flush=True)
        expect(sum(wait.count for wait in other) <= FEW, f"JDK {version}: waits of {kind} that a safepoint or a timer has ended")
        waits = [wait for wait in waits if wait not in other]
        check(f"JDK {version}, lock, {kind}", waits, is_right, least=ROUNDS - FEW)
        wakers = collections.Counter((event["waker"] or {}).get("javaName") for event in events
                                     if event["pid"] == processes[workload].pid and event["eventThread"]["javaName"] == kind and event["waker"])
        expect(wakers["holder"] >= ROUNDS - FEW, f"JDK {version}: wakers of {kind} in the file: {wakers}")


@test
def who_lets_go_of_locks_of_jdk_17():
    check_locks(17)


@test
def who_lets_go_of_locks_of_jdk_25():
    check_locks(25)


main()
