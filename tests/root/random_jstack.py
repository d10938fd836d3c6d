#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second judge of the program made at random: the JDK's own jstack says the same Java frames."""
import random

import gates
from hp import *
from random_judge import LineJudge, compiled, judge_pid, print_row
from random_program import Program

STOPS = 20
SECONDS = 12

seed = int(os.environ.get("HOSTPROF_SEED") or random.randrange(2**31))


def start_program(version, directory):
    home = jdk(version)
    allowed = ["--enable-native-access=ALL-UNNAMED"] if version > 21 else []
    jvm = start([f"{home}/bin/java", "-Xmx64m", *allowed, "-cp", directory, "made.Plan",
                 f"{directory}/libmade.so", 3000], stdin=subprocess.PIPE,
                preexec_fn=lambda: os.nice(10))
    return jvm.wait_text("ready")


def stacks_of_jstack(version, pid):
    """(thread, Java frames root first) of the two workers."""
    text = run([f"{jdk(version)}/bin/jstack", pid], code=0).out
    found = re.findall(r'^"(made-\d)".*\n.*Thread\.State.*\n((?:[ \t]+.*\n)+)', text, re.MULTILINE)
    return [(name, tuple(frame.partition("(")[0] for frame in
                         reversed(re.findall(r"at (\S+)", frames)))) for name, frames in found]


def stacks_of_hostprof(lines):
    """Of each worker: the Java frames of all its stacks."""
    stacks = collections.defaultdict(set)
    for line in lines:
        stacks[line.thread[1:].partition(" ")[0]].add(
            tuple(name for name in plain_user(line.frames) if name.startswith("made.")))
    return stacks


def is_part(stack, stacks):
    """While a path is entered or left no sample need have come at the very same place."""
    return any(other[:len(stack)] == stack or stack[:len(other)] == other for other in stacks)


def jstack_agrees(version):
    need_root()
    print(f"# again with HOSTPROF_SEED={seed}")
    program = Program(seed)
    directory = compiled(program, temp_dir())
    jvm = start_program(version, directory)
    stacks = []
    recorder = Recorder("-p", jvm.pid, "-F", 997, "--max-depth", 2048, "-d", SECONDS)
    for _ in range(STOPS):
        stacks += stacks_of_jstack(version, jvm.pid)
        time.sleep(0.1)
    recorder.finish(120)
    lines = of_pid(collapsed(recorder.path, "--annotate", "-t"), jvm.pid)
    row = judge_pid(LineJudge(program, directory), lines, jvm.pid)
    print_row(f"JDK {version}", row)
    bad = row.kinds["bad"] + gates.dropped(read_json(recorder.stats_path))
    expect(bad <= gates.most_bad(row.kinds.total()), f"{bad} of {row.kinds.total()} are bad")
    seen = stacks_of_hostprof([line for line in lines if line.thread.startswith("[made-")])
    equal = [stack for thread, stack in stacks if stack in seen[thread]]
    other = [stack for thread, stack in stacks if not is_part(stack, seen[thread])]
    print(f"# JDK {version}: {len(stacks)} stacks of jstack, {len(equal)} equal, the deepest has "
          f"{max(map(len, equal), default=0)} frames")
    expect(not other, f"hostprof has never seen {other[:2]}")
    expect(len(stacks) >= STOPS and len(equal) >= 0.8 * len(stacks), "stacks that are equal")


@test
def jstack_agrees_17():
    jstack_agrees(17)


@test
def jstack_agrees_25():
    jstack_agrees(25)


main()
