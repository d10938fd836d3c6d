#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""`--signatures`: methods of one name are told apart by their descriptors, in every output."""
import pprof_file
from hp import *

SAMPLES = 1500
NOBODY = 65534
CLOSED = ["-Xrs", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData", "-Xmx64m"]
# What is inlined at a leaf's pc is what the next debug information says: leaves are alone, and ways, so that it is no other way's.
ALONE = ["-XX:CompileCommand=quiet", *(f"-XX:CompileCommand=dontinline,Overloads.{name}" for name in ("way*", "both", "spin"))]
# Flags, and after how many rounds all is compiled that will be.
KINDS = {"compiled": (ALONE, 3000), "interpreted": (["-Xint"], 3)}

INT, LONG, DOUBLE, OBJECT = "spin(II)J", "spin(JI)J", "spin(DI)J", "spin(Ljava/lang/Object;I)J"
TEXT = "Ljava/lang/String;"
# What each way calls, by the source of tests/workloads/Overloads.java and the JVM specification, 4.3.
WAYS = {
    "wayInt": ["go(I)J", INT],
    "wayLong": ["go(J)J", LONG],
    "wayMixed": ["go(ZCSBF)J", DOUBLE],
    "wayDouble": ["go(D)V", DOUBLE],
    "wayString": [f"go({TEXT})J", OBJECT],
    "wayComparable": ["go(Ljava/lang/Comparable;)J", OBJECT],
    "wayList": ["go(Ljava/util/List;)J", OBJECT],
    "wayArray": ["go([J)Ljava/lang/Object;", "spin([JI)J"],
    "wayArrays": [f"go([[B[{TEXT})J", "spin([[BI)J"],
    "wayInstance": ["go(LOverloads;)J", LONG],
    "wayInstanceInt": ["go(LOverloads;I)J", INT],
    "wayConstructor": ["<init>(I)V", INT],
    "wayConstructorString": [f"<init>({TEXT}[J)V", OBJECT],
    "wayBridge": ["Overloads$Texts.get(Ljava/lang/Object;)J", f"Overloads$Texts.get({TEXT})J", OBJECT],
    "wayLambda": ["Overloads$$Lambda.applyAsLong(J)J", "lambda$static$0(J)J", LONG],
    "wayNative": ["java.lang.Throwable.<init>()V",
                  "java.lang.Throwable.fillInStackTrace()Ljava/lang/Throwable;",
                  "java.lang.Throwable.fillInStackTrace(I)Ljava/lang/Throwable;"],
}
ENTRY = {way: f"Overloads.{way}()V" for way in WAYS}
OURS = re.compile(r"Overloads\b|java\.lang\.Throwable\.")
# The least part of a way's samples that reach its last method.
WHOLE = 0.4


def full(name):
    return name if "." in name.split("(")[0] else f"Overloads.{name}"


WANTED = {ENTRY[way]: [full(name) for name in names] for way, names in WAYS.items()}


def judge(stacks):
    """STACKS: (Java frames, root first, with their signatures; samples). Of each way its right samples, those of them that
    are whole, and its wrong ones."""
    ways = {entry: collections.Counter() for entry in WANTED}
    for frames, count in stacks:
        at = next((i for i, frame in enumerate(frames) if frame in WANTED), None)
        if at is None:
            continue
        # What else is called below (hashCode(), get()) is no way's.
        wanted, below = WANTED[frames[at]], [frame for frame in frames[at + 1:] if OURS.match(frame)]
        right = below[:len(wanted)] == wanted[:len(below)]
        ways[frames[at]]["right" if right else "wrong"] += count
        ways[frames[at]]["whole"] += count * (right and len(below) >= len(wanted))
        if not right and ways[frames[at]]["wrong"] < 4:
            print(f"#   {frames[at]}: {below}")
    return ways


def java_stacks(lines):
    """Of collapsed lines with --annotate and --signatures, whose signatures have '|' for ';'."""
    return [([plain(frame).replace("|", ";") for frame in line.frames if re.search(r"_\[[ji01]\]$", frame)], line.count)
            for line in lines]


def expect_right(ways, what):
    right, wrong = (sum(counts[key] for counts in ways.values()) for key in ("right", "wrong"))
    print(f"# {what}: {right} right, {wrong} wrong")
    expect(right >= SAMPLES // 2, f"only {right} samples")
    expect_equal(wrong, 0, "samples with a wrong method")
    for entry, counts in ways.items():
        expect(counts["whole"] >= WHOLE * counts["right"] > 0, f"{entry}: {dict(counts)}")


def without_signatures(lines):
    sums = collections.Counter()
    for line in lines:
        frames = [re.sub(r"\([^()]*\)\[*(?:[BCDFIJSZV]|L[^;|]*\|)(?=$|_\[)", "", frame) for frame in line.frames]
        sums[line.process, tuple(frames)] += line.count
    return sums


def check_merged(path, pid):
    """Without the option overloads are one, and the sums are the same."""
    told = of_pid(collapsed(path, "--signatures", "--annotate"), pid)
    merged = of_pid(collapsed(path, "--annotate"), pid)
    expect_equal([frame for line in merged for frame in line.frames if re.match(r"Overloads\.\w+\(", frame)], [],
                 "signatures that nobody asked for")
    expect_equal(without_signatures(told), collections.Counter({(line.process, tuple(line.frames)): line.count
                                                                for line in merged}), "sums")
    expect(len(told) > len(merged), "nothing was merged: the test proves nothing")


def start_overloads(version, kind, **more):
    flags, rounds = KINDS[kind]
    return java(version, "Overloads", rounds, flags=[*flags, *more.pop("flags", [])], **more)


def record_it(pid, *args):
    recorder = Recorder("-p", pid, "-F", 997, *args)
    let_run(pid, 997, {"overloads": SAMPLES})
    return recorder.end()


def check(path, pid, what):
    lines = of_pid(collapsed(path, "--signatures", "--annotate"), pid)
    # As the option is without --no-normalize.
    for line in lines:
        line.frames[:] = [re.sub(r"(\$\$Lambda)[$/0-9a-fx]*(?=\.)", r"\1", frame) for frame in line.frames]
    expect_right(judge(java_stacks(lines)), what)


@for_each_jdk(JDKS)
def compiled_from_outside(version):
    jvm = start_overloads(version, "compiled", flags=CLOSED, preexec_fn=lambda: os.setuid(NOBODY))
    path = record_it(jvm.pid, "--agent=never")
    check(path, jvm.pid, f"JDK {version}, compiled")
    check_merged(path, jvm.pid)


@for_each_jdk(JDKS)
def interpreted_from_outside(version):
    jvm = start_overloads(version, "interpreted", flags=CLOSED, preexec_fn=lambda: os.setuid(NOBODY))
    check(record_it(jvm.pid, "--agent=never"), jvm.pid, f"JDK {version}, interpreted")


@for_each_jdk(JDKS)
def compiled_by_the_agent(version):
    jvm = start_overloads(version, "compiled", flags=["-Xmx64m"])
    hostprof("attach", jvm.pid)
    path = record_it(jvm.pid)
    check(path, jvm.pid, f"JDK {version}, by the agent")
    check_merged(path, jvm.pid)


# --- outputs ----------------------------------------------------------------------------------------------------------

def methods_of_jfr(version, path):
    """(class, name, descriptor) of the methods that the JDK's own reader finds in samples."""
    stacks = [event["stackTrace"] for event in read_by_jdk(path, "jdk.ExecutionSample", version=version, depth=100)]
    return {(frame["method"]["type"]["name"], frame["method"]["name"], frame["method"]["descriptor"])
            for stack in stacks if stack for frame in stack["frames"]}


ALL_OF_GO = sorted(f"Overloads.{name}" for names in WAYS.values() for name in names if name.startswith("go("))


@test
def every_output_has_them():
    need_root()
    jvm = start_overloads(17, "compiled", flags=["-Xmx64m"])
    path = record_it(jvm.pid, "--agent=never")
    found = sorted(f"{class_name}.{name}{descriptor}" for class_name, name, descriptor in methods_of_jfr(17, path)
                   if (class_name, name) == ("Overloads", "go"))
    expect_equal(found, ALL_OF_GO, "methods by the JDK's jfr")
    for form in ("svg", "txt"):
        text = hostprof("report", path, "-f", form, "-o", "-", "--signatures", "--top", 1000).out
        bare = hostprof("report", path, "-f", form, "-o", "-", "--top", 1000).out
        shown = [name.replace(";", "|") if form == "txt" else name for name in ALL_OF_GO]
        missing = [name for name in shown if name not in text]
        # A picture leaves out what is too narrow.
        expect(len(missing) <= (4 if form == "svg" else 0), f"{form}: {missing} are missing")
        expect("Overloads.go" in bare and "Overloads.go(" not in bare, f"{form}: signatures that nobody asked for")
    for options, names in (((), {"Overloads.go"}), (("--signatures",), set(ALL_OF_GO))):
        out = temp_path("x.pb.gz")
        hostprof("report", path, "-o", out, *options)
        functions = pprof_file.functions(out)
        expect_equal({name for name, _ in functions if name.startswith("Overloads.go")}, names, "pprof's functions")
        expect_equal(sorted({system for name, system in functions if name.startswith("Overloads.go")}), ALL_OF_GO,
                     "their system names")


@test
def a_stream_has_them():
    need_root()
    jvm = start_overloads(17, "compiled", flags=["-Xmx64m"])
    lines = temp_path("lines")
    record_it(jvm.pid, "--agent=never", "--stream", lines)
    with open(lines, encoding="utf-8") as file:
        out = file.read()
    stacks = []
    for row in map(json.loads, out.splitlines()):
        if row["type"] == "sample":
            frames = [re.sub(r"(\$\$Lambda)[$/0-9a-fx]*(?=\.)", r"\1", frame["name"]) + frame.get("descriptor", "")
                      for frame in row["frames"] if frame["kind"].startswith("java-")]
            stacks.append((frames[::-1], 1))
    expect_right(judge(stacks), "a stream")


@test
def the_judge_rejects():
    entry = ENTRY["wayInt"]
    good = ["java.lang.Thread.run()V", "Overloads.run()V", entry, "Overloads.go(I)J", "Overloads.spin(II)J"]
    for frames, answer in ((good, "whole"), (good[:-1], "right"), ([*good[:-1], "Overloads.spin(JI)J"], "wrong"),
                           ([*good[:3], "Overloads.go(J)J", good[4]], "wrong"), ([*good[:3], "Overloads.go", good[4]], "wrong")):
        expect_equal(judge([(frames, 1)])[entry][answer], 1, f"{answer}: {frames}")


main(lanes=2)
