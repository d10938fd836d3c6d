# SPDX-License-Identifier: Apache-2.0
"""The cases of the completeness suite: JVMs of one JDK at once below one recording of the host.

One case, with its table and examples of what is not as it must be:

    sudo HOSTPROF_BUILD=build HOSTPROF_JDKS=.jdks tests/root/test_hotspot.py --case mixed 17
"""
import collections
import math
import random

from hp import *
from java_stacks import Judge, judge_other, parse_frame, tree_of, tree_of_garbage

SPINE = os.path.join(WORKLOADS, "spine")
FREQUENCY = 997
LEAVES = "abcdgjmnsvy"

# `workload` is Spine or Garbage; `jdks` those that have what the flags ask for, None: all.
Case = collections.namedtuple("Case", "flags workload args jdks")
Row = collections.namedtuple("Row", "samples reasons examples")
NO_ROW = Row(0, collections.Counter(), {})


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
OTHERS = "jvm threads"


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
    return start(argv, stderr=subprocess.DEVNULL, preexec_fn=lambda: os.nice(7))


class Running:
    """JVMs of several cases, until stop(). One that is ready waits for the others."""

    def __init__(self, names, version, seconds):
        self.processes = {}
        for name in names:
            process = start_case(name, version, seconds)
            process.wait_text("ready", timeout=120).signal(signal.SIGSTOP)
            self.processes[name] = process
        for process in self.processes.values():
            process.signal(signal.SIGCONT)

    def stop(self, names=None):
        for name in list(self.processes if names is None else names):
            self.processes.pop(name).stop()

    def ended(self):
        return [name for name, process in self.processes.items() if not process.running()]

    def pids(self):
        return {name: process.pid for name, process in self.processes.items()}


def record_round(running, seconds):
    """Rows of each case, and of the JVMs' other threads, of so many seconds of the whole host."""
    stats_path = temp_path("stats.json")
    path = record("-a", "-F", FREQUENCY, "--agent=never", "-d", seconds, "--stats", stats_path)
    stats = read_json(stats_path)
    lines = collapsed(path, "-t", "--annotate")
    lost = {row["pid"]: row["lost"] for row in stats["processes"]}
    rows = {}
    for name, pid in running.pids().items():
        mine, others = judge_case(CASES[name], of_pid(lines, pid))
        rows[name] = add_rows(mine, missing_row(lost.get(pid, 0), "lost"))
        rows[OTHERS] = add_rows(rows.get(OTHERS, NO_ROW), others)
    return rows


def judge_case(case, lines):
    """The row of the workload's own threads, and that of the JVM's."""
    tree = tree_of_garbage() if case.workload == "Garbage" else \
        tree_of([path for path in case.args if "=" not in path])
    judge, parsed = Judge(tree), []
    for line in lines:
        frames = [parse_frame(frame) for frame in line.frames]
        own = line.thread.startswith(("[spine ", "[garbage "))
        parsed.append((line, frames, own))
        if own:
            judge.learn([frame for frame in frames if frame.kind != "k"], line.count)
    mine, others = NO_ROW, NO_ROW
    for line, frames, own in parsed:
        row = row_of(line, judge.judge(frames) if own else judge_other(frames))
        # The collectors' threads are what their cases are about.
        if own or case.workload == "Garbage":
            mine = add_rows(mine, row)
        else:
            others = add_rows(others, row)
    return mine, others


def row_of(line, verdict):
    if verdict.good:
        return Row(line.count, collections.Counter(), {})
    text = f"{line.count} x {line.thread} {';'.join(line.frames)}"
    return Row(line.count, collections.Counter({verdict.why: line.count}), {verdict.why: [text]})


def missing_row(count, why):
    """A sample that is not there is one that is not whole."""
    return Row(count, collections.Counter({why: count} if count > 0 else {}), {})


def must_of(name, version):
    """The share of a cell that may be bad: for the mixed case less on the JDKs that most run."""
    return 0.001 if name == "mixed" and version in (17, 25) else 0.002


def too_many(name, version, row):
    """Whether a cell has too many bad samples, with an allowance for chance where they are few."""
    must = must_of(name, version) * row.samples
    return bad(row) > must + 4 * math.sqrt(must)


def add_rows(one, other, limit=5):
    examples = dict(one.examples)
    for why, texts in other.examples.items():
        examples[why] = (examples.get(why, []) + texts)[:limit]
    return Row(one.samples + other.samples, one.reasons + other.reasons, examples)


def bad(row):
    return sum(row.reasons.values())


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


# --- showing ----------------------------------------------------------------------------------


def print_rows(version, rows, reasons=4):
    print(f"# JDK {version}: {'case':14} {'samples':>8} {'bad':>6} {'share':>9}  reasons")
    for name, row in rows.items():
        part = 100 * bad(row) / max(row.samples, 1)
        why = "; ".join(f"{count} {what}" for what, count in row.reasons.most_common(reasons))
        print(f"#         {name:14} {row.samples:8} {bad(row):6} {part:8.3f}%  {why}", flush=True)


def print_examples(rows, reasons=5, stacks=1):
    for name, row in rows.items():
        for why, _ in row.reasons.most_common(reasons):
            for text in row.examples.get(why, [])[:stacks]:
                print(f"# {name}: {why}: {shorten(text)}")


def shorten(text, limit=4000):
    return text if len(text) <= limit else f"{text[:limit // 2]} … {text[-limit // 2:]}"


__all__ = [name for name in list(globals()) if not name.startswith("_")]
