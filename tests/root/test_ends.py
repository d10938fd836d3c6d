#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a stack that is called whole one? Programs that know where theirs end, and where they only seem to."""
import re

from hp import *
from known_stacks import UNWIND, judge

FREQUENCY = 997
MAIN = ["main", "ends_run"]
LEAF = ["ends_leaf"]


def stacks_of(name, argv, *options):
    """[(frames, count)] of user frames, root to leaf."""
    need_root()
    path = record("-F", FREQUENCY, *options, "--", *argv)
    lines = [line for line in collapsed(path, "--annotate") if line.process.startswith(f"{name}-")]
    expect(total(lines) > 150, f"only {total(lines)} samples")
    stacks = [([f for f in line.frames if not f.endswith("_[k]")], line.count) for line in lines]
    return [row for row in stacks if row[0]]


def is_called_whole(frames):
    return not frames[0].startswith("[unwind:")


def count(stacks, is_wanted):
    return sum(number for frames, number in stacks if is_wanted(frames))


def show(stacks):
    for frames, number in sorted(stacks, key=lambda row: -row[1])[:3]:
        print(f"#   {number} {';'.join(frames)}")


def ends(mode, seconds=1.5):
    return stacks_of("uw-ends", [os.path.join(UNWIND, "uw-ends"), seconds, mode])


def holds(frames, names):
    """Are the names there, one directly below the other?"""
    return any(frames[i:i + len(names)] == names for i in range(len(frames)))


def judge_cut(mode):
    """Whole is only what begins with _start and has each function of the program's own way."""
    stacks = ends(mode)
    of_mode = [row for row in stacks if mode in row[0] or "ends_leaf" in row[0]]
    false = [row for row in of_mode if is_called_whole(row[0]) and
             not (row[0][0] == "_start" and holds(row[0], [*MAIN, mode]))]
    show(of_mode)
    print(f"# {mode}: {count(of_mode, lambda f: True)} samples, "
          f"{count(of_mode, is_called_whole)} called whole, {count(false, lambda f: True)} of them falsely")
    expect(count(of_mode, lambda f: mode in f) > 100, f"hardly a sample in {mode}")
    expect_equal(false, [], "stacks that are called whole and are cut")


def judge_whole(mode, roots):
    """Above ends_first() is what starts it, and nothing else."""
    stacks = [row for row in ends(mode) if "ends_first" in row[0]]
    good = count(stacks, lambda f: is_called_whole(f) and
                 (f[:f.index("ends_first")] in ([root] for root in roots) or
                  (not roots and f[0] == "ends_first")))
    everything = count(stacks, lambda f: True)
    show(stacks)
    print(f"# {mode}: {good} of {everything} whole")
    expect(everything > 100, f"only {everything} samples")
    expect(good >= 0.99 * everything, f"{everything - good} of {everything} stacks are not whole")


@test
def a_cleared_frame_pointer_is_no_end():
    judge_cut("ends_zeroes")


@test
def nor_behind_an_indirect_call():
    judge_cut("ends_indirect")


@test
def a_return_address_of_0_is_no_end():
    judge_cut("ends_plants")


@test
def nor_in_rows_behind_a_guess():
    judge_cut("ends_misleads")


@test
def a_coroutine_of_makecontext_is_whole():
    """libc.so.6 may have no symbol for __start_context."""
    judge_whole("ends_context", ["__start_context", "[thread start]", "[process start]"])


@test
def a_stack_without_a_return_address_is_whole():
    judge_whole("ends_fiber", [])


@test
def a_thread_of_clone_is_whole():
    judge_whole("ends_clone", ["ends_clone"])


@test
def a_thread_that_has_done_nothing_yet_is_whole():
    """It is in the kernel, which made it, and no return address is on its stack. At its first instruction, in user code, it cannot be told."""
    stacks = ends("ends_threads", 5)
    new = count(stacks, lambda f: f == ["ends_described"])
    bad = [row for row in stacks if not is_called_whole(row[0]) or row[0][0] not in ("_start", "[process start]", "ends_described", "ends_begin")]
    everything = count(stacks, lambda f: True)
    show(bad)
    print(f"# {new} of {everything} are new threads; {count(bad, lambda f: True)} are cut, or begin elsewhere")
    expect(new > 3, f"only {new} new threads")
    expect(count(bad, lambda f: True) <= 0.01 * everything, "stacks of new threads are not whole")


# --- without symbols --------------------------------------------------------------------------------


def starting(name, *options):
    stacks = [row for row in stacks_of(name[:15], [os.path.join(UNWIND, name)], *options) if len(row[0]) > 1]
    show(stacks)
    return stacks


def own(frames):
    return [frame for frame in frames if not frame.startswith("[unwind:")]


@test
def a_start_is_known_by_its_place():
    """_start, outer, inner: inner is entered and left once in a million instructions."""
    for options in ([], ["--unwind", "fp"]):
        stacks = starting("uw-starting", *options)
        good = count(stacks, lambda f: is_called_whole(f) and len(own(f)) == 3)
        everything = count(stacks, lambda f: True)
        print(f"# {options}: {good} of {everything} whole")
        expect(good >= 0.99 * everything, f"{everything - good} of {everything} are not whole")


def exits(frames):
    """middle, at the end of the process: just behind its call of outer."""
    return re.fullmatch(r"\[uw-starting-cut\+0x40107[7-9a-f]\]", frames[-1])


@test
def who_was_called_is_no_start():
    """_start, middle, outer, inner; from outer on frame pointers lead no farther than to middle."""
    for options in ([], ["--unwind", "fp"]):
        stacks = starting("uw-starting-cut", *options)
        ended = [row for row in stacks if exits(row[0])]
        false = [row for row in stacks if is_called_whole(row[0]) and len(own(row[0])) < (2 if exits(row[0]) else 4)]
        print(f"# {options}: {count(false, bool)} of {count(stacks, bool)} falsely called whole; {count(ended, bool)} at the end")
        expect_equal(false, [], "stacks that are called whole without _start")


# --- a program of others ----------------------------------------------------------------------------


@test
def threads_by_frame_pointers_alone():
    """Debian's C library has none: what is called whole has what is above main() and a thread's function."""
    path = record("-F", FREQUENCY, "--unwind", "fp", "--", os.path.join(UNWIND, "uw-threads"), 1)
    lines = [line for line in collapsed(path, "--annotate") if line.process.startswith("uw-threads-")]
    false = [line for line in lines if is_called_whole(line.frames) and
             judge("uw-threads", line.frames).kind == "unfinished"]
    print(f"# {total(lines)} samples, {total(false)} falsely called whole")
    expect_equal(false, [], "stacks that are called whole and are cut")


main(lanes=2)
