#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs, as one table: bench.py [--json FILE] [PART...]

throughput  operations per CPU second that a CPU-bound stock JVM keeps while it is recorded at 1 kHz
            (windows with and without recording take turns in one run of the JVM), and with an agent
allocation  operations per CPU second that a JVM keeps whose allocations are sampled; a hit of the probe
memory      the same of its native memory; what malloc() and free() cost, sampled and not
events      operations per CPU second that a JVM keeps which does a little of everything, by each event and by five at once
virtual     the same of virtual threads that do nothing but park and let each other go on
start       20 busy JVMs and 300 other processes: from exec to the first whole sample, CPU time of that
            second
host        the same host at 99 Hz: CPU time and memory of all of hostprof's processes, BPF time
unwinding   what a native stack costs by its depth, against a walk by frame pointers; misses, rows
java        what a Java stack costs, by the kind of its frames
waits       what switches cost with -e offcpu, in storms of perf's
stream      how soon lines of a stream come, with two busy JVMs at 997 Hz; what it costs
views       one million samples: time and memory of each view

HOSTPROF_BENCH_SECONDS is the length of one window (default 4), HOSTPROF_BENCH_JVMS the number of
JVMs. Needs root; HOSTPROF_BUILD names the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "root"))
import hp
from hp import *
from allocation import allocation, memory
from events import events, virtual
from host import bpf_figures, host, peak_rss_mb, start_up
from java_unwinding import java_unwinding
from rates import alternate, rate, rate_recorded
from stream_reader import Model, Stream
from table import cpu_clock_ns, enable_bpf_stats, row, rows
from unwinding import unwinding
from waits import waits

PAIRS = 6
SAMPLES = 1_000_000
STREAM_SECONDS = 20


# --- throughput -----------------------------------------------------------------------------


def throughput():
    enable_bpf_stats()
    stats = temp_path("stats.json")
    jvm = java(17, "Bench", 1, 60, flags=["-Xmx256m"], stdin=subprocess.PIPE)
    alone = statistics.mean([rate(jvm), rate(jvm)])
    row("JVM alone: operations per CPU second", alone, "ops/s", digits=0)
    ratios = alternate(jvm, [rate_recorded(jvm, ["-p", jvm.pid, "-F", 1000], stats)], PAIRS)[0]
    row(f"recorded at 1 kHz: throughput kept (median of {PAIRS})", statistics.median(ratios), "",
        0.985, upper=False, digits=4)
    row("recorded at 1 kHz: lowest pair", min(ratios), "", digits=4)
    row("recorded at 1 kHz: highest pair", max(ratios), "", digits=4)
    bpf_figures(read_json(stats), "1 kHz")
    alone = rate(jvm)
    hostprof("attach", jvm.pid)
    row("with agent, not recorded: throughput kept", rate(jvm) / alone, "", digits=4)


# --- stream -----------------------------------------------------------------------------------


def stream():
    """The reader's clock against each sample's time."""
    jvms = [java(version, "Bench", 1, 60, flags=["-Xmx64m"], stdin=subprocess.PIPE)
            for version in (17, 25)]
    reader = Stream("-F", 997, "-d", STREAM_SECONDS)
    time.sleep(STREAM_SECONDS - 1)
    cpu, peak = cpu_clock_ns(reader.pid), peak_rss_mb(reader.pid)
    lines = reader.lines.all()
    model = Model(lines)
    delays = statistics.quantiles(model.delays_ns, n=100)
    what = f"stream at 997 Hz, {len(jvms)} JVMs"
    row(f"{what}: lines within 50 ms of their sample", 100 * (1 - model.late_share(50e6)), "%", 95,
        upper=False)
    for share in (50, 95, 99):
        row(f"{what}: {share} % of lines come within", delays[share - 1] / 1e6, "ms")
    row(f"{what}: samples", len(model.samples), "", digits=0)
    row(f"{what}: corrected", 100 * model.corrected / max(len(model.samples), 1), "%")
    row(f"{what}: lines", sum(len(line.text) for line in lines) / STREAM_SECONDS / 2**20, "MB/s")
    row(f"{what}: own CPU", cpu / (STREAM_SECONDS - 1) / 1e7, "% core")
    row(f"{what}: peak RSS", peak, "MB", 128)


# --- views ----------------------------------------------------------------------------------


def measure(argv):
    """(wall seconds, peak RSS in MB) of a program run to its end."""
    begin = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, os.environ)
    _, status, usage = os.wait4(pid, 0)
    expect_equal(status, 0, f"{' '.join(argv)}: status")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def views():
    recording = temp_path("million.jfr")
    run([os.path.join(BUILD, "tools", "gen_recording"), recording, SAMPLES], code=0, timeout=300)
    row("1 M samples: recording", os.path.getsize(recording) / 2**20, "MB")
    for name in ("x.html", "x.collapsed", "x.pb.gz", "x.svg", "x.txt"):
        seconds, mb = measure([HOSTPROF, "report", recording, "-o", temp_path(name)])
        budget = (1, 200) if name == "x.html" else (None, None)
        row(f"1 M samples -> {name[2:]}: time", seconds, "s", budget[0])
        row(f"1 M samples -> {name[2:]}: peak RSS", mb, "MB", budget[1], digits=0)


# --------------------------------------------------------------------------------------------


def bench_main():
    arguments = sys.argv[1:]
    report = None
    failed = False
    if arguments[:1] == ["--json"]:
        report, arguments = arguments[1], arguments[2:]
    if os.geteuid() != 0:
        sys.exit("bench.py: needs root")
    parts = {"throughput": throughput, "allocation": allocation, "memory": memory, "events": events, "virtual": virtual, "start": start_up, "host": host, "unwinding": unwinding,
             "java": java_unwinding, "waits": waits, "stream": stream, "views": views}
    unknown = [name for name in arguments if name not in parts]
    if unknown:
        sys.exit(f"bench.py: no part {', '.join(unknown)}; there are {', '.join(parts)}")
    for name in arguments or list(parts):
        try:
            parts[name]()
        except (hp.Failed, hp.Skipped) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
        finally:
            hp.run_cleanups()
    if report:
        with open(report, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    sys.exit(1 if failed else 0)


bench_main()
