#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Inlined methods and lines of compiled code, read from outside: each stack is the one that the JVM itself told."""
import gates
from hp import *

SAMPLES = 5000
NOBODY = 65534
# Nothing that could help: no attaching, no performance data, no signals, nobody's user.
CLOSED = ["-Xrs", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData", "-Xmx64m"]
LEAVES = ["-XX:CompileCommand=quiet", *(f"-XX:CompileCommand=dontinline,Inlined.leaf{n}" for n in range(8))]
# Flags, and after how many rounds all is compiled that will be.
KINDS = {
    "c2": ([], 12000),
    "c1": (["-XX:TieredStopAtLevel=1"], 3000),
    "interpreter": (["-Xint"], 20),
}
WORKER = "inlined-worker"
# What the JVM leaves out of what it tells: jdk.internal.vm.annotation.Hidden, and lambdas' own classes.
HIDDEN = re.compile(r"\$\$Lambda|^java\.lang\.Thread\.runWith:")


def told_ways(text):
    """path → its frames, innermost first, as the workload printed them."""
    return {row.split()[1]: row.split()[2:] for row in text.splitlines() if row.startswith("path ")}


def way_below_leaf(frames):
    """(path, frames from the leaf's caller on, innermost first) of a stack's annotated frames; None: it is in no
    leaf."""
    java = [plain(frame) for frame in frames if re.search(r"_\[[ji01]\]$", frame)]
    java = [name for name in java if not HIDDEN.search(name)][::-1]
    at = next((i for i, name in enumerate(java) if name.startswith("Inlined.leaf")), None)
    return None if at is None else (java[at][len("Inlined.leaf")], java[at + 1:])


def judge(lines, ways):
    """Counts of "right", "wrong", "elsewhere" and, of the right ones, "inlined"."""
    counts = collections.Counter()
    for line in lines:
        found = way_below_leaf(line.frames)
        answer = "elsewhere" if found is None else "right" if found[1] == ways[found[0]] else "wrong"
        counts[answer] += line.count
        counts["inlined"] += line.count * (answer == "right" and any(f.endswith("_[i]") for f in line.frames))
        if answer == "wrong" and counts["wrong"] < 5:
            print(f"#   leaf{found[0]}: {' < '.join(found[1])}")
            print(f"#   the JVM says {' < '.join(ways[found[0]])}")
    return counts


def check(version, kind):
    flags, rounds = KINDS[kind]
    jvm = java(version, "Inlined", 600, rounds, flags=[*CLOSED, *LEAVES, *flags], ready=None,
               preexec_fn=lambda: os.setuid(NOBODY))
    jvm.wait_text(timeout=120)
    ways = told_ways(jvm.text)
    expect_equal(sorted(ways), [str(n) for n in range(8)], "paths")
    recorder = Recorder("-p", jvm.pid, "-F", 1997, "--agent=never")
    let_run(jvm.pid, 1997, {WORKER: SAMPLES})
    path = recorder.end()
    lost = gates.dropped(read_json(recorder.stats_path))
    lines = of_pid(collapsed(path, "-t", "--annotate", "--lines"), jvm.pid)
    counts = judge([line for line in lines if line.thread.startswith(f"[{WORKER} tid=")], ways)
    print(f"# JDK {version}, {kind}: {dict(counts)}, {lost} lost")
    everything = sum(counts[each] for each in ("right", "wrong", "elsewhere"))
    expect(everything >= SAMPLES, f"only {everything} samples")
    expect(counts["elsewhere"] < 0.05 * everything, f"{counts['elsewhere']} samples are in no leaf")
    expect(counts["wrong"] + lost <= 0.001 * everything, f"{counts['wrong']} wrong, {lost} lost of {everything}")
    expect(counts["inlined"] > 0.9 * counts["right"] if kind == "c2" else True, "hardly anything is inlined")
    return counts


@for_each_jdk(JDKS)
def frames_and_lines_c2(version):
    need_root()
    check(version, "c2")


@for_each_jdk(JDKS)
def frames_and_lines_c1(version):
    need_root()
    expect(check(version, "c1")["inlined"] > 0, "C1 inlines trivial methods")


@for_each_jdk(JDKS)
def frames_and_lines_interpreter(version):
    need_root()
    expect_equal(check(version, "interpreter")["inlined"], 0, "inlined frames of interpreted code")


@test
def the_judge_rejects():
    """A line, a method too few, one too many and another path's way are wrong."""
    way = ["Inlined.straight:134", "Inlined.round:193", "Inlined.run:209", "java.lang.Thread.run:840"]
    frames = ["call_stub"] + [f"{frame}_[i]" for frame in way[::-1]] + ["Inlined.leaf0:70_[j]"]
    damaged = [frames[:4] + ["Inlined.straight:135_[i]"] + frames[5:], frames[:3] + frames[4:],
               frames[:2] + frames[1:], frames[:-1] + ["Inlined.leaf1:70_[j]"], frames[:4] + frames[5:]]
    for each, answer in [(frames, "right"), *((bad, "wrong") for bad in damaged), (frames[:-1], "elsewhere")]:
        counts = judge([Line("p", "", each, 1)], {"0": way, "1": ["Inlined.deep5:1"]})
        expect_equal(counts[answer], 1, f"{answer}: {each}")


main(lanes=2)
