#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JVMs that start while a recording of the whole host runs: whole from their first Java frame on.

More starts, with examples of every stack that is not whole:

    sudo HOSTPROF_BUILD=build tests/root/test_java_start.py --starts 17 [RUNS]
"""
import math

from hp import *

sys.path.append(os.path.join(ROOT, "tests", "real"))
import judge
from judge import STACK_LESS, WHOLE, Verdict, is_java, name_of

FREQUENCY = 997
# Milliseconds that the programs run; most of a short one's life is the JVM's own start.
LIVES = [300, 3000, 600, 300, 1000]
MUST = 0.01
# On a busy machine a program of 300 ms gets few samples: once more, then.
LEAST = 1000
MAX_ROUNDS = 5
# The program's own frames, root first: what lies between them is the JDK's or the JVM's.
SPINE = ["Startup.main", "Startup.work"]
BELOW_WORK = {"Startup.count", "Startup.split", "Startup.format", "Startup.descend", "Startup.fail"}
# Besides what it does later the launcher's thread creates the JVM, which runs Java code for that, and
# asks for its arguments as Java strings (java.base/share/native/libjli/java.c). A thread that ends is
# left by a tail call (Thread::call_run() in share/runtime/thread.cpp).
judge.BEGIN = re.compile(
    rf"{judge.BEGIN.pattern}|"
    rf"[^;]+(?:;{judge.LIBC})?(?:;{judge.LIBJLI})+(?:;\w+){{0,2}};(?:jni_|JNI_CreateJavaVM).*|"
    rf"[^;]+(?:;{judge.LIBC})?;thread_native_entry;JavaThread::post_run;.*")


def judge_start(frames):
    """The judge of all JVMs, and what this program knows of its main thread."""
    verdict = judge.judge(frames)
    if verdict != WHOLE:
        return verdict
    names = [name_of(frame) for frame in frames]
    for name in BELOW_WORK.intersection(names):
        if not in_order(names, *SPINE, name):
            return Verdict("unfinished", f"{name} without {' and '.join(SPINE)}")
    if SPINE[1] in names and not in_order(names, "call_stub", *SPINE):
        return Verdict("unfinished", f"{SPINE[1]} was not called by {SPINE[0]}")
    return WHOLE


def run_starts(version, lives):
    """A recording of the whole host during which one JVM after the other starts; its lines by JVM."""
    java = os.path.join(jdk(version), "bin", "java")
    script = "".join(f"sh -c 'echo pid $$; exec {java} -cp {WORKLOADS} Startup {life}'\n"
                     for life in lives)
    path = temp_path("start.jfr")
    said = hostprof("record", "-a", "-F", FREQUENCY, "--agent=never", "-o", path, "--stats",
                    path + ".json", "--", "sh", "-c", script, timeout=300).out
    pids = {int(pid) for pid in re.findall(r"^pid (\d+)$", said, re.MULTILINE)}
    expect_equal(len(pids), len(lives), "JVMs")
    lines = [line for line in collapsed(path, "--annotate")
             if int(line.process.rpartition("-")[2]) in pids]
    return lines, read_json(path + ".json"), pids


def sum_up(lines):
    """Samples by verdict, and an example of each."""
    counts, examples = collections.Counter(), {}
    for line in lines:
        verdict = judge_start(line.frames)
        counts[verdict] += line.count
        examples.setdefault(verdict, line)
    return counts, examples


def enough_starts(version, lives):
    """Lines of so many recordings as it takes; figures and JVMs of the last one."""
    lines, count = [], 0
    for _ in range(MAX_ROUNDS):
        more, stats, pids = run_starts(version, lives)
        lines += more
        count += len(lives)
        if total(lines) >= 1.1 * LEAST:
            break
    return lines, count, stats, pids


def print_sums(version, starts, counts, examples):
    judged = sum(counts.values()) - counts[STACK_LESS]
    bad = judged - counts[WHOLE]
    print(f"# JDK {version}, {starts} starts: {bad} of {judged} stacks are not whole, "
          f"{100 * bad / max(judged, 1):.3f} %; {counts[STACK_LESS]} samples have no user stack",
          flush=True)
    for verdict, count in counts.most_common():
        if verdict not in (WHOLE, STACK_LESS):
            print(f"#   {count}  {verdict.why}\n#      {';'.join(examples[verdict].frames)[-900:]}",
                  flush=True)
    return judged, bad


def starts_whole(version, lives):
    lines, starts, stats, pids = enough_starts(version, lives)
    counts, examples = sum_up(lines)
    judged, bad = print_sums(version, starts, counts, examples)
    expect(judged >= LEAST, f"only {judged} samples")
    java = total([line for line in lines if any(map(is_java, line.frames))])
    expect(java > judged / 5, f"only {java} of {judged} samples have Java frames")
    expect(bad <= MUST * judged + 4 * math.sqrt(MUST * judged) and bad <= 2 * MUST * judged,
           f"{bad} of {judged} stacks are not whole")
    return stats, pids


def expect_labelled(stats, pids):
    """What is known of a JVM only when it has been there for a while is a label of its samples."""
    rows = [row for row in stats["processes"] if row["pid"] in pids and row["samples"] > 100]
    expect(any(row["main_class"] == "Startup" for row in rows), "no process has a main class")


@test
def starts_17():
    need_root()
    expect_labelled(*starts_whole(17, LIVES))


@test
def starts_25():
    need_root()
    expect_labelled(*starts_whole(25, LIVES))


if sys.argv[1:2] == ["--starts"]:
    starts_whole(int(sys.argv[2]), LIVES * int((sys.argv + ["4"])[3]))
else:
    main()
