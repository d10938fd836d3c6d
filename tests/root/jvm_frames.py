# SPDX-License-Identifier: Apache-2.0
"""What is the same around the Java frames of every program, for judges of annotated stacks (root first).

How HotSpot begins a thread that runs Java, how C calls Java, by what Java frames are left downwards,
and which frames have no name. JDK 17 to 25 have the same here; names are those of libjvm.so's symbols.
"""
import functools
import re

import gates
from java_vm import jni_name
from jvm_stubs import STUB_NAMES
from known_stacks import plain_name

JAVA = re.compile(r"_\[[j01i]\]$")
KIND = re.compile(r"_\[[a-z0-9]\]$")
# What hostprof shows where it has no name: code of a JVM that is gone or not known, methods that could
# not be read, an address outside every mapping or in memory without a file.
NAMELESS = {"[evicted]", "[JIT]", "[interpreted]", "[unknown]", "[anon]", "[heap]", "[stack]", ""}
# The interpreter's own code: the callee has no frame yet, or has left its frame. So Java code is above, and
# no Java frame below. A method that could not be read is none of these, and this frame in a method's place
# has Java below it.
INTERPRETER = "Interpreter"
# A frame was left by an exception: who called it is asked where that goes on (generate_throw_exception() in
# cpu/x86/templateInterpreterGenerator_x86.cpp). A program that throws a lot is there a lot.
RETHROW = "Interpreter that passes an exception on"
RETHROWS = re.compile(r"SharedRuntime::(?:raw_)?exception_handler_for_return_address")
# HotSpot's copy loops are assembler without call frame information (os_cpu/linux_x86/copy_linux_x86_64.S),
# and TypeArrayKlass::copy_array(), which a virtual call enters, jumps to them: that call does not tell
# where it led, so the walk goes by the frame pointer, past JVM_ArrayCopy.
COPY_LOOP = "_Copy_ below Java"
# Known causes, told by the stack itself, and the share of a JVM's samples that each may have. Whatever
# has one is counted and printed, and is not among the bad.
ALLOWED = {INTERPRETER: 0.001, RETHROW: 0.01, COPY_LOOP: 0.001}
ANCHOR, FROZEN = "[native frames skipped]", "[frozen frames]"

# A library's symbols may be read too late for a sample: then a frame has its address.
LIBJVM = r"\[libjvm\.so\+0x[0-9a-f]+\]"
LIBC_CODE = r"\[libc\.so\.6\+0x[0-9a-f]+\]"
STARTS = r"(?:\[thread start\]|(?:__)?clone3?)"


def _names(*names):
    return ";".join(rf"(?:{name}|{LIBJVM})" for name in names)


# os/linux/os_linux.cpp, share/runtime/javaThread.cpp, share/prims/jvm.cpp, share/runtime/javaCalls.cpp.
THREAD_START = re.compile(
    rf"{STARTS};(?:start_thread|{LIBC_CODE});" +
    _names("thread_native_entry", "Thread::call_run", "JavaThread::thread_main_inner", "thread_entry",
           "JavaCalls::call_virtual", "JavaCalls::call_helper") + ";call_stub")
# share/prims/jni.cpp; TYPE and HOW are the method's.
CALL_BACK = "jni_Call{how}{type}MethodA?;{invoke};JavaCalls::call_helper;call_stub"

# Stubs and blobs of the JVM, and the functions of libjvm that compiled or interpreted code calls by
# itself. What native methods are is not among them: their own frame is above.
STUBS = re.compile(rf"{STUB_NAMES}|Interpreter|StubRoutines ?|I2C/C2I adapters|\w+Blob|(?:Shared|C1|C2) Runtime \w+|"
                   r"resolve_\w+|wrong_method\w*|ic_miss\w*|vtable chunks|MethodHandles adapters|"
                   r"InlineCacheBuffer|\w+ Runtime1 stub|call_stub|"
                   r"_(?:new|multianewarray|complete|rethrow|monitor|slow)\w*|handler for .*|"
                   r"\w+_(?:slow|blob|stub|slow_id)")
# interpreter/interpreterRT_x86_64.cpp: code that puts a native method's arguments in their places. It is
# called by the interpreter only, and calls nobody.
SIGNATURE_HANDLER = "native signature handlers"
RUNTIME = re.compile(r"(?:SharedRuntime|InterpreterRuntime|OptoRuntime|Runtime1|Deoptimization|"
                     r"BarrierSetNMethod|\w*BarrierSetRuntime|os|SafepointMechanism|StubRoutines)::.*|"
                     r"freeze<.*|thaw<.*|prepare_thaw.*|JVM_\w+|Unsafe_\w+|"
                     r"JavaThread::check_special_condition_for_native_trans|SATBMarkQueueSet::enqueue_known_active")


@functools.lru_cache(100000)
def name_of(frame):
    """A frame without its annotation and without a C++ function's arguments (JDK 28: what a stub belongs to)."""
    return plain_name(KIND.sub("", frame)).rstrip()


def is_kernel(frame):
    return frame.endswith("_[k]")


@functools.lru_cache(100000)
def is_java(frame):
    """A Java frame that has a name."""
    return bool(JAVA.search(frame)) and not is_nameless(frame)


def is_nameless(frame):
    return KIND.sub("", frame) in NAMELESS


def is_compiled(frame):
    """Methods that it calls may be inlined into it, and then are no frames."""
    return frame.endswith(("_[j]", "_[1]", "_[i]"))


def flaw(user):
    """What no stack may have anywhere: a walk that ended, frames that were skipped or have no name; or ""."""
    if not user:
        return "no user frames"
    for at, frame in enumerate(user):
        if frame.startswith("[unwind:") or frame == ANCHOR:
            return frame
        if is_nameless(frame) or frame == INTERPRETER and not is_own_interpreter(user, at):
            return f"nameless {frame}"
    return ""


def is_own_interpreter(user, at):
    """Whether the frame INTERPRETER at this place can be that: below Java, and no Java below it."""
    return at > 0 and (is_java(user[at - 1]) or user[at - 1] in ("call_stub", "I2C/C2I adapters")) and \
        not any(is_java(frame) or frame == INTERPRETER for frame in user[at + 1:])


def allowed_cause(frames):
    """The cause of ALLOWED that a good stack has, or ""."""
    if any(is_java(one) and is_copy_loop(two) for one, two in zip(frames, frames[1:])):
        return COPY_LOOP
    below = frames[frames.index(INTERPRETER) + 1:] if INTERPRETER in frames else None
    if below is None:
        return ""
    return RETHROW if below and RETHROWS.fullmatch(below[0]) else INTERPRETER


def is_copy_loop(frame):
    return bool(re.match(r"_Copy_(?:conjoint|disjoint|arrayof)\w+$", frame))


def over_allowance(counts, samples):
    """Which causes took more than their share; a handful is none."""
    return [f"{counts[cause]} of {samples} samples have {cause}" for cause, share in ALLOWED.items()
            if counts[cause] > gates.most_bad(samples, share)]


def thread_start(user):
    """How many of the first frames are a Java thread's start; 0 when they are not."""
    names = [name_of(frame) for frame in user[:12]]
    if "call_stub" not in names:
        return 0
    count = names.index("call_stub") + 1
    return count if THREAD_START.fullmatch(";".join(names[:count])) else 0


def call_back(static, result):
    """The frames between C and a Java method that it calls: a regular expression over their names."""
    invoke, how = ("jni_invoke_static", "Static") if static else \
        ("jni_invoke_nonstatic", "(?:Nonvirtual)?")
    parts = CALL_BACK.format(how=how, type=result, invoke=invoke).split(";")
    return re.compile(";".join([_names(*parts[:-1]), parts[-1]]))


def jni_names(method):
    """The C functions that a native method may have: by its name, or as the JDK registers those of Continuation (share/runtime/continuation.cpp)."""
    names = {jni_name(method)}
    holder, _, name = method.rpartition(".")
    return names | {f"CONT_{name}"} if holder == "jdk.internal.vm.Continuation" else names


def is_below_java(name, above, natives):
    """A native frame that the Java method ABOVE may have called; NATIVES: native method → C function."""
    return bool(natives.get(above) == name or name in jni_names(above) or is_copy_loop(name) or
                STUBS.fullmatch(name) or RUNTIME.fullmatch(name) or re.fullmatch(LIBJVM, name))


def is_signal(names):
    """
    A page fault of Java code that the JVM handles: a safepoint's poll, an access to null. JDK 17's handler
    jumps to JVM_handle_linux_signal() at its end (os/posix/signals_posix.cpp).
    """
    return len(names) > 1 and re.fullmatch(rf"__restore_rt|{LIBC_CODE}", names[0]) and \
        re.fullmatch(rf"(?:java)?[sS]ignalHandler|JVM_handle_linux_signal|{LIBJVM}", names[1])


def is_interpreted_native(frame, natives):
    return name_of(frame) in natives and frame.endswith("_[0]")


def below_leaf(leaf, rest, may_be_java=None, natives=()):
    """
    What is wrong with the frames below the Java frame LEAF, or "". MAY_BE_JAVA (a pattern) says which
    Java frames may be there; each run of native frames begins as Java code calls one, and only the
    call stub leads back. NATIVES: the C functions of native methods that may be there.
    """
    above, from_java = name_of(leaf), True
    names = list(map(name_of, rest))
    if names[-1:] == [SIGNATURE_HANDLER] and is_interpreted_native([leaf, *rest][-2], natives):
        names.pop()
    for at, (name, frame) in enumerate(zip(names, rest)):
        if is_java(frame):
            if not (may_be_java and may_be_java.fullmatch(name)):
                return f"{name} below its leaf"
            if not from_java and above != "call_stub":
                return f"{name} called by {above}"
        elif from_java and not (is_below_java(name, above, dict(natives)) or
                                is_signal(names[at:at + 2])):
            return f"{name} called by {above}"
        above, from_java = name, is_java(frame)
    return ""


FRAME, INLINED, OPTIONAL = range(3)


def after_chain(frames, chain):
    """
    How many of FRAMES are as CHAIN, a list of (pattern of a method, how it may be missing): OPTIONAL
    ones need not be called, INLINED ones may have no frame when the frame above is compiled, and a
    FRAME is always there.
    """
    at, above = -1, ""
    for count, frame in enumerate(frames):
        found = next((place for place in range(at + 1, len(chain))
                      if is_java(frame) and chain[place][0].fullmatch(name_of(frame))), None)
        if found is None:
            return count
        skipped = {chain[place][1] for place in range(at + 1, found)}
        if FRAME in skipped or INLINED in skipped and not is_compiled(above):
            return count
        at, above = found, frame
    return len(frames)
