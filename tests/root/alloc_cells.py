# SPDX-License-Identifier: Apache-2.0
"""Recordings of tests/workloads/AllocSites.java for the judge of allocations."""
import codemap
from alloc_judge import DONTINLINE, Cell
from hp import *
from pprof_file import sums_of_leaves

# Below the budget of 5,000 samples per second, of nine classes.
SAMPLES_PER_SECOND, INTERVAL = 450, 64 << 10
# An interval that thins nothing but what is small: the JVM's TLABs decide how many there are.
INTERVAL_OUTSIDE = 4 << 10
# Small: TLABs of some kilobytes, dozens of collections a second.
COLLECTORS = {"Serial": ["-Xmx256m"], "Parallel": ["-Xmx256m"], "G1": ["-Xmx256m"], "Z": ["-Xmx768m"],
              "Shenandoah": ["-Xmx512m"], "Small": ["-Xmx96m"]}


def flags_of(collector):
    return ["-XX:CompileCommand=quiet", *(f"-XX:CompileCommand=dontinline,{method}" for method in DONTINLINE),
            *COLLECTORS[collector], f"-XX:+Use{'Serial' if collector == 'Small' else collector}GC"]


def has_collector(version, collector):
    """Z and Shenandoah are not in every build."""
    if collector in ("Z", "Shenandoah") and version < 17:
        return False
    return run([os.path.join(jdk(version), "bin", "java"), *flags_of(collector), "-version"]).code == 0


def start_workload(version, collector, seconds):
    flags = flags_of(collector) + (["-XX:+EnableDynamicAgentLoading"] if version >= 21 else [])
    argv = [os.path.join(jdk(version), "bin", "java"), *flags, "-cp", WORKLOADS, "AllocSites", seconds,
            SAMPLES_PER_SECOND, INTERVAL]
    jvm = start(with_debug_files(version, argv), cwd=temp_dir(), stdin=subprocess.PIPE)
    return jvm.wait_text("ready", timeout=60)


def record_cell(version, collector, outside, seconds):
    """One recording from before the first allocation to after the last; (Cell, stats)."""
    jvm = start_workload(version, collector, seconds)
    interval = INTERVAL_OUTSIDE if outside else INTERVAL
    recorder = Recorder("-e", f"alloc={interval}", f"--agent={'never' if outside else 'auto'}", "-p", jvm.pid)
    if not outside:
        wait_until(lambda: codemap.find(jvm.pid), 30, "the agent")
    time.sleep(1.5)  # the probes are opened
    jvm.go()
    jvm.wait_text("done", timeout=60 + 10 * seconds)
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
