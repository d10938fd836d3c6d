#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""-e jit: the methods that JVMs compile, without an agent, beside what the same JVM logs of them and what its own flight recorder says."""
import collections

from hp import *

VERSIONS = [int(v) for v in (os.environ.get("HOSTPROF_MATRIX") or "17,25").split(",")]
# [2.124s][debug][jit,compilation]   30 % b  4       java.lang.Object::<init> @ 4 (1 bytes)
LOGGED = re.compile(r"\s+(\d+) ([ %])[ s][ !][ b](.)\s+([1-4])\s+(\S+)::(\S+)(?: @ (-?\d+))? \(\d+ bytes\)$")
REASON = re.compile(r"(C[12]) tier ([1-4])(, OSR)?(, failed)?$")
LEAST = 60
# What is around the JVM's own clock, of each: the environment of a compilation, its entry in the log.
AROUND_NS = 150000
NEAR = 0.05
OFF_CPU = "[off the cpu]"
COMPILING = "[compiling] "

Run = collections.namedtuple("Run", "logged events of_jvm ns counts stats")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def workload(version, flags=()):
    return java(version, "Jitted", stdin=subprocess.PIPE, flags=("-Xmx96m", "-XX:+UseSerialGC", *flags))


def record(process, *options):
    """Of what it compiles from its "ready" on."""
    recorder = Recorder("-p", process.pid, "-e", "jit", "--agent=never", *options)
    time.sleep(0.5)
    process.go()
    process.wait_text("done", 90)
    path = recorder.end()
    stats = read_json(recorder.stats_path)
    expect_equal(stats["lost"], 0, "lost samples")
    return path, stats


@shared
def recorded(version):
    need_root()
    log = temp_path("log")
    process = workload(version, (f"-Xlog:jit+compilation=debug:file={log}",))
    process.wait_text("ready", 60)
    time.sleep(1)
    before = len(lines_of(log))
    path, stats = record(process)
    # Anonymous classes, before JDK 15, have their number from the log alone.
    logged = [match.groups() for match in map(LOGGED.search, (re.sub(r"/(?:0x)?[0-9a-f]+::", "::", line) if version < 15 else line for line in lines_of(log)[before:])) if match]
    return Run(logged, read_by_jdk(path, "jdk.Compilation"), None, collapsed(path, "--event", "jit", "--total", "-t"),
               collapsed(path, "--event", "jit", "-t"), stats)


def method_of(event):
    method = event["method"]
    return method["type"]["name"].replace("/", ".") + "::" + method["name"]


def plain_method(event):
    """Of a hidden class the two have different numbers."""
    return re.sub(r"\$\$Lambda.*::", "$$Lambda::", method_of(event))


def seconds(text):
    return float(text.removeprefix("PT").removesuffix("S"))


def check_names(version):
    """Each compilation is one, with its number, tier and method."""
    own = recorded(version)
    logged = collections.Counter((int(number), int(tier), f"{of.replace('/', '.')}::{name}", osr == "%") for number, osr, _, tier, of, name, _ in own.logged)
    came = collections.Counter((event["compileId"], event["compileLevel"], method_of(event), event["isOsr"]) for event in own.events)
    print(f"# JDK {version}: {total(own.counts)} samples, {sum(logged.values())} in the log, {sum(key[3] for key in logged)} of them OSR, "
          f"tiers {dict(collections.Counter(key[1] for key in logged))}")
    expect(sum(logged.values()) >= LEAST, f"only {sum(logged.values())} compilations are logged")
    expect(any(key[3] for key in logged), "no loop was entered")
    expect_equal(came - logged, collections.Counter(), "compilations that the log has not")
    # One that was given up before its compiler began is in the log, too: what is logged of it is its begin.
    expect_equal(logged - came, collections.Counter(), "compilations that only the log has")
    expect_equal(sum(line.count for line in own.counts), sum(came.values()), "samples in the view")


def check_reasons(version):
    own = recorded(version)
    for event in own.events:
        match = REASON.match(event["reason"])
        expect(match is not None, f"a reason: {event['reason']}")
        expect_equal((match.group(1), int(match.group(2)), bool(match.group(3)), not match.group(4)),
                     (event["compiler"], event["compileLevel"], event["isOsr"], event["succeded"]), "fields and reason")
        expect_equal(match.group(1) == "C2", event["compileLevel"] == 4, "the compiler of a tier")
        expect(event["eventThread"]["javaName"].startswith(event["compiler"] + " CompilerThread"), f"its thread: {event['eventThread']}")


def check_stacks(version):
    """The method is before the compiler thread's own stack, the compiler in front of it."""
    own = recorded(version)
    wrong = [line.frames for line in own.counts if not in_order(line.frames, "CompileBroker::compiler_thread_loop", "CompileBroker::invoke_compiler_on_method")
             or not line.frames[-2].startswith(COMPILING) or not REASON.match(line.frames[-1][1:-1])]
    expect_equal(wrong, [], "stacks of compilations")
    whole = sum(seconds(event["duration"]) for event in own.events) * 1e9
    away = sum(seconds(event["queued"]) for event in own.events) * 1e9
    off = sum(line.count for line in own.ns if line.frames[-1] == OFF_CPU)
    expect_between(total(own.ns) / whole, 0.999, 1.001, "time of the view and of the events")
    expect_between(off - away, -1e4, 1e4, "time off the cpus")


@for_each_jdk(VERSIONS)
def compilations_are_what_the_jvm_logs(version):
    check_names(version)
    check_reasons(version)
    check_stacks(version)


@for_each_jdk(VERSIONS)
def they_take_as_long_as_its_flight_recorder_says(version):
    """One JVM, two who tell."""
    need_root()
    theirs = temp_path("theirs.jfr")
    process = workload(version, (f"-XX:StartFlightRecording:filename={theirs},jdk.Compilation#enabled=true,jdk.Compilation#threshold=0ms",))
    process.wait_text("ready", 60)
    time.sleep(2)
    path, _ = record(process)
    own = {event["compileId"]: event for event in read_by_jdk(path, "jdk.Compilation")}
    process.go()
    process.finish()
    by_jvm = {event["compileId"]: event for event in read_by_jdk(theirs, "jdk.Compilation") if event["compileId"] in own}
    ours, told = (sum(seconds(rows[key]["duration"]) for key in by_jvm) * 1e9 for rows in (own, by_jvm))
    cpu = ours - sum(seconds(own[key]["queued"]) for key in by_jvm) * 1e9
    print(f"# JDK {version}: {len(own)} compilations, {len(by_jvm)} of them in both, {told / 1e6:.1f} ms there, {ours / 1e6:.1f} ms here "
          f"({(ours - told) / len(by_jvm) / 1000:+.1f} us each), {cpu / 1e6:.1f} ms on a cpu")
    expect(len(by_jvm) >= LEAST, f"only {len(by_jvm)} are in both")
    expect(len(by_jvm) >= 0.98 * len(own), f"{len(own) - len(by_jvm)} are in ours alone")
    expect_between(ours, (1 - NEAR) * told, (1 + NEAR) * told + AROUND_NS * len(by_jvm), "time")
    expect_between(cpu, 1, ours, "time on a cpu")
    for key, event in by_jvm.items():
        expect_equal((plain_method(own[key]), own[key]["compileLevel"], own[key]["isOsr"], own[key]["succeded"]),
                     (plain_method(event), event["compileLevel"], event["isOsr"], event["succeded"]), "method, tier, loop, success")


@test
def cpu_time_is_of_what_ran():
    """Beside others on its cpu a compiler thread takes long, and not more of the cpu."""
    need_root()
    sums = []
    for rivals in (0, 2):
        process = workload(17)
        process.wait_text("ready", 60)
        for thread in os.listdir(f"/proc/{process.pid}/task") if rivals else ():
            os.sched_setaffinity(int(thread), {0})
        spinning = [start([sys.executable, "-c", "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass"]) for _ in range(rivals)]
        events = read_by_jdk(record(process)[0], "jdk.Compilation")
        for each in spinning:
            each.signal(signal.SIGKILL)
        whole, away = (sum(seconds(event[field]) for event in events) for field in ("duration", "queued"))
        sums.append((whole, whole - away))
        print(f"# {rivals} rivals: {len(events)} compilations, {whole:.3f} s, {whole - away:.3f} s of them on a cpu")
    expect(sums[1][0] > 1.3 * sums[0][0], "its rivals took nothing from it")
    expect_between(sums[1][1] / sums[0][1], 0.4, 1.8, "time on a cpu")


@test
def only_long_ones():
    need_root()
    process = workload(VERSIONS[0])
    process.wait_text("ready", 60)
    recorder = Recorder("-p", process.pid, "-e", "jit=50s", "--agent=never")
    process.go()
    process.wait_text("done", 90)
    expect_equal(collapsed(recorder.end(), "--event", "jit"), [], "compilations of 50 s")


@test
def a_jvm_that_starts():
    """It is probed as soon as it is seen to be a JVM, some 0.3 s later."""
    need_root()
    log = temp_path("log")
    recorder = Recorder("-a", "-e", "jit", "--agent=never")
    process = workload(VERSIONS[-1], (f"-Xlog:jit+compilation=debug:file={log}",))
    time.sleep(2)
    before = len(lines_of(log))
    process.go()
    process.wait_text("done", 90)
    path = recorder.end()
    logged, early = ({int(match.group(1)) for match in map(LOGGED.search, lines) if match} for lines in (lines_of(log)[before:], lines_of(log)[:before]))
    events = [event for event in read_by_jdk(path, "jdk.Compilation") if event["pid"] == process.pid]
    named = [event for event in events if event["method"]]
    came = {event["compileId"] for event in events if event["compileId"]}
    print(f"# {len(events)} compilations, {len(named)} with a method, {len(came & logged)} of {len(logged)} that came after 2 s, {len(came & early)} of {len(early)} before")
    expect_equal(len(named), len(events), "events with a method")
    expect_equal(logged - came, set(), "compilations of a JVM that has been seen")


@test
def who_has_no_probes():
    """A program that is no JVM: it is said that nothing was seen."""
    need_root()
    result = hostprof("record", "-e", "jit", "-o", temp_path("x.jfr"), "--", "sleep", "1", code=None)
    expect_in("no compilations were seen", result.err, "the warning")


main(lanes=2)
