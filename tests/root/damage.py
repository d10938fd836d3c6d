# SPDX-License-Identifier: Apache-2.0
"""Damaged stacks of Java threads, which a judge must reject, made of whole ones (annotated, root first)."""
import os

from hp import ROOT, expect, expect_equal, parse_collapsed
from jvm_frames import is_java, is_kernel, name_of, thread_start

DATA = os.path.join(ROOT, "tests", "data", "judges")
# What stands in a frame's place when its method is not known.
WITHOUT_NAME = ("[JIT]_[j]", "[interpreted]_[0]", "[unknown]", "[evicted]", "[anon]")
STRANGE_NATIVE = ("memcpy", "jni_CallVoidMethod", "[libc.so.6+0x9f3a1]", "Java_made_Other_call", "deflate",
                  "CONT_isPinned0", "Java_java_lang_Thread_getNextThreadIdOffset")
STRANGE_JAVA = ("java.util.HashMap.get_[j]", "java.lang.String.format_[0]", "com.acme.Order.place_[1]")


def read_lines(name):
    """The recorded stacks of a file below tests/data/judges."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return parse_collapsed("".join(row for row in file if not row.startswith("#")))


def with_frame(frames, at, frame):
    """Another frame at a place."""
    return [*frames[:at], frame, *frames[at + 1:]]


def user_frames(frames):
    return [at for at, frame in enumerate(frames) if not is_kernel(frame)]


def damaged_everywhere(frames):
    """What is wrong of whichever program: (what, frames)."""
    user, count = user_frames(frames), thread_start(frames)
    half = len(user) // 2
    yield "nothing", []
    yield "kernel frames alone", [frame for frame in frames if is_kernel(frame)] + ["schedule_[k]"]
    if count:
        yield "no thread start", frames[count:]
        yield "a thread start and nothing else", frames[:count]
        yield "two thread starts", frames[:count] + frames
    yield "the leaf side alone", frames[max(half, 1):]
    for at in range(count):
        yield f"thread start without {frames[at]}", frames[:at] + frames[at + 1:]
        yield f"[unknown] for {frames[at]}", with_frame(frames, at, "[unknown]")
    yield "a walk that ended", ["[unwind: page-not-resident]", *frames[half:]]
    yield "a walk that ended at its root", ["[unwind: bad-return-address]", *frames]
    for at in user[1:]:
        yield f"skipped frames above {frames[at]}", \
            [*frames[:at], "[native frames skipped]", *frames[at:]]
    for at in (at for at in user if is_java(frames[at])):
        for name in WITHOUT_NAME:
            yield f"{name} for {frames[at]}", with_frame(frames, at, name)
        yield f"{frames[at]} as if it were native", with_frame(frames, at, name_of(frames[at]))
        if any(map(is_java, frames[at + 1:])):
            yield f"Interpreter for {frames[at]}", with_frame(frames, at, "Interpreter")
    for name in WITHOUT_NAME:
        yield f"{name} below the leaf", [*frames[:user[-1] + 1], name, *frames[user[-1] + 1:]]


def damaged_leaf(frames):
    """Below a Java frame that is a leaf: frames that it does not call."""
    last = user_frames(frames)[-1]
    if not is_java(frames[last]):
        return
    for name in (*STRANGE_NATIVE, *STRANGE_JAVA):
        yield f"{name} below {frames[last]}", [*frames[:last + 1], name, *frames[last + 1:]]


def damaged_links(frames, links):
    """LINKS: indices of frames that must be there, one after the other, each different from the next."""
    for at in links:
        yield f"{frames[at]} is missing", frames[:at] + frames[at + 1:]
        yield f"{frames[at]} twice", [*frames[:at], frames[at], *frames[at:]]
        yield f"another method for {frames[at]}", with_frame(frames, at, STRANGE_JAVA[2])
    for one, two in zip(links, links[1:]):
        if two == one + 1 and name_of(frames[one]) != name_of(frames[two]):
            yield f"{frames[one]} and the next changed places", \
                [*frames[:one], frames[two], frames[one], *frames[two + 1:]]


def expect_rejected(judge, damages):
    """JUDGE(frames) says why a stack is bad, "" of a good one. Returns how many there were."""
    damages = list(damages)
    passed = [what for what, frames in damages if not judge(frames)]
    expect_equal(passed, [], f"{len(damages)} damaged stacks: accepted")
    return len(damages)


def expect_accepted(judge, lines, least):
    """All stacks of a recording are good, and there are so many different ones."""
    expect(len(lines) >= least, f"only {len(lines)} stacks")
    expect_equal([why for line in lines if (why := judge(line.frames))], [], "good stacks: rejected")
