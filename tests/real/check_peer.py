#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-peer ASPROF=libasyncProfiler.so: real programs recorded by async-profiler and by hostprof at a time, without an agent of ours: do the methods
that take most weigh the same?

usage: check_peer.py [--list] [NAME…]

Of each program the TOP Java methods by either's word, by what they run themselves and with all that they call, in percent of the samples that have a Java frame.
What the peer's signal handler runs is left out (its count is printed). A stack that the peer has cut (`[unknown]`, `[break_…]`) may have had any method below where it
ends: what is missing there may be so much more with hostprof. HOSTPROF_PEER_SECONDS (100) are recorded of each.
"""
import collections
import time

from programs import PROGRAMS
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
# Of the peer's stacks.
MOST_CUT = 0.05
WANTED = ("h2", "jruby", "lucene", "graal")
JAVA = re.compile(r"(.+)_\[[ji01k]\]$")
NATIVE_OF_THEIRS = re.compile(r"_\[[k]\]$")
# Of a class that is made while the program runs each has a number of its own, which the two write in their own ways.
NUMBERS = re.compile(r"(\$\$Lambda|LambdaForm\$(?:B?D?V?MH|Kind)|GeneratedMethodAccessor|GeneratedConstructorAccessor|\$Proxy|\$\$InjectedInvoker|\$\$TypeSwitch)[$/.\dx_a-f]*(?=\.|$)")

# How the outermost frame of a stack begins that async-profiler could not follow to its end.
CUT = ("[unknown", "[break_", "[not_walkable", "[deoptimization", "[skipped")

Shares = collections.namedtuple("Shares", "samples own total cut")


def method_of(frame):
    """A Java frame's method in one spelling; None: it is none."""
    match = JAVA.match(frame)
    if not match or NATIVE_OF_THEIRS.search(frame):
        return None
    name, _, method = match.group(1).replace("/", ".").rpartition(".")
    return f"{NUMBERS.sub(lambda found: found.group(1), name)}.{method}" if name else None


def shares_of(rows):
    """ROWS: (frames from the thread's first on, samples)."""
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


def is_peers(frames):
    return any("asyncProfiler" in frame or frame.startswith(("Profiler::", "PerfEvents::signalHandler", "CTimer::signalHandler")) for frame in frames)


def ours(path, pid):
    rows = [(line.frames, line.count) for line in of_pid(parse_collapsed(hostprof("report", path, "-f", "collapsed", "-o", "-", "--annotate",
                                                                                  "--no-normalize", timeout=300).out), pid)]
    peers = sum(count for frames, count in rows if is_peers(frames))
    return [row for row in rows if not is_peers(row[0])], peers


def theirs(path):
    with open(path, encoding="utf-8") as file:
        return [(row.rpartition(" ")[0].split(";"), int(row.rpartition(" ")[2])) for row in file.read().splitlines()]


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
    tell(home, pid, "start", "event=cpu", f"interval={10**9 // FREQUENCY + 1013}", "jstackdepth=2048")
    time.sleep(SECONDS)
    tell(home, pid, "stop", f"file={peers_path}", "collapsed", "ann")
    path = recorder.end()
    rows, peers = ours(path, pid)
    print(f"# {program.name}: {peers} of {sum(count for _, count in rows) + peers} samples of hostprof's are of the peer's own code")
    return shares_of(theirs(peers_path)), shares_of(rows)


def compare(program, what, peer, own):
    """Of the TOP of either: the largest difference, and those that differ by too much."""
    left, right = ({method: 100 * n / shares.samples for method, n in getattr(shares, what).items()} for shares in (peer, own))
    may = 100 * peer.cut / peer.samples if what == "total" else 0
    methods = {method for shares in (peer, own) for method, _ in getattr(shares, what).most_common(TOP)}
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
    print(f"# {program.name}: {peer.samples} samples with Java by async-profiler, {peer.cut} cut; {own.samples} by hostprof")
    expect(min(peer.samples, own.samples) >= LEAST_SAMPLES, "too few samples")
    expect(peer.cut <= MOST_CUT * peer.samples, "the peer has cut too many: nothing is known of them")
    faults = compare(program, "own", peer, own) + compare(program, "total", peer, own)
    for fault in faults[:20]:
        print(f"# {fault}")
    expect(not faults, f"{len(faults)} methods differ by more than {WITHIN} points")


@test
def judge_sees_a_wrong_name():
    """Damaged input: one method in twenty of a recording has another one's name, or goes without what it called."""
    rows = [([f"a/A.m{i % 60}_[j]", f"a/B.n{i % 59}_[{'ij01'[i % 4]}]", *(["memcpy"] if i % 3 else [])], 10 + i % 7) for i in range(2000)]
    whole = shares_of(rows)
    program = collections.namedtuple("Program", "name")("damaged")

    def faults(damaged):
        other = shares_of(damaged)
        return compare(program, "own", whole, other) + compare(program, "total", whole, other)

    expect_equal(faults(rows), [], "the same twice")
    expect(faults([([frames[0].replace("m3_", "m4_"), *frames[1:]], n) for frames, n in rows]), "a method that has another one's name")
    expect(faults([(frames[:1] if "n7_" in frames[1] else frames, n) for frames, n in rows]), "a callee that is missing")
    expect_equal(method_of("java/lang/invoke/LambdaForm$DMH.0x00007f1234.invoke_[j]"), method_of("java.lang.invoke.LambdaForm$DMH/0x000070e000.invoke_[j]"), "a hidden class")
    expect_equal(method_of("libc.so.6.memcpy_[k]"), None, "no method")


def register(each):
    def check():
        check_program(each)
    check.__name__ = each.name.replace("-", "_")
    test(check)


for one in PROGRAMS:
    if one.name in WANTED:
        register(one)

main()
