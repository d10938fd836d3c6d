#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""--vtable and --comptask: the class whose method a stub calls, and the method that a compiler thread compiles, from outside.

The programs know: Dispatch whose methods are called how often, and the JVM's own log says which thread compiles what from when on.
"""
import bisect
import html

from hp import *
from stream_reader import Model, Stream

FREQUENCY = 1997
CLOSED = ["-Xrs", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData", "-Xmx128m"]
# How often each class is called, of 16.
SHARES = {"One": 8, "Two": 4, "Three": 3, "Four": 1}
# A class that is called more often is found by the processor's prediction more often, so that its calls take less time.
OFF = 0.12
STUBS = {"byInterface": ("Face", "itable stub"), "byClass": ("Base", "vtable stub")}
DISPATCH = ["-XX:CompileCommand=quiet", *(f"-XX:CompileCommand=dontinline,Dispatch*.{name}" for name in
                                          (*STUBS, "turn", "move"))]


# A second JVM beside the first, whose objects say their class in another way, or are moved while it runs.
OTHERWISE = {
    8: ["-XX:-UseCompressedClassPointers"],
    11: ["-XX:-UseCompressedOops"],
    17: ["-XX:-UseCompressedClassPointers"],
    21: ["-XX:+UseZGC"],
    25: ["-XX:+UseCompactObjectHeaders", "-XX:+UseZGC"],
    26: ["-XX:+UseShenandoahGC"],
    27: ["-XX:-UseCompactObjectHeaders"],
    28: ["-XX:+UseZGC"],
}


def check_receivers(version, lines):
    for method, (kind, stub) in STUBS.items():
        classes, alone = collections.Counter(), 0
        for line in lines:
            names = [plain(frame) for frame in line.frames]
            if f"Dispatch.{method}" not in names or stub not in names:
                continue
            at = names.index(stub)
            if len(names) == at + 1:
                alone += line.count
            else:
                expect_equal(names[at + 1:], names[at + 1:at + 2], "frames above a stub")
                classes[names[at + 1]] += line.count
        samples = sum(classes.values())
        print(f"# JDK {version} {method}: {dict(classes)}, {alone} without")
        expect(samples >= 100, f"{method}: only {samples} samples with a class")
        # The first ones, when the JVM's layout is not known yet: 40 of 20 ms.
        expect(alone <= 0.01 * samples + 40, f"{method}: {alone} of {samples + alone} have none")
        expect_equal(sorted(classes), sorted(f"Dispatch${kind}{name}" for name in SHARES), f"classes below {method}")
        for name, share in SHARES.items():
            part = classes[f"Dispatch${kind}{name}"] / samples
            expect(abs(part - share / 16) < OFF + 3 * (0.25 / samples) ** 0.5, f"{method}: {name} has {part:.3f}")


@for_each_jdk(JDKS)
def classes_that_stubs_call(version):
    jvms = [java(version, "Dispatch", 600, flags=[*CLOSED, *DISPATCH, *flags], ready=None) for flags in ([], OTHERWISE[version])]
    for jvm in jvms:
        jvm.wait_text("ready", timeout=120)
    recorder = Recorder("-p", ",".join(str(jvm.pid) for jvm in jvms), "-F", FREQUENCY, "--agent=never", "--vtable", "--all-user")
    for jvm in jvms:
        let_run(jvm.pid, FREQUENCY, {"java": 900})
    path = recorder.end()
    for jvm in jvms:
        check_receivers(version, of_pid(collapsed(path), jvm.pid))
    figures = read_json(recorder.stats_path)["capture"]
    print(f"# JDK {version}: {figures['receivers']} classes, {figures['receivers_unknown']} unknown")
    expect(figures["receivers_unknown"] <= 0.01 * figures["receivers"], "receivers whose class is not known")
    expect_equal(figures["compiling"], 0, "methods that nobody asked for")


# --- what is compiled -------------------------------------------------------------------------

# [123456789ns][4711]  12  b  4  Compiles$Large::first @ 12 (60 bytes)
LOGGED = re.compile(r"\[(\d+)ns\]\[(\d+)\]\s*\d+[ %sbn!]*\s(?:\d+\s+)?(\S+)::(\S+)(?: @ \d+)? \(\d+ bytes\)")
# PrintCompilation of 8: milliseconds since the start before it, and no thread.
PRINTED = re.compile(r"\s*\d+\s+\d+[ %sbn!]*\s(?:\d+\s+)?(\S+)::(\S+)(?: @ -?\d+)? \(\d+ bytes\)")
COMPILES = re.compile(r"(?:C2Compiler|Compiler)::compile_method")
PRINT_8 = ["-XX:+PrintCompilation", "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput"]
BACKGROUND = ["-XX:+UseSerialGC", "-XX:CICompilerCount=2"]


def logged_tasks(path):
    """tid → (times, methods): what each thread began to compile when."""
    tasks = collections.defaultdict(lambda: ([], []))
    with open(path, encoding="utf-8") as log:
        for row in log:
            found = LOGGED.match(row)
            if found and "made not entrant" not in row and "made zombie" not in row:
                times, methods = tasks[int(found[2])]
                times.append(int(found[1]))
                methods.append(f"{found[3]}.{found[4]}")
    return tasks


def task_at(tasks, tid, time_ns):
    times, methods = tasks[tid]
    at = bisect.bisect(times, time_ns)
    return methods[at - 1] if at else None


def check_tasks(version, samples, right_ones):
    """SAMPLES: (method, or None; stack; what may be right, or None for anything)."""
    shown = [s for s in samples if s[0]]
    large = sum(s[0].startswith("Compiles$Large.") for s in shown)
    wrong = [(method, may) for method, _, may in shown if not right_ones(method, may)]
    inside = [s for s in samples if any(COMPILES.match(frame) for frame in s[1])]
    named = sum(s[0] is not None for s in inside)
    print(f"# JDK {version}: {len(samples)} samples of compilers, {len(shown)} with a method, {large} of Compiles$Large, "
          f"{named} of {len(inside)} in compile_method()")
    expect(len(shown) >= 300, f"only {len(shown)} samples have a method")
    expect_equal(wrong[:3], [], f"methods that are not compiled then ({len(wrong)} of {len(shown)})")
    expect(large > 0.5 * len(shown), f"{large} of {len(shown)} are of the program's large methods")
    # Of 8 compile_method() has no name.
    expect(version == 8 or inside, "no sample is in compile_method()")
    # The first walks are finished by userspace, when another method may be compiled.
    expect(named >= 0.99 * len(inside) - 80, f"{named} of {len(inside)} have a method")


def compiler_samples(model, pid):
    """(tid, time, frames) of the samples of a JVM's compiler threads."""
    for sample in model.samples.values():
        if sample["pid"] == pid and re.match(r"C[12] Comp", model.threads[sample["thread"]]["name"]):
            yield sample["tid"], sample["time_ns"], sample["frames"]


def method_of(frames):
    """The method at the root, and the rest."""
    if frames and frames[-1]["kind"] == "compiling":
        return frames[-1]["name"].removeprefix("[compiling] "), [frame["name"] for frame in frames[:-1]]
    return None, [frame["name"] for frame in frames]


@for_each_jdk(JDKS)
def methods_that_are_compiled(version):
    log = os.path.join(temp_dir(), "compilation.log")
    flags = PRINT_8 + [f"-XX:LogFile={log}"] if version == 8 else [f"-Xlog:jit+compilation=debug:file={log}:timenanos,tid"]
    jvm = java(version, "Compiles", 600, flags=[*CLOSED, *BACKGROUND, *flags])
    stream = Stream("-p", jvm.pid, "-F", FREQUENCY, "--agent=never", "--comptask")
    wait_until(lambda: stream.lines.count() > 0, 60, "the stream's first line")
    begin = cpu_seconds(jvm.pid)
    wait_until(lambda: cpu_seconds(jvm.pid) - begin > 3, 90, "CPU time", step=0.1)
    stream.signal(signal.SIGINT)
    model = Model(stream.lines.all())
    jvm.stop()
    samples = [(*method_of(frames), tid, time_ns) for tid, time_ns, frames in compiler_samples(model, jvm.pid)]
    if version == 8:
        with open(log, encoding="utf-8") as text:
            names = {f"{found[1]}.{found[2]}" for found in map(PRINTED.match, map(html.unescape, text)) if found}
        check_tasks(version, [(method, stack, names) for method, stack, _, _ in samples], lambda m, may: m in may)
    else:
        tasks = logged_tasks(log)
        check_tasks(version, [(method, stack, task_at(tasks, tid, time_ns)) for method, stack, tid, time_ns in samples],
                    lambda m, may: m == may)


main(lanes=2)
