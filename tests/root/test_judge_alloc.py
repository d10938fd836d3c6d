#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of allocation profiles rejects what is damaged. Needs no root and no JVM."""
import gzip

from alloc_judge import *
from hp import *
from pprof_file import sums_of_leaves

SAMPLES = 20000
START = ["[thread start]", "start_thread", "thread_native_entry", "Thread::call_run", "JavaThread::thread_main_inner",
         "thread_entry", "JavaCalls::call_virtual", "JavaCalls::call_helper", "call_stub"]
START_8 = ["[thread start]", "[libc.so.6+0x94db7]", "java_start", "JavaThread::thread_main_inner", "thread_entry",
           "JavaCalls::call_virtual", "JavaCalls::call_virtual", "JavaCalls::call_helper", "call_stub"]


def right_stack(name, version, told=True):
    chain, inlined = chain_of(name, version)
    if not told:
        chain = chain[:len(chain) - inlined]
    return [*(START_8 if version == 8 else START), *(f"{frame}_[j]" for frame in chain), f"{name}_[i]"]


def right_cell(version=17, samples=SAMPLES, told=True):
    truth = {name: (1000, 100000) for name in SITES}
    return Cell(truth, {name: 10 ** 8 for name in SITES}, {name: 10 ** 5 for name in SITES},
                {name: samples for name in SITES}, [(right_stack(name, version, told), samples) for name in SITES])


def judge(cell, version=17, outside=False, least=SAMPLES):
    reasons, _ = judge_stacks(cell, version, outside)
    return misses_of_rows(rows_of([cell], outside), least) + misses_of_stacks(reasons, sum(n for _, n in cell.stacks))


def changed(sums, name, factor):
    return {**sums, name: round(sums[name] * factor)}


@test
def right_ones_are_accepted():
    for version in (11, 17, 21, 25, 28):
        expect_equal(judge(right_cell(version), version), [], f"with the agent on {version}")
    for version in (8, 17, 25):
        for told in (True, False):
            expect_equal(judge(right_cell(version, told=told), version, outside=True), [], f"without on {version}")


@test
def sums_are_judged():
    right = right_cell()
    bound = BYTES_OFF + DEVIATIONS / SAMPLES ** 0.5
    for name in SITES:
        for outside, off in ((False, bound), (True, bound + BYTES_OFF_OUTSIDE - BYTES_OFF)):
            for sign in (1, -1):
                near = right._replace(bytes=changed(right.bytes, name, 1 + sign * (off - 0.001)))
                far = right._replace(bytes=changed(right.bytes, name, 1 + sign * (off + 0.001)))
                expect_equal(judge(near, outside=outside), [], f"{name} just within")
                expect_equal(len(judge(far, outside=outside)), 1, f"misses of {name}: bytes {sign * off:+.3f}")
        for factor in (0.89, 1.11, 0):
            expect_equal(len(judge(right._replace(objects=changed(right.objects, name, factor)))), 1, "misses of objects")
        few = right._replace(samples=changed(right.samples, name, 0.99))
        expect_equal(len(judge(few)), 1, f"misses of {name}: too few samples")
        for part in ("bytes", "samples", "truth", "objects"):
            gone = {key: value for key, value in getattr(right, part).items() if key != name}
            expect(judge(right._replace(**{part: gone})), f"accepted without {part} of {name}")


@test
def one_wrong_cell_shows_in_the_sum():
    right = right_cell()
    cells = [right, right, right._replace(bytes=changed(right.bytes, "int[]", 1.3))]
    expect_equal(len(misses_of_rows(rows_of(cells, False), SAMPLES)), 1, "misses of three cells")


def damaged(frames):
    first = frames.index("call_stub")
    for at in range(len(frames) - 1):
        yield f"without {frames[at]}", frames[:at] + frames[at + 1:]
        yield f"{frames[at]} twice", [*frames[:at], frames[at], *frames[at:]]
        yield f"another for {frames[at]}", [*frames[:at], "java.util.HashMap.get_[j]", *frames[at + 1:]]
        if at > first:
            yield f"[JIT] for {frames[at]}", [*frames[:at], "[JIT]_[j]", *frames[at + 1:]]
        if at + 2 < len(frames) and frames[at] != frames[at + 1]:
            yield f"{frames[at]} and the next changed", [*frames[:at], frames[at + 1], frames[at], *frames[at + 2:]]
    yield "the class alone", frames[-1:]
    yield "a walk that ended", ["[unwind: bad-return-address]", *frames[first + 4:]]
    yield "skipped frames", [*frames[:first + 2], "[native frames skipped]", *frames[first + 2:]]
    yield "a frame of the JVM", [*frames[:-1], "JVM_Clone", frames[-1]]
    for other in SITES:
        if plain(frames[-1]) != other:
            yield f"{other} there", [*frames[:-1], f"{other}_[i]"]


@test
def stacks_are_judged():
    count = 0
    for version, outside in ((17, False), (28, False), (8, True), (25, True)):
        for name in SITES:
            right = right_stack(name, version, told=not outside)
            # Of the frames that may be missing without the agent only those that are not inlined.
            for what, frames in damaged(right):
                why = judge_stack(frames, version, outside)
                expect(why, f"accepted on {version}: {what}: {frames}")
                count += 1
                if why in ALLOWED:
                    continue
                cell = right_cell(version, told=not outside)
                bad = cell._replace(stacks=[*cell.stacks, (frames, 100)])
                expect(judge(bad, version, outside), f"accepted on {version}, 100 times: {what}: {frames}")
    print(f"# {count} damaged stacks rejected")
    expect(count > 1000, f"only {count} damaged stacks")


@test
def known_causes_have_a_bound():
    right = right_cell()
    all_samples = SAMPLES * len(SITES)
    late = right_stack("int[]", 17, told=False)
    short = late[:-2] + late[-1:]
    for why, frames in ((LATE, late), (SHORT, short)):
        expect_equal(judge_stack(frames, 17, False), why, "its cause")
        few, many = int(ALLOWED[why] * all_samples / 2), int(ALLOWED[why] * all_samples * 2)
        expect_equal(judge(right._replace(stacks=[*right.stacks, (frames, few)])), [], f"few of {why}")
        expect_equal(len(judge(right._replace(stacks=[*right.stacks, (frames, many)]))), 1, f"many of {why}")
    expect(judge_stack(short, 17, True) == SHORT, "without the agent a site's own method must be there")


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, *as_varint(value)])
    return bytes([number << 3 | 2, *as_varint(len(value))]) + value


def as_varint(value):
    data = []
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


@test
def pprof_files_are_read():
    strings = [b"", b"alloc_objects", b"count", b"alloc_space", b"bytes", b"a", b"b"]
    profile = b"".join(field(6, text) for text in strings)
    profile += field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    profile += b"".join(field(5, field(1, number) + field(2, 4 + number)) for number in (1, 2))
    profile += field(4, field(1, 300) + field(4, field(1, 2)) + field(4, field(1, 1))) + field(4, field(1, 4) + field(4, field(1, 1)))
    profile += field(2, field(1, as_varint(300) + as_varint(4)) + field(2, as_varint(7) + as_varint(70000)))
    profile += field(2, field(1, 4) + field(1, 300) + field(2, 5) + field(2, 6))
    path = temp_path("x.pb.gz")
    with gzip.open(path, "wb") as file:
        file.write(profile)
    expect_equal(dict(sums_of_leaves(path, "alloc_objects")), {"b": 7, "a": 5}, "objects")
    expect_equal(dict(sums_of_leaves(path, "alloc_space")), {"b": 70000, "a": 6}, "bytes")


main()
