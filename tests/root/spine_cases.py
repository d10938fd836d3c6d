# SPDX-License-Identifier: Apache-2.0
"""The cases of the completeness suite: JVMs of one JDK at once below one recording of the host.

One case, with its table and examples of what is not as it must be:

    sudo HOSTPROF_BUILD=build HOSTPROF_JDKS=.jdks tests/root/test_hotspot.py --case mixed 17
"""
import collections
import functools
import random

from gates import dropped
from hp import *
from java_calls import of_jdk, owner_of
from java_stacks import (BELOW_LEAF, LEAVES as LEAF_CLASS, Judge, Process as JudgedProcess, judge_other, parse_frame,
                         tree_of, tree_of_garbage)
from spine_rows import *

SPINE = os.path.join(WORKLOADS, "spine")
FREQUENCY = 997
LEAVES = "abcdgjmnsvy"

# `workload` is Spine or Garbage; `jdks` those that have what the flags ask for, None: all.
Case = collections.namedtuple("Case", "flags workload args jdks")


# --- paths ------------------------------------------------------------------------------------


def tour(letters, successors):
    """Letters so that each is followed by `successors` others, each as often; ends at its start."""
    rng = random.Random(len(letters) * 100 + successors)
    count = len(letters)
    steps = rng.sample(range(2, count), successors - 1) + [1]
    left = {i: [(i + step) % count for step in steps] for i in range(count)}
    for ends in left.values():
        rng.shuffle(ends)
    # Hierholzer's way through every edge.
    stack, way = [0], []
    while stack:
        here = stack[-1]
        if left[here]:
            stack.append(left[here].pop())
        else:
            way.append(stack.pop())
    return "".join(letters[i] for i in reversed(way[1:]))


def paths(letters, successors, leaves, length=None):
    """One path for each leaf, each beginning elsewhere in the tour."""
    whole = tour(letters, successors)
    length = length or len(whole)
    around = whole * (2 + length // len(whole))
    step = len(whole) // len(leaves) or 1
    starts = [i * step % len(whole) for i in range(len(leaves))]
    return [around[start:start + length] + leaf for start, leaf in zip(starts, leaves)]


def spine(flags, *args):
    return Case(flags, "Spine", args, None)


def garbage(*flags, jdks=None):
    return Case(["-Xmx160m", "-XX:ParallelGCThreads=2", "-XX:ConcGCThreads=1", *flags], "Garbage",
                [], jdks)


AGAIN = f"-javaagent:{SPINE}/again.jar"
MIXED = paths("ABCDEFGHLRMYXJ", 4, LEAVES + "tu")
# The whole tour is in the loop: of a call site that sees two callees for long, C2 inlines both.
LOOPS = [path[:9] + "O" + path[9:] for path in paths("ABCDEFGH", 3, "vnsc", length=9 + 25)]

CASES = {
    "mixed": spine([], *MIXED),
    "interpreted": spine(["-Xint"], *MIXED),
    "c1": spine(["-XX:TieredStopAtLevel=1"], *MIXED),
    "xcomp": spine(["-Xcomp"], *MIXED),
    "tiny": spine([], *paths("ABCDEFGH", 3, "vnvn")),
    "osr": spine([], *LOOPS),
    "deopt": spine([AGAIN], *paths("ABCDEFGHL", 3, "qnsq")),
    "old code": spine([f"{AGAIN}=old"], *paths("ABCDEFGHJ", 3, "qnsq")),
    "deep": spine([], *paths("ABCDEFGH", 7, "nsvc", length=900)),
    "jni": spine([], *paths("ABCJ", 3, "nsvj")),
    "signal": spine([], "signal=1000", *paths("ABCDEFLJ", 3, "nsvjcm")),
    "loading": spine(["-Xmx160m"], *paths("ABCK", 3, "nksk")),
    "gc serial": garbage("-XX:+UseSerialGC"),
    "gc parallel": garbage("-XX:+UseParallelGC"),
    "gc g1": garbage("-XX:+UseG1GC"),
    "gc z": garbage("-XX:+UseZGC", jdks=range(17, 99)),
    "gc shenandoah": garbage("-XX:+UseShenandoahGC", jdks=range(11, 99)),
}


# --- running ----------------------------------------------------------------------------------


def has_case(name, version):
    return CASES[name].jdks is None or version in CASES[name].jdks


def start_case(name, version, seconds):
    return start_spine(CASES[name], version, seconds)


def start_spine(case, version, seconds):
    args = [os.path.join(SPINE, "libspine.so")] if case.workload == "Spine" else []
    quiet = ["--enable-native-access=ALL-UNNAMED"] if version >= 22 else []
    argv = [os.path.join(jdk(version), "bin", "java"), "-Xmx64m", *quiet, *case.flags, "-cp", SPINE,
            case.workload, seconds, *args, *case.args]
    # Two dozen busy threads would leave hostprof little time to begin and to end.
    return start(argv, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=lambda: os.nice(7))


@functools.lru_cache(None)
def calls_of(version):
    return of_jdk(jdk(version), SPINE)


def files_of(pid):
    """The libraries that a process maps, by their names."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        paths = {row.split(None, 5)[5].rstrip("\n") for row in maps if row.count("/")}
    return {os.path.basename(path): f"/proc/{pid}/root{path}" for path in paths if ".so" in path}


class Running:
    """JVMs of several cases, until stop(). One that is ready waits for the others."""

    def __init__(self, names, version, seconds):
        self.version = version
        self.processes, self.asked = {}, collections.Counter()
        for name in names:
            process = start_case(name, version, seconds)
            process.wait_text("ready", timeout=120).signal(signal.SIGSTOP)
            self.processes[name] = process
        for process in self.processes.values():
            process.signal(signal.SIGCONT)

    def signal(self, number):
        for process in self.processes.values():
            if process.running():
                process.signal(number)

    def stop(self, names=None):
        for name in list(self.processes if names is None else names):
            self.processes.pop(name).stop()

    def ended(self):
        return [name for name, process in self.processes.items() if not process.running()]

    def pids(self):
        return {name: process.pid for name, process in self.processes.items()}

    def ask(self):
        """By case: nanoseconds of CPU time of the thread "spine", and of each of its leaves."""
        return {name: self._ask_one(name, process) for name, process in self.processes.items()
                if CASES[name].workload == "Spine" and process.running()}

    def _ask_one(self, name, process):
        self.asked[name] += 1
        process.go()
        process.wait_text(f" answer {self.asked[name]}\n")
        spent, *leaves = map(int, re.findall(r"^spent (.*) answer", process.text, re.MULTILINE)[-1].split())
        return spent, leaves


def record_round(running, seconds):
    """Rows of each case, and of the JVMs' other threads, of so many seconds of the whole host."""
    stats_path = temp_path("stats.json")
    before = running.ask()
    path = record("-a", "-F", FREQUENCY, "--agent=never", "-d", seconds, "--stats", stats_path)
    after = running.ask()
    # They are not to run beside what judges them.
    running.signal(signal.SIGSTOP)
    stats = read_json(stats_path)
    lines = collapsed(path, "-t", "--annotate")
    lost = {row["pid"]: row["lost"] for row in stats["processes"]}
    # Whosever they were: what is not some case's own is bad in the row of all other threads.
    elsewhere = dropped(stats) - sum(lost.get(pid, 0) for pid in running.pids().values())
    rows = {OTHERS: missing_row(max(elsewhere, 0), "lost, late or dropped")}
    for name, pid in running.pids().items():
        process = JudgedProcess(running.version, calls_of(running.version), files_of(pid))
        mine, others = judge_case(CASES[name], process, of_pid(lines, pid))
        # Of a thread that is in a signal's handler most of the time the leaves' clocks say nothing.
        if name in before and name in after and len(paths_of(CASES[name])) == len(CASES[name].args):
            mine = mine._replace(due=due_leaves(CASES[name], mine.samples, before[name], after[name]))
        rows[name] = add_rows(mine, missing_row(lost.get(pid, 0), "lost"))
        rows[OTHERS] = add_rows(rows[OTHERS], others)
    running.signal(signal.SIGCONT)
    return rows


def paths_of(case):
    return [path for path in case.args if "=" not in path]


def due_leaves(case, samples, before, after):
    """How many of the samples must have each leaf, by the program's clock of that time."""
    due = collections.Counter()
    for path, begin, end in zip(paths_of(case), before[1], after[1]):
        due[LEAF_CLASS[path[-1]]] += samples * (end - begin) / max(after[0] - before[0], 1)
    return due


def judge_case(case, process, lines):
    """The row of the workload's own threads, and that of the JVM's."""
    judge = Judge(tree_of_garbage() if case.workload == "Garbage" else tree_of(paths_of(case)), process)
    parsed = [(line, [parse_frame(frame) for frame in line.frames]) for line in lines]
    process.calls.load(sorted({owner_of(frame.name) for _, frames in parsed for frame in frames if frame.java}))
    process.calls.load_for({(above.name, frame.name) for _, frames in parsed for above, frame in zip(frames, frames[1:])
                            if above.java and frame.java})
    mine, others = NO_ROW, NO_ROW
    for line, frames in parsed:
        if line.thread.startswith(("[spine ", "[garbage ")):
            verdict = judge.judge(frames)
            mine = add_rows(mine, row_of(line, verdict, has_below(verdict.leaf, frames)))
            continue
        row = row_of(line, judge_other(process, line.thread[1:].partition(" tid=")[0], frames))
        # The collectors' threads are what their cases are about.
        if case.workload == "Garbage":
            mine = add_rows(mine, row)
        else:
            others = add_rows(others, row)
    return mine, others


def has_below(leaf, frames):
    """Whether the stack shows what its leaf works in."""
    return leaf in BELOW_LEAF and any(BELOW_LEAF[leaf][1].match(frame.name) for frame in frames)


def run_cases(names, version, samples, seconds):
    """Rounds of all these cases at once until each has so many samples."""
    names = [name for name in names if has_case(name, version)]
    running = Running(names, version, 3600)
    rows = {name: NO_ROW for name in [*names, OTHERS]}
    for number in range(100):
        for name, row in record_round(running, seconds).items():
            rows[name] = add_rows(rows[name], row)
        least = min(rows[name].samples for name in running.processes)
        print(f"# JDK {version}, round {number + 1}: {least} samples and more of "
              f"{len(running.processes)} cases", flush=True)
        running.stop([name for name in running.pids() if rows[name].samples >= samples])
        for name in running.ended():
            rows[name] = add_rows(rows[name], missing_row(samples, "the JVM has ended"))
            running.stop([name])
        if not running.processes:
            break
    for name in running.pids():
        rows[name] = add_rows(rows[name], missing_row(samples - rows[name].samples, "too few samples"))
    running.stop()
    return rows


__all__ = [name for name in list(globals()) if not name.startswith("_")]
