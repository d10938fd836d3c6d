#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""Whole-host recording of native programs: exact frames, CPU conserved, short lives, signals."""
import contextlib
import datetime
import glob
import re

from hp import *


def burn_is_conserved(frequency, *more, seconds=6, stop_for=0.0):
    """Record a burner's whole life; returns (path, stats, recorded ns, lost ns, its own CPU clock)."""
    need_root()
    directory = temp_dir()
    path, stats = os.path.join(directory, "x.jfr"), os.path.join(directory, "s.json")
    recorder = start([HOSTPROF, "record", "-F", frequency, "-o", path, "--stats", stats, *more, "--",
                      os.path.join(WORKLOADS, "burn"), seconds, 2], stderr=subprocess.PIPE)
    if stop_for:
        time.sleep(2)
        recorder.signal(signal.SIGSTOP)
        time.sleep(stop_for)
        recorder.signal(signal.SIGCONT)
    clock = int(expect_match(r"cpu_ns (\d+)", recorder.finish()).group(1))
    burn = [line for line in collapsed(path, "--total") if line.process.startswith("burn-")]
    told = read_json(stats)
    lost = sum(row["lost_weight"] for row in told["processes"] if row["name"] == "burn")
    return path, told, total(burn), lost, clock


# What a busy thread's samples may be off its clock: books are kept of each (bpf/sample/tick.h), so that it is no
# matter of chance. A sample in 67 that is dropped and not told is more than that from 997 Hz on.
CONSERVED_SHARE = 0.005
CONSERVED_PERIODS = 64


def expect_conserved(frequency, stats, recorded, lost, clock):
    period = 1e9 / frequency
    # A virtual machine's cpu that stands still for 100 ms has no ticks, though a thread's clock goes on: of all threads that is told, this one's or not.
    gap = stats["capture"]["gap_ns"]
    told, slack = recorded + lost, CONSERVED_SHARE * clock + CONSERVED_PERIODS * period
    print(f"# {frequency} Hz: {recorded / period:.0f} periods + {lost / 1e6:.0f} ms lost = {told / 1e6:.0f} ms, CPU clock "
          f"{clock / 1e6:.0f} ms ({100 * (told - clock) / clock:+.3f} %); {gap / 1e6:.0f} ms of this host's threads without ticks")
    expect_between(clock, told - slack, told + gap + slack, f"{frequency} Hz: ns on its clock")


@test
@alone
def conserved_49():
    _, stats, recorded, lost, clock = burn_is_conserved(49)
    expect_conserved(49, stats, recorded, lost, clock)


@test
@alone
def conserved_997():
    _, stats, recorded, lost, clock = burn_is_conserved(997, seconds=5)
    expect_conserved(997, stats, recorded, lost, clock)


@test
@alone
def conserved_9973():
    _, stats, recorded, lost, clock = burn_is_conserved(9973, seconds=3)
    expect_conserved(9973, stats, recorded, lost, clock)


@test
@alone
def conserved_with_lost_samples():
    """A ring of 64 kB and a recorder that stands still: what is lost is reported."""
    _, stats, recorded, lost, clock = burn_is_conserved(9973, "--ring-size", "64k", seconds=5, stop_for=1.5)
    expect(lost > 0.1e9, f"only {lost / 1e6:.0f} ms were lost: the test proves nothing")
    expect_conserved(9973, stats, recorded, lost, clock)


@test
@alone
def frames_of_a_c_program():
    need_root()
    path = record("-F", 997, "--", os.path.join(WORKLOADS, "burn"), 3)
    lines = [line for line in collapsed(path) if line.process.startswith("burn-")]
    wanted = ["main", "level_one", "level_two", "level_three"]
    good = [line for line in lines if [f for f in line.frames if f in wanted] == wanted]
    print(f"# {total(good)} of {total(lines)} samples hold main > level_one > level_two > level_three")
    expect(total(lines) > 300, f"only {total(lines)} samples")
    expect(total(good) >= 0.98 * total(lines), "stacks that are not the program's")


def sums_by_jdk(path):
    """Weight per pid, by the JDK's own tool."""
    sums = collections.Counter()
    for event in read_by_jdk(path, "jdk.ExecutionSample", version=17):
        sums[event["pid"]] += event["weight"]
    return dict(sums)


@test
def sums_are_those_of_the_recording():
    """As the JDK reads it; those of pprof are in test_pprof.py."""
    need_root()
    burners = [native("burn", 20), native("burn", 20)]
    path = record("-F", 499, "-d", 3)
    sums = collections.Counter()
    for line in collapsed(path, "--total"):
        sums[int(line.process.rpartition("-")[2])] += line.count
    expect(all(burner.pid in sums for burner in burners), "a burner is missing")
    expect(sum(sums.values()) > 2e9, f"only {sum(sums.values())} ns")
    expect_equal(sums_by_jdk(path), dict(sums), "jfr print --json against collapsed")
    print(f"# {len(sums)} processes, {sum(sums.values())} ns in each")


# --- short lives ----------------------------------------------------------------------------


def short_life(directory, number):
    """A copy of the workload whose function, and so whose file, is its own."""
    with open(os.path.join(WORKLOADS, "shortlife"), "rb") as file:
        data = file.read()
    path = os.path.join(directory, f"short{number:05}")
    with open(path, "wb") as file:
        file.write(data.replace(b"hot_00000", b"hot_%05d" % number))
    os.chmod(path, 0o755)
    return path


@test
@alone
def short_lives():
    """200 processes of 50 ms, each its own deleted file, half of them after an exec."""
    need_root()
    directory = temp_dir()
    plain = [short_life(directory, k) for k in range(1, 101)]
    second = [(short_life(directory, 1000 + k), short_life(directory, k)) for k in range(101, 201)]
    recorder = Recorder("-F", 997)
    pids = {}
    for batch in range(0, 100, 2):
        some = [(plain[batch + i], ) for i in range(2)] + [second[batch + i] for i in range(2)]
        children = [subprocess.Popen(argv) for argv in some]
        for argv, child in zip(some, children):
            expect_equal(child.wait(30), 0, "short-lived program")
            pids[child.pid] = int(argv[-1][-5:])
    time.sleep(0.3)
    lines = collapsed(recorder.end())
    good, seen, strangers = 0, 0, []
    for pid, number in pids.items():
        frames = {frame for line in of_pid(lines, pid) for frame in line.frames}
        hot = {frame for frame in frames if frame.startswith("hot_")}
        seen += bool(of_pid(lines, pid))
        good += f"hot_{number:05}" in hot
        strangers += [(pid, number, frame) for frame in hot if frame != f"hot_{number:05}"]
    stats = read_json(recorder.stats_path)
    print(f"# {good} of 200 have their own symbol, {seen} were sampled, "
          f"{len(stats.get('files_not_read', []))} files not read")
    expect_equal(strangers, [], "symbols of another process")
    expect(good >= 198, f"only {good} of 200 have their symbol")
    missing = [number for pid, number in pids.items()
               if not any(f"hot_{number:05}" in line.frames for line in of_pid(lines, pid))
               and of_pid(lines, pid)]
    told = json.dumps(stats)
    for number in missing:
        expect_in(f"short{number:05}", told, "a file that was not read is named")


# --- ends -----------------------------------------------------------------------------------


def opens_in_jfr(path, least=1):
    """The JDK's tool reads it; returns the number of samples."""
    out = jfr_tool(17, "summary", path).out
    count = int(expect_match(r"jdk\.ExecutionSample\s+(\d+)", out).group(1))
    expect(count >= least, f"only {count} samples")
    return count


def ended_by(number):
    need_root()
    burner = native("burn", 30)
    recorder = Recorder("-F", 199)
    let_run(burner.pid, 199, {"burn": 100})
    recorder.signal(number)
    recorder.finish(code=0)
    last = recorder.popen.stderr.read().decode().strip().splitlines()[-1]
    expect_in(recorder.path, last, "last line")
    mine = total(of_pid(collapsed(recorder.path), burner.pid))
    expect(mine >= 100, f"only {mine} samples of the burner")
    expect(opens_in_jfr(recorder.path) >= mine, "the JDK's tool finds less than we do")


@test
def sigint_ends_it_and_writes():
    ended_by(signal.SIGINT)


@test
def sigterm_ends_it_and_writes():
    ended_by(signal.SIGTERM)


@test
def sigquit_ends_it_and_writes():
    ended_by(signal.SIGQUIT)


@test
def kill_9_of_hostprof_leaves_a_readable_recording():
    """At any moment: all but the last second or so is there."""
    need_root()
    burner = native("burn", 60)
    for flushes in (1, 3):
        path = temp_path("x.jfr")
        recorder = start([HOSTPROF, "record", "-F", "997", "-o", path], stderr=subprocess.DEVNULL)
        sizes = set()

        def has_flushed():
            sizes.add(os.path.getsize(path) if os.path.exists(path) else 0)
            came = hostprof("report", path, "-f", "collapsed", "-o", "-", code=None)
            return len(sizes - {0}) >= flushes and \
                total(of_pid(parse_collapsed(came.out), burner.pid)) > 10

        wait_until(has_flushed, 30, "a recording that holds the burner")
        time.sleep(0.13 * flushes)
        recorder.signal(signal.SIGKILL)
        recorder.popen.wait()
        ours = total(collapsed(path))
        expect(total(of_pid(collapsed(path), burner.pid)) > 10, "the burner is missing")
        expect_equal(opens_in_jfr(path), ours, "samples by the JDK's tool")


@test
@alone
def a_target_that_is_killed():
    need_root()
    burner = native("burn", 60)
    path = temp_path("x.jfr")
    recorder = start([HOSTPROF, "record", "-F", "499", "-p", burner.pid, "-d", "4", "-o", path],
                     stderr=subprocess.PIPE)
    time.sleep(2.5)
    burner.signal(signal.SIGKILL)
    recorder.finish(code=0)
    lines = of_pid(collapsed(path), burner.pid)
    expect(total(lines) > 50, f"only {total(lines)} samples")
    expect(share(lines, "level_three") > 0.9, "symbols of the killed process")


def set_online(cpu, online):
    with open(f"/sys/devices/system/cpu/cpu{cpu}/online", "w", encoding="ascii") as switch:
        switch.write("1" if online else "0")


def cpu_is_off_for(seconds):
    need_root()
    cpu = max(os.sched_getaffinity(0))
    if cpu == 0 or not os.path.exists(f"/sys/devices/system/cpu/cpu{cpu}/online"):
        skip("this machine has no cpu that can be taken offline")
    burner = native("burn", 60, 2)
    recorder = Recorder("-F", 499, "-p", burner.pid)
    cleanup(set_online, cpu, True)
    try:
        set_online(cpu, False)
    except OSError as error:
        skip(f"cpu {cpu} cannot be taken offline: {error}")
    time.sleep(seconds)
    set_online(cpu, True)
    time.sleep(2.5)
    # Pinned to the cpu that came back, both threads are sampled there and nowhere else.
    for tid in os.listdir(f"/proc/{burner.pid}/task"):
        os.sched_setaffinity(int(tid), {cpu})
    pinned_ns = time.monotonic_ns()
    time.sleep(3)
    path = recorder.end()
    expect_match(r"cpus went offline and came back: up to .* of them were not observed",
                 recorder.popen.stderr.read().decode(), "what is said")
    offset = max(time.time_ns() - time.monotonic_ns() for _ in range(50))
    text = jfr_tool(17, "print", "--events", "jdk.ExecutionSample", path).out
    times = [datetime.datetime.fromisoformat(f"{t[:26]}+00:00").timestamp() * 1e9 - offset
             for t in re.findall(r"startTime = (\S+)Z", text)]
    after = [t for t in times if t > pinned_ns]
    print(f"# {len(times)} samples, {len(after)} of them on the cpu that came back")
    expect(len(after) > 100, f"only {len(after)} samples on a cpu that came back")


@test
@alone
def a_cpu_that_goes_and_comes_back():
    cpu_is_off_for(2)


@test
@alone
def a_cpu_that_goes_and_comes_back_at_once():
    """Whoever looks once a second finds it online each time."""
    cpu_is_off_for(0.05)


MAX_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"


def set_max_rate(rate):
    with open(MAX_RATE, "w", encoding="ascii") as file:
        file.write(str(rate))


@test
@alone
def a_kernel_that_stops_events():
    """Ticks that come too fast for kernel.perf_event_max_sample_rate: it is said, and weights stay true."""
    need_root()
    with open(MAX_RATE, encoding="ascii") as file:
        cleanup(set_max_rate, file.read())
    burner = native("burn", 60)
    recorder = Recorder("-F", 9973, "-p", burner.pid)
    set_max_rate(300)
    time.sleep(2)
    path = recorder.end()
    expect_match(r"the kernel stopped events \d+ times", recorder.popen.stderr.read().decode(), "what is said")
    expect(total(collapsed(path)) > 10, "the burner is missing")


@test
def command_that_fails_to_start():
    need_root()
    came = hostprof("record", "-o", temp_path("x.jfr"), "--", "/nonexistent/program", code=1)
    expect_in("/nonexistent/program", came.err)
    expect_in("No such file", came.err)


@test
def command_line_of_children():
    """`record -- sh -c` follows the children and nothing else."""
    need_root()
    native("burn", 20)
    burn = os.path.join(WORKLOADS, "burn")
    path = record("-F", 499, "--", "sh", "-c", f"{burn} 2 & {burn} 2; wait")
    lines = collapsed(path)
    burners = {line.process for line in lines if line.process.startswith("burn-")}
    expect_equal(len(burners), 2, f"burners below the command in {sorted(burners)}")


@test
@alone
def kernel_only_and_user_only():
    need_root()
    jvm_less = native("burn", 20)
    path = record("-F", 499, "-d", 2, "--all-kernel")
    expect(not any("level_three" in line.frames for line in collapsed(path)), "user frames")
    path = record("-F", 499, "-d", 2, "--all-user", "-p", jvm_less.pid)
    lines = collapsed(path, "--annotate")
    expect(total(lines) > 50, f"only {total(lines)} samples")
    expect(not any(f.endswith("_[k]") for line in lines for f in line.frames), "kernel frames")


TOUCH = """
import mmap, resource
memory = mmap.mmap(-1, 20000 * 4096)
for _ in range(5):
    for at in range(0, len(memory), 4096):
        memory[at] = 1
    memory.madvise(mmap.MADV_REMOVE)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


@test
@alone
def page_faults_are_all_counted():
    """Samples times period are what the kernel counted, whatever -F is; several events at once."""
    need_root()
    for freq in (9, 997):
        path = temp_path("x.jfr")
        result = hostprof("record", "-e", "cpu", "-e", "page-faults", "-F", freq, "-o", path, "--",
                          sys.executable, "-c", TOUCH)
        faults = int(result.out)
        expect(faults > 90000, f"{faults} page faults")
        lines = parse_collapsed(hostprof("report", path, "--event", "page-faults", "--total", "-f",
                                         "collapsed").out)
        expect_between(total(lines), 0.97 * faults, 1.03 * faults, f"page faults at {freq} Hz")


# Each sampler's, of the million that the kernel allows: what a start waits for most. A loop whose turns are all
# looked at costs as much again.
MOST_VERIFIED = 120_000


@test
def verified_at_once():
    need_root()
    burn = native("burn", 20, 1)
    recorder = Recorder("-p", burn.pid, "-e", "cpu,offcpu")
    counts = []
    for info in glob.glob(f"/proc/{recorder.pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(info, encoding="ascii") as file:
            counts += map(int, re.findall(r"^verified_insns:\s*(\d+)", file.read(), re.M))
    recorder.end()
    print(f"# verified: {sorted(counts)}")
    if not counts:
        skip("this kernel doesn't tell what its verifier looked at")
    expect(sum(count > 50_000 for count in counts) >= 2, "the samplers are not among them")
    expect(max(counts) <= MOST_VERIFIED, f"{max(counts)} instructions")


main(lanes=2)
