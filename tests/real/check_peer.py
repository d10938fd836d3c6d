#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-peer ASPROF=libasyncProfiler.so: real programs recorded by async-profiler and by hostprof at a time, without an agent of ours: do the methods
that take most weigh the same?

usage: check_peer.py [--list] [NAME…]

Of each program the TOP Java methods by either's word, by what they run themselves and with all that they call, in percent of the time that has a Java frame. How much
each thread ran is by hostprof's word for both (make check-real holds that against the scheduler's clocks): async-profiler has a timer for each thread, and threads that switch often have 1 % less or more by it.
What the peer's signal handler runs, and the kernel to get there, counts for what it has interrupted, as with the peer, whose timers run on meanwhile and whose next sample is of that place (this time is printed). Programs change while they run: ours is of the time from the first to the last sample that the
peer takes, which are in our recording. A stack that the peer has cut (`[unknown]`, `[break_…]`) may have had any method below where it
ends: what is missing there may be so much more with hostprof. HOSTPROF_PEER_SECONDS (100) are recorded of each.
"""
import collections
import time

from programs import PROGRAMS, test_programs
from fetch import Unavailable
from hp import *

FREQUENCY = 1997
SECONDS = int(os.environ.get("HOSTPROF_PEER_SECONDS", "100"))
ASPROF = os.environ.get("ASPROF")
TOP = 50
# Percentage points; a share of a half has a standard deviation of 0.16 between two recordings of 200,000 samples.
WITHIN = 0.5
# So many methods must be known to both, and so many samples have been taken by either.
LEAST_METHODS, LEAST_SAMPLES = 50, 100 * SECONDS
# What compilers get before it begins, and what the load must outlive the recording by.
SETTLE_S, SLACK_S = 10, 90
# Of the peer's stacks, in percent; a thread that is compared, and how much may be of others.
MOST_CUT, LEAST_OF_THREAD, MOST_LEFT = 5, 100, 0.05
# Not JRuby, which ends under async-profiler without a word (1 run of 3 without hostprof), nor Clojure's agents: their threads wake for turns of microseconds, and a timer of
# a thread, as the peer has it, is off by 1.8 to 3.7 points there by the thread's own clock (test_weights.py; docs/completeness.md).
WANTED = ("h2", "scala", "lucene", "graal")
JAVA = re.compile(r"(.+)_\[[ji01]\]$")
# What HotSpot makes for them is code of its own, which async-profiler calls by one of their names.
INTRINSICS = re.compile(r"java\.lang\.invoke\.MethodHandle\.(?:invokeBasic|linkTo\w+)$")
# Of a class that is made while the program runs each has a number of its own, which the two write in their own ways.
NUMBERS = re.compile(r"(\$\$Lambda|LambdaForm\$(?:B?D?V?MH|Kind)|GeneratedMethodAccessor|GeneratedConstructorAccessor|\$Proxy|\$\$InjectedInvoker|\$\$TypeSwitch)[$/.\dx_a-f]*(?=\.|$)")

# How the outermost frame of a stack begins that async-profiler could not follow to its end.
CUT = ("[unknown", "[break_", "[not_walkable", "[deoptimization", "[skipped")

HANDLER = re.compile(r"(?:PerfEvents|CTimer)::signalHandler")
INTERRUPTS = ("asm_sysvec_irq_work_[k]", "arch_do_signal_or_restart_[k]")
SIGNALLED = (*INTERRUPTS, "__do_sys_rt_sigreturn_[k]")

TID = re.compile(r"\[.* tid=(\d+)\]")

Shares = collections.namedtuple("Shares", "samples own total cut")


def method_of(frame):
    """A Java frame's method in one spelling; None: it is none."""
    match = JAVA.match(frame)
    if not match:
        return None
    name, _, method = match.group(1).replace("/", ".").rpartition(".")
    if not name:
        return None
    return INTRINSICS.sub("[method handle]", f"{NUMBERS.sub(lambda found: found.group(1), name)}.{method}")


def shares_of(rows):
    """tid → Shares. ROWS: (frames, the thread before them, samples)."""
    rows_of = collections.defaultdict(list)
    for frames, count in rows:
        rows_of[TID.fullmatch(frames[0]).group(1)].append((frames[1:], count))
    return {tid: shares for tid, shares in ((tid, shares_of_thread(of)) for tid, of in rows_of.items()) if shares.samples}


def shares_of_thread(rows):
    samples, cut, own, total = 0, 0, collections.Counter(), collections.Counter()
    for frames, count in rows:
        methods = [method_of(frame) for frame in frames]
        known = {method for method in methods if method}
        if not known:
            continue
        samples += count
        cut += count * frames[0].startswith(CUT)
        if methods[-1]:
            own[methods[-1]] += count
        for method in known:
            total[method] += count
    return Shares(samples, own, total, cut)


def in_percent(threads, weights):
    """Of all THREADS (tid → Shares), each of the part that it has in WEIGHTS (tid → Shares): Shares in percent, own ones of what Java code runs itself."""
    whole, own_whole = sum(weights[tid].samples for tid in threads), sum(weights[tid].own.total() for tid in threads)
    own, total, cut = collections.Counter(), collections.Counter(), 0
    for tid, shares in threads.items():
        part = 100 * weights[tid].samples / whole / shares.samples
        own_part = 100 * weights[tid].own.total() / own_whole / max(shares.own.total(), 1)
        cut += shares.cut * part
        for sums, counts, each in ((own, shares.own, own_part), (total, shares.total, part)):
            for method, count in counts.items():
                sums[method] += count * each
    return Shares(100, own, total, cut)


def of_both(peer, own):
    """Of the threads that both have seen often enough, in percent; and how much of both's time is that of others."""
    tids = [tid for tid in peer if tid in own and peer[tid].samples >= LEAST_OF_THREAD]
    left = [1 - sum(all_of[tid].samples for tid in tids) / sum(shares.samples for shares in all_of.values()) for all_of in (peer, own)]
    return [in_percent({tid: all_of[tid] for tid in tids}, own) for all_of in (peer, own)], left


def is_peers(frame):
    """Its handler, or how the kernel gets there and back."""
    return "asyncProfiler" in frame or frame in SIGNALLED or frame.startswith("Profiler::") or HANDLER.match(frame)


def interrupted(frames):
    """What the peer's handler has interrupted; all of FRAMES: it has not."""
    at = next((i for i, frame in enumerate(frames) if is_peers(frame)), len(frames))
    kept = frames[:at]
    # The C library's code that a handler returns to stands between, and the kernel's in front of its answer.
    if at < len(frames) and frames[at] not in INTERRUPTS:
        while kept and kept[-1].endswith("_[k]"):
            kept.pop()
        kept = kept[:-1]
    return kept


def ours(path, pid):
    """Stacks by their time, in nanoseconds, from the first to the last sample that the peer takes; and how much of that is the peer's."""
    lines = timed_lines(path)
    taken = [time_ns for time_ns, line in lines if any(map(HANDLER.match, line.frames))]
    expect(len(taken) > 100, f"only {len(taken)} samples of the peer's handler")
    begin, end = min(taken), max(taken)
    within = of_pid([line for time_ns, line in lines if begin <= time_ns < end], pid)
    rows = [([line.thread, *line.frames], [line.thread, *interrupted(line.frames)], line.count) for line in within]
    return [(kept, count) for _, kept, count in rows], sum(count for frames, kept, count in rows if len(kept) < len(frames))


def theirs(path):
    with open(path, encoding="utf-8") as file:
        # What stands first is the thread there.
        return [([line.process, *line.frames], line.count) for line in parse_collapsed(file.read())]


def tell(home, pid, *words):
    done = run([os.path.join(home, "bin", "jcmd"), pid, "JVMTI.agent_load", ASPROF, '"' + ",".join(words) + '"'], code=0, timeout=60)
    expect(re.search(r"return code: 0", done.out), f"async-profiler: {done.out} {done.err}")


def record(program):
    """What both say of a program's JVM: (theirs, ours)."""
    home = jdk(program.version)
    try:
        running = program.start(home, temp_dir(), program.warm_s + SETTLE_S + SECONDS + SLACK_S)
    except Unavailable as error:
        skip(str(error))
    running.load()
    time.sleep(program.warm_s + SETTLE_S)
    pid, = running.jvms.values()
    peers_path = temp_path("peer.collapsed")
    recorder = Recorder("-p", pid, "-F", FREQUENCY, "--agent=never")
    # Its interval is some nanoseconds off, so that it is not the same moments that both take.
    tell(home, pid, "start", "event=cpu", f"interval={10**9 // FREQUENCY + 1013}", "jstackdepth=2048", "threads")
    time.sleep(SECONDS)
    tell(home, pid, "stop", f"file={peers_path}", "collapsed", "ann", "threads")
    path = recorder.end()
    rows, peers = ours(path, pid)
    print(f"# {program.name}: {peers / 1e9:.2f} of {sum(count for _, count in rows) / 1e9:.2f} s are the peer's own code's")
    return shares_of(theirs(peers_path)), shares_of(rows)


def compare(program, what, peer, own):
    """Of the TOP of either, in percent: the largest difference, and those that differ by too much."""
    left, right = (getattr(shares, what) for shares in (peer, own))
    may = peer.cut if what == "total" else 0
    methods = {method for counts in (left, right) for method, _ in counts.most_common(TOP)}
    differ = {}
    for method in methods:
        least, came = left.get(method, 0), right.get(method, 0)
        differ[method] = came - min(max(came, least), least + may)
    most = max(differ, key=lambda method: abs(differ[method]))
    print(f"# {program.name}, {what}: {len(methods)} methods, {differ[most]:+.3f} points at most ({most}: {left.get(most, 0):.3f} and {right.get(most, 0):.3f} %), "
          f"{sum(map(abs, differ.values())) / len(differ):.4f} on the average; {may:.3f} % may be missing")
    expect(len(methods) >= LEAST_METHODS, f"only {len(methods)} methods")
    return [f"{program.name}, {what}: {method} {left.get(method, 0):.3f} % by async-profiler, {right.get(method, 0):.3f} by hostprof"
            for method, by in sorted(differ.items(), key=lambda pair: -abs(pair[1])) if abs(by) > WITHIN]


def check_program(program):
    need_root()
    if not ASPROF:
        skip("ASPROF does not name async-profiler's library")
    peer, own = record(program)
    counts = sum(shares.samples for shares in peer.values()), sum(shares.samples for shares in own.values()) * FREQUENCY // 10**9
    (peer, own), left = of_both(peer, own)
    print(f"# {program.name}: {counts[0]} samples with Java by async-profiler, {counts[1]} by hostprof; {100 * left[0]:.2f} and {100 * left[1]:.2f} % are of threads that one of them "
          f"has seen less than {LEAST_OF_THREAD} times; {peer.cut:.3f} % are cut by async-profiler")
    expect(min(counts) >= LEAST_SAMPLES, "too few samples")
    expect(max(left) <= MOST_LEFT, "too many samples of threads that were seen seldom")
    expect(peer.cut <= MOST_CUT, "the peer has cut too many: nothing is known of them")
    faults = compare(program, "own", peer, own) + compare(program, "total", peer, own)
    for fault in faults[:20]:
        print(f"# {fault}")
    expect(not faults, f"{len(faults)} methods differ by more than {WITHIN} points")


@test
def what_the_peer_interrupts_is_known():
    user, trampoline, handler = ["a/A.m_[j]", "a/B.n_[i]"], "[libc.so.6+0x3c04f]", "PerfEvents::signalHandler"
    for frames in (user, [*user, trampoline, handler, "[libasyncProfiler.so+0x10]", "memcpy"], [*user, "asm_sysvec_irq_work_[k]", "irq_work_run_[k]"],
                   [*user, trampoline, "entry_SYSCALL_64_after_hwframe_[k]", "do_syscall_64_[k]", "__do_sys_rt_sigreturn_[k]"]):
        expect_equal(interrupted(frames), user, "what was interrupted")
    expect_equal(interrupted([*user, "memcpy", *SIGNALLED[:1]]), [*user, "memcpy"], "what was interrupted")


@test
def judge_sees_a_wrong_name():
    """Damaged input: one method in twenty of a recording has another one's name, or goes without what it called."""
    rows = [(["[main tid=1]", f"a/A.m{i % 60}_[j]", f"a/B.n{i % 59}_[{'ij01'[i % 4]}]", *(["memcpy"] if i % 3 else [])], 10 + i % 7) for i in range(2000)]
    whole = shares_of(rows)
    program = collections.namedtuple("Program", "name")("damaged")

    def faults(damaged):
        (peer, own), _ = of_both(whole, shares_of(damaged))
        return compare(program, "own", peer, own) + compare(program, "total", peer, own)

    expect_equal(faults(rows), [], "the same twice")
    expect(faults([([frames[0], frames[1].replace("m3_", "m4_"), *frames[2:]], n) for frames, n in rows]), "a method that has another one's name")
    expect(faults([(frames[:2] if "n7_" in frames[2] else frames, n) for frames, n in rows]), "a callee that is missing")
    expect_equal(method_of("java/lang/invoke/LambdaForm$DMH.0x00007f1234.invoke_[j]"), method_of("java.lang.invoke.LambdaForm$DMH/0x000070e000.invoke_[j]"), "a hidden class")
    expect_equal(method_of("libc.so.6.memcpy_[k]"), None, "no method")


test_programs(check_program, [program for program in PROGRAMS if program.name in WANTED])
main()
