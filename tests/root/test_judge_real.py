#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of real programs' JVMs rejects what is damaged. Needs no root and no JVM."""
import collections
import sys

from damage import *
from hp import *
from java_calls import Calls
from jvm_frames import COPY_LOOP, INTERPRETER, RETHROW, allowed_cause, is_java, is_kernel, name_of

sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
from judge import judge as verdict  # noqa: E402  (the path is set above)
from pairs import Pairs  # noqa: E402
from row import Row  # noqa: E402
from threads import tid_of, without_its_start  # noqa: E402


def judge(frames):
    """Why a stack is bad."""
    return verdict(frames).why


def with_java(line):
    return any(map(is_java, line.frames))


def damaged_program(frames):
    """What else cannot be in any program: (what, frames)."""
    names = [name_of(frame) for frame in frames]
    java = [at for at, frame in enumerate(frames) if is_java(frame)]
    yield "a call stub is missing", [frame for frame in frames if frame != "call_stub"]
    yield "call_helper is missing", [frame for frame, name in zip(frames, names)
                                     if name != "JavaCalls::call_helper"]
    yield "the launcher's or the thread's functions are missing", [frames[0], *frames[java[0] - 2:]]
    yield "another root", ["main", *frames[1:]]
    yield "a root that is lost", frames[2:]
    for at in (at for at in java if not is_java(frames[at - 1])):
        yield f"C calls {frames[at]} by itself", with_frame(frames, at - 1, "memcpy")
        yield f"frozen frames above {frames[at]}", [*frames[:at], "[frozen frames]", *frames[at:]]
    for name in ("memcpy", "malloc", "[libc.so.6+0x9f3a1]", "[libz.so.1+0x4a1]", "pthread_mutex_lock",
                 "pthread_self"):
        for at in java:
            if at + 1 < len(frames) and is_java(frames[at + 1]):
                yield f"{name} between Java frames", [*frames[:at + 1], name, *frames[at + 1:]]
        if is_java(frames[-1]):
            yield f"{name} below the leaf", [*frames, name]


@test
def whole_stacks_are_accepted():
    lines = read_lines("real.txt")
    expect_accepted(judge, lines, 60)
    count = sum(map(with_java, lines))
    expect(10 < count < len(lines) - 10, f"{count} of {len(lines)} have Java frames")


# The general damage that this judge cannot see: it knows no program's own frames, and a thread of the
# JVM's begins as one of Java's does.
UNSEEN = ("a thread start and nothing else", "two thread starts", "thread start without")


@test
def damaged_stacks_are_rejected():
    count = 0
    for line in read_lines("real.txt"):
        if with_java(line):
            general = [row for row in damaged_everywhere(line.frames) if not row[0].startswith(UNSEEN)]
            count += expect_rejected(judge, general)
            count += expect_rejected(judge, damaged_program(line.frames))
    expect(count > 2000, f"only {count} damaged stacks")


# --- the JVM's own word on its threads ----------------------------------------------------------


@test
def threads_begin_as_the_jvm_says():
    count = 0
    for line in read_lines("real.txt"):
        java = [name_of(frame) for frame in line.frames if is_java(frame)]
        kept = [frame for frame in line.frames if is_java(frame) and not is_kernel(frame)]
        if len(java) < 4 or not kept[0].endswith("_[0]") or java[0].startswith("java.lang.Thread."):
            continue
        threads = {tid_of(line): ("t", java)}
        expect(without_its_start(line, threads) is None, f"rejected: {java}")
        at = line.frames.index(kept[0])
        for what, frames in {
                "its first method is missing": line.frames[:at] + line.frames[at + 1:],
                "another first method": with_frame(line.frames, at, "a.B.c_[0]"),
                "no method at all": [frame for frame in line.frames if not is_java(frame)]}.items():
            expect(without_its_start(line._replace(frames=frames), threads), f"accepted: {what}")
        count += 1
    expect(count > 10, f"only {count} threads")


# --- a JVM --------------------------------------------------------------------------------------


def row_of(samples=10000, java=6000, threads=6000, ends=10, bad=0, allowed=()):
    row = Row()
    row.counts.update(samples=samples, java=java, threads=threads, ends=ends)
    row.reasons.update({"why": bad} if bad else {})
    row.allowed.update(dict(allowed))
    return row


@test
def a_jvm_must_show_what_it_does():
    expect_equal(list(row_of(allowed={INTERPRETER: 5}).faults()), [], "a good JVM")
    for what, row in {
            "no Java frame": row_of(java=0),
            "hardly a Java frame": row_of(java=1500),
            "no thread that runs Java": row_of(threads=0),
            "threads without their Java frames": row_of(ends=600),
            "few samples": row_of(samples=900, java=800),
            "bad stacks": row_of(bad=7),
            "too much of what is allowed": row_of(allowed={INTERPRETER: 40}),
            "too many copy loops": row_of(allowed={COPY_LOOP: 40})}.items():
        expect(list(row.faults()), f"accepted: {what}")


# What javap prints of a class that calls another by an interface, makes a lambda, and has a method handle.
CLASSES = """
public class a.Caller {
  public void run();
       1: invokeinterface #7,  1            // InterfaceMethod a/Task.work:()V
       6: invokestatic  #2                  // Method helper:()V
  static void helper();
       0: invokedynamic #3,  0              // InvokeDynamic #0:run:()Ljava/lang/Runnable;
  static void handle();
       0: invokevirtual #4                  // Method java/lang/invoke/MethodHandle.invokeExact:()V
}
public interface a.Task {
  public abstract void work();
}
public class a.Own implements a.Task {
  public void work();
       0: invokevirtual #5                  // Method a/Caller.run:()V
  static {};
}
public class a.Other {
  public void other();
}
"""


@test
def class_files_say_who_calls_whom():
    """Each pair of frames that the class files have, and others that they have not."""
    line = collections.namedtuple("Line", "frames count")
    good = [["a.Caller.run", "a.Own.work", "a.Caller.run", "a.Caller.helper"], ["a.Other.other", "a.Own.<clinit>"],
            ["a.Caller.helper", "a.Caller$$Lambda/0x1.run", "a.Other.other"], ["a.Caller.handle", "a.Other.other"],
            ["a.Own.work", "Interpreter", "a.Other.other"], ["a.Other.other", "libc_function", "a.Own.work"],
            ["java.lang.reflect.Method.invoke", "a.Other.other"], ["a.Unknown.one", "a.Other.other"]]
    bad = [["a.Caller.run", "a.Other.other"], ["a.Own.work", "a.Caller.helper"], ["a.Caller.run", "a.Own.work", "a.Own.work"],
           ["a.Other.other", "a.Own.work"], ["a.Caller.run", "itable stub", "a.Other.other"]]

    def annotated(frames):
        return [f"{frame}_[j]" if frame.count(".") else frame for frame in frames]
    pairs = Pairs(Calls(lambda names: CLASSES if "a.Caller" in names or "a.Own" in names else ""))
    pairs.load([annotated(frames) for frames in good + bad])
    for frames in good:
        expect_equal(pairs.wrong(line(annotated(frames), 1)), "", f"{frames}")
    for frames in bad:
        expect(pairs.wrong(line(annotated(frames), 1)), f"accepted: {frames}")
    expect_equal(pairs.counts, {"right": 4, "calls anything": 2, "made at run time": 2, "calls a method handle": 1, "no class file": 1, "wrong": 5}, "what was counted")


@test
def bad_lines_are_counted_as_bad():
    line = next(line for line in read_lines("real.txt") if with_java(line))
    row = Row()
    row.add(line, "", True)
    row.add(line._replace(count=3), judge(["[unwind: depth]", *line.frames]), True)
    row.add_dropped(2)
    expect_equal((row.unfinished(), row.counts["samples"]), (5, 5 + line.count), "bad and all")
    expect_equal(allowed_cause(["a.b_[0]", "Interpreter"]), INTERPRETER, "its own code")
    passes_on = "SharedRuntime::exception_handler_for_return_address"
    expect_equal(allowed_cause(["a.b_[0]", "Interpreter", passes_on, "x"]), RETHROW, "an exception is passed on")
    expect_equal(allowed_cause(["a.b_[0]", "Interpreter", "x", passes_on]), INTERPRETER, "it is not this that is called")
    expect_equal(allowed_cause(["a.b_[0]", "c.d_[0]"]), "", "no cause")


main()
