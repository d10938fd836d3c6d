#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unwinding at scale: 500 files of 20,000 functions and one of 1.5 million, 2,000 processes that take
turns, 10,000 that sleep. Run by `make check-scale`.

tests/tools/scale_elf.c writes the files, tests/workloads/scale.c runs them, tests/tools/scale_judge.c
says of every sample whether it holds the frames that the code must have had. The number of files and
processes can be made smaller with HOSTPROF_SCALE=0.1.
"""
import atexit
import statistics

import gates
from hp import *
from hp_memory import MB, MemoryWatch, expect_within, together

TOOLS = os.path.join(BUILD, "tools")
SCALE = float(os.environ.get("HOSTPROF_SCALE", "1"))
FILES = max(int(500 * SCALE), 8)
FUNCTIONS = 20_000
LARGE_FUNCTIONS = max(int(1_500_000 * SCALE), FUNCTIONS)
PROCESSES = max(int(2_000 * SCALE), 16)
IDLE = max(int(10_000 * SCALE), 16)
# Of each process; all together keep two thirds of a cpu busy.
TURN_US = 20_000
STEP_US = 30_000
SECONDS = 25
SETTLED_SECONDS = 5
FREQUENCY = 499


# --- files and processes ----------------------------------------------------------------------

_files = []


def scale_files():
    """Paths of the generated files, the large one last; written once, gone when the program ends."""
    if _files:
        return _files
    directory = tempfile.mkdtemp(prefix="hostprof-scale-")
    atexit.register(shutil.rmtree, directory, True)
    begin = time.monotonic()
    tool = os.path.join(TOOLS, "scale_elf")
    run([tool, directory, 0, FILES, FUNCTIONS], timeout=300, code=0)
    run([tool, directory, 9000, 1, LARGE_FUNCTIONS], timeout=300, code=0)
    _files.extend(sorted(glob.glob(os.path.join(directory, "*.elf"))))
    expect_equal(len(_files), FILES + 1, "files")
    print(f"# {FILES} files of {FUNCTIONS} functions and one of {LARGE_FUNCTIONS} written in "
          f"{time.monotonic() - begin:.1f} s", flush=True)
    return _files


def own_name():
    """The workload by a name that no other run of this test has."""
    path = os.path.join(os.path.dirname(scale_files()[0]), f"scale-{os.getpid()}")
    if not os.path.lexists(path):
        os.symlink(os.path.join(WORKLOADS, "scale"), path)
    return path


def turns(processes=PROCESSES):
    """PROCESSES of the workload, each mapping up to three files."""
    workload = start([own_name(), "start", processes, TURN_US, processes * STEP_US, *scale_files()])
    return workload.wait_text("ready", 180)


# --- judging ----------------------------------------------------------------------------------


def judged(path, origin_ns, after_seconds=SETTLED_SECONDS, show=3):
    came = run([os.path.join(TOOLS, "scale_judge"), path, os.path.basename(own_name()), origin_ns,
                int(after_seconds * 1000), show], timeout=300, code=0)
    for line in came.err.splitlines():
        print(f"# {line[:1500]}", flush=True)
    return json.loads(came.out)


def figures(stats):
    """All numbers of --stats by their names, nested ones with dots; counters by theirs."""
    flat = {row["name"]: row["value"] for row in stats.get("counters", []) if not row["detail"]}

    def add(prefix, value):
        if isinstance(value, dict):
            for key, part in value.items():
                add(f"{prefix}{key}.", part)
        elif isinstance(value, (int, float)):
            flat[prefix.rstrip(".")] = value

    add("", stats)
    return flat


def lost_of_workload(stats):
    return sum(row["lost"] for row in stats["processes"] if row["name"] == os.path.basename(own_name()))


def percent(part, whole):
    return f"{100 * part / max(whole, 1):.3f} % of {whole}"


def print_unwinding(stats):
    wanted = ("unwind", "miss", "evict", "frames", "pages", "spaces", "peak_rss", "own_cpu", "reasons",
              "late")
    shown = {k: v for k, v in figures(stats).items() if v and any(w in k for w in wanted)}
    print(f"# {shown}", flush=True)


def record_turns(limit, *more):
    """Record the whole host for SECONDS while PROCESSES take turns: (judgement, stats, polls' peak)."""
    need_root()
    turns()
    directory = temp_dir()
    path, stats = os.path.join(directory, "x.jfr"), os.path.join(directory, "s.json")
    origin = time.monotonic_ns()
    argv = ["--memory-limit", limit] if limit else []
    recorder = start([HOSTPROF, "record", "-F", FREQUENCY, "-d", SECONDS, "-o", path, "--stats", stats,
                      *argv, *more], stderr=subprocess.PIPE)
    watch = MemoryWatch(recorder.pid)
    recorder.finish(SECONDS + 60)
    peak = watch.finish()
    return judged(path, origin), read_json(stats), peak


def limit_bytes(stats):
    """The limit as the run itself reports it."""
    found = [v for k, v in figures(stats).items() if k.endswith("memory_limit_bytes")]
    return found[0] if found else None


def expect_whole(result, stats):
    late, lost = result["late"], lost_of_workload(stats)
    dropped = gates.dropped(stats)
    early = result["early"]
    print(f"# first {SETTLED_SECONDS} s: whole {percent(early['whole'], early['samples'])}; after: whole "
          f"{percent(late['whole'], late['samples'])}, {late['in_chains']} of them in chains, "
          f"{late['frames'] / max(late['samples'], 1):.0f} frames each, {late['unnamed']} whole without "
          f"symbols, {late['kernel_only']} without a user stack; {lost} lost, {dropped} of the host",
          flush=True)
    expect(late["in_chains"] > 0.8 * late["samples"] and late["in_chains"] > 500,
           "too few samples are in generated code: the test proves little")
    expect(late["kernel_only"] < 0.01 * late["samples"], "samples without their user stack")
    bad, most = late["samples"] - late["whole"] + dropped, gates.most_bad(late["samples"] + dropped)
    expect(bad <= most, f"{bad} of {late['samples'] + dropped} are not whole; {most} may be")


def expect_evictions(stats):
    evicted = {k: v for k, v in figures(stats).items() if "evict" in k and "unwind" in k}
    print(f"# {evicted}", flush=True)
    expect(sum(evicted.values()) > 0, f"no evictions are reported: {evicted}")


@test
def default_memory_limit():
    result, stats, peak = record_turns(None)
    print_unwinding(stats)
    limit = limit_bytes(stats)
    expect(limit, "--stats does not say the memory limit")
    expect_within(peak, limit)
    expect_evictions(stats)
    expect_whole(result, stats)


@test
def small_memory_limit():
    result, stats, peak = record_turns("64m")
    print_unwinding(stats)
    expect_within(peak, 64 * MB)
    expect_evictions(stats)
    expect_whole(result, stats)


@test
def first_whole_sample():
    """From hostprof's exec to the time of the first sample that is whole; median and best of seven."""
    need_root()
    turns()
    directory = temp_dir()
    times = []
    for turn in range(7):
        path = os.path.join(directory, f"{turn}.jfr")
        origin = time.monotonic_ns()
        hostprof("record", "-F", FREQUENCY, "-d", "1", "-o", path)
        times.append(judged(path, origin, show=0)["first_whole_ms"])
    print(f"# start to first whole sample: {sorted(times)} ms, median {statistics.median(times)}")
    expect(all(t > 0 for t in times), "a recording without a whole sample")
    expect(statistics.median(times) <= 300, f"median {statistics.median(times)} ms")


@test
def idle_processes_cost_nothing():
    """10,000 that sleep and 50 that run against the 50 alone."""
    need_root()
    few = record_few()
    crowd = native("scale", "idle", IDLE).wait_text("ready", 180)
    print(f"# {IDLE} idle processes below pid {crowd.pid}")
    many = record_few()
    for name, (_, stats, peak) in (("alone", few), ("with idle ones", many)):
        print(f"# {name}: peak {together(peak) / MB:.1f} MB, own CPU "
              f"{stats['own_cpu_ns'] / 1e6:.0f} ms, spaces {spaces(stats)}", flush=True)
    for result, stats, _ in (few, many):
        expect_whole(result, stats)
    expect(spaces(many[1]) < 1000, f"{spaces(many[1])} spaces for 50 processes that run")
    more = together(many[2]) - together(few[2])
    expect(more <= 2048 * IDLE, f"{more / IDLE:.0f} bytes for each idle process")


def spaces(stats):
    found = [v for k, v in figures(stats).items() if re.search(r"unwind.*spaces$", k)]
    expect(found, "--stats does not say how many spaces there are")
    return max(found)


def record_few():
    """50 processes that take turns, alone on the tables."""
    workload = turns(50)
    directory = temp_dir()
    path, stats = os.path.join(directory, "x.jfr"), os.path.join(directory, "s.json")
    origin = time.monotonic_ns()
    recorder = start([HOSTPROF, "record", "-F", FREQUENCY, "-d", 12, "-o", path, "--stats", stats],
                     stderr=subprocess.PIPE)
    watch = MemoryWatch(recorder.pid)
    recorder.finish(90)
    peak = watch.finish()
    result = judged(path, origin)
    workload.stop()
    return result, read_json(stats), peak


main()
