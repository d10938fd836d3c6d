#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of native stacks rejects what is damaged. Needs no root.

Frames that have only an address are looked up in the programs that were built here, so that the recorded
ones are left out where theirs are others.
"""
import gates
from damage import read_lines, with_frame
from hp import *
from known_stacks import ALLOWED, LEAVES, ROOTS, STACKS, judge, normal_frame
from native_programs import Row, add_rows, comm_of, faults, judge_lines


def lines():
    return read_lines("native.txt")


def why_of(line, frames):
    """Why a stack is bad; what is allowed has a cause of its own."""
    verdict = judge(comm_of(line), frames)
    return "" if verdict.kind in ("whole", "stackless") else verdict.why or "no why"


def users(frames):
    return [at for at, frame in enumerate(frames) if not frame.endswith("_[k]")]


def is_known(line):
    """A program's own, whose every frame has a name."""
    return comm_of(line) in STACKS and users(line.frames) and \
        not any("+0x" in frame for frame in line.frames)


@test
def whole_stacks_are_accepted():
    bad, seen = [], collections.Counter()
    for line in lines():
        if any("+0x" in frame for frame in line.frames):
            continue
        verdict = judge(comm_of(line), line.frames)
        seen[verdict.kind] += 1
        if verdict.kind == "unfinished":
            bad.append(f"{verdict.why}: {';'.join(line.frames)}")
    expect_equal(bad, [], "good stacks: rejected")
    expect(seen["whole"] > 60 and seen["allowed"] > 2 and seen["stackless"] > 2, f"{seen}")


def damaged(line):
    """Of any program: (what, frames)."""
    frames, user = line.frames, users(line.frames)
    first = user[0]
    yield "nothing", []
    yield "kernel frames alone", ["do_syscall_64_[k]", "schedule_[k]"]
    yield "a walk that ended", ["[unwind: no-more-frame-pointers]", *frames[first:]]
    yield "a walk that ended above the leaf", ["[unwind: bad-frame-pointer]", frames[user[-1]]]
    yield "a lost root", frames[first + 1:] or ["main"]
    if not ROOTS.fullmatch(normal_frame(frames[user[-1]])):
        yield "the leaf alone", frames[user[-1]:]
    yield "another root", with_frame(frames, first, "main")
    yield "an unknown root", with_frame(frames, first, "[unknown]")
    yield "nobody's frame", [*frames[:first + 1], "[unknown]", *frames[first + 1:]]
    yield "a nameless leaf", [*frames[:user[-1] + 1], "[anon]", *frames[user[-1] + 1:]]
    yield "the root twice", [frames[first], *frames[first:]]


# What a signal, the linker or the runtime may put between, and what may be missing for it.
def damaged_links(line):
    """The program's own functions: each has to be there, once, behind its caller."""
    frames = line.frames
    own = [at for at in users(frames) if not normal_frame(frames[at]).startswith("lib:")
           and normal_frame(frames[at]) != "plt"]
    names = [normal_frame(frames[at]) for at in own]
    for place, at in enumerate(own[:-1]):
        if names[place] != names[place + 1]:
            yield f"{frames[at]} is missing", frames[:at] + frames[at + 1:]
            yield f"{frames[at]} and the next change places", \
                [*frames[:at], frames[own[place + 1]], *frames[at + 1:own[place + 1]], frames[at],
                 *frames[own[place + 1] + 1:]]
        yield f"another function for {frames[at]}", with_frame(frames, at, "read_piece_of_another")


# A stack with fewer of these is one that the program has, too; and Go's and Rust's runtimes have frames of
# any name between.
FREE = {"uw-recursing", "uw-go", "uw-rust", "uw-spawning", "uw-brief", "uw-calling"}


@test
def damaged_stacks_are_rejected():
    count, passed = 0, []
    for line in lines():
        if not is_known(line) or why_of(line, line.frames) or judge(
                comm_of(line), line.frames).kind != "whole":
            continue
        damages = list(damaged(line))
        damages += [] if comm_of(line) in FREE else damaged_links(line)
        count += len(damages)
        passed += [f"{comm_of(line)}: {what}: {';'.join(frames)}" for what, frames in damages
                   if not why_of(line, frames)]
    expect_equal(passed, [], f"{count} damaged stacks: accepted")
    expect(count > 600, f"only {count} damaged stacks")


FOREIGN = ["_start", "__libc_start_main", "__libc_start_call_main", "main", "deflate"]


@test
def programs_of_others_begin_as_c_programs_do():
    expect_equal(judge("gzip", FOREIGN).kind, "whole", "as it is")
    expect_equal(judge("node", [*FOREIGN, "[anon]"]).kind, "whole", "code that node made")
    expect_equal(judge("cc1", ["[process start]", "_dl_init", "call_init", "[libmpc.so.3+0x6004]"]).kind,
                 "whole", "a library's constructor")
    for what, frames in {
            "no _start": FOREIGN[1:], "no __libc_start_main": FOREIGN[:1] + FOREIGN[2:],
            "main as the root": FOREIGN[3:], "an unknown frame": [*FOREIGN, "[unknown]"],
            "code without a file": [*FOREIGN, "[anon]"], "the heap": [*FOREIGN, "[heap]"],
            "a walk that ended": ["[unwind: page-not-resident]", *FOREIGN[2:]],
            "a thread without its start": ["start_thread", "work"],
            "a function as a thread's start": ["clone3", "work"]}.items():
        expect_equal(judge("gzip", frames).kind, "unfinished", what)


# --- sums ---------------------------------------------------------------------------------------


def row_of(samples=5000, reasons=(), allowed=(), leaves=(("chain_three", 4990),)):
    return Row(samples, samples, 0, collections.Counter(dict(reasons)), {},
               collections.Counter(dict(allowed)), collections.Counter(dict(leaves)))


@test
def causes_are_told_by_the_stack():
    ended, inner = "[unwind: page-not-resident]", "runtime.gcDrain"
    for frames in ([ended, "runtime.systemstack", inner],
                   ["[unwind: stack-copy-ended]", "main.inner", "runtime.sigtramp", "runtime.sighandler"]):
        expect_equal(judge("uw-go", frames).kind, "allowed", ";".join(frames))
        expect_equal(judge("uw-chain", frames).kind, "unfinished", "of another program")
        expect_equal(judge("uw-go", frames[1:]).kind, "unfinished", "a lost root")
    levels = [*FOREIGN[:4], "catcher", "level_one", "level_two", "thrower", "level_two", "_Unwind_RaiseException"]
    expect_equal(judge("uw-throwing", levels).kind, "unfinished", "frames that are thrown away")
    for frames in ([ended, "main.outer", "main.inner"], [ended, inner], ["[unwind: depth]"]):
        expect_equal(judge("uw-go", frames).kind, "unfinished", ";".join(frames))


@test
def sums_are_judged():
    expect_equal(list(faults({"uw-chain": row_of()}, 0)), [], "a good row")
    cause = next(iter(ALLOWED))
    go = {"main.inner": 4500}
    expect_equal(list(faults({"uw-go": row_of(allowed={cause: 60}, leaves=go)}, 0)), [], "what is allowed")
    for what, (rows, dropped) in {
            "bad stacks": ({"uw-chain": row_of(reasons={"why": 5})}, 0),
            "lost ones": ({"uw-chain": row_of(reasons={"lost": 5})}, 5),
            "late or nested ones": ({"uw-chain": row_of()}, 5),
            "too much of what is allowed": ({"uw-go": row_of(allowed={cause: 400}, leaves=go)}, 0),
            "no leaf": ({"uw-chain": row_of(leaves=())}, 0),
            "a tenth has lost its leaf": ({"uw-chain": row_of(leaves={"chain_three": 4500})}, 0),
            "three programs with a few": ({f"uw-chain/{n}": row_of(20000, {"why": 6}, leaves={
                "chain_three": 19990}) for n in range(3)}, 0)}.items():
        expect(list(faults(rows, dropped)), f"accepted: {what}")


@test
def damage_reaches_the_sums():
    line = next(line for line in lines() if comm_of(line) == "uw-chain" and is_known(line))
    damaged_line = line._replace(frames=["[unwind: depth]", *line.frames[1:]], count=3)
    row = judge_lines("uw-chain", [line, damaged_line])
    expect_equal((row.samples, row.reasons.total()), (3 + line.count, 3), "all and bad")
    both = add_rows([row, row])
    expect_equal((both.samples, both.reasons.total()), (2 * row.samples, 6), "the sum")
    expect(all(sum(parts.values()) <= 1.001 for parts in LEAVES.values()), "shares of leaves")
    expect(gates.most_bad(5000) < 5, "the gate that these sums use")


main()
