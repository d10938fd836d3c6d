#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JVMs that start while a recording of the whole host runs: whole from their first Java frame on.

More starts, with examples of every stack that is not whole:

    sudo HOSTPROF_BUILD=build tests/root/test_java_start.py --starts 17 [RUNS]
"""
import gates
from hp import *
from java_calls import is_hidden, of_jdk, owner_of

sys.path.append(os.path.join(ROOT, "tests", "real"))
import judge
from judge import STACK_LESS, WHOLE, Verdict, is_java, name_of

FREQUENCY = 997
# Milliseconds that the programs run; most of a short one's life is the JVM's own start.
LIVES = [300, 2000, 600, 300]
# On a busy machine a program of 300 ms gets few samples: once more, then.
LEAST = 1000
MAX_ROUNDS = 5
MOST_STACKLESS = 0.05
# Seen: none where cpus are quick, 0.1 to 2.1 % on a slow machine whose page cache is taken away.
MOST_LATE = 0.05
# Of what a JVM is like that is not read yet.
LATE = {"[evicted]", "[unwind: no-code-blob]"}
# Samples and bad ones by version, of the tests that ran in this process.
cells = {}
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


def judge_start(frames, calls):
    """The judge of all JVMs, and what this program and its JDK's class files know of its threads."""
    verdict = judge.judge(frames)
    if verdict != WHOLE:
        return verdict
    names = [name_of(frame) for frame in frames]
    for name in BELOW_WORK.intersection(names):
        if not in_order(names, *SPINE, name):
            return Verdict("unfinished", f"{name} without {' and '.join(SPINE)}")
    if SPINE[1] in names and not in_order(names, "call_stub", *SPINE):
        return Verdict("unfinished", f"{SPINE[1]} was not called by {SPINE[0]}")
    for above, frame in zip(frames, frames[1:]):
        if is_java(above) and is_java(frame) and not may_call(calls, above, frame):
            return Verdict("unfinished", f"{name_of(above)} does not call {name_of(frame)}")
    return WHOLE


def may_call(calls, above, frame):
    """Nothing is inlined into an interpreted method: its class file has the call. Of compiled code, and of classes
    without a file, nothing is said."""
    caller, callee = name_of(above), name_of(frame)
    return not above.endswith("_[0]") or is_hidden(owner_of(caller)) or calls.direct(caller, callee)


def pid_of(line):
    return int(line.process.rpartition("-")[2])


def run_starts(version, lives):
    """A recording of the whole host during which one JVM after the other starts; its lines by JVM."""
    java = os.path.join(jdk(version), "bin", "java")
    script = "".join(f"sh -c 'echo pid $$; exec {java} -cp {WORKLOADS} Startup {life}'\n"
                     for life in lives)
    path = temp_path("start.jfr")
    said = hostprof("record", "-a", "-F", FREQUENCY, "--agent=never", "-o", path, "--stats",
                    path + ".json", "--", "sh", "-c", script, timeout=300).out
    pids = [int(pid) for pid in re.findall(r"^pid (\d+)$", said, re.MULTILINE)]
    expect_equal(len(pids), len(lives), "JVMs")
    lines = [line for line in collapsed(path, "--annotate") if pid_of(line) in pids]
    return lines, read_json(path + ".json"), pids


def sum_up(lines, calls):
    """Samples by verdict, and an example of each."""
    counts, examples = collections.Counter(), {}
    calls.load_for({(name_of(above), name_of(frame)) for line in lines for above, frame in zip(line.frames, line.frames[1:])
                    if is_java(above) and is_java(frame) and above.endswith("_[0]")})
    for line in lines:
        verdict = judge_start(line.frames, calls)
        counts[verdict] += line.count
        examples.setdefault(verdict, line)
    return counts, examples


def enough_starts(version, lives):
    """Lines of so many recordings as it takes, and how many samples they lost; figures and JVMs of the last one; the first JVM of each."""
    lines, count, lost, firsts = [], 0, 0, set()
    for _ in range(MAX_ROUNDS):
        more, stats, pids = run_starts(version, lives)
        lines += more
        count += len(lives)
        lost += gates.dropped(stats)
        firsts.add(pids[0])
        if total(lines) >= 1.1 * LEAST:
            break
    return lines, count, lost, stats, pids, firsts


def without_late(lines, firsts):
    """Of the first JVM of a recording what its libjvm is like is to be read yet when its first methods run, and some are called [evicted], or cannot be walked."""
    late = [line for line in lines if pid_of(line) in firsts and LATE.intersection(line.frames)]
    print(f"# {total(late)} of {total(lines)} stacks are a first JVM's, with frames that nobody knew in time", flush=True)
    expect(total(late) <= MOST_LATE * total(lines), f"{total(late)} of {total(lines)} came too late for their names")
    return [line for line in lines if line not in late]


def print_sums(version, starts, counts, examples, lost):
    judged = sum(counts.values()) - counts[STACK_LESS] + lost
    bad = judged - counts[WHOLE]
    print(f"# JDK {version}, {starts} starts: {bad} of {judged} stacks are not whole, {lost} of them lost, "
          f"{100 * bad / max(judged, 1):.3f} %; {counts[STACK_LESS]} samples have no user stack",
          flush=True)
    for verdict, count in counts.most_common():
        if verdict not in (WHOLE, STACK_LESS):
            print(f"#   {count}  {verdict.why}\n#      {';'.join(examples[verdict].frames)[-900:]}",
                  flush=True)
    return judged, bad


def starts_whole(version, lives):
    before = cpu_ticks()
    lines, starts, lost, stats, pids, firsts = enough_starts(version, lives)
    stolen = stolen_since(before)
    lines = without_late(lines, firsts)
    counts, examples = sum_up(lines, of_jdk(jdk(version), WORKLOADS))
    judged, bad = print_sums(version, starts, counts, examples, lost)
    if bad > gates.most_bad(judged):
        need_own_cpus(stolen, "names that are read in time")
    print(f"# a hypervisor and interrupts took {100 * stolen:.0f} % of what the cpus ran")
    cells[version] = judged, bad
    expect(judged >= LEAST, f"only {judged} samples")
    java = total([line for line in lines if any(map(is_java, line.frames))])
    expect(java > judged / 5, f"only {java} of {judged} samples have Java frames")
    # Tasks that have no user stack yet are few: a start of a program.
    expect(counts[STACK_LESS] <= MOST_STACKLESS * judged, f"{counts[STACK_LESS]} samples have no user stack")
    expect(bad <= gates.most_bad(judged), f"{bad} of {judged} stacks are not whole")
    expect_named(lines, judged, stats)
    return stats, pids


def expect_named(lines, judged, stats):
    """Compiled code is thrown away soon in a start: who names it is woken by the first sample that shows it."""
    evicted = total([line for line in lines if "[evicted]" in line.frames])
    woken = stats["capture"]["new_code"]
    print(f"# {evicted} of {judged} stacks have frames of code that was gone; {woken} samples showed new code", flush=True)
    expect(woken > 50, f"only {woken} samples showed new code")
    expect(evicted <= gates.most_bad(judged), f"{evicted} of {judged} stacks have frames of code that was gone")


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


@test
def sum_over_all_starts():
    if not cells:
        skip("no start was recorded")
    judged, bad = (sum(column) for column in zip(*cells.values()))
    most = gates.most_bad_of_suite(judged)
    print(f"# all starts: {bad} of {judged} are bad, at most {most}")
    expect(bad <= most, f"{bad} of {judged} are bad, at most {most}")


if sys.argv[1:2] == ["--starts"]:
    starts_whole(int(sys.argv[2]), LIVES * int((sys.argv + ["4"])[3]))
else:
    main()
