#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e classload: the classes that JVMs load, and who loads them, without an agent, beside what the same JVM logs of them."""
from hp import *

VERSIONS = [int(v) for v in (os.environ.get("HOSTPROF_MATRIX") or "17,25").split(",")]
# [class,load] Loads$$Lambda/0x000000001b003440 source: Loads
LOGGED = re.compile(r"\[class,load\s*\] (\S+) source: ")
COPIES = 300
COPY = "Loads$Copy"
# More than a cpu may tell of.
MANY = 60000
# How far the sum of those that are told of may be from all: each stands for eight and more.
NEAR = 0.15

# What was loaded before it was told to begin may be of another tool that comes by.
Run = collections.namedtuple("Run", "early logged events counts stats")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def names_in(version, lines):
    names = [match.group(1) for match in map(LOGGED.search, lines) if match]
    # Anonymous classes have their number from the log alone.
    return [re.sub(r"/(?:0x)?[0-9a-f]+$", "", name) for name in names] if version < 15 else names


def recorded_run(version, copies, *options):
    need_root()
    log = temp_path("log")
    process = java(version, "Loads", copies, stdin=subprocess.PIPE, flags=("-Xmx256m", "-XX:+UseSerialGC", f"-Xlog:class+load:file={log}:tags"))
    time.sleep(0.5)
    start = len(lines_of(log))
    recorder = Recorder("-p", process.pid, "-e", "classload", "--agent=never", *options)
    time.sleep(0.5)
    before = len(lines_of(log))
    process.go()
    process.wait_text("done", 90)
    time.sleep(0.5)
    path = recorder.end()
    early, logged = names_in(version, lines_of(log)[start:before]), names_in(version, lines_of(log)[before:])
    return Run(early, logged, read_by_jdk(path, "jdk.ClassDefine"), collapsed(path, "--event", "classload", "-t", "--total"), read_json(recorder.stats_path))


@shared
def recorded(version):
    return recorded_run(version, COPIES)


@for_each_jdk(VERSIONS)
def classes_are_those_that_the_jvm_logs(version):
    own = recorded(version)
    logged, came = collections.Counter(own.logged), collections.Counter(event["className"] for event in own.events)
    hidden = sum("/0x" in name or "Lambda$" in name for name in own.logged)
    print(f"# JDK {version}: {len(own.events)} samples of {len(own.logged)} classes in the log, {logged[COPY]} of them one again and again, {hidden} hidden")
    expect(logged[COPY] == COPIES and hidden > 2 and len(logged) > 10, f"the log: {logged}")
    expect_equal(came - logged - collections.Counter(own.early), collections.Counter(), "classes that the log has not")
    expect_equal(logged - came, collections.Counter(), "classes that only the log has")
    expect_equal(own.stats["lost"], 0, "lost samples")
    expect_equal({event["weight"] for event in own.events}, {1}, "weights")
    for event in own.events:
        expect_equal(event["definedClass"]["name"].replace("/", "."), event["className"].replace("/", "."), "the class as JFR has it")
    of_main = [event for event in own.events if (event["eventThread"] or {}).get("osName") == "java" or event["eventThread"]["javaName"] == "main"]
    expect(len(of_main) >= COPIES, "whose they are")


@for_each_jdk(VERSIONS)
def stacks_are_those_of_who_loads_them(version):
    """The class in front of Java code, without what the JVM does for it."""
    own = recorded(version)
    expect_equal(total(own.counts), len(own.events), "classes in the view")
    copies = [line for line in own.counts if line.frames[-1] == COPY]
    expect_equal(total(copies), COPIES, "copies")
    for line in copies:
        expect(in_order(line.frames, "Loads.main", "Loads.byLoader", "Loads$Loader.load", "java.lang.ClassLoader.defineClass1", COPY), f"a copy: {line.frames}")
    for name, within in (("Loads$Second", "Loads.byName"), ("Loads$First", "Loads.byName"), ("java.util.concurrent.Phaser", "java.lang.Class.forName"),
                         ("Loads$$Lambda", "Loads.byLambda")):
        lines = [line for line in own.counts if line.frames[-1].startswith(name)]
        expect(lines and all(in_order(line.frames, "Loads.main", within, line.frames[-1]) for line in lines), f"{name}: {lines}")
    # Java may call the JVM, which calls Java to load another class.
    within = {line.frames[-2] for line in own.counts if "::" in line.frames[-2]}
    expect_equal(within, set(), "the JVM's own frames")


@test
def rare_ones_stand_for_many():
    """More than a cpu may tell of: some do, and the sum is that of all."""
    own = recorded_run(17, MANY)
    samples, classes = len(own.events), total([line for line in own.counts if line.frames[-1] == COPY])
    print(f"# {samples} samples of {len(own.logged)} classes, {100 * (classes / MANY - 1):+.2f} %, each of up to {max(event['weight'] for event in own.events)}")
    expect(samples * 1.5 < MANY, "all were told of")
    expect_between(classes / MANY, 1 - NEAR, 1 + NEAR, "sum of weights")
    expect_equal(sum(event["weight"] for event in own.events), total(own.counts), "weights of the events")


@test
def who_has_no_probes():
    need_root()
    result = hostprof("record", "-e", "classload", "-o", temp_path("x.jfr"), "--", "sleep", "1", code=None)
    expect_in("no loaded classes were seen", result.err, "the warning")


main(lanes=2)
