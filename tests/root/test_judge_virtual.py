#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of carriers of virtual threads rejects what is damaged. Needs no root and no JVM."""
import gates
from damage import *
from hp import *
from jvm_frames import FROZEN, is_kernel, name_of
from virtual_judge import LEAF, Row, is_own, judge_carrier


def judge(frames):
    """Why a stack is bad."""
    kind, what = judge_carrier([frame for frame in frames if not is_kernel(frame)])
    return what if kind == "bad" else ""


def links_of(frames):
    """The spine's frames, but the last, and those beside a mark: others may be missing there."""
    own = [at for at, frame in enumerate(frames) if is_own(frame)]
    mark = frames.index(FROZEN) if FROZEN in frames else len(frames)
    above, below = [at for at in own if at < mark], [at for at in own if at > mark]
    return above[:-1] + below[1:-1]


def damaged_carrier(frames):
    names = [name_of(frame) for frame in frames]
    enter = next((at for at, name in enumerate(names) if name.endswith(".enterSpecial")), None)
    own = [at for at, frame in enumerate(frames) if is_own(frame)]
    yield "no ForkJoinWorkerThread.run", [
        frame for frame, name in zip(frames, names)
        if not name.endswith(("WorkerThread.run", "DelayScheduler.run"))]
    if enter is None:
        yield "frozen frames of nobody", [*frames, FROZEN]
        yield "a task without enterSpecial", [*frames, "made.Task.run_[j]"]
        return
    # What comes before the virtual thread's first frame may as well be before enterSpecial().
    if frames[enter + 1:] not in ([], ["I2C/C2I adapters"]):
        yield "no enterSpecial", frames[:enter] + frames[enter + 1:]
    yield "no runContinuation", frames[:enter - 2] + frames[enter:]
    yield "two marks", [*frames[:enter + 1], FROZEN, FROZEN, *frames[enter + 1:]]
    yield "a strange method in the pool", \
        [*frames[:enter - 1], STRANGE_JAVA[0], *frames[enter - 1:]]
    if FROZEN in frames[enter + 2:]:
        yield "a lost beginning above the mark", [*frames[:enter + 1], *frames[enter + 2:]]
    elif FROZEN in frames:
        yield "no mark", [frame for frame in frames if frame != FROZEN]
        yield "a mark above enterSpecial", \
            [*frames[:enter], FROZEN, frames[enter], *frames[enter + 2:]]
        yield "an evicted frame behind the mark", \
            [*frames[:enter + 2], "[evicted]", *frames[enter + 2:]]
        if len(frames) > enter + 3:
            yield "a mark in the midst", \
                [*frames[:enter + 1], *frames[enter + 2:-1], FROZEN, frames[-1]]
    elif len(own) > 1:
        yield "a lost beginning", [*frames[:enter + 1], *frames[own[0]:]]
        yield "the JDK's beginning alone is lost", [*frames[:enter + 2], *frames[own[0] + 1:]]
        yield "the task in the pool", [*frames[:enter - 1], *frames[own[0]:]]
        deep = next((at for at in own if ".deep" in frames[at]), None)
        if deep and name_of(frames[own[-1]]) == LEAF:
            cycle = frames[deep + 1:deep + 8]
            yield "seven levels more", [*frames[:deep + 1], *cycle, *frames[deep + 1:]]
            if int(name_of(frames[deep])[17:]) > 7:
                yield "seven levels less", frames[:deep + 1] + frames[deep + 8:]


@test
def whole_stacks_are_accepted():
    kinds = collections.Counter()
    for line in read_lines("virtual.txt"):
        kind, what = judge_carrier([frame for frame in line.frames if not is_kernel(frame)])
        expect(kind != "bad", f"{what}: {';'.join(line.frames)}")
        kinds[kind] += 1
    expect(all(kinds[kind] >= 5 for kind in ("whole", "cut", "moving", "carrier")), f"kinds {kinds}")


@test
def damaged_stacks_are_rejected():
    count = 0
    for line in read_lines("virtual.txt"):
        for damages in (damaged_everywhere(line.frames), damaged_leaf(line.frames),
                        damaged_carrier(line.frames),
                        damaged_links(line.frames, links_of(line.frames))):
            count += expect_rejected(judge, damages)
    expect(count > 3000, f"only {count} damaged stacks")


# --- shares -------------------------------------------------------------------------------------


def row_of(whole, carrier, bad, lost_leaves=0, cut=0, moving=0, frozen_frames=30000):
    row = Row()
    row.kinds.update(cut=cut, moving=moving, whole=whole, carrier=carrier, bad=bad)
    row.mounted = whole + cut + moving
    row.frozen_frames = frozen_frames
    row.at_leaf = int(0.98 * row.mounted) - lost_leaves
    return row


@test
def shares_are_demanded():
    expect_equal(list(row_of(3000, 30, 0, cut=5, moving=10).faults()), [], "a good row")
    most = gates.most_bad(3030)
    for what, row in {
            "too many bad ones": row_of(3000, 30, most + 1),
            "nothing in the heap": row_of(3000, 30, 0, frozen_frames=3000),
            "marks": row_of(3000, 30, 0, cut=20),
            "many that move": row_of(3000, 30, 0, moving=30),
            "a tenth without leaf": row_of(3000, 30, 0, 300),
            "a tenth has lost its virtual thread": row_of(2700, 330, 0),
    }.items():
        expect(list(row.faults()), f"accepted: {what}")


@test
def bad_lines_are_counted_as_bad():
    line = next(line for line in read_lines("virtual.txt") if FROZEN in line.frames)
    row = Row()
    row.add(line)
    row.add(line._replace(frames=["[evicted]" if frame == FROZEN else frame for frame in line.frames], count=3))
    row.add_dropped(2)
    expect_equal(row.kinds["bad"], 5, "bad")
    expect_equal(row.kinds.total(), 5 + line.count, "all")


main()
