# SPDX-License-Identifier: Apache-2.0
"""The judge of a JVM's stacks. What hostprof says of completeness is not asked: a stack is whole when
its root is where the thread began, every run of Java frames in it was entered as HotSpot enters Java
and left as HotSpot leaves it, and each of its frames has a name. The patterns that are accepted are these:
"""
import collections
import re

from jvm_frames import (ANCHOR, FROZEN, LIBC_CODE, LIBJVM, NAMELESS, STARTS, THREAD_START, flaw,
                        is_below_java, is_java, is_kernel, is_signal, name_of)
from known_stacks import STACKLESS, library_names

# Where a thread begins. Functions have no names where no debug file is installed, and those of libjvm
# have none while its symbols do not fit into hostprof's memory.
ROOTS = re.compile(rf"_start|\[process start\]|{STARTS}")
LIBJLI = r"(?:JavaMain|ThreadJavaMain|invoke\w+Main\w*|\[libjli\.so\+0x[0-9a-f]+\])"
# The only way of HotSpot into Java is the call stub (share/runtime/javaCalls.cpp, stubRoutines.hpp);
# below it lies a thread that runs Java, another thread of the JVM's (os/linux/os_linux.cpp), or the
# launcher's main thread (java.base/share/native/libjli/java.c).
LIBC = rf"(?:start_thread|{LIBC_CODE})"
LIBC_START = rf"{STARTS};{LIBC}"
BEGIN = re.compile(
    rf"{THREAD_START.pattern}(?:;.*)?|"
    rf"{LIBC_START};(?:thread_native_entry|{LIBJVM});(?:Thread::call_run|{LIBJVM});"
    rf"(?!JavaThread::thread_main_inner;thread_entry;).*|"
    rf"{LIBC_START}(?:;{LIBJLI})+;(?:jni_|JNI_|{LIBJVM}).*")
ENTRY = re.compile(rf"(?:JavaCalls::call_helper|{LIBJVM});call_stub$")
# An upcall of the foreign function interface: share/prims/upcallLinker.cpp.
UPCALL = re.compile(r"(?:upcall_stub|\[upcall stub\])[^;]*$")
# Functions of the C library: Java code calls none, but native methods do. Those of other libraries may
# be native methods, or what these end by jumping to (readBytes of libjava, convertReturnVal of libnio).
SYSTEM = re.compile(r"\[(?:libc|libm|libz|ld-linux-x86-64|libstdc\+\+)\.so[\d.]*\+0x[0-9a-f]+\]")
# The name of a method, which only a Java frame has; GCC's parts of functions have such words behind a dot.
METHOD = re.compile(r"(?!.*\.(?:part|isra|constprop|cold|llvm)\b)[\w$/]+(?:\.[\w$/+]+)*\.[\w$<>]+")
# All that these native methods do is to jump there (java.base/unix/native/libnio/ch/NativeThread.c; JNA's dispatch.c).
JUMPS = {"pthread_self": re.compile(r"sun\.nio\.ch\.NativeThread\.current0?"),
         "malloc": re.compile(r"com\.sun\.jna\.Native\.malloc"),
         # So does what a method calls that was entered in its loop (SharedRuntime::OSR_migration_end()): any may be.
         "free": re.compile(r".*")}

Verdict = collections.namedtuple("Verdict", "kind why")  # kind: whole, unfinished, stackless
WHOLE, STACK_LESS = Verdict("whole", ""), Verdict("stackless", "")


def judge(frames):
    """Whether a stack (root first, annotated) goes from its root to its leaf without a gap."""
    user = [frame for frame in frames if not is_kernel(frame)]
    kernel = [frame[:-4] for frame in frames if is_kernel(frame)]
    ended = any(frame.startswith("[unwind:") for frame in user)
    if not user or (ended and len(user) <= 3 and "ret_from_fork" in kernel):
        stackless = any(STACKLESS.match(frame) for frame in kernel)
        return STACK_LESS if stackless else Verdict("unfinished", "no user frames")
    why = flaw(user)
    if why:
        return Verdict("unfinished", why)
    if not ROOTS.fullmatch(name_of(user[0])):
        return Verdict("unfinished", f"root {user[0]}")
    why = wrong_entry(user) or wrong_exit(user)
    return Verdict("unfinished", why) if why else WHOLE


def wrong_entry(user):
    """Each Java frame that has no Java frame above it was called by the call stub."""
    above_is_java = False
    names = [name_of(frame) for frame in user]
    for at, frame in enumerate(user):
        if is_java(frame) and not above_is_java:
            above = ";".join(names[:at])
            if not ENTRY.search(above) and not UPCALL.search(above):
                return f"entered Java from {names[at - 1]}"
            if not BEGIN.fullmatch(above):
                return f"began with {above[:120]}"
        if frame != FROZEN:
            above_is_java = is_java(frame)
        elif not above_is_java:
            return f"{FROZEN} below {names[at - 1]}"
    return ""


def wrong_exit(user):
    """Each native frame below a Java frame is one that Java code calls."""
    names = [name_of(frame) for frame in user]
    for at in range(1, len(user)):
        from_java = is_java(user[at - 1]) or names[at - 1] == "call_stub"
        if not from_java or is_java(user[at]) or user[at] == FROZEN:
            continue
        if is_below_java(names[at], "", {}) or is_signal(names[at:at + 2]):
            continue
        if names[at] in JUMPS and JUMPS[names[at]].fullmatch(names[at - 1]):
            continue
        if SYSTEM.fullmatch(names[at]) or METHOD.fullmatch(names[at]) or \
                names[at] in library_names():
            return f"Java called {names[at]}"
    return ""


__all__ = ["ANCHOR", "FROZEN", "NAMELESS", "STACK_LESS", "WHOLE", "Verdict", "is_java", "judge",
           "name_of"]
