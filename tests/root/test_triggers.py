#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples that a function's call, its return, or a tracepoint of the kernel makes due: each one, with its whole stack."""
from hp import *

TURNS = 3000
THREADS = 2
JAVA_TURNS = 20000
TRACEFS = "/sys/kernel/tracing"
PROBED = os.path.join(WORKLOADS, "probed")
# What is below a thread's first own function, by libc; then those of probed.c.
THREAD = ["thread_run"]
OUTER = THREAD + ["probed_outer"]
MIDDLE = OUTER + ["probed_middle"]
INNER = MIDDLE + ["probed_inner"]
# A thread's or a process's first function, or that it is one of a C library without its debug symbols.
STARTS = re.compile(r"(?:__)?clone3?|_start|\[(?:thread|process) start\]")
# Of the host, since perf leaves a thread before that leaves its cpu for the last time.
SWITCHES_OF_PROBED = ["--filter", 'prev_comm == "probed"', "-a"]


def need_uprobes():
    need_root()
    if not os.path.exists("/sys/bus/event_source/devices/uprobe/type"):
        skip("this kernel has no uprobes")


def need_tracefs():
    """Mounted; and not any more when the test is over, if it was not before."""
    need_root()
    if os.path.isdir(f"{TRACEFS}/events"):
        return
    if run(["mount", "-t", "tracefs", "tracefs", TRACEFS]).code:
        skip("tracefs cannot be mounted")
    cleanup(run, ["umount", TRACEFS])


def probed(turns=TURNS, program=PROBED):
    """The workload before its first turn; let_run() lets it do them."""
    return start([program, THREADS, turns], stdin=subprocess.PIPE).wait_text()


def let_run(process):
    process.go().wait_text("done", 120)


def record_turns(process, events, *args):
    """Record all that PROCESS does from its first turn to its last; the recording's path."""
    options = [option for event in events for option in ("-e", event)]
    recorder = Recorder("-p", process.pid, *options, *args)
    let_run(process)
    time.sleep(0.2)  # until it waits again
    return recorder.end()


def frames_of(path, event):
    """User frames from the first own function on → how many samples of EVENT have them; libc's are cut off."""
    counts = collections.Counter()
    for line in collapsed(path, "--event", event):
        names = list(line.frames)
        first = names.index("thread_run") if "thread_run" in names else 0
        counts[tuple(names[first:])] += line.count
    return counts


def expect_whole(path, events):
    """Every stack of EVENTS begins with the thread's first frame; one that has ended has none."""
    for event in events:
        for line in collapsed(path, "--event", event):
            if "do_exit" in line.frames:
                continue
            expect(not any(frame.startswith("[unwind") for frame in line.frames),
                   f"{event}: not whole: {line}")
            expect(STARTS.fullmatch(line.frames[0]), f"{event}: begins with {line.frames[0]}")


def lost_of(path):
    """Samples that the run says it lost, of any event."""
    with open(path, encoding="utf-8") as stats:
        return json.load(stats)["lost"]


# --- uprobes ----------------------------------------------------------------------------------


@test
def each_call_and_return_is_one_sample_with_its_frames():
    """Also where the return addresses of callers are those of the kernel's trampoline."""
    need_uprobes()
    stats = temp_path("stats.json")
    calls = {f"uprobe:{PROBED}:probed_inner": (INNER, 2), f"uprobe:{PROBED}:probed_outer": (OUTER, 1),
             f"uretprobe:{PROBED}:probed_inner": (MIDDLE, 2),
             f"uretprobe:{PROBED}:probed_middle": (OUTER, 1),
             f"uretprobe:{PROBED}:probed_outer": (THREAD, 1)}
    path = record_turns(probed(), [*calls, "cpu"], "--stats", stats)
    expect_equal(lost_of(stats), 0, "lost samples")
    for event, (frames, each_turn) in calls.items():
        expect_equal(dict(frames_of(path, event)), {tuple(frames): THREADS * TURNS * each_turn}, event)
    expect_whole(path, calls)
    expect(frames_of(path, "cpu"), "no sample of cpu is in the same recording")


@test
def frame_pointers_lead_from_the_first_instruction():
    """The frame is not there yet, and the breakpoint hides the byte that would say so."""
    need_uprobes()
    events = [f"uprobe:{PROBED}:probed_inner", f"uprobe:{PROBED}:probed_middle"]
    path = record_turns(probed(), events, "--unwind", "fp")
    for event, frames in zip(events, (INNER, MIDDLE)):
        wrong = {stack: n for stack, n in frames_of(path, event).items() if list(stack) != frames}
        expect_equal(wrong, {}, event)


@test
def an_instruction_of_a_function():
    """probed_middle() from the return of its first call on: its frame stands."""
    need_uprobes()
    text = run(["objdump", "-d", "--no-show-raw-insn", PROBED], code=0).out
    body = text.split("<probed_middle>:\n")[1].split("\n\n")[0].splitlines()
    places = [int(line.split(":")[0], 16) for line in body]
    call = next(i for i, line in enumerate(body) if "call" in line and "probed_inner" in line)
    event = f"uprobe:{PROBED}:probed_middle+{places[call + 1] - places[0]}"
    path = record_turns(probed(), [event])
    expect_equal(dict(frames_of(path, event)), {tuple(MIDDLE): THREADS * TURNS}, event)


def perf_counts(event, *which):
    """perf stat of EVENT beside hostprof; perf_result() of what it returns gives the count."""
    need_tool("perf")
    out = temp_path("perf.csv")
    perf = start(["perf", "stat", "-x,", "-o", out, "-e", event, *which])
    wait_until(lambda: perf_is_open(perf.pid), 30, "perf stat")
    time.sleep(0.5)  # from opening to counting
    return perf, out


def perf_is_open(pid):
    links = glob.glob(f"/proc/{pid}/fd/*")
    names = []
    for link in links:
        with contextlib.suppress(OSError):
            names.append(os.readlink(link))
    return any("perf_event" in name for name in names)


def perf_result(perf, out):
    perf.signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        perf.popen.wait(20)
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            if line[:1].isdigit():
                return int(line.split(",")[0])
    raise Failed("perf stat printed no count")


def need_tool(name):
    if not shutil.which(name):
        skip(f"there is no {name}")


def own_libc(process):
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libc.so.6" in line)


def write_uprobe_events(line):
    """The file takes no lseek(), which open() with "a" makes."""
    events = os.open(f"{TRACEFS}/uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(events, line.encode())
    finally:
        os.close(events)


def add_uprobe_event(path, function):
    """The same probe as an event of tracefs, for perf; its name."""
    name = f"hptest{os.getpid()}"
    listed = run(["nm", "-D", "--defined-only", path], code=0).out
    offset = re.search(rf"^([0-9a-f]+) \w {function}(@@\S+)?$", listed, re.MULTILINE).group(1)
    write_uprobe_events(f"p:{name}/hit {path}:0x{offset}")
    cleanup(write_uprobe_events, f"-:{name}/hit")
    return f"{name}:hit"


@test
@alone
def malloc_as_often_as_perf_counts():
    """By the file name of a library that the process maps."""
    need_uprobes()
    need_tracefs()
    process, stats = probed(), temp_path("stats.json")
    perf, out = perf_counts(add_uprobe_event(own_libc(process), "malloc"), "-p", process.pid)
    path = record_turns(process, ["uprobe:libc.so.6:malloc", "cpu"], "--stats", stats)
    counted = perf_result(perf, out)
    lines = collapsed(path, "--event", "uprobe:libc.so.6:malloc")
    print(f"# malloc: {total(lines)} samples, {lost_of(stats)} lost, perf counted {counted}")
    expect(counted >= THREADS * TURNS, "perf counted too few")
    expect_equal(total(lines) + lost_of(stats), counted, "calls of malloc")
    expect_whole(path, ["uprobe:libc.so.6:malloc"])
    expect_equal({line.frames[-1] for line in lines}, {"malloc"}, "leaves")
    mine = tuple(OUTER + ["malloc"])
    expect_equal(frames_of(path, "uprobe:libc.so.6:malloc")[mine], THREADS * TURNS, ";".join(mine))


@test
@alone
def hostprof_itself_is_not_sampled():
    need_uprobes()
    process = probed(10)
    event = f"uprobe:{own_libc(process)}:malloc"
    recorder = Recorder("-a", "-e", event)
    let_run(process)
    lines = collapsed(recorder.end())
    expect(of_pid(lines, process.pid), "the host's processes are missing")
    expect_equal(total(of_pid(lines, recorder.pid)), 0, "samples of hostprof")


@for_each_jdk([17, 25])
def a_function_of_the_jvm_below_java(version):
    """
    Interpreted, C1 and C2 code call a native method, which libjvm carries out. Nothing is inlined, as
    the agent may tell of it too late on a busy host.
    """
    need_uprobes()
    process = java(version, "Probed", JAVA_TURNS, flags=["-XX:-Inline"], stdin=subprocess.PIPE)
    event, stats = "uprobe:libjvm.so:JVM_TotalMemory", temp_path("stats.json")
    path = record_turns(process, [event, "cpu"], "--agent=always", "--stats", stats)
    lines = [line for line in collapsed(path, "--event", event) if "Probed.run" in line.frames]
    expect_equal(total(lines), JAVA_TURNS, "calls")
    expect_equal(lost_of(stats), 0, "lost samples")
    wanted = ["Probed.run", "Probed.outer", "Probed.ask", "java.lang.Runtime.totalMemory",
              "JVM_TotalMemory"]
    for line in lines:
        expect(not any(frame.startswith("[unwind") for frame in line.frames), f"not whole: {line}")
        expect(STARTS.fullmatch(line.frames[0]), f"begins with {line.frames[0]}")
        came = [frame for frame in line.frames[line.frames.index("Probed.run"):]
                if frame != "Java_java_lang_Runtime_totalMemory"]  # from JDK 25 on it jumps
        expect_equal(came, wanted, "frames")


# --- tracepoints ------------------------------------------------------------------------------


@test
@alone
def switches_as_often_as_perf_counts():
    """Of one process, from a moment when it waits to another one."""
    need_tracefs()
    process, stats = probed(), temp_path("stats.json")
    time.sleep(0.2)
    perf, out = perf_counts("sched:sched_switch", *SWITCHES_OF_PROBED)
    path = record_turns(process, ["sched:sched_switch", "cpu"], "--stats", stats)
    counted = perf_result(perf, out)
    lines = collapsed(path, "--event", "sched:sched_switch")
    print(f"# sched_switch: {total(lines)} samples, {lost_of(stats)} lost, perf counted {counted}")
    expect(counted > TURNS / 10, "perf counted too few")
    expect_equal(total(lines) + lost_of(stats), counted, "switches")
    expect_whole(path, ["sched:sched_switch"])
    for line in lines:
        expect(any(frame in line.frames for frame in ("__schedule", "schedule")), f"no kernel frames: {line}")


@test
@alone
def the_kernels_own_tracepoint_needs_no_tracefs():
    """The seat of events to come: no -e names it."""
    need_root()
    need_tracefs()
    process = probed()
    time.sleep(0.2)
    perf, out = perf_counts("sched:sched_switch", *SWITCHES_OF_PROBED)
    tool = start([os.path.join(BUILD, "tools", "raw_trigger"), process.pid], stdin=subprocess.PIPE).wait_text()
    let_run(process)
    time.sleep(0.2)
    tool.popen.stdin.close()
    said = tool.finish()
    samples, with_kernel = (int(n) for n in expect_match(r"(\d+) samples, (\d+) with kernel frames", said).groups())
    expect_equal(samples, perf_result(perf, out), "switches")
    expect_equal(with_kernel, samples, "samples with kernel frames")


# --- what cannot be ---------------------------------------------------------------------------


def expect_refused(event, sentence, hint, *args):
    done = hostprof("record", "-d", 1, "-e", event, "-o", temp_path("x.jfr"), *args, code=None)
    expect(done.code not in (0, None), f"{event}: exit code {done.code}")
    expect_in(sentence, done.err, event)
    expect_in(hint, done.err, event)


@test
@alone
def errors_say_what_is_missing():
    need_uprobes()
    process = probed(1)
    expect_refused("uprobe:libnowhere.so.7:f", "no process maps", "give the file's path")
    expect_refused("uprobe:libnowhere.so.7:f", "no chosen process maps", "give the file's path", "-p", process.pid)
    expect_refused(f"uprobe:{PROBED}:no_such", "has no function 'no_such'", "symbol tables")
    expect_refused("uprobe:libc.so.6:memcpy", "chooses among several functions", "-e cpu", "-p", process.pid)
    expect_refused(f"uprobe:{PROBED}", "does not say what to probe", "uprobe:LIB:FUNC")
    expect_refused(f"uprobe:/etc/passwd:f", "is no ELF file", "")
    copy = temp_path("libc.so.6")
    shutil.copy(own_libc(process), copy)
    other = start([shutil.which("sleep"), 60], env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(copy)})
    wait_until(lambda: copy in open(f"/proc/{other.pid}/maps", encoding="utf-8").read(), 10, "the other libc")
    expect_refused("uprobe:libc.so.6:malloc", "is 2 different files", "give a path", "-p", f"{process.pid},{other.pid}")


@test
@alone
def errors_about_tracepoints():
    need_root()
    if not os.path.isdir(f"{TRACEFS}/events") and not os.path.isdir("/sys/kernel/debug/tracing/events"):
        expect_refused("sched:sched_switch", "tracefs is not mounted", "mount -t tracefs")
    need_tracefs()
    expect_refused("sched:no_such", "there is no tracepoint 'sched:no_such'", "events lists")
    expect_refused("../x:y", "is no tracepoint's name", "GROUP:NAME")


main(lanes=3)
