#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perf events as triggers: breakpoints, USDT probes, page faults, functions of the kernel; which cpus; and what is not to be had."""
from hp import *

TURNS = 2000
SLEEPS = 200
PAGES = 500  # as watched.c has it
WATCHED = os.path.join(WORKLOADS, "watched")
TURN = ["thread_run", "watched_turn"]
STARTS = re.compile(r"(?:__)?clone3?|_start|\[(?:thread|process) start\]")


def watched(turns=TURNS):
    return start([WATCHED, turns], stdin=subprocess.PIPE).wait_text()


def let_run(process):
    """All its turns; what it said at their end."""
    return process.go().wait_text("done", 60).text


def frames_of(path, event):
    """User frames from the thread's own first one on → how many samples of EVENT have them."""
    counts = collections.Counter()
    for line in collapsed(path, "--event", event):
        names = list(line.frames)
        expect(STARTS.fullmatch(names[0]), f"{event}: begins with {names[0]}")
        if "thread_run" in names:
            counts[tuple(names[names.index("thread_run"):])] += line.count
    return counts


def lost_of(path):
    with open(path, encoding="utf-8") as stats:
        return json.load(stats)["lost"]


def kernel_has(pmu):
    return os.path.exists(f"/sys/bus/event_source/devices/{pmu}/type")


# --- known answers ----------------------------------------------------------------------------


@test
def each_write_probe_and_fault_is_one_sample():
    """
    All in one recording. A probe is reached in two places, one of them for its semaphore alone; of reads and writes each hundredth is a
    sample that weighs a hundred, on each cpu.
    """
    need_root()
    process = watched()
    writes, accesses = "mem:watched_counter/4:w", "mem:watched_counter/4"
    probe, faults = f"usdt:{WATCHED}:watched:turn", "page-faults"
    recorder = Recorder("-p", process.pid, "-e", writes, "-e", f"{accesses}=100", "-e", f"{faults}=1,cpu", "-e", probe)
    said = let_run(process)
    time.sleep(0.2)  # until it waits again
    path = recorder.end()
    expect_equal(lost_of(recorder.stats_path), 0, "lost samples")
    expect_equal(dict(frames_of(path, writes)), {(*TURN, "watched_write"): TURNS}, writes)
    expect_equal(dict(frames_of(path, probe)), {(*TURN, "watched_first_probe"): TURNS,
                                                (*TURN, "watched_second_probe"): TURNS}, probe)
    expect_in(f"listened {TURNS}", said, "what the program saw of the semaphore")
    touched = sum(n for frames, n in frames_of(path, faults).items() if frames[:3] == (*TURN, "watched_touch"))
    expect_equal(touched, PAGES, "page faults of new pages")
    hundreds = frames_of(path, accesses)
    expect({frames[-1] for frames in hundreds} <= {"watched_write", "watched_read"}, f"accesses: {hundreds}")
    expect(2 * TURNS // 100 - os.cpu_count() <= sum(hundreds.values()) <= 2 * TURNS // 100, f"accesses: {hundreds}")
    expect_equal(total(collapsed(path, "--event", accesses, "--total")), 100 * sum(hundreds.values()), "their weight")


@test
def a_symbol_is_each_processs_own():
    """Two processes that have it at addresses of their own, and a third that is not recorded."""
    need_root()
    processes = [watched(TURNS), watched(TURNS // 2), watched(TURNS // 4)]
    event = "mem:watched_called:x"
    recorder = Recorder("-p", f"{processes[0].pid},{processes[1].pid}", "-e", event)
    for process in processes:
        let_run(process)
    time.sleep(0.2)
    path = recorder.end()
    lines = collapsed(path, "--event", event)
    for process, turns in zip(processes, (TURNS, TURNS // 2, 0)):
        expect_equal(total(of_pid(lines, process.pid)), turns, f"calls in {process.pid}")
    expect_equal(set(frames_of(path, event)), {(*TURN, "watched_called")}, "stacks")


@for_each_jdk([17, 25])
def a_probe_of_the_jvm_below_java(version):
    """Interpreted, so that no name is late."""
    process = java(version, "Sleeping", SLEEPS, flags=["-Xint"], stdin=subprocess.PIPE)
    event = "usdt:libjvm.so:hotspot:thread__sleep__begin"
    recorder = Recorder("-p", process.pid, "-e", event)
    let_run(process)
    path = recorder.end()
    lines = [line for line in collapsed(path, "--event", event) if "Sleeping.run" in line.frames]
    expect_equal(total(lines), SLEEPS, "sleeps")
    expect_equal(lost_of(recorder.stats_path), 0, "lost samples")
    for line in lines:
        expect(STARTS.fullmatch(line.frames[0]), f"begins with {line.frames[0]}")
        own = line.frames[line.frames.index("Sleeping.run"):]
        expect_equal(list(own[:3]), ["Sleeping.run", "Sleeping.outer", "java.lang.Thread.sleep"], "frames")
        expect(own[-1].startswith("JVM_Sleep"), f"ends with {own[-1]}")


@test
def one_cpu_of_several():
    """What is pinned to it, and nothing of what is pinned to another one."""
    need_root()
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("there is one cpu; a machine with two would run this")
    burn, path, stats = os.path.join(WORKLOADS, "burn"), temp_path("x.jfr"), temp_path("stats.json")
    other, before = start(["taskset", "-c", cpus[0], burn, 60]), cpu_ticks(cpus[1])
    said = hostprof("record", "-a", "--cpu", cpus[1], "-F", 499, "-o", path, "--stats", stats, "--",
                    "taskset", "-c", cpus[1], burn, 1).out
    stolen = stolen_since(before, cpus[1])
    ran = int(expect_match(r"cpu_ns (\d+)", said).group(1))
    lines = [line for line in collapsed(path, "--event", "cpu", "--total") if line.process.startswith("burn-")]
    print(f"# it ran {ran / 1e9:.3f} s, and {total(lines) / 1e9:.3f} s were sampled; {100 * stolen:.0f} % were stolen")
    expect_equal(total(of_pid(lines, other.pid)), 0, "samples of the other cpu")
    with open(stats, encoding="utf-8") as figures:
        expect_equal(json.load(figures)["capture"]["cpus"], 1, "cpus in --stats")
    need_own_cpus(stolen, "how long it ran")
    expect(abs(total(lines) - ran) < max(ran / 10, 20e6), f"it ran {ran} ns, and {total(lines)} were sampled")


# --- what this machine has ----------------------------------------------------------------------


def listed():
    return {row["name"]: row for row in json.loads(hostprof("list", "events", "--json").out)}


@test
@alone
def what_is_to_be_had_is_listed():
    """A cpu has four breakpoints, so nobody else uses any."""
    need_root()
    events = listed()
    for name in ("cpu", "task-clock", "page-faults", "context-switches", "alignment-faults", "mem:SYMBOL[+OFF][/LEN][:rwx]"):
        expect(events[name]["works"], f"{name}: {events[name]}")
    for name, pmu in (("kprobe:FUNC[+OFF]", "kprobe"), ("usdt:LIB:PROVIDER:NAME", "uprobe")):
        expect_equal(events[name]["works"], kernel_has(pmu), name)
    for name, row in events.items():
        expect(row["works"] or row["why"], f"{name}: not said why")
    table = hostprof("list", "events").out
    have, _, have_not = table.partition("Not to be had:")
    for name, row in events.items():
        expect_in(f"  {name} ", have if row["works"] else have_not, "the table")


@test
def two_counters_and_what_they_say_together():
    need_root()
    events = listed()
    if not (events["cycles"]["works"] and events["instructions"]["works"]):
        skip("no hardware counters here: a machine with a PMU (bare metal, or a VM that has one) would run this")
    path = temp_path("x.jfr")
    hostprof("record", "-d", 20, "-e", "cycles,instructions", "-o", path, "--", os.path.join(WORKLOADS, "burn"), 2)
    text = hostprof("report", path, "-f", "txt", "-o", "-").out
    ratio = float(expect_match(r"(\d+\.\d\d) instructions per cycle", text).group(1))
    expect(0.2 < ratio < 8, f"{ratio} instructions per cycle")


@test
def functions_of_the_kernel():
    """Each read of a program that reads a known number of times."""
    need_root()
    if not kernel_has("kprobe"):
        expect_refused("kprobe:vfs_read", "this kernel has no kprobes", "CONFIG_KPROBE_EVENTS")
        skip("no kprobes here: a kernel with CONFIG_KPROBE_EVENTS would run this; make check-kernels boots Debian's, which have them")
    path = temp_path("x.jfr")
    hostprof("record", "-d", 20, "-e", "kprobe:vfs_read", "-o", path, "--",
             "dd", "if=/dev/zero", "of=/dev/null", "bs=1k", "count=1000")
    reads = [line for line in collapsed(path, "--event", "kprobe:vfs_read") if "read_zero" not in line.frames]
    expect(total(reads) >= 1000, f"{total(reads)} reads")
    expect(all(line.frames[-1] == "vfs_read" for line in reads), "the leaf is the function")


# --- what cannot be -----------------------------------------------------------------------------


def expect_refused(event, sentence, hint, *args):
    done = hostprof("record", "-d", 1, "-e", event, "-o", temp_path("x.jfr"), *args, code=None)
    expect(done.code not in (0, None), f"{event}: exit code {done.code}")
    expect_in(sentence, done.err, event)
    expect_in(hint, done.err, event)


@test
def errors_say_what_is_missing():
    need_root()
    process = watched(1)
    mine = ("-p", process.pid)
    expect_refused("mem:watched_counter", "needs -p", "mem:0x")
    expect_refused("mem:no_such_thing", "has no symbol 'no_such_thing'", "symbol tables", *mine)
    expect_refused("mem:watched_counter+1/4", "is no multiple of 4", "shorter length", *mine)
    expect_refused("mem:watched_counter:r", "does not say what to watch", "ACCESS rw, w or x", *mine)
    expect_refused(f"usdt:{WATCHED}:watched:other", "has no probe 'watched:other'", "readelf -n")
    expect_refused("nothing/event=1/", "no PMU 'nothing'", "hostprof list events")
    expect_refused("cpu=2s", "from 50us to 1s", "")
    expect_refused("cpu", "cpu 8000 is not there", "", "--cpu", "8000")
    if not listed()["LLC-loads"]["works"]:
        expect_refused("LLC-loads", "LLC-loads", "")


main(lanes=3)
