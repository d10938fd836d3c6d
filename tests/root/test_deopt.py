#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an exception is thrown under a debugger's agent, each compiled frame becomes an interpreted one: a sample in the blob that does so has its callers, or a reason."""
from hp import *

BLOB = "DeoptimizationBlob"
JDWP = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=0"
WAY = ["Thrown.run", "Thrown.outer"]
# Of each JVM; 1.6 % of its time is spent in the blob itself.
CPU_SECONDS, FEWEST = 3, 20
# What is left: between two of the frames that are pushed; those that are there without their methods; outer's itself, when it is off the stack.
MOST_OTHERS = 0.1


def of_thrower(lines):
    return [line for line in lines if line.thread.startswith("[thrower")]


def is_right(frames):
    at = frames.index("Thrown.run") if "Thrown.run" in frames else len(frames)
    return frames[at:at + 2] == WAY and frames[at + 2:-1] in ([], ["Thrown.middle"], ["Thrown.middle", "Thrown.inner"])


def is_possible(frames):
    """It ends with a reason, or all between run() and the blob are frames of this way, if without their methods."""
    if "Thrown.run" not in frames:
        return frames[-2].startswith("[unwind:")
    own = frames[frames.index("Thrown.run"):-1]
    return all(frame.startswith("Thrown.") or frame in ("Interpreter", "[interpreted]") for frame in own)


@test
def leaves_in_the_blob():
    need_root()
    jvms = {version: java(version, "Thrown", 60, flags=["-Xmx64m", JDWP, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Thrown::*"])
            for version in (17, 25)}
    recorder = Recorder("-F", 1997, "-p", ",".join(str(jvm.pid) for jvm in jvms.values()))
    since = {jvm.pid: cpu_seconds(jvm.pid) for jvm in jvms.values()}
    wait_until(lambda: all(cpu_seconds(pid) - before > CPU_SECONDS for pid, before in since.items()), 60, "the JVMs' time")
    lines = collapsed(recorder.end(), "-t")
    for version, jvm in jvms.items():
        leaves = [line for line in of_thrower(of_pid(lines, jvm.pid)) if line.frames[-1] == BLOB]
        right = total([line for line in leaves if is_right(line.frames)])
        print(f"# JDK {version}: {total(leaves)} leaves, {right} with their callers")
        expect(total(leaves) >= FEWEST, f"JDK {version}: only {total(leaves)} leaves in the blob")
        expect_equal([line.frames[-6:] for line in leaves if not is_possible(line.frames)], [], f"JDK {version}: callers that are none")
        expect(right >= (1 - MOST_OTHERS) * total(leaves) - 3, f"JDK {version}: {right} of {total(leaves)} leaves have their callers")


main()
