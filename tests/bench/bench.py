#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs, as one table: bench.py [--json FILE] [PART...]

throughput  operations per CPU second that a CPU-bound stock JVM keeps while it is recorded at 1 kHz
            (windows with and without recording take turns in one run of the JVM), and with an agent
allocation  operations per CPU second that a JVM keeps whose allocations are sampled; a hit of the probe
host        the whole host at 99 Hz with 20 busy JVMs and 300 other processes: from start to the
            first whole sample, hostprof's own CPU time, memory, BPF time
unwinding   what a native stack costs by its depth, against a walk by frame pointers; misses, rows
java        what a Java stack costs, by the kind of its frames
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
from allocation import allocation
from java_unwinding import java_unwinding
from rates import alternate, rate
from stream_reader import Model, Stream
from table import cpu_clock_ns, enable_bpf_stats, row, rows
from unwinding import unwinding

JVMS = int(os.environ.get("HOSTPROF_BENCH_JVMS", "20"))
PAIRS = 6
OTHERS, FORKS = 300, 30
# Its children end with it: prctl(PR_SET_PDEATHSIG, SIGKILL).
FORKING = f"""import ctypes, os, time
for _ in range({FORKS} - 1):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, 9)
        break
while True:
    sum(i * i for i in range(5000))
    time.sleep(1)
"""
# After these many seconds the start's cost is over (symbols read, agents attached).
START_SECONDS = 10
HOST_SECONDS = 30
STARTS = 5
# Root and leaf side of what a thread of Bench does all the time; C2 inlines the recursion between.
BENCH_STACK = re.compile(r"(?:\[thread start\]|(?:__)?clone3?);.*;java\.lang\.Thread\.run;Bench\.run;Bench\.descend\b")
# Time for a recording to begin, and to let go, before a window is measured.
SETTLE = 1.5
SAMPLES = 1_000_000
STREAM_SECONDS = 20


# --- throughput -----------------------------------------------------------------------------


def rate_recorded(jvm, stats):
    recorder = start([HOSTPROF, "record", "-p", jvm.pid, "-F", 1000, "-o", temp_path("x.jfr"),
                      "--stats", stats], stderr=subprocess.DEVNULL)
    time.sleep(SETTLE)
    value = rate(jvm)
    recorder.signal(signal.SIGINT)
    recorder.finish()
    time.sleep(SETTLE / 3)
    return value


def bpf_figures(stats, what):
    capture = stats["capture"]
    # Runs that found nothing to record (other processes, idle) are charged to the samples too.
    row(f"{what}: BPF time per sample", capture["bpf_run_ns"] / max(stats["samples"], 1) / 1000,
        "us", 8)
    row(f"{what}: complete stacks", 100 * stats["complete_share"], "%")
    for reason, count in sorted(stats["reasons"].items(), key=lambda item: -item[1])[:5]:
        row(f"{what}: samples that end {reason}", count, "", digits=0)
    row(f"{what}: lost samples", stats["lost"], "", digits=0)


def throughput():
    enable_bpf_stats()
    stats = temp_path("stats.json")
    jvm = java(17, "Bench", 1, 60, flags=["-Xmx256m"], stdin=subprocess.PIPE)
    alone = statistics.mean([rate(jvm), rate(jvm)])
    row("JVM alone: operations per CPU second", alone, "ops/s", digits=0)
    ratios = alternate(jvm, [lambda: rate_recorded(jvm, stats)], PAIRS)[0]
    row(f"recorded at 1 kHz: throughput kept (median of {PAIRS})", statistics.median(ratios), "",
        0.985, upper=False, digits=4)
    row("recorded at 1 kHz: lowest pair", min(ratios), "", digits=4)
    row("recorded at 1 kHz: highest pair", max(ratios), "", digits=4)
    bpf_figures(read_json(stats), "1 kHz")
    alone = rate(jvm)
    hostprof("attach", jvm.pid)
    row("with agent, not recorded: throughput kept", rate(jvm) / alone, "", digits=4)


# --- the whole host -------------------------------------------------------------------------


def peak_rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return int(expect_match(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) / 1024


def other_processes():
    """As a host has them: each wakes up once a second and does a little."""
    for _ in range(OTHERS // FORKS):
        start([sys.executable, "-c", FORKING])


def busy_jvms():
    flags = ["-Xmx48m", "-XX:+UseSerialGC", "-XX:CICompilerCount=2"]
    jvms = [java(17, "Bench", 1, 60, flags=flags, ready=None, stdin=subprocess.PIPE)
            for _ in range(JVMS)]
    for jvm in jvms:
        jvm.wait_text(timeout=120)
    return {jvm.pid for jvm in jvms}


def first_whole_ms(pids):
    """From hostprof's exec to the first sample of one of these JVMs that is whole."""
    path = temp_path("start.jfr")
    origin = time.monotonic_ns()
    hostprof("record", "-F", 99, "-d", 1, "-o", path)
    lines = run([os.path.join(BUILD, "tools", "timed_stacks"), path], code=0).out.splitlines()
    samples = [line.split(" ", 2) for line in lines]
    return min(int(ns) - origin for ns, pid, stack in samples
               if int(pid) in pids and BENCH_STACK.match(stack)) / 1e6


def host():
    pids = busy_jvms()
    other_processes()
    starts = [first_whole_ms(pids) for _ in range(STARTS)]
    what = f"{JVMS} JVMs, {OTHERS} more: start to first whole sample"
    row(f"{what} (median of {STARTS})", statistics.median(starts), "ms", 300, digits=0)
    row(f"{what}: the longest", max(starts), "ms", digits=0)
    enable_bpf_stats()
    stats = temp_path("stats.json")
    recorder = start([HOSTPROF, "record", "-F", 99, "-d", START_SECONDS + HOST_SECONDS, "-o",
                      temp_path("x.jfr"), "--stats", stats], stderr=subprocess.DEVNULL)
    time.sleep(START_SECONDS)
    begin = cpu_clock_ns(recorder.pid)
    time.sleep(HOST_SECONDS - 2)
    steady = cpu_clock_ns(recorder.pid) - begin
    peak = peak_rss_mb(recorder.pid)
    recorder.finish(timeout=120)
    figures = read_json(stats)
    what = f"99 Hz, {JVMS} JVMs, {OTHERS} more"
    row(f"{what}: own CPU of the first {START_SECONDS} s", begin / START_SECONDS / 1e7, "% core")
    row(f"{what}: own CPU after that", steady / (HOST_SECONDS - 2) / 1e7, "% core", 1)
    row(f"{what}: peak RSS while recording", peak, "MB", 64)
    row(f"{what}: BPF maps", figures["capture"]["map_bytes"] / 2**20, "MB", 64)
    row(f"{what}: samples", figures["samples"], "", digits=0)
    bpf_figures(figures, what)


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
    parts = {"throughput": throughput, "allocation": allocation, "host": host, "unwinding": unwinding, "java": java_unwinding,
             "stream": stream, "views": views}
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
