#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-alloc: allocation profiles on each JDK, with the agent and without it, by several collectors.

usage: alloc_matrix.py [VERSION…]
HOSTPROF_JDKS is where the JDKs are; one that is not there is skipped and counted. HOSTPROF_SECONDS: how long each
collector is recorded (17), so that all of a JDK's together have 20,000 samples of each class. HOSTPROF_COLLECTORS names
some of them (Serial,G1), HOSTPROF_SOURCES "agent" or "outside". All are shown before one of them fails the check.
"""
import codemap
from alloc_judge import *
from hp import *
from pprof_file import sums_of_leaves

WITH_AGENT, OUTSIDE = (11, 17, 21, 25, 28), (8, 17, 25)
SECONDS = int(os.environ.get("HOSTPROF_SECONDS", "17"))
# Below the budget of 5,000 samples per second, of nine classes.
SAMPLES_PER_SECOND, INTERVAL = 450, 64 << 10
# An interval that thins nothing but what is small: the JVM's TLABs decide how many there are.
INTERVAL_OUTSIDE = 4 << 10
COLLECTORS = {"Serial": ["-Xmx256m"], "Parallel": ["-Xmx256m"], "G1": ["-Xmx256m"], "Z": ["-Xmx768m"],
              "Shenandoah": ["-Xmx512m"]}
JUDGED_ALONE = ("Serial", "Parallel", "G1")

versions = [int(arg) for arg in sys.argv[1:]] or sorted({*WITH_AGENT, *OUTSIDE})
del sys.argv[1:]


def flags_of(collector):
    return ["-XX:CompileCommand=quiet", *(f"-XX:CompileCommand=dontinline,{method}" for method in DONTINLINE),
            *COLLECTORS[collector], f"-XX:+Use{collector}GC"]


def has_collector(version, collector):
    """Z and Shenandoah are not in every build."""
    if collector in ("Z", "Shenandoah") and version < 17:
        return False
    return run([os.path.join(jdk(version), "bin", "java"), *flags_of(collector), "-version"]).code == 0


def start_workload(version, collector):
    flags = flags_of(collector) + (["-XX:+EnableDynamicAgentLoading"] if version >= 21 else [])
    argv = [os.path.join(jdk(version), "bin", "java"), *flags, "-cp", WORKLOADS, "AllocSites", SECONDS,
            SAMPLES_PER_SECOND, INTERVAL]
    jvm = start(with_debug_files(version, argv), cwd=temp_dir(), stdin=subprocess.PIPE)
    return jvm.wait_text("ready", timeout=60)


def record_cell(version, collector, outside):
    """One recording from before the first allocation to after the last; (Cell, stats)."""
    jvm = start_workload(version, collector)
    interval = INTERVAL_OUTSIDE if outside else INTERVAL
    recorder = Recorder("-e", f"alloc={interval}", f"--agent={'never' if outside else 'auto'}", "-p", jvm.pid)
    if not outside:
        wait_until(lambda: codemap.find(jvm.pid), 30, "the agent")
    time.sleep(1.5)  # the probes are opened
    jvm.popen.stdin.write(b"\n")
    jvm.popen.stdin.flush()
    jvm.wait_text("done", timeout=60 + 10 * SECONDS)
    truth = {name: (int(size), int(count))
             for name, size, count in re.findall(r"^(\S+) (\d+) (\d+)$", jvm.text, re.MULTILINE)}
    path, profile = recorder.end(), temp_path("x.pb.gz")
    stats = read_json(recorder.stats_path)
    hostprof("report", path, "-o", profile)
    lines = [line for line in collapsed(path, "-t", "--annotate") if "allocates-" in line.thread]
    weights = [line for line in collapsed(path, "-t", "--total") if "allocates-" in line.thread]
    return Cell(truth, by_class(weights), sums_of_leaves(profile, "alloc_objects", "allocates-"), by_class(lines),
                [(line.frames, line.count) for line in lines]), stats


def by_class(lines):
    sums = collections.Counter()
    for line in lines:
        sums[plain(line.frames[-1])] += line.count
    return sums


def print_rows(what, rows):
    print(f"# {what}")
    for row in rows:
        print(f"#   {row.name:20} {row.samples:7} samples  bytes {row.bytes_off:+7.2%} (bound {row.bound:.2%})"
              f"  objects {row.objects_off:+7.2%}", flush=True)


def judge_source(version, outside):
    """All collectors of a JDK, each and together; why it fails."""
    source = "without agent" if outside else "with agent"
    wanted = os.environ.get("HOSTPROF_COLLECTORS", ",".join(COLLECTORS)).split(",")
    cells, misses = [], []
    for collector in (name for name in wanted if has_collector(version, name)):
        cell, stats = record_cell(version, collector, outside)
        run_cleanups()
        cells.append(cell)
        what = f"{version} {collector} {source}"
        rows, (reasons, examples) = rows_of([cell], outside), judge_stacks(cell, version, outside)
        samples = sum(count for _, count in cell.stacks)
        print_rows(f"{what}: {samples} samples, not as the source: {dict(reasons) or 0}, lost {stats['lost']}", rows)
        for why, example in examples.items():
            print(f"#   {why}: {example}")
        failed = misses_of_rows(rows, 200) + misses_of_stacks(reasons, samples)
        failed += [f"{stats[name]} {name}" for name in gates.DROPPED if stats[name]]
        misses += [f"{what}: {miss}" for miss in failed]
    if not cells:
        return misses + [f"{version} {source}: no collector"]
    rows = rows_of(cells, outside)
    print_rows(f"{version} {source}, {len(cells)} collectors together", rows)
    return misses + [f"{version} {source}: {miss}" for miss in misses_of_rows(rows, ENOUGH if SECONDS >= 17 else 200)]


def allocations_are_right_on_each_jdk():
    need_root()
    misses, skipped, judged = [], 0, 0
    sources = os.environ.get("HOSTPROF_SOURCES", "agent,outside").split(",")
    for version in versions:
        for outside in (False, True):
            if version not in (OUTSIDE if outside else WITH_AGENT) or ("outside" if outside else "agent") not in sources:
                continue
            if not find_jdk(version) or outside and not has_tracer(version):
                print(f"# skip JDK {version}{' without agent' if outside else ''}: it, or its symbols, are not installed")
                skipped += 1
                continue
            misses += judge_source(version, outside)
            judged += 1
    for miss in misses:
        print(f"# {miss}")
    print(f"# {judged} JDKs and sources judged, {skipped} skipped")
    return judged > 0 and not misses


# No test of the harness, which would try it again: what failed once has failed.
try:
    right = allocations_are_right_on_each_jdk()
    print("ok" if right else "FAIL: see above")
    sys.exit(0 if right else 1)
except Skipped as error:
    print(f"skip: {error}")
