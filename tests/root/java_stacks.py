# SPDX-License-Identifier: Apache-2.0
"""The judge of the stacks of tests/workloads/spine: exact frame lists, root to leaf.

A path of the workload is a string with one letter per link (Path.java). LETTERS says which frames a
link has; paths become a tree of frames here, and every sample must be a way from the tree's root to
one of its nodes, with nothing of the workload's own missing or too much, also while the stack is
being built up or taken down. What is not the workload's own may lie between two frames only where a
gap says so (reflection, the JVM's code between C and Java), and below the last one as that frame
allows: a leaf works in the JDK, other links call nobody but the JVM. No two links of one kind follow
each other, so that a skipped frame is no way in the tree. hostprof's own word on whether a stack is
complete is not asked, but a stack that it calls broken is.
"""
import bisect
import collections
import functools
import os
import re

from hp import WORKLOADS, run

Verdict = collections.namedtuple("Verdict", "good why")
GOOD = Verdict(True, "")

OWN = re.compile(r"(Spine|Links|Leaves|Native|Loading|Loaded|Initialized|Path|Again|Thrown|Garbage)"
                 r"[.$]|Java_Native_|spine_|compare_bytes$")
JAVA = re.compile(r"[\w$/+]+(\.[\w$/+<>-]+)+$")
JDK = r"(java|javax|jdk|sun|com\.sun)\."
LAMBDA = "Links$$Lambda.apply"
BODY = "Links.lambda$"
HANDLER = ["spine_on_signal", "spine_work", "spine_libc", "compare_bytes"]
# Words of marks that are no frames: what hostprof did not know how to walk.
MARKS = re.compile(r"\[(unwind: .*|native frames skipped|frozen frames|evicted)\]$")
ANYTHING = re.compile(JDK)

# A gap: which Java frames may lie before the next frame, whether native ones may.
Gap = collections.namedtuple("Gap", "java native")
REFLECT = Gap(re.compile(r"(java\.lang\.(reflect|invoke)|jdk\.internal\.reflect|sun\.reflect)\."),
              True)
HANDLE = Gap(re.compile(r"java\.lang\.invoke\."), False)
INIT = Gap(re.compile(r"java\.lang\.Class\.forName"), True)
FROM_C = Gap(None, True)
MAX_GAP = 40


class Node:
    """A frame, what may follow it, and what it may call that is not the workload's."""

    def __init__(self, name):
        self.name = name
        self.gap = None  # before its children
        self.children = {}
        self.leaf_java = None  # Java frames below it when it is the last
        self.leaf_own = None  # the workload's helpers, which may be inlined
        self.needs_body = False

    def child(self, name):
        return self.children.setdefault(name, Node(name))


# letter → frames, gap to the next link's frame, Java below it when the next one is not there yet
Letter = collections.namedtuple("Letter", "frames gap java own")


def _link(name, gap=None, java=None, own=r"Path\.mix$"):
    return Letter([f"Links${name}.step"], gap, re.compile(java) if java else None,
                  re.compile(own))


LETTERS = {
    **{letter: _link(letter) for letter in "ABCDEFGH"},
    "J": Letter(["Links$Jni.step", "Native.call", "Java_Native_call", "spine_outer",
                 "spine_inner"], FROM_C, None, None),
    "K": _link("ClassInit", INIT, JDK, r"Loading\$Preset\.<init>$"),
    "L": _link("Lambda"),
    "M": _link("Handle", HANDLE, JDK),
    "O": _link("Loop", None, r"java\.lang\.System\.nanoTime$"),
    "R": _link("Reflect", REFLECT, JDK),
    "X": _link("Catch"),
    "Y": _link("Locked"),
}
LEAVES = {
    "a": "Allocate", "b": "BigNumbers", "c": "Checksum", "d": "Deflate", "g": "Digest", "j": "InC",
    "k": "Load", "m": "Maths", "n": "Nothing", "q": "Retransform", "s": "Sort", "t": "Throw",
    "u": "Throw", "v": "Tiny", "y": "Copy",
}
LEAF_OWN = re.compile(r"Leaves\$(One|Two|Three|Four)\.get$|Thrown\.<init>$|Path\.mix$|Again\.|"
                      r"Native\.work$|Java_Native_work$|spine_work$|spine_libc$|compare_bytes$|"
                      r"Loading[.$]|Loaded\.")


# --- the tree ---------------------------------------------------------------------------------


def tree_of(paths):
    """The tree of all paths of a thread; its root stands for the JVM's frames above them."""
    root = Node("")
    run = root.child("Spine.run")
    run.leaf_java = re.compile(r"java\.lang\.System\.nanoTime$")
    for path in paths:
        node, before = run, ""
        for letter in path:
            node = _add_link(node, letter, before)
            before = letter
    return root


def _add_link(node, letter, before):
    """Put a letter's frames below a node, with those that the link before needs between."""
    if before == "L":
        node = _add_lambda(node)
        for parent in (node, node.child(BODY)):
            last = _add_frames(parent, letter, node.children)
        return last
    if before == "K":
        node = node.child("Initialized.<clinit>")
        node.leaf_java = ANYTHING
    return _add_frames(node, letter, {})


def _add_lambda(node):
    proxy = node.child(LAMBDA)
    proxy.needs_body = True  # if it is interpreted; compiled code has it inlined
    return proxy


def _add_frames(node, letter, shared):
    """The letter's frames; the first is that of SHARED where this link has two ways to it."""
    known = LETTERS.get(letter)
    frames = known.frames if known else [f"Leaves${LEAVES[letter]}.step"]
    first = shared.get(frames[0])
    if first:
        node.children[frames[0]] = first
    for name in frames:
        node = node.child(name)
    if known:
        node.gap, node.leaf_java, node.leaf_own = known.gap, known.java, known.own
    else:
        node.leaf_java, node.leaf_own = ANYTHING, LEAF_OWN
    return node


def tree_of_garbage():
    root = Node("")
    run = root.child("Garbage.run")
    run.leaf_java = ANYTHING
    return root


@functools.lru_cache(None)
def library_symbols():
    """Addresses and names of libspine.so: hostprof may show an address instead."""
    path = os.path.join(WORKLOADS, "spine", "libspine.so")
    rows = [row.split() for row in run(["nm", "-n", "--defined-only", path], code=0).out.splitlines()]
    return [(int(row[0], 16), row[2]) for row in rows if row[1] in "tT"]


def name_in_library(address):
    symbols = library_symbols()
    at = bisect.bisect_right(symbols, (address, "\x7f")) - 1
    return symbols[max(at, 0)][1]


# --- one stack --------------------------------------------------------------------------------

# `own`: the workload's; `java`: a Java frame; `kind`: the letter that --annotate gives it.
Frame = collections.namedtuple("Frame", "name kind own java")


@functools.lru_cache(100000)
def parse_frame(text):
    """A frame of `collapsed --annotate`: its name without what differs, and its kind."""
    found = re.match(r"(.*?)(?:_\[([a-z0-9])\])?$", text)
    name, kind = re.sub(r"\(.*\)$", "", found.group(1)), found.group(2) or ""
    if name.startswith("[libspine.so+"):
        name = name_in_library(int(name[13:-1], 16))
    if name.startswith("Links$$Lambda"):
        name = LAMBDA
    elif name.startswith(BODY):
        name = BODY
    elif re.fullmatch(r"(__)?clone3?", name):
        name = "[thread start]"  # with the C library's debug symbols
    own = kind != "k" and bool(OWN.match(name))
    java = kind != "k" and bool(JAVA.match(name)) and (kind != "" or own)
    return Frame(name, kind, own, java)


def broken(frames):
    """Why hostprof itself says that this stack is not whole, or ""."""
    marks = [frame.name for frame in frames
             if frame.name[0] == "[" and frame.kind != "k" and MARKS.match(frame.name)]
    return marks[0] if marks else ""


def without_handler(frames):
    """The frames above a signal handler's; None when those of the handler are wrong."""
    at = next((i for i, frame in enumerate(frames) if frame.name == HANDLER[0]), None)
    if at is None:
        return frames
    own = [frame.name for frame in frames[at:] if frame.own]
    if own != HANDLER[:len(own)] or any(frame.java for frame in frames[at:]
                                        if not frame.own):
        return None
    return frames[:at]


class Judge:
    """Of the threads of one process that run a known tree."""

    def __init__(self, tree):
        self.tree = tree
        # What is equal in every sample: the way into Java, and that from C back into it.
        self.fixed = {"way into Java": collections.Counter(),
                      "way from C to Java": collections.Counter()}

    def learn(self, frames, count):
        """Count the fixed parts of a stack, before any is judged."""
        for what, part in self._fixed_parts(frames):
            self.fixed[what][part] += count

    def _fixed_parts(self, frames):
        names = [frame.name for frame in frames]
        own = [i for i, frame in enumerate(frames) if frame.own]
        if own and names[own[0]] in self.tree.children:
            yield "way into Java", tuple(names[:own[0]])
        for here, after in zip(own, own[1:]):
            if names[here] == "spine_inner":
                yield "way from C to Java", tuple(names[here + 1:after])

    def judge(self, frames):
        if not frames or all(frame.kind == "k" for frame in frames):
            return Verdict(False, "no user frames")
        why = broken(frames)
        if why:
            return Verdict(False, why)
        user = without_handler([frame for frame in frames if frame.kind != "k"])
        if user is None:
            return Verdict(False, "signal handler's frames")
        for what, part in self._fixed_parts(user):
            if not _same_names(part, self.fixed[what].most_common(1)[0][0]):
                return Verdict(False, what)
        return self._walk(user)

    def _walk(self, frames):
        """Follow the workload's own frames through the tree."""
        node, depth, gap, last = self.tree, 0, [], None
        for at, frame in enumerate(frames):
            if not frame.own:
                gap.append(frame)
                continue
            after = node.children.get(frame.name)
            if after is None or node is not self.tree and _bad_gap(node, gap):
                return _judge_end(node, depth, frames[at - len(gap):], after is not None)
            if node.needs_body and last.kind == "0" and frame.name != BODY:
                return Verdict(False, f"depth {depth}: {BODY} is missing")
            node, depth, gap, last = after, depth + 1, [], frame
        return _judge_end(node, depth, gap, False)


def _same_names(one, other):
    """A library's symbols may have been read later than its first samples came."""
    return len(one) == len(other) and all(
        a == b or "+0x" in a or "+0x" in b for a, b in zip(one, other))


def _bad_gap(node, gap):
    """What lies between two links, against what may."""
    if node.gap is None:
        return bool(gap)
    # The JVM's own code enters Java by its call stub only.
    if any(not frame.java for frame in gap) and gap[-1].name != "call_stub":
        return True
    return len(gap) > MAX_GAP or any(not _fits(node.gap, frame) for frame in gap)


def _fits(gap, frame):
    if frame.java:
        return bool(gap.java and gap.java.match(frame.name))
    return gap.native


def _judge_end(node, depth, rest, is_child):
    """What is below the last frame of the way."""
    if not node.name:
        return Verdict(False, "the thread's own frames are missing")
    for frame in rest:
        if frame.own:
            if is_child or not (node.leaf_own and node.leaf_own.match(frame.name)):
                gap = " over a gap" if is_child else ""
                return Verdict(False, f"{frame.name} below {node.name}{gap}")
        elif frame.java and not (node.leaf_java and node.leaf_java.match(frame.name)):
            return Verdict(False, f"{frame.name} below {node.name}")
    return GOOD


# --- threads that are not the workload's ------------------------------------------------------

# Where the JVM's threads, and that which the launcher makes, begin.
ENTRY = re.compile(r"(thread_native_entry|java_start|ThreadJavaMain|JavaMain|_start|main)$|"
                   r"\[(libjvm|libjli)\.so\+0x")


def judge_other(frames):
    """A thread of the JVM: whole down to its start, through the JVM's entry of a thread."""
    user = [frame for frame in frames if frame.kind != "k"]
    if not user:
        return Verdict(False, "no user frames")
    why = broken(frames)
    if why:
        return Verdict(False, why)
    if user[0].name not in ("[thread start]", "[process start]", "_start"):
        return Verdict(False, f"root {user[0].name}")
    if not any(ENTRY.match(frame.name) for frame in user[:6]) and len(user) > 2:
        return Verdict(False, "no entry of a thread")
    return GOOD
