# SPDX-License-Identifier: Apache-2.0
"""The judge of the stacks of tests/workloads/spine: exact frame lists, root to leaf.

A path of the workload is a string with one letter per link (Path.java). LETTERS says which frames a
link has; paths become a tree of frames here, and every sample must be a way from the tree's root to
one of its nodes, with nothing of the workload's own missing or too much, also while the stack is
being built up or taken down. No two links of one kind follow each other, so that a skipped frame is no
way in the tree. All else is a constant, too: java_vm.py has the thread's start, what lies between two
links, and which native frames may stand below a Java frame; LEAF_CLASSES the JDK's classes that a link works in;
java_calls.py reads of their class files which method can call which. A frame without a name is bad. hostprof's
own word on whether a stack is complete is not asked, but a stack that it calls broken is.
"""
import collections
import functools
import re

from java_calls import is_hidden, owner_of
from java_vm import *

# `noted`: a stack that is accepted and counted; only a small share may be so.
# `leaf`: the leaf that it reached, by its class in Leaves.java, unless a signal's handler is on top.
Verdict = collections.namedtuple("Verdict", "good why noted leaf", defaults=("", ""))
GOOD = Verdict(True, "")

OWN = re.compile(r"(Spine|Links|Leaves|Native|Loading|Loaded|Initialized|Path|Again|Thrown|Garbage|Link)"
                 r"[.$]|Java_Native_|spine_|compare_bytes$")
JAVA = re.compile(r"[\w$/+]+(\.[\w$/+<>-]+)+$")
LAMBDA = "Links$$Lambda.apply"
BODY = "Links.lambda$"
# A signal's frame is glibc's trampoline, which has no symbol; these are its bytes (sysdeps/unix/sysv/linux/x86_64).
TRAMPOLINE = bytes.fromhex("48c7c00f0000000f05")
JVM_HANDLER = re.compile(r"JVM_handle_linux_signal$|javaSignalHandler$|PosixSignals::|signalHandler|\[libjvm")
HANDLER = "spine_on_signal"
# What hostprof did not know how to walk, and frames without a name.
MARKS = re.compile(r"\[(unwind: .*|native frames skipped|frozen frames|evicted|JIT|unknown)\]$|\[.*\?\]$")
NO_FRAME = "interpreter without a frame"
# While a compiled frame becomes interpreted ones, these are there before their methods are (vframeArray.cpp,
# unpack_to_stack()).
UNWRITTEN = "frames of a deoptimisation that are not written yet"
UNPACKS = re.compile(r"(?:Interpreter;)*DeoptimizationBlob;(?:Deoptimization::unpack_frames(?:;|$)|\[libjvm\.so\+)")

# A node's class of the JDK's Java frames below it, whatever their order: java_calls.py says that.
REFLECTS = (r"java\.lang\.reflect\.|(jdk\.internal|sun)\.reflect\.|java\.lang\.invoke\.|sun\.invoke\.util\.|"
            r"java\.lang\.(Object|Long|Integer|Number|Class|Throwable|Exception|ReflectiveOperationException|"
            r"ref\.Reference)\.")
LOADS = (r"java\.lang\.(ClassLoader|Class|Byte|String|StringLatin1|AbstractStringBuilder|StringBuilder|Integer|"
         r"System|Object|Math|Thread|Module|NamedPackage|ref\.\w+)\b|java\.util\.(Array|Abstract|Vector|Hashtable|Weak|"
         r"Collections\$SetFromMap|Objects|concurrent\.Concurrent)|java\.security\.|(sun\.misc|jdk\.internal)\.")
LEAF_CLASSES = {
    "Allocate": r"java\.lang\.(Object|Integer|Byte|String|StringLatin1|\w*StringBuilder|System|Math)\.|"
                r"java\.util\.(HashMap|Arrays)[.$]|jdk\.internal\.(util\.|misc\.Unsafe\.)",
    "BigNumbers": r"java\.math\.BigInteger\.|java\.lang\.(Integer|Number|Object|Math|System)\.|"
                  r"java\.util\.(Arrays|Objects)\.|jdk\.internal\.util\.Preconditions\.",
    "Checksum": r"java\.util\.(zip\.CRC32|Objects)\.|java\.lang\.Object\.|jdk\.internal\.util\.Preconditions\.",
    "Copy": r"java\.util\.Arrays\.|java\.lang\.System\.",
    "Deflate": r"java\.util\.(zip\.(Deflater|Inflater|ZStreamRef)|Objects)[.$]|jdk\.internal\.util\.Preconditions\.",
    "Digest": r"sun\.security\.provider\.|java\.security\.MessageDigest[.$]|java\.lang\.(invoke\.Var|invoke\."
              r"MethodHandle\.|Integer|System|Math)|java\.util\.(Arrays|Objects)\.|(jdk\.internal|sun)\.(misc|util)\.",
    "InC": None,
    "Load": rf"{LOADS}|{REFLECTS}",
    "Maths": r"java\.lang\.(Math|StrictMath|Double)\.",
    "Nothing": None,
    "Retransform": r"sun\.instrument\.|java\.lang\.(instrument|System|Object|String)\b|jdk\.internal\.util\.",
    "Sort": r"java\.util\.(Arrays|DualPivotQuicksort)[.$]|java\.lang\.invoke\.|java\.lang\.Math\.",
    "Throw": r"java\.lang\.(Runtime\w*|Object|Throwable|Exception)\.",
    "Tiny": None,
}
# Of the samples that reach a leaf so many at least have this frame below it: about half of what was seen in any
# case on any JDK. Who loses frames below a leaf loses these.
BELOW_LEAF = {
    # C2 may inline all of BigInteger; what it works in then is the stub that multiplies.
    "BigNumbers": (0.45, rf"java\.math\.BigInteger\.|StubRoutines|{BIG_NUMBERS}"),
    "Checksum": (0.5, rf"StubRoutines|java\.util\.zip\.CRC32\.|{SUMS}"),
    "Deflate": (0.45, r"Java_java_util_zip_(Deflater_deflate|Inflater_inflate)"),
    "Digest": (0.5, rf"sun\.security\.provider\.|StubRoutines|{DIGESTS}"),
    "InC": (0.08, r"compare_bytes$"),
    "Load": (0.12, r"java\.lang\.ClassLoader\.defineClass"),
    "Sort": (0.45, r"java\.util\.DualPivotQuicksort\."),
    "Throw": (0.45, r"Java_java_lang_Throwable_fillInStackTrace$"),
}
BELOW_LEAF = {leaf: (share, re.compile(pattern)) for leaf, (share, pattern) in BELOW_LEAF.items()}
# What an interpreted link calls to get to its successor.
FIRST = {"Links$Reflect.step": r"java\.lang\.reflect\.Method\.invoke$", "Links$Handle.step": rf"{FORM}MH\.",
         "Links$ClassInit.step": r"java\.lang\.Class\.forName$"}
# What may lie before a link's successor, of this family of JDKs.
Letter = collections.namedtuple("Letter", "frames ways java")


def _link(name, ways=None, java=None):
    return Letter([f"Links${name}.step"], ways, java)


LETTERS = {
    **{letter: _link(letter) for letter in "ABCDEFGH"},
    "J": Letter(["Links$Jni.step", "Native.call", "Java_Native_call", "spine_outer",
                 "spine_inner"], FROM_C, None),
    "K": _link("ClassInit", CLASS_INIT, LOADS),
    "L": _link("Lambda"),
    "M": _link("Handle", HANDLE, r"java\.lang\.invoke\.|java\.lang\.Class\."),
    "O": _link("Loop", None, r"java\.lang\.System\.nanoTime$"),
    "R": _link("Reflect", REFLECT, REFLECTS),
    "X": _link("Catch"),
    "Y": _link("Locked"),
}
LEAVES = {
    "a": "Allocate", "b": "BigNumbers", "c": "Checksum", "d": "Deflate", "g": "Digest", "j": "InC",
    "k": "Load", "m": "Maths", "n": "Nothing", "q": "Retransform", "s": "Sort", "t": "Throw",
    "u": "Throw", "v": "Tiny", "y": "Copy",
}


# --- the tree ---------------------------------------------------------------------------------


class Node:
    """A frame, what may follow it, and in which classes of the JDK it works."""

    def __init__(self, name):
        self.name = name
        self.ways = None  # before its children
        self.children = {}
        self.java = None
        self.needs_body = False
        self.leaf = ""  # letter

    def child(self, name):
        return self.children.setdefault(name, Node(name))


def tree_of(paths):
    """The tree of all paths of a thread; its root stands for the JVM's frames above them."""
    root = Node("")
    run = root.child("Spine.run")
    run.java = re.compile(r"java\.lang\.System\.nanoTime$")
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
        node.java = re.compile(LOADS)
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
    java = known.java if known else LEAF_CLASSES[LEAVES[letter]]
    node.java = re.compile(java) if java else None
    if known:
        node.ways = known.ways
    else:
        node.leaf = letter
    return node


def tree_of_garbage():
    root = Node("")
    run = root.child("Garbage.run")
    run.java = re.compile(r"java\.util\.Random\.|java\.util\.concurrent\.atomic\.AtomicLong\.|java\.lang\.Object\.|"
                          r"java\.util\.random\.|jdk\.internal\.(util\.random|misc)\.|sun\.misc\.Unsafe\.")
    return root


# --- one stack --------------------------------------------------------------------------------

# `own`: the workload's; `java`: a Java frame; `kind`: the letter that --annotate gives it.
Frame = collections.namedtuple("Frame", "name kind own java")


@functools.lru_cache(100000)
def parse_frame(text):
    """A frame of `collapsed --annotate`: its name without what differs, and its kind."""
    found = re.match(r"(.*?)(?:_\[([a-z0-9])\])?$", text)
    name, kind = re.sub(r"\(.*\)$", "", found.group(1)), found.group(2) or ""
    if name.startswith("Links$$Lambda"):
        name = LAMBDA
    elif name.startswith(BODY):
        name = BODY
    elif re.fullmatch(r"(__)?clone3?", name):
        name = "[thread start]"  # with the C library's debug symbols
    # Classes without a file have an address, which differs.
    name = re.sub(r"(\$\$Lambda|LambdaForm\$D?MH)(?:\$\d+)?(?:/0x[0-9a-f]+|/\d+)?\.", r"\1.", name)
    own = kind != "k" and bool(OWN.match(name))
    java = kind != "k" and bool(JAVA.match(name)) and (kind != "" or own)
    return Frame(name, kind, own, java)


def broken(frames):
    """Why hostprof itself says that this stack is not whole, or ""."""
    marks = [frame.name for frame in frames
             if frame.name[:1] == "[" and frame.kind != "k" and MARKS.match(frame.name)]
    return marks[0] if marks else ""


class Process:
    """What is constant of a JVM: its version, who calls whom in its classes, and the files that it maps."""

    def __init__(self, version, calls, files):
        self.version = version
        self.calls = calls
        self.files = files  # name → path
        self._nameless, self._trampolines = {}, {}

    def nameless(self, frame):
        """Whether a frame should have a name: an address of a file that has a symbol for it has."""
        found = ADDRESS.match(frame.name)
        if not found:
            return not frame.name or frame.name.startswith("[") and frame.name not in ("[thread start]",
                                                                                      "[process start]")
        if frame.name not in self._nameless:
            path = self.files.get(found.group(1))
            self._nameless[frame.name] = not path or bool(symbol_at(path, int(found.group(2), 16)))
        return self._nameless[frame.name]

    def is_trampoline(self, frame):
        """Whether this is the frame of a signal: its address is in, or just before, the C library's sigreturn."""
        found = re.match(r"\[libc\.so\.6\+0x([0-9a-f]+)\]$", frame.name)
        if not found or "libc.so.6" not in self.files:
            return frame.name == "__restore_rt"
        if frame.name not in self._trampolines:
            at = max(int(found.group(1), 16) - len(TRAMPOLINE) + 1, 0)
            code = code_at(self.files["libc.so.6"], at, 2 * len(TRAMPOLINE) + 1)
            self._trampolines[frame.name] = TRAMPOLINE in code
        return self._trampolines[frame.name]


class Judge:
    """Of the threads of one process that run a known tree."""

    def __init__(self, tree, process):
        self.tree = tree
        self.process = process
        self.calls = process.calls
        self.into_java = re.compile(of_family(INTO_JAVA, process.version))
        self.version = process.version

    def judge(self, frames):
        user = [frame for frame in frames if frame.kind != "k"]
        if not user:
            return Verdict(False, "no user frames")
        if any(frame.kind == "k" for frame in frames[:len(user)]):
            return Verdict(False, "kernel frames between user frames")
        why = broken(frames)
        if why:
            return Verdict(False, why)
        nameless = next((frame.name for frame in user if self.process.nameless(frame)), None)
        if nameless is not None:
            return Verdict(False, f"without a name: {re.sub('0x[0-9a-f]+', '…', nameless)}")
        return self._walk(self._sure(user))

    def _sure(self, frames):
        """
        A stack without what its last compiled frame has inlined, when no Java frame is below it: there the pc has no
        debug information of its own, but where a call returns to, and HotSpot takes the next one's, whichever way the
        code goes (PcDescContainer::find_pc_desc). Each must be called by the one above. All other frames return to
        calls, and are exact.
        """
        last = max((at for at, frame in enumerate(frames) if frame.kind in ("j", "1")), default=None)
        if last is None:
            return frames
        end = next((at for at in range(last + 1, len(frames)) if frames[at].kind != "i"), len(frames))
        if any(frame.java or frame.name in ("call_stub", "Interpreter") for frame in frames[end:]) or \
           not all(self._edge(*pair) for pair in zip(frames[last:], frames[last + 1:end])):
            return frames
        return frames[:last + 1] + frames[end:]

    def _walk(self, frames):
        """From the thread's start through the tree, and what is below its last frame."""
        at = next((i for i, frame in enumerate(frames) if frame.java or frame.name == "Interpreter"), len(frames))
        if not self.into_java.fullmatch(";".join(frame.name for frame in frames[:at])):
            return Verdict(False, "the way into Java")
        if at == len(frames):
            return Verdict(False, "without Java frames")
        end = self._handler(frames)
        if end is None:
            return Verdict(False, "signal handler's frames")
        return self._follow(frames[at:end], end < len(frames))

    def _follow(self, frames, in_handler):
        """Follow the workload's own frames through the tree."""
        node, depth, begin, last = self.tree, 0, 0, None
        for at, frame in enumerate(frames):
            after = node.children.get(frame.name) if frame.own else None
            if after is None:
                continue
            if at > begin or node.ways:
                why = self._bad_way(node, last, frames[begin:at], frame)
                if why:
                    return Verdict(False, f"{frame.name} below {node.name or 'the start'}: {why}")
            if node.needs_body and last.kind == "0" and frame.name != BODY:
                return Verdict(False, f"depth {depth}: {BODY} is missing")
            node, depth, begin, last = after, depth + 1, at + 1, frame
        if last is None:
            below = ";".join(frame.name for frame in frames)
            return Verdict(False, UNWRITTEN if UNPACKS.match(below) else "the thread's own frames are missing")
        verdict = self._tail(node, last, frames[begin:])
        return verdict._replace(leaf="" if in_handler else LEAVES.get(node.leaf, ""))

    def _bad_way(self, node, last, gap, link):
        """What lies between two links, against the ways that there are."""
        if not node.ways:
            return f"{gap[0].name} between links"
        if not re.fullmatch(of_family(node.ways, self.version), ";".join(frame.name for frame in gap)):
            return "not the way between links"
        # What was left out can only have been inlined: the frame above is compiled.
        if last and last.kind == "0" and not (gap and re.match(FIRST[last.name], gap[0].name)):
            return "not the first frame of the way between links"
        for above, frame in zip([last, *gap], gap):
            if above.java and frame.java and not self._edge(above, frame):
                return f"{frame.name} called by {above.name}"
        if gap and gap[-1].kind == "0" and not self.calls.direct(gap[-1].name, link.name):
            return f"called by {gap[-1].name}"
        return ""

    def _edge(self, above, frame):
        """Whether one Java frame can stand below another."""
        if above.kind == "0":
            return self.calls.direct(above.name, frame.name)
        return self.calls.reaches(above.name, frame.name)

    def _handler(self, frames):
        """Where the frames of a signal handler begin; None when they are not as they must be."""
        at = next((i for i, frame in enumerate(frames) if frame.name == HANDLER), None)
        if at is None:
            return len(frames)
        rest = ";".join(frame.name for frame in frames[at + 1:])
        if not self.process.is_trampoline(frames[at - 1]) or not re.fullmatch(f"(?:{IN_C[HANDLER]})?", rest):
            return None
        return at - 1

    # --- below the last frame of the tree ---

    def _tail(self, node, last, rest):
        above, method, noted = last, last, ""
        for at, frame in enumerate(rest):
            if frame.java:
                why = self._bad_java(node, above, method, frame, rest[:at])
                method = frame
            elif frame.name == "Interpreter":
                why, noted = self._bad_interpreter(above, rest[at + 1:]), NO_FRAME
            elif above.java:
                why = self._bad_entry(above, frame, rest[at + 1:])
            elif above.name in IN_C:
                return self._below_c(above, rest[at:])
            else:
                why = self._bad_native(above, frame)
            if why:
                return Verdict(False, why if why == UNWRITTEN else f"{frame.name} below {above.name}: {why}")
            above = frame
        return Verdict(True, "", noted)

    def _bad_java(self, node, above, method, frame, before):
        if frame.own and (frame.name.endswith(".step") or frame.name == "Spine.run"):
            return "no way of the tree"
        if above.java:
            if not self._edge(above, frame):
                return "no caller of it"
        elif above.name != "call_stub":
            return "Java below native code"
        elif not any(one.match(method.name) and other.match(frame.name) for one, other in UPCALLS):
            return f"called from the JVM below {method.name}"
        elif not before[-2:-1] or not re.match(r"JavaCalls::call_helper$|\[libjvm", before[-2].name):
            return "the call stub's caller"
        # A leaf asks the clock, by Path's methods that may be inlined.
        if above.name.startswith(("Path.", "Leaves$")) and \
           re.match(r"java\.lang\.(System\.nanoTime|Math\.min)$", frame.name):
            return ""
        if not frame.own and not is_hidden(owner_of(frame.name)) and \
           not (node.java and node.java.match(frame.name)):
            return "not of the link's classes"
        return ""

    @staticmethod
    def _bad_interpreter(above, rest):
        """The interpreter's code that has no frame yet, or none any more: of a call or an exception."""
        if not (above.java or above.name == "call_stub"):
            return "below native code"
        if rest and UNPACKS.match(";".join(frame.name for frame in rest)):
            return UNWRITTEN
        if rest and not re.match(r"SharedRuntime::(raw_)?exception_handler_for_return_address$|\[libjvm",
                                 rest[0].name):
            return "a method without a name"
        return ""

    def _bad_entry(self, above, frame, rest):
        """Whether this native frame can stand below this Java frame."""
        if self.process.is_trampoline(frame):
            return "" if not rest or JVM_HANDLER.match(rest[0].name) else "below a signal's frame"
        if STUB.fullmatch(frame.name):
            return self._lacks(above, frame, STUB_NEEDS)
        if self.calls.is_native(above.name):
            name = jni_name(above.name)
            # The long name has "__" and its arguments behind.
            own = frame.name in (name, "Java_" + above.name.replace(".", "_")) or frame.name.startswith(f"{name}__")
            others = not above.own and (ADDRESS.match(frame.name) or any(
                one.match(above.name) and names.match(frame.name) for one, names in REGISTERED))
            return "" if own or others or ENDS_NATIVE.match(frame.name) or \
                self.version < 11 and re.match(JVM8, frame.name) else "not its function"
        if above.kind == "0":
            if INTERPRETER.match(frame.name):
                return self._lacks(above, frame, INTERPRETER_NEEDS)
        else:
            for pattern, needed in LEAF_CALLS:
                if pattern.match(frame.name):
                    return "" if not needed or self._may(above, needed) else f"without {needed}"
        if self.version < 11 and re.match(JVM8, frame.name):
            return ""
        return "native below Java"

    def _may(self, above, needed):
        return above.name == needed or self.calls.reaches(above.name, needed)

    def _lacks(self, above, frame, needs):
        for pattern, needed in needs:
            if pattern.match(frame.name):
                may = self.calls.direct if above.kind == "0" else self.calls.reaches
                return "" if may(above.name, needed) else f"without {needed}"
        return ""

    @staticmethod
    def _bad_native(above, frame):
        if above.name == "call_stub":
            return "" if STUB.fullmatch(frame.name) else "below the call stub"
        if frame.name == "call_stub":
            return "" if re.match(r"JavaCalls::call_helper$|\[libjvm", above.name) else "not from call_helper"
        return "called by native code" if frame.own or frame.name.startswith("Java_") else ""

    def _below_c(self, above, rest):
        """All that is below one of the workload's C functions."""
        if self.process.is_trampoline(rest[-1]):
            rest = rest[:-1]  # a signal's handler has ended
            if not rest:
                return GOOD
        names = ";".join(frame.name for frame in rest)
        into, _, below = names.partition(";call_stub;Interpreter;")
        if UNPACKS.match(below) and re.fullmatch(IN_C[above.name], f"{into};call_stub"):
            return Verdict(False, UNWRITTEN)
        if any(frame.java for frame in rest) or not re.fullmatch(IN_C[above.name], names):
            return Verdict(False, f"below {above.name}")
        return GOOD

# --- threads that are not the workload's ------------------------------------------------------


def judge_other(process, thread, frames):
    """A thread of the JVM, by its name: its start as it must be, and no frame without a name."""
    user = [frame for frame in frames if frame.kind != "k"]
    if not user:
        return Verdict(False, "no user frames")
    if any(frame.kind == "k" for frame in frames[:len(user)]):
        return Verdict(False, "kernel frames between user frames")
    why = broken(frames)
    if why:
        return Verdict(False, why)
    nameless = next((frame.name for frame in user if process.nameless(frame)), None)
    if nameless is not None:
        return Verdict(False, f"without a name: {re.sub('0x[0-9a-f]+', '…', nameless)}")
    names = ";".join(frame.name for frame in user)
    if not start_of(thread, process.version).match(names) and not STARTING.fullmatch(names):
        return Verdict(False, f"the start of a thread: {';'.join(names.split(';')[:4])}")
    for above, frame in zip([None, *user], user):
        if frame.java and not (above and (above.java or above.name == "call_stub")):
            return Verdict(False, f"{frame.name} below native code")
        if frame.name == "call_stub" and not re.match(r"JavaCalls::call_helper$|\[libjvm", above.name):
            return Verdict(False, "the call stub's caller")
    return GOOD
