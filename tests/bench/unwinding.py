# SPDX-License-Identifier: Apache-2.0
"""What native stacks cost: the rows against a walk of the same stacks by frame pointers."""
import statistics

from hp import *
from table import enable_bpf_stats, row

DEPTHS = (10, 50, 100, 500, 1000)
WINDOW = float(os.environ.get("HOSTPROF_BENCH_SECONDS", "4"))
ROUNDS = 3
# Often enough for a figure after two seconds; and how often people sample.
FAST_HZ, SLOW_HZ = 1999, 99
MISS_HZ, MISS_MS = 199, 5
# For the start of a recording, or of a program, to be over.
SETTLE = 1.5
RING = "4m"

PYTHON = ("import json, re\n"
          "def down(n, text):\n"
          "    return down(n - 1, text) if n else len(json.loads(text)) + len(re.findall('a+b', text))\n"
          "text = json.dumps([['aab' * i, {'k': i}] for i in range(60)])\n"
          "while True: down(20, text)")
NODE = ("function down(n, o) { return n ? down(n - 1, o) + 1 : JSON.parse(JSON.stringify(o)).length }\n"
        "let o = []; for (let i = 0; i < 500; i++) o.push({ a: 'x'.repeat(i), b: i })\n"
        "for (;;) { down(20, o); o.map(e => e.a).sort().join().replace(/x+/g, '') }")


# --- one recording --------------------------------------------------------------------------


def frames_of(capture):
    """Native frames that BPF left by any means, and the last one of each walk."""
    return capture["row_frames"] + capture["fp_frames"] + capture["jit_frames"] + capture["samples"]


def idle_run_ns(hz):
    """What a tick costs that finds another process than wanted: more where ticks are rare."""
    sleeper = start(["sleep", 600])
    runs = [stats_of("-p", sleeper.pid, "-F", hz, "-d", WINDOW / 2)[1]["capture"]
            for _ in range(ROUNDS)]
    sleeper.stop()
    return statistics.median(c["bpf_run_ns"] / max(c["bpf_run_count"], 1) for c in runs)


def cost(process, idle_ns, *args, hz=FAST_HZ, seconds=WINDOW / 2):
    """(ns of BPF per sample of a process, the figures)."""
    figures = stats_of("-p", process.pid, "-F", hz, "-d", seconds, "--ring-size", RING, *args)[1]
    capture = figures["capture"]
    others = capture["bpf_run_count"] - capture["samples"] - capture["lost"]
    ns = capture["bpf_run_ns"] - others * idle_ns
    return ns / max(capture["samples"] + capture["lost"], 1), figures


def settle(process):
    """Its rows, and its place in the caches, are as they stay."""
    record("-p", process.pid, "-F", SLOW_HZ, "-d", 1)
    return process


# --- by depth -------------------------------------------------------------------------------


def pair(process, idle_ns, hz, seconds):
    """ns per sample by frame pointers and by rows, and the rows' figures."""
    by_fp, _ = cost(process, idle_ns, "--unwind", "fp", hz=hz, seconds=seconds)
    by_rows, figures = cost(process, idle_ns, hz=hz, seconds=seconds)
    return by_fp, by_rows, figures


def depth_rows(depth, idle_ns, hz, seconds, budget):
    process = native("depth", depth, 600).wait_text()
    pairs = [pair(process, idle_ns, hz, seconds) for _ in range(ROUNDS)]
    by_fp, by_rows = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    what = f"{depth:,} frames at {hz:,} Hz"
    row(f"{what}: by frame pointers", by_fp, "ns", digits=0)
    row(f"{what}: by rows", by_rows, "ns", digits=0)
    row(f"{what}: by rows, of each frame", by_rows / depth, "ns", digits=1)
    row(f"{what}: rows / frame pointers", statistics.median(p[1] / p[0] for p in pairs), "",
        budget)
    row(f"{what}: complete stacks", 100 * pairs[-1][2]["complete_share"], "%")
    row(f"{what}: samples", sum(p[2]["samples"] for p in pairs), "", digits=0)
    process.stop()
    return by_fp, by_rows


def by_depth(idle_ns):
    costs = {depth: depth_rows(depth, idle_ns, FAST_HZ, WINDOW / 2, 2) for depth in DEPTHS}
    shallow, deep = costs[DEPTHS[0]], costs[DEPTHS[-1]]
    for what, i in (("frame pointers", 0), ("rows", 1)):
        row(f"one more frame, by {what}", (deep[i] - shallow[i]) / (DEPTHS[-1] - DEPTHS[0]), "ns",
            digits=1)
    # The caches were used by others in between.
    depth_rows(100, idle_run_ns(SLOW_HZ), SLOW_HZ, 2 * WINDOW, None)


# --- programs of the world ------------------------------------------------------------------


def program_rows(name, argv, idle_ns):
    if not shutil.which(argv[0]):
        print(f"{name}: there is no {argv[0]}")
        return
    process = start(argv)
    time.sleep(SETTLE)
    settle(process)
    ns, figures = cost(process, idle_ns, hz=SLOW_HZ * 10, seconds=WINDOW)
    capture = figures["capture"]
    row(f"{name}: BPF time per sample", ns, "ns", digits=0)
    row(f"{name}: native frames per sample", frames_of(capture) / max(capture["samples"], 1), "",
        digits=1)
    row(f"{name}: frames that the hot cache had",
        100 * capture["hot_frames"] / max(frames_of(capture), 1), "%",
        digits=1)
    row(f"{name}: complete stacks", 100 * figures["complete_share"], "%")
    row(f"{name}: samples", figures["samples"], "", digits=0)
    process.stop()


# --- misses ---------------------------------------------------------------------------------


def misses():
    seconds = max(WINDOW, 4)
    unknown = native("scattered", 600, MISS_MS).wait_text()
    ns, figures = cost(unknown, idle_run_ns(MISS_HZ), hz=MISS_HZ, seconds=seconds)
    counters = {c["name"]: c["value"] for c in figures["counters"]}
    count = max(figures["capture"]["misses"], 1)
    row("code never met before: samples that are a miss",
        100 * count / max(figures["samples"], 1), "%", digits=1)
    row("code never met before: complete stacks", 100 * figures["complete_share"], "%")
    row("code never met before: BPF time per sample", ns, "ns", digits=0)
    row("a miss in userspace: rows made", counters["unwind.pages-made-ns"] / count / 1000, "us",
        digits=1)


# --- rows -----------------------------------------------------------------------------------


def cold_rows(path, *more):
    out = run([os.path.join(BUILD, "tools", "cold_rows"), path, 100, *more], code=0).out
    return {name: int(value) for name, value in map(str.split, out.splitlines())}


def rows_of_libjvm():
    library = os.path.join(jdk(17), "lib", "server", "libjvm.so")
    runs = [cold_rows(library) for _ in range(ROUNDS)]
    copy = temp_path("libjvm.so")
    shutil.copyfile(library, copy)
    os.sync()
    from_disk = cold_rows(copy, "drop")
    row("libjvm: size", runs[0]["file_bytes"] / 2**20, "MB")
    row("libjvm: opened", statistics.median(r["open_ns"] for r in runs) / 1e6, "ms")
    row("libjvm: rows of 100 pages", runs[0]["rows"], "", digits=0)
    row("libjvm: rows of 100 pages, with opening",
        statistics.median(r["open_ns"] + r["pages_ns"] for r in runs) / 1e6, "ms", 20)
    row("libjvm: the same, not in the page cache",
        (from_disk["open_ns"] + from_disk["pages_ns"]) / 1e6, "ms")


# --- the whole host -------------------------------------------------------------------------


def busy_host():
    for argv in (["python3", "-c", PYTHON], ["node", "-e", NODE], ["gzip", "-9c", "/dev/zero"]):
        if shutil.which(argv[0]):
            start(["sh", "-c", 'exec "$@" >/dev/null', "sh", *argv])
    time.sleep(SETTLE)


def table_rows(what, figures):
    """How the unwind tables were filled."""
    counters = {c["name"]: c["value"] for c in figures["counters"]}
    row(f"{what}: misses", figures["capture"]["misses"], "", digits=0)
    row(f"{what}: pages of rows made", counters.get("unwind.pages-made", 0), "", digits=0)
    row(f"{what}: in", counters.get("unwind.pages-made-ns", 0) / 1e6, "ms")
    row(f"{what}: mappings read", counters.get("unwind.mappings-read", 0), "", digits=0)
    row(f"{what}: in", counters.get("unwind.mappings-read-ns", 0) / 1e6, "ms")


def whole_host():
    busy_host()
    first = stats_of("-F", SLOW_HZ, "-d", 1)[1]
    what = "99 Hz, python3, node, gzip, the first second"
    table_rows(what, first)
    row(f"{what}: own CPU with loading and end", first["own_cpu_ns"] / 1e6, "ms")
    row(f"{what}: complete stacks", 100 * first["complete_share"], "%")
    seconds = max(WINDOW, 10)
    figures = stats_of("-F", SLOW_HZ, "-d", seconds)[1]
    what = f"99 Hz, python3, node, gzip, {seconds:.0f} s"
    table_rows(what, figures)
    row(f"{what}: own CPU with start and end", figures["own_cpu_ns"] / seconds / 1e7, "% core")
    row(f"{what}: own CPU of each second after the first",
        (figures["own_cpu_ns"] - first["own_cpu_ns"]) / (seconds - 1) / 1e7, "% core", 1)
    row(f"{what}: peak RSS", figures["peak_rss_bytes"] / 2**20, "MB", 64)
    row(f"{what}: BPF maps", figures["capture"]["map_bytes"] / 2**20, "MB", 64)
    row(f"{what}: complete stacks", 100 * figures["complete_share"], "%")
    row(f"{what}: samples", figures["samples"], "", digits=0)


# --------------------------------------------------------------------------------------------


def unwinding():
    enable_bpf_stats()
    idle_ns = idle_run_ns(FAST_HZ)
    row("a tick that is not wanted", idle_ns, "ns", digits=0)
    by_depth(idle_ns)
    program_rows("python3", ["python3", "-c", PYTHON], idle_ns)
    program_rows("node", ["node", "-e", NODE], idle_ns)
    misses()
    rows_of_libjvm()
    whole_host()
