# SPDX-License-Identifier: Apache-2.0
"""The judge of the carriers' stacks of virtual_program.py: whole from the carrier's start to its leaf.

A carrier's stack is the start of its thread, the pool's methods down to Continuation.enterSpecial, and
below that the virtual thread's whole stack, wherever its frames lie. `[frozen frames]` stands for frames
that were not read: while HotSpot moves frames between stack and heap ("moving"), which the stack itself says;
or for another reason ("cut").
"""
import collections
import re

import gates
from jvm_frames import (FRAME, FROZEN, INLINED, OPTIONAL, after_chain, allowed_cause, below_leaf,
                        call_back, flaw, is_java, is_kernel, name_of, over_allowance, thread_start)
from virtual_program import CYCLE, DEPTHS

RUN, LEAF = "made.Task.run", "made.Virtual.leaf"
DOWN, LOCKED = "made.Virtual.down", "made.Virtual.locked"
NATIVE_DOWN = "Java_made_Virtual_down"


def _chain(*rows):
    return [(re.compile(pattern), how) for pattern, how in rows]


# From the thread's first method to where a virtual thread begins: java.util.concurrent.ForkJoinPool,
# java.lang.VirtualThread and jdk.internal.vm.Continuation of 21 to 25. scan() is 21's, the
# tasks' exec() 25's. The last three are never inlined: they change what the current thread is.
FORK_JOIN = r"java\.util\.concurrent\.ForkJoin"
SCHEDULER = _chain(
    (FORK_JOIN + r"WorkerThread\.run", FRAME), (FORK_JOIN + r"Pool\.runWorker", INLINED),
    (FORK_JOIN + r"Pool\.scan", OPTIONAL), (FORK_JOIN + r"Pool\$WorkQueue\.topLevelExec", INLINED),
    (FORK_JOIN + r"Task\.doExec", INLINED), (FORK_JOIN + r"Task\$\w+\.exec", OPTIONAL),
    # One that returns Object, and the one that it calls.
    (FORK_JOIN + r"Task\$\w+\.compute", OPTIONAL), (FORK_JOIN + r"Task\$\w+\.compute", OPTIONAL),
    (r"java\.lang\.VirtualThread\$\$Lambda[^;]*\.run", OPTIONAL),
    (r"java\.lang\.VirtualThread\.runContinuation", FRAME),
    (r"jdk\.internal\.vm\.Continuation\.run", FRAME),
    (r"jdk\.internal\.vm\.Continuation\.enterSpecial", FRAME))
CARRIER, ENTER = "java.util.concurrent.ForkJoinWorkerThread.run", SCHEDULER[-1][0]
MOUNTING = _chain(
    (r"jdk\.internal\.vm\.Continuation\.enter", FRAME),
    (r"jdk\.internal\.vm\.Continuation\.enter0", INLINED),
    (r"java\.lang\.VirtualThread\$VThreadContinuation\$1\.run", INLINED),
    (r"java\.lang\.VirtualThread\.run", INLINED), (r"java\.lang\.VirtualThread\.runWith", OPTIONAL),
    (r"java\.lang\.Thread\.runWith", INLINED), (re.escape(RUN), FRAME))
# A thread of the pool since JDK 25, of a like name.
DELAYS = "java.util.concurrent.DelayScheduler.run"

# What the JDK does below a method: the pool between two tasks; a virtual thread that begins, pauses
# and ends; the monitor's number; a new thread.
POOL = re.compile(r"java\.util\.concurrent\..*|java\.lang\.(?:VirtualThread|Thread|System|Integer)\b.*|"
                  r"jdk\.internal\.(?:misc|vm|event)\..*|java\.lang\.invoke\..*|java\.lang\.ThreadLocal.*|"
                  r"java\.util\.Objects\..*")
PAUSES = (r"java\.lang\.VirtualThread\b.*|java\.util\.concurrent\..*|"
          r"jdk\.internal\.(?:misc|vm|event)\..*|java\.lang\.(?:System|Thread)\b.*|java\.lang\.invoke\..*|"
          r"java\.util\.Objects\..*|made\.Virtual\.(?:pause|nobodyPauses)")
BELOW = {
    LEAF: re.compile(PAUSES),
    LOCKED: re.compile(r"java\.lang\.(?:System\.identityHashCode|Thread\.currentThread)"),
    # A new thread, and its name: code of nextThreadName() before its first safepoint is said to be in what is inlined there.
    RUN: re.compile(PAUSES + r"|java\.lang\.(?:ThreadBuilders|BaseVirtualThread|(?:Abstract)?StringBuilder).*|"
                    r"java\.lang\.Object\.<init>"),
    # Levels pause on their way back.
    "level": re.compile(PAUSES),
}
# Between stack and heap: the stubs that thaw, and what doYield() calls.
MOVING = re.compile(r"(?:StubRoutines \(continuation|[Cc]ont(?:inuation)?[_ ](?:thaw|return|preempt)|freeze<|jdk\.internal\.vm\.Continuation\.doYield_)")
CALL_DOWN = call_back(True, "Int").pattern.split(";")
JNI = {"jni_GetStaticMethodID", "jni_CallStaticIntMethod"}


def is_own(frame):
    """Of the virtual thread's spine."""
    name = name_of(frame)
    return name == NATIVE_DOWN or \
        name.startswith("made.") and not name.endswith((".pause", ".nobodyPauses"))


def may_follow(name):
    """The own frames that may come behind an own frame."""
    if name == RUN:
        return {f"made.Virtual.deep{depth}" for depth in DEPTHS}
    if name == DOWN:
        return {NATIVE_DOWN}
    if name in (NATIVE_DOWN, LOCKED):
        return {"made.Virtual.called2" if name == NATIVE_DOWN else "made.Virtual.locked3"}
    found = re.fullmatch(r"made\.Virtual\.(deep|s|locked|called)(\d+)", name)
    if not found:
        return set()
    kind, number = found.groups()
    below = {f"made.Virtual.s{(int(number) - 1) % CYCLE}"}
    if kind != "s":
        return below
    more = {"s0": {LEAF}, "s3": {DOWN}, "s4": {LOCKED}}
    return below | more.get(f"s{number}", set())


def judge_carrier(frames):
    """
    Annotated FRAMES of a thread of the pool without the kernel's, root first: "carrier", "whole", "moving"
    or "cut" and whether the stack reaches the program's leaf; or "bad" and why.
    """
    # On a busy machine a file's symbols may be read too late for a sample; it has one function.
    frames = [re.sub(r"^\[libvirtual\.so\+0x\w+\]$", NATIVE_DOWN, frame) for frame in frames]
    why = flaw(frames)
    if why:
        return "bad", why
    count = thread_start(frames)
    if not count or count == len(frames) or not is_java(frames[count]):
        return "bad", f"starts with {';'.join(map(name_of, frames[:count + 1]))}"
    return judge_java(frames[count:])


def judge_java(frames):
    """From the thread's first method on."""
    if name_of(frames[0]) == DELAYS:
        return judge_pool(frames, 1)
    if name_of(frames[0]) != CARRIER:
        return "bad", f"begins with {name_of(frames[0])}"
    at = after_chain(frames, SCHEDULER)
    if not ENTER.fullmatch(name_of(frames[at - 1])):
        return judge_pool(frames, at)
    marks = frames.count(FROZEN)
    if marks > 2 or FROZEN in frames[:at] or marks == 2 and frames[at] != FROZEN:
        return "bad", f"{marks} marks"
    if marks == 2:
        return judge_twice_marked(frames[at + 1:])
    return judge_marked(frames[at:]) if marks else judge_mounted(frames[at:], False)


def judge_marked(frames):
    """Frames from the virtual thread's first one on, and others, between which some are missing."""
    mark = frames.index(FROZEN)
    above, below = frames[:mark], frames[mark + 1:]
    kind, what = judge_mounted(above, False) if above else ("whole", False)
    if kind == "bad":
        return kind, what
    kind, what = judge_mounted(below, True)
    if kind == "cut" and any(MOVING.match(frame) for frame in below):
        kind = "moving"
    return kind, what


def judge_twice_marked(frames):
    """Behind a first mark, whose frames could not be read: others of the heap, and those that HotSpot just moves."""
    mark = frames.index(FROZEN)
    if not mark:
        return "bad", "two marks for one place"
    kind, what = judge_mounted(frames[:mark], True)
    if kind == "bad":
        return kind, what
    kind, what = judge_marked(frames[mark:])
    return (kind, what) if kind == "bad" else ("cut", False) if kind == "moving" else ("bad", "2 marks")


def judge_pool(frames, at):
    """A carrier without a virtual thread: AT is behind the last method that leads to one."""
    strange = [name_of(frame) for frame in frames if is_own(frame) or frame == FROZEN or
               any(part.fullmatch(name_of(frame)) for part, _ in [SCHEDULER[-1], *MOUNTING])]
    why = f"{strange[0]} behind {name_of(frames[at - 1])}" if strange else \
        below_leaf(frames[at - 1], frames[at:], POOL)
    return ("bad", why) if why else ("carrier", False)


def judge_mounted(frames, marked):
    """The frames of the virtual thread that are on the stack: all of them, or those behind a mark."""
    own = next((at for at, frame in enumerate(frames) if is_own(frame)), None)
    at = behind_mounting(frames, marked)
    if marked and not at:
        return judge_thawed(frames, own)
    if not at and frames and frames != ["I2C/C2I adapters"]:
        return "bad", f"{name_of(frames[0])} behind enterSpecial"
    if own is None:
        why = below_leaf(frames[at - 1], frames[at:], POOL) if at else ""
        return ("bad", why) if why else ("cut" if marked else "whole", False)
    if own != at - 1 or name_of(frames[own]) != RUN:
        return "bad", f"{name_of(frames[own])} behind {name_of(frames[own - 1])}"
    return judge_spine(frames[own:], marked)


def behind_mounting(frames, marked):
    """How many of FRAMES lead to the task's method; behind a mark they may begin with any of these."""
    starts = range(len(MOUNTING)) if marked else [0]
    return max(after_chain(frames, MOUNTING[start:]) for start in starts
               if not frames or not start or MOUNTING[start][0].fullmatch(name_of(frames[0])))


def judge_thawed(frames, own):
    """Behind the mark: the first frame is one that came back or never left, whose caller is frozen."""
    if own is None:
        # Behind the return barrier: the JVM brings the next frames back, or a pause's methods return.
        why = below_leaf("[frozen frames]_[j]", frames, re.compile(PAUSES))
        return ("bad", why) if why else ("cut", False)
    if own:
        return "bad", f"{name_of(frames[0])} behind {FROZEN}"
    return judge_spine(frames, True)


def judge_spine(frames, frozen):
    """FRAMES begin with one of the spine, and all of its frames have to follow."""
    at = 0
    while True:
        name = name_of(frames[at])
        if is_java(frames[at]) != (name != NATIVE_DOWN):
            return "bad", f"{frames[at]} is Java, or is not"
        step = behind_call_down(frames, at) if name == NATIVE_DOWN else at + 1
        if step is None or step >= len(frames) or not is_own(frames[step]):
            break
        if name_of(frames[step]) not in may_follow(name):
            return "bad", f"{name_of(frames[step])} behind {name}"
        at = step
    why = judge_end(frames[at], frames[at + 1:]) or wrong_depth(frames[:at + 1], frozen)
    return ("bad", why) if why else ("cut" if frozen else "whole", name_of(frames[at]) == LEAF)


def behind_call_down(frames, at):
    """Where the Java method is that the C function at AT calls back; None without the way to it."""
    way = [name_of(frame) for frame in frames[at + 1:at + 1 + len(CALL_DOWN)]]
    return at + 1 + len(CALL_DOWN) \
        if len(way) == len(CALL_DOWN) and re.fullmatch(";".join(CALL_DOWN), ";".join(way)) else None


def judge_end(last, rest):
    """What lies below the last frame of the spine."""
    name = name_of(last)
    strange = [name_of(frame) for frame in rest if is_own(frame)]
    if strange:
        return f"{strange[0]} behind {name}"
    if name != NATIVE_DOWN:
        return below_leaf(last, rest, BELOW.get(name) or (BELOW["level"] if name != DOWN else None))
    if not rest:
        return ""
    java = [name_of(frame) for frame in rest if is_java(frame)]
    if java or name_of(rest[0]) not in JNI and not rest[0].startswith("[libjvm.so+0x"):
        return f"{java[0] if java else name_of(rest[0])} below {name}"
    return ""


def wrong_depth(spine, frozen):
    """With its leaf and its beginning on the stack it has all levels; never more than there are."""
    names = [name_of(frame) for frame in spine]
    deep = [int(name[17:]) for name in names if name.startswith("made.Virtual.deep")]
    levels = sum(bool(re.fullmatch(r"made\.Virtual\.(?:s|locked|called)\d", name)) for name in names)
    if deep and names[-1] == LEAF and levels != deep[0]:
        return f"{levels} levels of {deep[0]}"
    if levels > (deep[0] if deep else max(DEPTHS)):
        return f"{levels} levels"
    return "" if frozen or names[0] == RUN else f"begins with {names[0]}"


# --- many stacks --------------------------------------------------------------------------------

# Each visit of the leaf is 32,000 rounds of sixteen statements; the way there and back, with its pauses,
# took 2 to 4 % of that where it is compiled, and a carrier is without a virtual thread for less.
LEAST_AT_LEAF, MOST_CARRIERS = 0.93, 0.03
# A walk that userspace had to finish (of code that is met for the first time) finds the heap of a later
# time; and a few samples meet HotSpot moving frames (seen: 0.06 to 0.18 %).
MOST_CUT, MOST_MOVING = 0.001, 0.005


class Row:
    """What the carriers' samples came to."""

    def __init__(self):
        self.kinds, self.reasons, self.allowed = (collections.Counter() for _ in range(3))
        self.mounted = self.at_leaf = self.frozen_frames = 0

    def add(self, line):
        """One example of each reason is printed."""
        kind, what = judge_carrier([frame for frame in line.frames if not is_kernel(frame)])
        self.kinds[kind] += line.count
        cause = "" if kind == "bad" else allowed_cause(line.frames)
        self.allowed.update({cause: line.count} if cause else {})
        if kind == "bad":
            self.reasons[what] += line.count
            if self.reasons[what] == line.count:
                print(f"# {what}: {';'.join(line.frames)[:3000]}")
        elif kind != "carrier":
            self.mounted += line.count
            self.at_leaf += what * line.count

    def add_dropped(self, count):
        """A sample that was lost, is late or was thrown away is bad."""
        self.kinds["bad"] += count
        self.reasons.update({"lost, late or thrown away": count} if count else {})

    def show(self, name):
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.items())
        print(f"# {name}: {kinds}; {self.frozen_frames} frames in the heap; {self.at_leaf} of {self.mounted} at the leaf; "
              f"{dict(self.reasons.most_common(8))}; allowed {dict(self.allowed)}")

    def faults(self, most_cut=MOST_CUT, most_moving=MOST_MOVING, most_carriers=MOST_CARRIERS):
        """Why what came cannot be."""
        samples, bad = self.kinds.total(), self.kinds["bad"]
        if bad > gates.most_bad(samples):
            yield f"{bad} of {samples} are bad; {gates.most_bad(samples)} may be"
        if self.at_leaf < LEAST_AT_LEAF * self.mounted:
            yield f"{self.at_leaf} of {self.mounted} stacks of virtual threads reach the leaf"
        if self.kinds["cut"] > gates.most_bad(samples, most_cut):
            yield f"{self.kinds['cut']} of {samples} have frozen frames"
        if self.kinds["moving"] > most_moving * samples:
            yield f"{self.kinds['moving']} of {samples} have frames that move"
        if self.frozen_frames < samples:
            yield f"only {self.frozen_frames} frames were read in the heap: this proves nothing"
        if self.kinds["carrier"] > most_carriers * samples:
            yield f"{self.kinds['carrier']} of {samples} stacks are without a virtual thread"
        yield from over_allowance(self.allowed, samples)
