#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Go programs whose exact frames are known, inlined ones included: with symbols, stripped, position-independent, linked by gcc.
HOSTPROF_GOS names more toolchains (their roots, between colons); without any `go` the tests are skipped."""
import collections
import shutil

from hp import *

SOURCE = os.path.join(ROOT, "tests/workloads/go/calls.go")
GROWING = os.path.join(ROOT, "tests/workloads/go/grow.go")
SECONDS = 2
# What the linker is told. gcc makes the last ones: then Go's tables have no section of their own.
BUILDS = {
    "plain": [],
    "stripped": ["-ldflags=-s -w"],
    "pie": ["-ldflags=-s -w", "-buildmode=pie"],
    "gcc": ["-ldflags=-s -w -linkmode=external"],
    "gccpie": ["-ldflags=-s -w -linkmode=external", "-buildmode=pie"],
}
# Below a function of the program: the runtime's, what is called at the end of a slice of time, the vDSO's clock.
# libc.so.6 returns from signals in code without a symbol; a stripped program's C functions have none, which only gcc's builds have.
ELSE = r"(?:;(?!main\.|\[(?!libc|calls\+)|runtime\.(?:goexit|mstart)(?:;|$))[^;]+)*"
TURN = r"main\.\(\*square\)\.turn"
GENERIC = r"main\.generic\[(?:\.\.\.|go\.shape\.int)\]"
CALLS = (rf"main\.work(?:;main\.outer(?:;main\.call(?:;main\.outer\.func1(?:;(?:{TURN}|{GENERIC})"
         rf"(?:;main\.middle(?:;main\.spin_\[i\](?:;main\.mix_\[i\])?)?)?)?)?)?)?")
STACK = re.compile(
    rf"runtime\.goexit;(?:runtime\.main;main\.main|main\.main\.(?:gowrap1|func1));{CALLS}{ELSE}|"
    rf"runtime\.goexit(?:;runtime\.main(?:;main\.main)?|;main\.main\.(?:gowrap1|func1))?{ELSE}|"
    rf"(?:runtime\.(?:mstart|rt0_go|clone|mcall)|gogo|_rt0_amd64\w*){ELSE}|"
    # the scheduler has let the goroutine go; else it is the goroutine's stack that comes first
    rf"runtime\.morestack;runtime\.newstack;runtime\.(?:gopreempt_m|preemptPark)(?:_\[i\])?{ELSE}|"
    # libc starts a program and a thread that gcc linked
    rf"(?:\[(?:process|thread) start\]|_start|__clone3?|clone3){ELSE}")
UNFINISHED = re.compile(r"\[unwind: [\w-]+\]")
# Where each function's lines are: of the call, or of what runs.
LINES = {"main.mix": "func mix", "main.spin": "func spin", "main.middle": "func middle", "main.outer.func1": "func outer",
         "main.call": "func call", "main.(*square).turn": "func (s *square) turn"}


def toolchains():
    """(its version, the program go, environment)"""
    roots = [root for root in os.environ.get("HOSTPROF_GOS", "").split(":") if root]
    programs = [os.path.join(root, "bin/go") for root in roots]
    own = shutil.which("go") or "/usr/local/go/bin/go"
    if os.access(own, os.X_OK):
        programs.append(own)
    for go in programs:
        env = {**os.environ, "GOTOOLCHAIN": "local", "GO111MODULE": "off", "GOFLAGS": ""}
        env.pop("GOROOT", None)
        found = subprocess.run([go, "env", "GOVERSION"], env=env, capture_output=True, text=True, check=True)
        yield found.stdout.strip(), go, env


def build(go, env, arguments, source=SOURCE):
    path = os.path.join(temp_dir(), os.path.basename(source).removesuffix(".go"))
    cgo = "external" in "".join(arguments)
    found = subprocess.run([go, "build", *arguments, "-o", path, source], env={**env, "CGO_ENABLED": str(int(cgo))},
                           capture_output=True, text=True, check=False)
    expect_equal(found.returncode, 0, found.stderr)
    return path


def programs(source=SOURCE):
    """((version, kind), path)"""
    for version, go, env in toolchains():
        for kind, arguments in BUILDS.items():
            if "gcc" in kind and not shutil.which("gcc"):
                print(f"# no {kind}: no gcc", flush=True)
                continue
            yield (version, kind), build(go, env, arguments, source)


def recorded(path):
    """{stack: samples}, root first, without kernel frames, of a program recorded alone; and the recording."""
    jfr = record("-F", 997, "--", path, SECONDS, timeout=60)
    out = temp_path("x.collapsed")
    hostprof("report", jfr, "-o", out, "--all-user", "--annotate")
    stacks = collections.Counter()
    with open(out, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            process, _, frames = stack.partition(";")
            if process.startswith(os.path.basename(path)):
                stacks[frames] += int(count)
    return stacks, jfr


def judge(label, stacks, has_c):
    total = sum(stacks.values())
    unfinished = sum(count for stack, count in stacks.items() if UNFINISHED.search(stack))
    nameless = sum(count for stack, count in stacks.items() if re.search(r"\[calls\+0x|\[unknown\]|\[anon\]", stack))
    leaves = sum(count for stack, count in stacks.items() if re.search(r";main\.spin_\[i\](?:;main\.mix_\[i\])?$", stack))
    wrong = [(count, stack) for stack, count in stacks.items() if stack and not UNFINISHED.search(stack) and not STACK.fullmatch(stack)]
    print(f"# {label}: {total} samples, {unfinished} unfinished, {nameless} with a nameless frame, {leaves} in what is inlined, "
          f"{sum(count for count, _ in wrong)} wrong", flush=True)
    expect(total > SECONDS * 50, f"{label}: {total} samples")
    expect(not wrong, f"{label}: no such stack is possible: {sorted(wrong, reverse=True)[:3]}")
    expect(has_c or not nameless, f"{label}: {nameless} samples have frames without a name")
    expect(leaves > 0.9 * total, f"{label}: {leaves} of {total} samples are in what the program does")
    expect(unfinished <= 0.01 * total + 3, f"{label}: {unfinished} of {total} stacks are not whole")


@test
def every_build_has_its_names():
    need_root()
    found = False
    for (version, kind), path in programs():
        found = True
        judge(f"{version} {kind}", recorded(path)[0], "gcc" in kind)
    if not found:
        skip("no go")


# A goroutine's stack, and what makes it grow, which runs on the thread's.
GROWN = re.compile(rf"runtime\.goexit;main\.main\.(?:gowrap|func)[12];main\.one(?:;main\.grow)+;runtime\.morestack;runtime\.newstack{ELSE}|"
                   # of the runtime's own goroutines, and of the first one
                   r"runtime\.goexit(?:;(?!main\.(?:one|grow))[^;]+)+")
LET_GO = re.compile(r"runtime\.(?:gopreempt_m|preemptPark)")
# First samples of new code, where a stack is deeper than what came along for the walk's end; on a busy host these are more.
MOST_UNFINISHED, FIRST_ONES = 0.02, 30


def judge_growing(label, stacks):
    growing = {stack: count for stack, count in stacks.items() if ";runtime.newstack" in stack and not LET_GO.search(stack)}
    total = sum(growing.values())
    unfinished = sum(count for stack, count in growing.items() if UNFINISHED.search(stack))
    wrong = [(count, stack) for stack, count in growing.items() if not UNFINISHED.search(stack) and not GROWN.fullmatch(stack)]
    deepest = max((stack.count(";main.grow") for stack in growing), default=0)
    print(f"# {label}: {total} samples of stacks that grow, {unfinished} unfinished, {sum(count for count, _ in wrong)} wrong, {deepest} calls deep", flush=True)
    expect(total > SECONDS * 50, f"{label}: {total} samples of stacks that grow")
    expect(not wrong, f"{label}: whose stack grows is not in front of it: {sorted(wrong, reverse=True)[:3]}")
    expect(unfinished <= MOST_UNFINISHED * total + FIRST_ONES, f"{label}: {unfinished} of {total} stacks are not whole")
    expect_between(deepest, 100, 401, f"{label}: calls of grow()")


@test
def stacks_that_grow():
    need_root()
    found = False
    for (version, kind), path in programs(GROWING):
        found = True
        judge_growing(f"{version} {kind}", recorded(path)[0])
    if not found:
        skip("no go")


def source_ranges():
    """{function: (first, last line)} of calls.go"""
    with open(SOURCE, encoding="utf-8") as file:
        lines = file.read().split("\n")
    ranges = {}
    for name, begin in LINES.items():
        first = next(i for i, line in enumerate(lines) if line.startswith(begin))
        last = next(i for i in range(first, len(lines)) if lines[i].endswith("}") and not lines[i].startswith("\t"))
        ranges[name] = (first + 1, last + 1)
    return ranges


@test
def lines_are_those_of_the_source():
    """By Go's own reader of profiles."""
    need_root()
    go = next(iter(toolchains()), None)
    if not go:
        skip("no go")
    _, jfr = recorded(build(go[1], go[2], BUILDS["stripped"]))
    profile = temp_path("x.pb.gz")
    hostprof("report", jfr, "-o", profile, "--all-user")
    top = run([go[1], "tool", "pprof", "-top", "-lines", "-nodecount=1000", profile]).out
    ranges, seen = source_ranges(), set()
    for name, line, inlined in re.findall(r"(main\.\S+) \S*/calls\.go:(\d+)( \(inline\))?$", top, re.MULTILINE):
        if name not in ranges:
            continue
        seen.add(name)
        expect(ranges[name][0] <= int(line) <= ranges[name][1], f"{name} at line {line}, and it is in {ranges[name]}")
        expect_equal(bool(inlined), name in ("main.mix", "main.spin"), f"{name} is inlined")
    expect_equal(seen, set(ranges), "functions with lines")


main()
