#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of programs made at random rejects what is damaged. Needs no root and no JVM.

The stacks in tests/data/judges/random.txt are of the program of one seed; who changes what a seed
makes records them again (test_random.py with HOSTPROF_SEED).
"""
import gates
from damage import *
from hp import *
from jvm_frames import is_java
from random_judge import LineJudge, Row, judge_pid, parse_clocks, strange_shares
from random_program import Program

SEED = 11
FREQUENCY = 997
LINE = LineJudge(Program(SEED), "no directory")


def lines():
    return read_lines("random.txt")


def worker_of(line):
    return int(line.thread[6])


def judge_as(worker):
    """Why a stack is bad."""
    def judge(frames):
        kind, what = LINE.judge_line(worker, frames)
        return what if kind == "bad" else ""
    return judge


def links_of(frames):
    """The frames from run() on whose order the program knows, but the last: it may not be there yet."""
    own = LINE.judge.own
    at = [place for place, frame in enumerate(frames) if plain(frame) in own]
    return list(range(at[0] - 1, at[-1])) if at else []


@test
def whole_stacks_are_accepted():
    kinds = collections.Counter()
    for line in lines():
        kind, what = LINE.judge_line(worker_of(line), line.frames)
        expect(kind != "bad", f"{what}: {';'.join(line.frames)}")
        kinds[kind] += 1
    expect(all(kinds[kind] >= 5 for kind in ("leaf", "part", "outside")), f"kinds {kinds}")


@test
def damaged_stacks_are_rejected():
    count = 0
    for line in lines():
        judge, frames = judge_as(worker_of(line)), line.frames
        count += expect_rejected(judge, damaged_everywhere(frames))
        count += expect_rejected(judge, damaged_leaf(frames))
        count += expect_rejected(judge, damaged_links(frames, links_of(frames)))
        count += expect_rejected(judge_as(1 - worker_of(line)), [("another worker", frames)])
    expect(count > 3000, f"only {count} damaged stacks")


def damaged_way(frames):
    """Between C and Java, and what the program knows of its own functions."""
    for at, frame in enumerate(frames):
        if frame.startswith("jni_Call"):
            yield "another kind of method", with_frame(
                frames, at, frame.replace("Static", "") if "Static" in frame else
                re.sub("jni_Call(Nonvirtual)?", "jni_CallStatic", frame))
            yield "another type of result", with_frame(frames, at, "jni_CallObjectMethod")
            yield "a stub for the call stub", with_frame(frames, at + 3, "StubRoutines (1)") \
                if frames[at + 3:at + 4] == ["call_stub"] else frames[:1]
        if frame.startswith("Java_made_T"):
            yield "C code as if it were Java", with_frame(frames, at, f"{frame}_[j]")
            yield "C code of another method", with_frame(frames, at, f"{frame}9")
    last = user_frames(frames)[-1]
    if frames[last].startswith("Java_made_T") or re.match(r"made\d_", frames[last]):
        for name in (*STRANGE_NATIVE, *STRANGE_JAVA, "StubRoutines (1)"):
            yield f"{name} below C", [*frames[:last + 1], name, *frames[last + 1:]]


@test
def damaged_ways_are_rejected():
    count = sum(expect_rejected(judge_as(worker_of(line)), damaged_way(line.frames))
                for line in lines())
    expect(count > 200, f"only {count} damaged stacks")


def handlers_below(line):
    """A handler of signatures where it cannot be: below all but the interpreted native method, or above anything."""
    name = "native signature handlers"
    at = native_of(line.frames)
    yield f"{name} below C", [*line.frames[:at + 2], name]
    yield f"{name} below its caller", [*line.frames[:at], name]
    yield f"{name} below compiled code", [*line.frames[:at], line.frames[at].replace("_[0]", "_[j]"), name]
    for below in (*STRANGE_NATIVE, "StubRoutines (1)", line.frames[at + 1], name):
        yield f"{below} below {name}", [*line.frames[:at + 1], name, below]


def native_of(frames):
    """Where the last native method is that the interpreter called; None: nowhere."""
    found = [at for at, (frame, below) in enumerate(zip(frames, frames[1:]))
             if re.fullmatch(r"made\.T\d+\.native\d+_\[0\]", frame) and below.startswith("Java_made_T")]
    return found[-1] if found else None


@test
def signature_handlers_are_leaves_of_the_interpreter():
    count = 0
    for line in lines():
        at = native_of(line.frames)
        if at is None:
            continue
        kind, what = LINE.judge_line(worker_of(line), [*line.frames[:at + 1], "native signature handlers"])
        expect(kind != "bad", f"{what} below {line.frames[at]}")
        count += expect_rejected(judge_as(worker_of(line)), handlers_below(line))
    expect(count > 20, f"only {count} damaged stacks")


# --- shares -------------------------------------------------------------------------------------

CLOCKS = """path 0 0 1000000000 300 10000000 10
path 0 1 2000000000 600 20000000 20
worker 0 3010000000
"""


def row_of(leaves, parts, outside):
    """By path: samples that reach its leaf and that do not."""
    paths = {(0, number): leaf + part for number, (leaf, part) in enumerate(zip(leaves, parts))}
    kinds = {"leaf": sum(leaves), "part": sum(parts), "outside": outside}
    return Row(collections.Counter(kinds), collections.Counter(paths),
               collections.Counter({(0, number): leaf for number, leaf in enumerate(leaves)}),
               collections.Counter(), collections.Counter())


@test
def shares_are_compared():
    took = parse_clocks(CLOCKS)
    expect_equal(strange_shares(row_of((700, 1400), (300, 600), 10), took, FREQUENCY), [], "as its clocks say")
    for what, row in {
            "the leaves are lost": row_of((0, 0), (1000, 2000), 10),
            "leaves of one path are lost": row_of((0, 1400), (1000, 600), 10),
            "a third of the leaves is lost": row_of((350, 950), (650, 1050), 10),
            "one path is another": row_of((1300, 800), (500, 400), 10),
            "a path has no sample": row_of((0, 2100), (0, 900), 10),
            "run() alone is left of a third": row_of((470, 930), (200, 400), 1000),
    }.items():
        expect(strange_shares(row, took, FREQUENCY), f"accepted: {what}")


@test
def bad_lines_are_counted_as_bad():
    """Through the whole judge of a process: what is damaged is in its sum, with its weight."""
    line = next(line for line in lines() if is_java(line.frames[-1]))
    damaged = line._replace(frames=["[unwind: depth]", *line.frames[1:]], count=3)
    row = judge_pid(LINE, [line, damaged], line.process.rpartition("-")[2])
    expect_equal((row.kinds["bad"], row.kinds.total()), (3, 3 + line.count), "bad and all")
    expect_equal(gates.dropped({"lost": 2, "late_samples": 1}), 3, "dropped")


main()
