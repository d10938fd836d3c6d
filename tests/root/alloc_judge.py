# SPDX-License-Identifier: Apache-2.0
"""The judge of allocation profiles of tests/workloads/AllocSites.java, by what the program counted and its source.

Of each class the bytes, the objects and every stack: from the thread's start through call_stub to the class. Each
method but those that are named as inlined is a frame of its own, as the JVM is told to inline none (DONTINLINE).
"""
import collections
import re

import gates
from hp_lines import plain
from java_vm import START_OF_THREAD
from jvm_frames import THREAD_START

# Class: the site's method, and the methods that are inlined into it.
SITES = {
    "AllocSites$Small": ("small", "newSmall", "makeSmall"),
    "java.lang.String": ("text", "newText"),
    "byte[]": ("bytes", "newBytes"),
    "java.lang.String[]": ("texts", "newTexts", "makeTexts"),
    "int[]": ("ints", "newInts"),
    "long[]": ("longs", "newLongs"),
    "float[]": ("floats", "newFloats"),
    "char[]": ("chars", "newChars"),
    "double[]": ("doubles", "newDoubles"),
}
CALLERS = ("run", "slice", "some", "work")
DONTINLINE = [f"AllocSites.{method}" for method in (*CALLERS, *(site[0] for site in SITES.values()))]

# Of a class's bytes, with the agent and without, besides DEVIATIONS of as many samples; and of its objects.
BYTES_OFF, BYTES_OFF_OUTSIDE, OBJECTS_OFF = 0.03, 0.10, 0.10
DEVIATIONS = 4
# A sum says something of its objects when chance is far below OBJECTS_OFF.
ENOUGH = 20000

# Known causes, each told by the stack itself, and the share of samples that each may have.
# A compiled frame is missing below an allocation stub: the outer part of the true chain.
SHORT = "outer part only"
# Code that was compiled a moment ago, before the agent told of it: what is inlined there has no name yet.
LATE = "inlined methods not told"
ALLOWED = {SHORT: 0.01, LATE: 0.001}

# One recording: {class: (size, count)} of the program; {class: sum} of each figure; stacks: [(frames, samples)], annotated.
Cell = collections.namedtuple("Cell", "truth bytes objects samples stacks")
# Of a class in one or several cells.
Row = collections.namedtuple("Row", "name samples bytes_off objects_off bound")


def rows_of(cells, outside):
    """A row for each class, of all these recordings together."""
    rows = []
    for name in SITES:
        true_bytes = sum(size * count for size, count in (cell.truth.get(name, (0, 0)) for cell in cells))
        true_objects = sum(cell.truth.get(name, (0, 0))[1] for cell in cells)
        samples = sum(cell.samples.get(name, 0) for cell in cells)
        rows.append(Row(name, samples,
                        sum(cell.bytes.get(name, 0) for cell in cells) / max(true_bytes, 1) - 1,
                        sum(cell.objects.get(name, 0) for cell in cells) / max(true_objects, 1) - 1,
                        (BYTES_OFF_OUTSIDE if outside else BYTES_OFF) + DEVIATIONS / max(samples, 1) ** 0.5))
    return rows


def misses_of_rows(rows, least):
    """Why sums are wrong; LEAST: samples that each class must have."""
    misses = []
    for row in rows:
        if row.samples < least:
            misses.append(f"{row.name}: {row.samples} samples, not {least}")
        if abs(row.bytes_off) > row.bound:
            misses.append(f"{row.name}: bytes {row.bytes_off:+.2%} (bound {row.bound:.2%})")
        chance = 0 if row.samples >= ENOUGH else DEVIATIONS / max(row.samples, 1) ** 0.5
        if abs(row.objects_off) > OBJECTS_OFF + chance:
            misses.append(f"{row.name}: objects {row.objects_off:+.2%}")
    return misses


# --- stacks -------------------------------------------------------------------------------------


# Without an agent 8 is seen where its debug package is, which has these names (os_linux.cpp, thread.cpp, jvm.cpp, javaCalls.cpp).
START_8 = re.compile(START_OF_THREAD + "java_start;JavaThread::thread_main_inner;thread_entry;(?:JavaCalls::call_virtual;){2}"
                     "JavaCalls::call_helper;call_stub")
# An agent's code map has the stub's own name, which is another one from 26 on.
START_OF_STUB = re.compile(f"(?:{THREAD_START.pattern}(?:_stub)?(?: [^;]+)?)")


def start_of(version):
    """What a thread begins with, up to call_stub."""
    if version == 8:
        return START_8
    return START_OF_STUB


def below_call_stub(frames, version):
    """The names below the thread's start; None: it does not begin as a thread does."""
    names = [plain(frame) for frame in frames]
    at = next((at for at, name in enumerate(names) if name.startswith("call_stub")), -1) + 1
    if not at:
        return None
    return names[at:] if start_of(version).fullmatch(";".join(names[:at])) else None


def chain_of(name, version):
    """What must be below call_stub, and how many of these may be inlined, before the class."""
    threads = ["java.lang.Thread.run"] + (["java.lang.Thread.runWith"] if version >= 21 else [])
    return [*threads, *(f"AllocSites.{method}" for method in (*CALLERS, *SITES[name]))], len(SITES[name]) - 1


def is_part(names, whole):
    """In this order, with others between that are missing."""
    rest = iter(whole)
    return all(name in rest for name in names)


def judge_stack(frames, version, outside):
    """"" of a good one, a known cause, or what is wrong. Of a class of the program only."""
    name = plain(frames[-1])
    names = below_call_stub(frames[:-1], version)
    if names is None:
        return "does not begin as a thread"
    chain, inlined = chain_of(name, version)
    if names == chain:
        return ""
    outer = chain[:len(chain) - inlined]
    if names[:len(outer)] == outer and is_part(names[len(outer):], chain[len(outer):]):
        return "" if outside else LATE
    if len(names) >= 2 and names == outer[:len(names)]:
        return SHORT
    return f"stack of {name}"


def judge_stacks(cell, version, outside):
    """(reasons: samples of each, examples: a stack of each)."""
    reasons, examples = collections.Counter(), {}
    for frames, samples in cell.stacks:
        if not frames or plain(frames[-1]) not in SITES:
            continue
        why = judge_stack(frames, version, outside)
        if why:
            reasons[why] += samples
            examples.setdefault(why, ";".join(frames))
    return reasons, examples


def misses_of_stacks(reasons, samples):
    bad = sum(count for why, count in reasons.items() if why not in ALLOWED)
    misses = [f"{reasons[why]} of {samples} stacks: {why} (at most {100 * share} %)"
              for why, share in ALLOWED.items() if reasons[why] > share * samples + DEVIATIONS]
    if bad > gates.most_bad_of_suite(samples):
        misses.append(f"{bad} of {samples} stacks are wrong: {dict(reasons)}")
    return misses
