#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e alloc through the agent: bytes of each class, their stacks, and that the JVM is left as it was found."""
import contextlib
import os
import shutil
import struct
import subprocess
import time

import codemap
from hp import *

# Those of `make setup`, and of HOSTPROF_JDKS; before 11 no agent samples allocations.
TRIED = [version for version in JDKS if version >= 11 and (version in SETUP_JDKS or find_jdk(version))]

# That each class allocates; 100000 gives each some 20,000 samples.
MEGABYTES = int(os.environ.get("HOSTPROF_ALLOC_MB", "2000"))

# Of a JVM, at most: the bound, and four deviations of the samples that came.
BOUND = 0.03
OBJECTS_BOUND = 0.1
DEVIATIONS = 4
SITES = {"Allocations$Small": ("small", "newSmall"), "java.lang.String": ("text", "newText"),
         "byte[]": ("bytes", "newBytes"), "java.lang.String[]": ("texts", "newTexts"),
         "long[]": ("longs", "newLongs")}


# A consumer of allocations, too: CODEMAP_WANT_ALLOC of jvmagent/codemap.h, and where its interval stands.
WANT_ALLOC = 4
ALLOC_WANTED_AT = 132


def workload(version, megabytes, *args, flags=()):
    if version >= 21:
        flags += ("-XX:+EnableDynamicAgentLoading",)
    return java(version, "Allocations", megabytes, *args, flags=("-Xmx512m", *flags),
                stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


def say(process):
    process.go()


def begin(process, *args):
    """A recording beside the test that has loaded the agent."""
    path = temp_path("out.jfr")
    recorder = Process([HOSTPROF, "record", "-p", process.pid, "-o", path, *args])
    wait_until(lambda: codemap.find(process.pid), 20, "the agent")
    time.sleep(1)
    return recorder, path


def end(recorder):
    recorder.signal(signal.SIGINT)
    recorder.finish()


def by_class(path, *args):
    """Weight of each leaf."""
    sums = collections.Counter()
    for line in collapsed(path, "--event", "alloc", *args):
        sums[line.frames[-1]] += line.count
    return sums


def check_sums(path, process):
    totals, samples = by_class(path, "--total"), by_class(path)
    for row in process.text.splitlines():
        name, *numbers = row.split(" ")
        if name not in SITES:
            continue
        true = int(numbers[0]) * int(numbers[1])
        bound = BOUND + DEVIATIONS / samples[name] ** 0.5
        off = totals[name] / true - 1
        print(f"# {name}: {samples[name]} samples, {100 * off:+.2f} % (bound {100 * bound:.2f} %)")
        expect(abs(off) < bound, f"bytes of {name} within {bound:.3f}: {off:+.4f}")


def check_objects(path, process):
    """Objects of each class, by the leaf's column of pprof's `-top`."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.access(go, os.X_OK):
        print("# objects are not looked at: no go for `go tool pprof`")
        return
    profile = temp_path("x.pb.gz")
    hostprof("report", path, "-o", profile)
    top = run([go, "tool", "pprof", "-top", "-sample_index=alloc_objects", "-nodecount=1000", "-nodefraction=0", profile],
              timeout=120, code=0).out
    seen = {row[-1]: int(row[0]) for row in map(str.split, top.splitlines()) if len(row) >= 6 and row[0].isdigit()}
    samples = by_class(path)
    for row in process.text.splitlines():
        name, *numbers = row.split(" ")
        if name in SITES and samples[name] > 0:
            off = seen.get(name, 0) / int(numbers[1]) - 1
            bound = OBJECTS_BOUND + DEVIATIONS / samples[name] ** 0.5
            print(f"# {name}: {seen.get(name)} objects, {100 * off:+.2f} % (bound {100 * bound:.2f} %)")
            expect(abs(off) < bound, f"objects of {name} within {bound:.3f}: {off:+.4f}")


def check_sites(path, version):
    """Whole stacks are those of the source; where code was compiled a moment ago inlined methods may miss."""
    found = collections.Counter()
    for line in collapsed(path, "--event", "alloc"):
        site = SITES.get(line.frames[-1])
        if site and in_order(line.frames, "java.lang.Thread.run", "Allocations.run", "Allocations.work",
                             *(f"Allocations.{method}" for method in site)):
            found[line.frames[-1]] += line.count
            at = line.frames.index("java.lang.Thread.run")
            # JDK 21 has a method more.
            expect_equal(line.frames[at:-1],
                         ["java.lang.Thread.run", *(["java.lang.Thread.runWith"] if version >= 21 else []),
                          "Allocations.run", "Allocations.work",
                          *(f"Allocations.{method}" for method in site)], "the stack of a site")
    for name in SITES:
        expect(found[name] > 0, f"a whole stack of {name}")


@for_each_jdk(TRIED)
@alone
def sums_of_classes(version):
    process = workload(version, MEGABYTES)
    recorder, path = begin(process, "-e", "cpu,alloc=64k")
    say(process)
    process.wait_text("done", timeout=120 + MEGABYTES / 100)
    end(recorder)
    check_sums(path, process)
    check_objects(path, process)
    check_sites(path, version)
    expect(total(collapsed(path, "--event", "cpu")) > 0, "samples of cpu")
    # Loaded for the recording, it has gone with it.
    expect(not codemap.find(process.pid), "no code map is left")
    say(process)
    process.finish()


@for_each_jdk(TRIED)
def killed(version):
    """After kill -9 the agent turns its events off, and the next recording works."""
    process = workload(version, 10, 60)
    recorder, _ = begin(process, "-e", "alloc")
    say(process)
    # On a busy machine not yet when the agent is there: the next recording would come too early for the lease's end.
    wait_until(lambda: codemap.CodeMap(process.pid)["events_on"] & WANT_ALLOC, 30, "events on")
    time.sleep(1)
    recorder.signal(signal.SIGKILL)
    recorder.finish(code=None)
    wait_until(lambda: not codemap.CodeMap(process.pid)["events_on"], 10, "events off")
    path = record("-e", "alloc", "-d", 2, "-p", process.pid)
    expect(sum(by_class(path).values()) > 0, "samples in the next recording")


CYCLES = int(os.environ.get("HOSTPROF_ALLOC_CYCLES", "10"))


def memory_of(pid):
    """Mappings of the agent's memory, and the JVM's own resident kilobytes."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        maps = sum("/memfd:hostprof-codemap" in line for line in file)
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        rss = next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))
    return maps, rss


def memfds(pid):
    links = (os.path.join(f"/proc/{pid}/fd", name) for name in os.listdir(f"/proc/{pid}/fd"))
    return sum(os.path.lexists(link) and os.readlink(link).startswith("/memfd:hostprof-codemap") for link in links)


def cycle(process):
    hostprof("attach", process.pid)
    expect_equal(memfds(process.pid), 1, "code maps of the JVM")
    code_map = codemap.CodeMap(process.pid)
    code_map.take_lease()
    struct.pack_into("I", code_map.map, ALLOC_WANTED_AT, 64 << 10)
    code_map.command(codemap.START, codemap.CODE | codemap.THREADS | WANT_ALLOC)
    wait_until(lambda: code_map["events_on"] & WANT_ALLOC, 10, "samples of allocations")
    code_map.read()
    agent_bytes = code_map["agent_bytes"]
    hostprof("detach", process.pid)
    code_map.release()
    code_map.map.close()
    expect(not codemap.find(process.pid), "no code map is left")
    return agent_bytes


@test
def attached_again_and_again():
    """Under load: one library, no memory that stays, and the agent's own is as large as in the beginning."""
    need_root()
    process = workload(17, 10, 3600, flags=("-XX:+AlwaysPreTouch", "-Xms512m"))
    say(process)
    for _ in range(5):
        first = cycle(process)
    _, before = memory_of(process.pid)
    sizes = [cycle(process) for _ in range(CYCLES)]
    maps, after = memory_of(process.pid)
    print(f"# {CYCLES} cycles: agent {first} B, then at most {max(sizes)} B; JVM {before} kB, then {after} kB")
    expect(process.running(), "the JVM lives")
    expect_equal(maps, 0, "mappings of the agent's memory")
    expect(max(sizes) < 2 * first + (256 << 10), f"the agent's memory: {first}, then {max(sizes)}")
    # What the JIT takes meanwhile, and nothing for each cycle.
    expect(after - before < 32 << 10, f"kilobytes of the JVM: {before}, then {after}")


@for_each_jdk(TRIED)
def checked_jni(version):
    """-Xcheck:jni has nothing to say of the agent."""
    process = workload(version, 200, flags=("-Xcheck:jni",))
    recorder, path = begin(process, "-e", "alloc=64k")
    say(process)
    process.wait_text("done", timeout=120)
    end(recorder)
    expect(sum(by_class(path).values()) > 0, "samples")
    for words in ("native method", "JNI", "FATAL"):
        expect_not_in(words, process.text, "the JVM's output")
    say(process)
    process.finish()


def cpu_seconds(pid):
    """The scheduler's clock of all its threads that live."""
    nanoseconds = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        # One that has ended meanwhile is none of them.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
            nanoseconds += int(file.read().split()[0])
    return nanoseconds / 1e9


def at_time(points, when):
    """CPU seconds at a moment, between two of those that were read."""
    (t0, c0), (t1, c1) = next((a, b) for a, b in zip(points, points[1:]) if b[0] >= when)
    return c0 + (c1 - c0) * (when - t0) / (t1 - t0)


@for_each_jdk(TRIED)
def both_in_one_file(version):
    """CPU time beside allocations is what the scheduler says of the same seconds."""
    process = workload(version, 10, 60)
    path, stats = temp_path("both.jfr"), temp_path("both.json")
    say(process)
    points = [(time.monotonic(), cpu_seconds(process.pid))]
    recorder = Process([HOSTPROF, "record", "-p", process.pid, "-o", path, "-e", "cpu,alloc", "-d", 6, "--stats", stats])
    while recorder.running():
        time.sleep(0.02)
        points.append((time.monotonic(), cpu_seconds(process.pid)))
    recorder.finish()
    row = read_json(stats)
    begin_s, end_s = row["start_ns"] / 1e9, (row["start_ns"] + row["elapsed_ns"]) / 1e9
    true = at_time(points, end_s) - at_time(points, begin_s)
    seen = total(collapsed(path, "--event", "cpu", "--total")) / 1e9
    print(f"# {seen:.2f} s of cpu, the scheduler's {true:.2f} s")
    expect(sum(by_class(path).values()) > 0, "samples of allocations")
    expect(abs(seen / true - 1) < 0.05, f"{seen:.2f} s of cpu, the scheduler's {true:.2f} s")


main(lanes=2)
