#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walk a Java thread's stack at every instruction: `make check-steps`.

    java_steps.py [--steps N] [--record DIR | --confirm DIR] [--show N] [JDK[:MODE]...]

For each JDK (default: those of the matrix that are there) and mode tests/workloads/Steps.java runs, and
build/tools/java_steps single-steps its thread in rounds of ROUND_STEPS instructions at random moments.
Two things are checked at every instruction: that the walk before, one instruction earlier, can have become
this one (a call, a return, or the same callers); and that the names are those that the program has. Both
know nothing of how frames are found. --record writes tests/data/java anew out of what was right, --confirm those of its files whose
stacks other tools have, too."""
import argparse

from hp import *

ROUND_STEPS = 4000
# Of a stack that is wrong more often than this many times in a million: the run fails.
SIGNAL_EVERY = 97

INLINE_NONE = ["-XX:-Inline"]
MODES = {
    "c2": (INLINE_NONE, {}),
    "inlined": ([], {}),
    "c1": ([*INLINE_NONE, "-XX:TieredStopAtLevel=1"], {}),
    "tiered": ([*INLINE_NONE, "-Dsteps.warmup=150"], {}),
    "int": (["-Xint", "-Dsteps.warmup=10"], {}),
    "comp": (["-Xcomp", "-Dsteps.warmup=20"], {}),
    "signal": (INLINE_NONE, {"signal": SIGNAL_EVERY}),
    # Everything at once, from the first compilation on.
    "mixed": ([*INLINE_NONE, "-Dsteps.warmup=100"], {"signal": SIGNAL_EVERY}),
    # Its collections arm the entry barrier of all compiled methods.
    "barriers": ([*INLINE_NONE, "-Dsteps.warmup=100", "-XX:+UseShenandoahGC", "-XX:+UnlockDiagnosticVMOptions",
                  "-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahGuaranteedGCInterval=50"], {}),
    "virtual": ([*INLINE_NONE, "-Djdk.virtualThreadScheduler.parallelism=1", "-Dsteps.warmup=5000"],
                {"virtual": True}),
}

# Other modes are every JDK's.
SINCE = {"virtual": 21, "barriers": 17}

# --- what the program knows -----------------------------------------------------------------

ROOT_FRAMES = ["N:libc.so.6", "N:libjvm.so", "S:call stub", "java.lang.Thread.run", "java.lang.Thread.runWith"]
RUNNING = ["Steps.run", "Steps.round", *["Steps.outer"] * 3]
PINNED = ["Steps.through", "N:libsteps.so", "N:libsteps.so", "N:libjvm.so", "S:call stub", "Steps.back"]
WORKING = ["Steps.work", "Steps.pieces"]
SPINE = ROOT_FRAMES + RUNNING + PINNED + WORKING
# What runs virtual threads.
CARRIER = ("java.util.concurrent.", "java.lang.Thread", "java.lang.VirtualThread", "java.lang.System",
           "java.lang.BaseVirtualThread", "jdk.internal.vm.Continuation")
VIRTUAL_SPINE = RUNNING + ["Steps.yielding"] + WORKING
# A compiler may put these into their callers.
# Newer JDKs have one more method between.
OPTIONAL = {"java.lang.Thread.runWith"}
MAY_BE_INLINED = {"Steps.round", "Steps.outer", "Steps.work", "Steps.pieces", "Steps.yielding", "Steps.run"}

# Who calls whom, where the callee is the program's own.
CALLERS = {
    "Steps.tinyTwo": {"Steps.pieces", "Steps.switches"},
    "Steps.floats": {"Steps.switches"},
    "Steps.copies": {"Steps.pieces"}, "Steps.sums": {"Steps.pieces"}, "Steps.maths": {"Steps.pieces"},
    "Steps.strings": {"Steps.pieces"}, "Steps.catcher": {"Steps.pieces"}, "Steps.thrower": {"Steps.catcher"},
    "Steps.nullCatcher": {"Steps.pieces"}, "Steps.inC": {"Steps.pieces"}, "Steps.manyInC": {"Steps.pieces"},
    "Steps.locked": {"Steps.pieces"}, "Steps.lambdas": {"Steps.pieces"}, "Steps.wide": {"Steps.pieces"},
    "Steps.sorts": {"Steps.pieces"}, "Steps.big": {"Steps.pieces"}, "Steps.switches": {"Steps.pieces"},
    "Steps.deopt": {"Steps.pieces", "Steps.deopt"}, "Steps.changeTarget": {"Steps.deopt"},
    **{f"Steps${name}.{method}": {"Steps.pieces"} for names, method in
       ((("Disk", "Cube", "Cone", "Ring"), "area"), (("Leaf", "Twig", "Root", "Bark"), "visit"))
       for name in names},
}


CALL_STUB = re.compile(r"S:(StubRoutines.*|.*initialstubs.*|.*stub.*routines.*)", re.IGNORECASE)


def bare(name):
    """"C:Steps.work" -> "Steps.work"; natives, stubs and marks keep their letter."""
    if CALL_STUB.fullmatch(name):
        return "S:call stub"
    return name if name[:2] in ("N:", "S:", "M:") else name[2:]


def is_java(name):
    return name[1:2] != ":"


def after_spine(names, spine, optional):
    """Index behind the part of NAMES (root first) that is SPINE's beginning, and how much of SPINE it is."""
    at = reached = 0
    while at < len(names) and reached < len(spine):
        if names[at] == spine[reached]:
            at += 1
        elif spine[reached] not in optional:
            break
        reached += 1
    return at, reached


def bad_callers(names):
    for caller, callee in zip(names, names[1:]):
        if callee in CALLERS and caller not in CALLERS[callee] and is_java(caller):
            return f"{caller} does not call {callee}"
    return None


def judge_platform(names, inlined):
    at, reached = after_spine(names, SPINE, MAY_BE_INLINED | OPTIONAL if inlined else OPTIONAL)
    if reached < len(ROOT_FRAMES) and any(is_java(n) for n in names[at:]):
        return f"not the thread's beginning: {names[:5]}"
    rest = names[at:]
    if rest and reached < len(SPINE) and any(is_java(n) for n in rest) and not inlined:
        return f"{rest[0]} where {SPINE[reached]} is called"
    if not inlined:
        return bad_callers(names)
    return None


def judge_virtual(names, inlined):
    if names[:2] != ROOT_FRAMES[:2]:
        return f"not the carrier's beginning: {names[:5]}"
    if "jdk.internal.vm.Continuation.enterSpecial" not in names:
        return None if "Steps.run" not in names else "no enterSpecial"
    at = names.index("jdk.internal.vm.Continuation.enterSpecial") + 1
    carrier, body = names[:at], names[at:]
    strange = [n for n in carrier if is_java(n) and not n.startswith(CARRIER)]
    if strange or body.count("M:frozen") > 1 or "M:frozen" in body[1:]:
        return f"not a carrier's stack: {strange or body[:4]}"
    first = next((i for i, n in enumerate(body) if n in VIRTUAL_SPINE), None)
    if first is None:
        return None
    if "M:frozen" not in body:
        _, reached = after_spine(body[first:], VIRTUAL_SPINE, MAY_BE_INLINED if inlined else ())
        whole = body[first] == "Steps.run" and reached
        return None if whole else f"Steps.run is missing: {body}"
    return None if inlined else bad_callers(names)


def judge(reason, names, mode):
    """Why this list of names (leaf first, as java_steps prints them) is not one that the program can have."""
    if reason != "complete":
        return f"unfinished: {reason}"
    if any("?" in name for name in names):
        return "a frame without a name"
    names = [bare(name) for name in reversed(names)]
    inlined = mode in ("inlined", "comp")
    return judge_virtual(names, inlined) if mode == "virtual" else judge_platform(names, inlined)


# --- recordings -----------------------------------------------------------------------------

# Of each JDK: its modes, so many steps, and how many stacks of a file are kept.
RECORDED = (("mixed", 60000), ("virtual", 40000))
KEPT = 56
# With --confirm other tools are asked for each stack (tests/tools/java_steps/witness.h): the JDKs, and of each
# mode steps and stacks that are kept.
CONFIRMED_JDKS = (17, 25)
CONFIRMED = (("mixed", 40000, 96), ("int", 8000, 40), ("virtual", 6000, 32))
# There is one of each of these among them, where the JDK has it.
NEEDED = ("c1_prologue", "c1_pop", "c1_ret", "c1_poll", "c2_prologue_push", "c2_prologue_sub", "c2_pop", "c2_ret",
          "c2_poll", "osr", "wrapper_prologue", "wrapper_leave", "wrapper_ret", "jni", "libjvm", "under_signal",
          "_deopt", "frozen", "vtable", "i2c", "stubroutines.*leave", "stubroutines.*_push", "stubroutines.*_ret",
          "exceptionblob", "interpreter_entry_push", "interpreter_entry_setfp", "interpreter_body_leave",
          "interpreter_body_setsp", "interpreter_body_popcx", "interpreter_frameless", "deoptimization|deopt_?blob",
          "uncommon", "native", "continuation")


def names_of_stack(lines):
    """Leaf first, as java_steps prints them: a run in one library is one."""
    names = []
    for line in lines:
        if line.startswith("frame "):
            name = line.split(" ", 2)[2].replace("_", " ")
            if not (names and names[-1] == name and name[:2] == "N:" and name != "N:libsteps.so"):
                names.append(name)
    return names


def confirmed_by(stack):
    """Who has the same frames: "jhsdb+gdb", "calls", both, or "steps", nobody but the judge above."""
    return next((line[3:] for line in stack.splitlines() if line.startswith("by ")), "steps")


def spread(stacks, most):
    """Of many stacks MOST: what is needed, and of the rest some of each kind, which lie beside each other."""
    stacks = sorted(stacks)
    needed = {next((s for s in stacks if re.search(pattern, s.split()[1])), None) for pattern in NEEDED} - {None}
    rest = [s for s in stacks if s not in needed]
    count = min(most - len(needed), len(rest))
    return sorted(needed | {rest[i * len(rest) // count] for i in range(count)})


def filter_recording(source, target, origin, mode, most, confirmed=False):
    """Only stacks whose names are those that the program has, CONFIRMED: and that others have, too; returns
    how many are kept, and how many names were refused."""
    with open(source, encoding="utf-8") as file:
        head, *stacks = re.split(r"^(?=stack )", file.read(), flags=re.MULTILINE)
    good = [s for s in stacks if not judge("complete", names_of_stack(s.splitlines()), mode)]
    kept = spread([s for s in good if not confirmed or confirmed_by(s) != "steps"], most)
    with open(target, "w", encoding="utf-8") as file:
        file.write(f"# {origin}; frames as Steps.java has them\n" + head + "".join(kept))
    return len(kept), len(stacks) - len(good)


def report_answers(source):
    """Of all stacks that were recorded: who confirms them, and why others do not."""
    with open(source, encoding="utf-8") as file:
        _, *stacks = re.split(r"^(?=stack )", file.read(), flags=re.MULTILINE)
    print("  recorded: " + ", ".join(f"{n} by {by}" for by, n in sorted(collections.Counter(
        map(confirmed_by, stacks)).items())))
    for stack in (s for s in stacks if confirmed_by(s) == "steps"):
        lines = stack.splitlines()
        silent = [line for line in lines if line.startswith("silent ")]
        print(f"  {lines[0]}: " + "; ".join([s[:90] for s in silent] + [
            f"{who} has {theirs} where we have {ours}" for who, theirs, ours in other_answers(lines)]))


def other_answers(lines):
    """(who, the first frame that they have otherwise, ours)."""
    ours = [line.split()[1:] for line in lines if line.startswith("frame ")]
    for who in ("theirs", "seen"):
        theirs = [line.split()[1:] for line in lines if line.startswith(who + " ")]
        for i in range(max(len(ours), len(theirs)) if theirs else 0):
            here, there = (" ".join(f[i]) if i < len(f) else "nothing" for f in (ours, theirs))
            if here.split()[:len(there.split())] != there.split():
                yield who, f"{i} {there}", here
                break


def record_jdk(version, directory):
    for mode, steps in RECORDED:
        if mode == "virtual" and version < 21:
            continue
        raw = temp_path("raw")
        seen = run_again(version, mode, steps, ["--record", raw])
        name = f"jdk{version}" + ("_virtual" if mode == "virtual" else "")
        kept, refused = filter_recording(raw, os.path.join(directory, name + ".stacks"),
                                         f"JDK {version}: tests/root/java_steps.py --record", mode, KEPT)
        print(f"JDK {version} {mode}: {kept} stacks kept, {refused} refused; {dict(seen.steps)}", flush=True)


def confirm_jdk(version, wanted_mode, directory):
    for mode, steps, most in CONFIRMED:
        if wanted_mode not in ("", mode) or (mode == "virtual" and version < 21):
            continue
        raw = temp_path("raw")
        run_again(version, mode, steps, ["--record", raw, "--witness", home_of(version)])
        kept, refused = filter_recording(raw, os.path.join(directory, f"jdk{version}_{mode}_confirmed.stacks"),
                                         f"JDK {version}: tests/root/java_steps.py --confirm", mode, most, True)
        print(f"JDK {version} {mode}: {kept} confirmed stacks kept, {refused} refused", flush=True)
        report_answers(raw)


# --- one run --------------------------------------------------------------------------------

Seen = collections.namedtuple("Seen", "steps bad places text")


def read_output(text, mode):
    """What java_steps printed: the number of steps, [(count, why, names)] and [(count, place)]."""
    counts, bad, places = collections.Counter(), [], []
    for line in text.splitlines():
        words = line.split(" ", 3)
        if words[0] == "stack":
            reason, names = words[2], words[3].split(";")
            why = judge(reason, names, mode)
            if why:
                bad.append((int(words[1]), why, ";".join(names)))
        elif words[0] == "place":
            places.append((int(words[1]), line))
        elif words[0] == "steps":
            counts[words[1]] = int(words[2])
        elif places and line.startswith("    "):
            places[-1] = (places[-1][0], places[-1][1] + "\n" + line)
    return Seen(counts, bad, places, text)


def home_of(version):
    """get-jdks.sh names them by their version; Debian's 8 has no release file."""
    for place in filter(None, os.environ.get("HOSTPROF_JDKS", "").split(":")):
        home = os.path.join(place, str(version))
        if os.access(os.path.join(home, "bin", "java"), os.X_OK):
            return home
    return jdk(version)


def start_steps(version, mode):
    flags, more = MODES[mode]
    library = os.path.join(WORKLOADS, "libsteps.so")
    virtual = ["virtual"] if more.get("virtual") else []
    return java(home_of(version), "Steps", library, *virtual, flags=[*flags, "-Xmx256m"], ready=None,
                stdin=subprocess.PIPE, stderr=subprocess.DEVNULL).wait_text(timeout=120)


def run_mode(version, mode, steps, more_options=()):
    more = MODES[mode][1]
    jvm = start_steps(version, mode)
    comm = "ForkJoi" if more.get("virtual") else "steps"
    options = ["--rounds", max(steps // ROUND_STEPS, 1)]
    if "signal" in more:
        options += ["--signal", more["signal"]]
    options += more_options
    done = run([os.path.join(BUILD, "tools", "java_steps"), *options, jvm.pid, comm,
                min(ROUND_STEPS, steps)], timeout=600)
    jvm.stop()
    expect_equal(done.code, 0, f"java_steps on JDK {version}, {mode}: {done.err}")
    return read_output(done.out, mode)


def run_again(*what, **more):
    """A program that is stepped through may die of it (a trap flag that slips out): once more, then."""
    try:
        return run_mode(*what, **more)
    except Failed as error:
        print(f"once more: {error}", file=sys.stderr)
        return run_mode(*what, **more)


def report(version, mode, seen, show):
    steps = sum(seen.steps.values())
    wrong = sum(count for count, _, _ in seen.bad)
    odd = seen.steps["odd"] + seen.steps["unfinished"]
    print(f"JDK {version:<3} {mode:<8} {steps:>8} steps, {seen.steps['call']:>6} calls; "
          f"{wrong} with wrong names, {odd} odd or unfinished, at {len(seen.places)} places", flush=True)
    for count, why, names in sorted(seen.bad, reverse=True)[:show]:
        print(f"  {count:>6} {why}\n         {names[:700]}")
    for _, place in sorted(seen.places, reverse=True)[:show]:
        print("  " + place)
    return wrong + odd


def wanted(arguments):
    for argument in arguments or [str(v) for v in JDKS]:
        version, _, mode = argument.partition(":")
        for name in [mode] if mode else MODES:
            if int(version) >= SINCE.get(name, 0):
                yield int(version), name


def steps_main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--record", metavar="DIR")
    parser.add_argument("--confirm", metavar="DIR")
    parser.add_argument("--keep", help="directory for what java_steps printed")
    parser.add_argument("what", nargs="*")
    arguments = parser.parse_args()
    need_root()
    wrong = 0
    if arguments.record:
        for version in [int(what) for what in arguments.what] or JDKS:
            record_jdk(version, arguments.record)
        return
    if arguments.confirm:
        for what in arguments.what or map(str, CONFIRMED_JDKS):
            version, _, mode = what.partition(":")
            confirm_jdk(int(version), mode, arguments.confirm)
        return
    for version, mode in wanted(arguments.what):
        try:
            seen = run_again(version, mode, arguments.steps)
        except Skipped as error:
            print(f"JDK {version}: {error}")
            continue
        if arguments.keep:
            with open(os.path.join(arguments.keep, f"{version}.{mode}"), "w", encoding="utf-8") as file:
                file.write(seen.text)
        wrong += report(version, mode, seen, arguments.show)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    steps_main()
