#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an exception is thrown under a debugger's agent, each compiled frame becomes an interpreted one: a sample meanwhile has all frames of this way
with their methods, those that are off one stack and not on the other yet included."""
from hp import *

BLOB = "DeoptimizationBlob"
JDWP = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=0"
WAY = ["Thrown.run", "Thrown.outer"]
BEYOND = ([], ["Thrown.middle"], ["Thrown.middle", "Thrown.inner"])
# Of each JVM; 1.6 % of its time is spent in the blob itself, ten times that in what it calls.
CPU_SECONDS, FEWEST = 3, 20
# A walk that userspace must finish, of a thread that was not seen in Java code before.
MOST_UNKNOWN = 0.01


def of_thrower(lines):
    return [line for line in lines if line.thread.startswith("[thrower")]


def own_frames(frames):
    """From run() to the blob."""
    at = frames.index(BLOB)
    return frames[frames.index("Thrown.run"):at] if "Thrown.run" in frames[:at] else frames[:at]


def is_right(own):
    return own[:2] == WAY and own[2:] in BEYOND


def is_unknown(own):
    """As many frames as there may be, some without their methods; or a reason."""
    return own[:1] == WAY[:1] and len(own) <= 4 and set(own[1:]) <= {"Interpreter", *WAY, *BEYOND[2]} or own[:1] == ["[unwind: bad-java-frame]"]


@test
def frames_in_each_others_place():
    need_root()
    jvms = {version: java(version, "Thrown", 60, flags=["-Xmx64m", JDWP, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Thrown::*"])
            for version in (17, 25)}
    recorder = Recorder("-F", 1997, "-p", ",".join(str(jvm.pid) for jvm in jvms.values()))
    since = {jvm.pid: cpu_seconds(jvm.pid) for jvm in jvms.values()}
    wait_until(lambda: all(cpu_seconds(pid) - before > CPU_SECONDS for pid, before in since.items()), 60, "the JVMs' time")
    lines = collapsed(recorder.end(), "-t")
    for version, jvm in jvms.items():
        through = [line for line in of_thrower(of_pid(lines, jvm.pid)) if BLOB in line.frames]
        leaves = total([line for line in through if line.frames[-1] == BLOB])
        others = [line for line in through if not is_right(own_frames(line.frames))]
        print(f"# JDK {version}: {total(through)} samples, {leaves} of them leaves, {total(others)} lack methods")
        expect(leaves >= FEWEST, f"JDK {version}: only {leaves} leaves in the blob")
        expect_equal([line.frames[-8:] for line in others if not is_unknown(own_frames(line.frames))], [], f"JDK {version}: callers that are none")
        expect(total(others) <= MOST_UNKNOWN * total(through) + 3, f"JDK {version}: {total(others)} of {total(through)} lack methods")


main()
