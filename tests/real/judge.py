# SPDX-License-Identifier: Apache-2.0
"""The judge of a JVM's stacks. What hostprof says of completeness is not asked: a stack is whole when
its root is where the thread began, and every run of Java frames in it was entered as HotSpot enters
Java. The patterns that are accepted are these:
"""
import collections
import re

from known_stacks import STACKLESS, plain_name

# Where a thread begins. Functions have no names where no debug file is installed, and those of libjvm
# have none while its symbols do not fit into hostprof's memory.
ROOTS = re.compile(r"_start|\[process start\]|\[thread start\]|(?:__)?clone3?")
LIBC = r"(?:start_thread|\[libc\.so\.6\+0x[0-9a-f]+\])"
LIBJLI = r"(?:JavaMain|ThreadJavaMain|invoke\w+Main\w*|\[libjli\.so\+0x[0-9a-f]+\])"
# The only way of HotSpot into Java is the call stub (share/runtime/javaCalls.cpp, stubRoutines.hpp);
# below it lies a thread of the JVM's own (os/linux/os_linux.cpp) or the launcher's main thread
# (java.base/share/native/libjli/java.c).
LIBJVM = r"\[libjvm\.so\+0x[0-9a-f]+\]"
BEGIN = re.compile(rf"[^;]+(?:;{LIBC})?(?:;thread_native_entry;Thread::call_run;|"
                   rf"(?:;{LIBJLI})+;(?:jni_|{LIBJVM})|(?:;{LIBJVM}){{2}}).*")
ENTRY = re.compile(rf"(?:JavaCalls::call_helper|{LIBJVM});call_stub$")
# An upcall of the foreign function interface: share/prims/upcallLinker.cpp.
UPCALL = re.compile(r"(?:upcall_stub|\[upcall stub\])[^;]*$")

ANCHOR, FROZEN = "[native frames skipped]", "[frozen frames]"
JAVA = re.compile(r"_\[[j01i]\]$")
# Java frames whose names are not there (any more).
NAMELESS = {"[evicted]", "[JIT]_[j]", "Interpreter"}

Verdict = collections.namedtuple("Verdict", "kind why")  # kind: whole, unfinished, stackless
WHOLE, STACK_LESS = Verdict("whole", ""), Verdict("stackless", "")


def is_java(frame):
    return frame in NAMELESS or bool(JAVA.search(frame))


def name_of(frame):
    """A frame without its annotation and without a C++ function's arguments."""
    return plain_name(JAVA.sub("", frame))


def judge(frames):
    """Whether a stack (root first, annotated) goes from its root to its leaf without a gap."""
    user = [frame for frame in frames if not frame.endswith("_[k]")]
    kernel = [frame[:-4] for frame in frames if frame.endswith("_[k]")]
    broken = [frame for frame in user if frame.startswith("[unwind:")]
    if not user or (broken and len(user) <= 3 and "ret_from_fork" in kernel):
        stackless = any(STACKLESS.match(frame) for frame in kernel)
        return STACK_LESS if stackless else Verdict("unfinished", "no user frames")
    if broken:
        return Verdict("unfinished", broken[0])
    if ANCHOR in user:
        return Verdict("unfinished", ANCHOR)
    if not ROOTS.fullmatch(name_of(user[0])):
        return Verdict("unfinished", f"root {user[0]}")
    return judge_entries(user)


def judge_entries(user):
    """Whether each Java frame that has no Java frame above it was called by the call stub."""
    above_is_java = False
    names = [name_of(frame) for frame in user]
    for at, frame in enumerate(user):
        if is_java(frame) and not above_is_java:
            above = ";".join(names[:at])
            if not ENTRY.search(above) and not UPCALL.search(above):
                return Verdict("unfinished", f"entered Java from {names[at - 1]}")
            if not BEGIN.match(above):
                return Verdict("unfinished", f"began with {above[:120]}")
        if frame != FROZEN:
            above_is_java = is_java(frame)
    return WHOLE
