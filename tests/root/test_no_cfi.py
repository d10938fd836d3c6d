#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs without call frame information, whose rows are inferred from their code: they know which frames a stack must have."""
import bisect
import shutil

from hp import *

SOURCES = os.path.join(ROOT, "tests", "workloads", "nocfi")
NO_CFI = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer"]
NAMELESS = re.compile(r"\[([^\[\]]+)\+0x([0-9a-f]+)\]")

# Of musl_calls.c: who calls whom, by way of musl; what is not here calls nothing of the program.
BELOW = {"once": {"sort_some", "grow_tree", "print_some", "scan_some", "match_some", "allocate_some", "copy_some"},
         "main": {"once", "raise_some"}, "in_thread": {"once"}, "raise_some": {"on_signal"},
         "sort_some": {"sort_compare"}, "sort_compare": {"burn"}, "on_signal": {"burn"},
         "grow_tree": {"tree_compare", "tree_visit", "tree_free"}, "tree_compare": {"burn"}, "tree_visit": {"burn"},
         "tree_free": {"burn"}, "print_some": {"cookie_write"}, "cookie_write": {"burn"}}
MUSL_OWN = set(BELOW).union(*BELOW.values())

ASM = ["plain", "framed", "realigned", "alloca", "enter", "moves", "jumps", "local", "tail", "leaf"]
# asm_local calls a part of its own, which has no symbol; asm_tail goes on as asm_moves.
ASM_WAYS = {(f"call_{name}", f"asm_{name}") for name in ASM} | {
    ("call_local", "asm_local", "asm_local"), ("call_tail", "asm_moves")}

ASM_OWN = {"main", "once", "callee"}.union(*ASM_WAYS)


# Of made.c: who calls which code that was made; a part of that may be called by it.
MADE = ["pushing", "moving", "in_parts", "jumping"]
MADE_OWN = {"main", "once", "callee", *MADE}


def build(compiler, output, *args):
    if not shutil.which(compiler):
        skip(f"no {compiler}")
    path = temp_path(output)
    run([compiler, "-O2", "-o", path, *args], code=0)
    return path


def recorded(argv, seconds=8, frequency=1999):
    """Lines of the program's user stacks, and the figures."""
    stats = temp_path("stats.json")
    path = record("-F", frequency, "--stats", stats, "--", *argv, seconds, timeout=60)
    lines = [line for line in collapsed(path) if line.process.startswith(os.path.basename(argv[0]) + "-")]
    return lines, read_json(stats)


def judge(lines, is_exact, own, title, least=1000):
    """At least 999 of 1,000 stacks have exactly the frames that they must have; before main and behind it there are none of them."""
    wrong, outside = collections.Counter(), 0
    for line in lines:
        if not set(line.frames) & own and not line.frames[0].startswith("[unwind"):
            outside += line.count
        elif not is_exact(line.frames):
            wrong[";".join(line.frames)] += line.count
    samples, bad = total(lines) - outside, sum(wrong.values())
    print(f"# {title}: {samples} samples, {bad} not exact ({100 * bad / max(samples, 1):.3f} %), {outside} outside of main", flush=True)
    expect(outside <= 0.005 * samples + 5, f"{outside} stacks have none of the program's frames")
    for stack, count in wrong.most_common(5):
        print(f"#   {count} {stack}", flush=True)
    expect(samples > least, f"only {samples} samples")
    expect(bad <= 0.001 * samples, f"{title}: {bad} of {samples} stacks are not exact")


def is_musl_way(frames):
    """From main or the thread on each calls the next; what lies between is musl's."""
    own = [frame for frame in frames if frame in MUSL_OWN]
    return bool(own) and own[0] in ("main", "in_thread") and all(b in BELOW.get(a, ()) for a, b in zip(own, own[1:]))


def judge_musl(title, *flags):
    need_root()
    program = build("musl-gcc", "musl_calls", *flags, *NO_CFI, os.path.join(SOURCES, "musl_calls.c"))
    lines, stats = recorded([program])
    judge(lines, is_musl_way, MUSL_OWN, title)
    expect(unfinished(stats, "musl_calls") <= 0.001 * total(lines), f"{title}: not whole: {stats['processes']}")


def unfinished(stats, name):
    return sum(row["samples"] - row["complete"] for row in stats["processes"] if row["name"] == name)


@test
def musl_dynamic():
    judge_musl("musl")


@test
def musl_static():
    judge_musl("musl, static", "-static")


@test
def musl_static_stripped():
    need_root()
    program = build("musl-gcc", "musl_calls", "-static", *NO_CFI, os.path.join(SOURCES, "musl_calls.c"))
    names = by_address(program)
    run(["strip", program], code=0)
    lines, _ = recorded([program])
    judge([line._replace(frames=[names(frame) for frame in line.frames]) for line in lines], is_musl_way, MUSL_OWN, "musl, static, stripped")


def by_address(path):
    """A function that names what is named by its place, by the symbols that PATH has now."""
    rows = [row.split() for row in run(["nm", "-n", path], code=0).out.splitlines()]
    rows = [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tT"]
    starts = [address for address, _ in rows]

    def name(frame):
        match = NAMELESS.fullmatch(frame)
        at = bisect.bisect(starts, int(match.group(2), 16)) if match and match.group(1) == os.path.basename(path) else 0
        return rows[at - 1][1] if at else frame
    return name


def is_asm_way(frames):
    frames = [frame for frame in frames if frame in ASM_OWN]
    if frames[:2] != ["main", "once"]:
        return frames == ["main"]
    way = tuple(frames[2:-1] if frames[-1] == "callee" else frames[2:])
    return way in ASM_WAYS or way[:1] in {way[:1] for way in ASM_WAYS} and len(way) == 1 and frames[-1] != "callee" or not way


def asm_program():
    return build("gcc", "asm_main", os.path.join(SOURCES, "asm_main.c"), os.path.join(SOURCES, "asm_calls.S"))


@test
def assembly():
    need_root()
    lines, stats = recorded([asm_program()])
    judge(lines, is_asm_way, ASM_OWN, "assembly")
    seen = {frame for line in lines for frame in line.frames}
    expect_equal({f"asm_{name}" for name in ASM} - seen, set(), "functions that were not seen")
    expect(stats["capture"]["inferred_frames"] > total(lines) / 2, "frames by inferred rows")


@test
def assembly_stripped():
    """Nobody says where its functions begin."""
    need_root()
    program = asm_program()
    names = by_address(program)
    run(["strip", program], code=0)
    lines, _ = recorded([program])
    judge([line._replace(frames=[names(frame) for frame in line.frames]) for line in lines], is_asm_way, ASM_OWN, "assembly, stripped")


def is_made_way(frames):
    frames = [frame for frame in frames if frame in MADE_OWN or frame == "[anon]"]
    if len(frames) < 3:
        return frames in (["main"], ["main", "once"])
    made, in_parts = frames[3:], frames[2] == "in_parts"
    return frames[1] == "once" and frames[2] in MADE and (made in ([], ["[anon]"], ["[anon]", "callee"]) or
                                                          in_parts and made == ["[anon]", "[anon]"])


@test
def made_while_it_runs():
    """Code without a file and without frame pointers, of which nobody tells anything: it says itself how it returns."""
    need_root()
    program = build("gcc", "made", "-no-pie", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                    os.path.join(SOURCES, "made.c"), os.path.join(SOURCES, "made_code.S"))
    # Userspace finishes each of these stacks, and no more than 1,000 a second of one cpu (bpf/sample/bucket.h).
    lines, stats = recorded([program], frequency=499)
    judge(lines, is_made_way, MADE_OWN, "made while it runs")
    below = collections.Counter()
    for line in lines:
        if "once" in line.frames[:-1]:
            below[line.frames[line.frames.index("once") + 1]] += line.count
    for name in MADE:
        expect(below[name] > 0.08 * total(lines), f"{name}: {below}")
    counters = {row["name"]: row["value"] for row in stats["counters"]}
    expect(counters["unwind.frames.read"] > 0.5 * total(lines), f"frames by what the code does: {counters}")


main(lanes=2)
