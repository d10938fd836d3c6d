#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole Java stacks of JVMs without agent or flag, judged by what the workload knows.

One case alone, on a JDK of /usr/lib/jvm or of a directory in HOSTPROF_JDKS, with examples of every
stack that is not as it must be; the samples default to 3000, the case may be `all`:

    sudo HOSTPROF_BUILD=build tests/root/test_hotspot.py --case mixed 17 [SAMPLES]
"""
from hp import *
from java_stacks import LEAVES as LEAF_CLASSES, LETTERS, Judge, parse_frame, tree_of
from spine_cases import *

SUBSET = ["mixed", "interpreted", "c1", "jni", "deopt", "gc g1"]
SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES", "1200"))


# --- the judge --------------------------------------------------------------------------------

ABOVE = ["[thread start]", "start_thread", "thread_native_entry", "JavaCalls::call_helper",
         "call_stub", "Spine.run_[0]"]
FROM_C_TO_JAVA = ["jni_CallLongMethod", "JavaCalls::call_helper", "call_stub"]


def ideal_stack(path):
    """What a path looks like when all of it is on the stack, interpreted."""
    frames = list(ABOVE)
    for letter in path:
        known = LETTERS.get(letter)
        names = known.frames if known else [f"Leaves${LEAF_CLASSES[letter]}.step"]
        frames += [f"{name}_[0]" if "." in name else name for name in names]
        if letter == "J":
            frames += FROM_C_TO_JAVA
        elif letter == "L":
            frames += ["Links$$Lambda$7/0x1.apply_[0]", "Links.lambda$static$0_[0]"]
        elif letter == "K":
            frames += ["java.lang.Class.forName0_[0]", "JVM_FindClass", "call_stub",
                       "Initialized.<clinit>_[0]"]
    return frames


def verdict_of(judge, frames):
    return judge.judge([parse_frame(frame) for frame in frames]).good


@test
def the_judge_notices_every_skipped_frame():
    """Needs no JVM: each frame of a stack is taken away, doubled, or replaced by the next one."""
    path = "AJCDGMAEDELRLHGKLYMJDHMYXs"
    stack = ideal_stack(path)
    judge = Judge(tree_of([path, "BCDn"]))
    judge.learn([parse_frame(frame) for frame in stack], 1)
    for end in range(len(ABOVE), len(stack) + 1):
        expect(verdict_of(judge, stack[:end]), f"a stack that is being built: {stack[:end]}")
    for at in range(len(stack) - 1):
        if stack[at] not in ("java.lang.Class.forName0_[0]", "JVM_FindClass"):
            expect(not verdict_of(judge, stack[:at] + stack[at + 1:]), f"without {at}: {stack}")
        expect(not verdict_of(judge, [*stack[:at], stack[at], stack[at], *stack[at + 1:]])
               or not parse_frame(stack[at]).own, f"{at} twice: {stack}")
    for leaf in ("[unwind: depth]", "[native frames skipped]", "Leaves$Sort.step_[0]",
                 "java.util.Arrays.sort_[0]"):
        expect(not verdict_of(judge, [*stack[:12], leaf]), f"with {leaf}")
    for wrong in (stack[1:], stack[5:]):
        expect(not verdict_of(judge, wrong), f"wrong: {wrong}")


# --- JVMs -------------------------------------------------------------------------------------


def expect_whole(version, rows):
    print_rows(version, rows)
    print_examples(rows)
    misses = [f"{name}: {bad(row)} of {row.samples}" for name, row in rows.items()
              if too_many(name, version, row)]
    expect_equal(misses, [], f"cases with too many bad stacks on JDK {version}")


@test
def subset_17():
    """The named small subset of make check-jdks."""
    need_root()
    expect_whole(17, run_cases(SUBSET, 17, SAMPLES, 12))


@test
def subset_25():
    need_root()
    expect_whole(25, run_cases(SUBSET, 25, SAMPLES, 12))


def main_of_case(name, version, samples="3000"):
    names = list(CASES) if name == "all" else name.split(",")
    rows = run_cases(names, int(version), int(samples), 10)
    print_rows(version, rows, reasons=8)
    print_examples(rows, reasons=8, stacks=2)


if sys.argv[1:2] == ["--case"]:
    main_of_case(*sys.argv[2:])
else:
    main()
