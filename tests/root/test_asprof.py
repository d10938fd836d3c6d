#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""scripts/asprof: async-profiler's command line, by what it prints, writes and exits with."""
from hp import *

ASPROF = os.path.join(ROOT, "scripts", "asprof")
# Profiled burns three quarters of the hot thread in heavy, one in light; none of them is inlined,
# since nobody who is not in the JVM sees what is.
HEAVY = 0.75
APART = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Profiled$Hot::heavy",
         "-XX:CompileCommand=dontinline,*::applyAsLong")


def asprof(*args, code=0, **env):
    return run([ASPROF, *args], code=code, timeout=120,
               env={**os.environ, "HOSTPROF": HOSTPROF, "XDG_RUNTIME_DIR": "", **env})


def workload(version):
    return java(version, "Profiled", 300, flags=APART)


def recorders_of(pid):
    """Command lines of what records this process for asprof; a recorder's brokers have its own."""
    lines = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as file, open(path[:-7] + "comm", encoding="utf-8") as comm:
            if not comm.read().startswith("hostprof-"):  # those are its helpers
                lines.append(file.read().replace(b"\0", b" ").decode("utf-8", "replace"))
    return [line for line in lines if f"/hostprof-asprof-{os.getuid()}/{pid}-" in line]


def stacks(text):
    return [(row.rpartition(" ")[0].split(";"), int(row.rpartition(" ")[2])) for row in text.splitlines()]


def within(part, samples):
    """Four standard deviations, and 2 % for what the two loops differ by."""
    slack = 4 * (part * (1 - part) / samples) ** 0.5 + 0.02
    return part - slack, part + slack


def part_of(rows, method, below):
    """The part of BELOW's that METHOD has, and the whole."""
    whole = sum(count for frames, count in rows if below in frames)
    return sum(count for frames, count in rows if method in frames) / max(whole, 1), whole


@for_each_jdk(SETUP_JDKS)
def collapsed_is_as_asprof_prints_it(version):
    jvm = workload(version)
    done = asprof("-d", 3, "-i", "1ms", "-o", "collapsed", jvm.pid)
    expect_in("Profiling for 3 seconds", done.err)
    expect_in("Done", done.err)
    rows = stacks(done.out)
    part, samples = part_of(rows, "Profiled$Hot.heavy", "Profiled$Hot.run")
    expect(samples > 200, f"{samples} samples")
    expect_between(part, *within(HEAVY, samples), f"heavy's part of {samples}")
    hot = [frames for frames, _ in rows if "Profiled$Hot.run" in frames]
    expect(all(frames[0] == "java/lang/Thread.run" for frames in hot), f"roots: {hot[:3]}")
    hidden = asprof("dump", "-o", "collapsed", jvm.pid).out
    expect_match(r"\$\$Lambda[^;]*\.0x[0-9a-f]+\.applyAsLong;", hidden)
    named = asprof("dump", "-s", "-n", "-a", "-o", "collapsed", jvm.pid).out
    expect_match(r"^Thread\.run_\[[01ji]\];.*\$\$Lambda(\$\d+)?\.applyAsLong_\[[01ji]\];", named)
    whole = asprof("dump", "--cstack", "vmx", "-o", "collapsed", jvm.pid).out
    expect_match(r"^clone3?;.*;java/lang/Thread\.run;", whole)
    only = stacks(asprof("dump", "-I", "Profiled$Hot.heavy", "-o", "collapsed", jvm.pid).out)
    expect(only and all("Profiled$Hot.heavy" in frames for frames, _ in only), "-I")
    rest = stacks(asprof("dump", "-X", "Profiled$Hot.heavy", "-o", "collapsed", jvm.pid).out)
    expect(rest and not any("Profiled$Hot.heavy" in frames for frames, _ in rest), "-X")


@for_each_jdk(SETUP_JDKS)
def a_session_from_start_to_stop(version):
    jvm = workload(version)
    expect_equal(asprof("status", jvm.pid).out, "Profiler is not active\n")
    expect_in("[ERROR] Profiler has not started", asprof("dump", jvm.pid, code=200).err)
    expect_in("Profiling started", asprof("start", "-t", jvm.pid).err)
    expect_in("[ERROR] Profiler already started", asprof("start", jvm.pid, code=200).err)
    expect_match(r"^Profiling is running for \d+ seconds$", asprof("status", jvm.pid).out)
    time.sleep(2)
    dumped = asprof("dump", "-o", "collapsed", jvm.pid)
    expect_match(r"^\[hot-worker tid=\d+\];java/lang/Thread\.run;", dumped.out)
    expect_equal(dumped.err, "", "dump says")
    text = asprof("stop", "-o", "traces=1,flat=3", jvm.pid).out
    expect_match(r"^--- Execution profile ---\nTotal samples       : [1-9]\d*\n\n"
                 r"--- \d+ ns \(\d+\.\d\d%\), \d+ samples?\n  \[ 0\] ", text)
    expect_match(r"^ +ns  percent  samples  top\n  -{10}  -{7}  -{7}  ---\n"
                 r" +\d+ +\d+\.\d\d% +\d+  Profiled\$Hot\.", text)
    expect_equal(len(re.findall(r"^--- \d+ ns ", text, re.MULTILINE)), 1, "traces")
    expect_equal(len(text.partition("  ---\n")[2].splitlines()), 3, "rows of flat")
    expect_equal(recorders_of(jvm.pid), [], "after stop")
    first = int(expect_match(r"samples       : (\d+)", asprof("dump", "-o", "summary", jvm.pid).out).group(1))
    expect_in("Profiling started", asprof("resume", jvm.pid).err)
    time.sleep(2)
    both = int(expect_match(r"samples       : (\d+)", asprof("stop", "-o", "summary", jvm.pid).out).group(1))
    expect(both > first, f"resumed: {first}, then {both}")
    expect_equal(asprof("status", jvm.pid).out, "Profiler is not active\n")


@test
def native_memory():
    """Each call, or some of them, by their stacks; a recording knows what was not freed."""
    need_root()
    workload_of = os.path.join(WORKLOADS, "mallocs")
    process = start([workload_of, "leak", 2000], stdin=subprocess.PIPE).wait_text()
    asprof("start", "-e", "nativemem", "-f", temp_path("x.jfr"), process.pid)
    other = start([workload_of, "leak", 2000], stdin=subprocess.PIPE).wait_text()
    asprof("start", "--nativemem", "64k", "--nofree", "-o", "collapsed", other.pid)
    for one in (process, other):
        one.go()
        one.wait_text("done", 60)
    rows = stacks(asprof("stop", "-o", "collapsed", "--total", other.pid).out)
    kept = sum(size for frames, size in rows if frames[-2:] == ["by_keeping", "malloc"])
    expect_between(kept, 0.5 * 1000 * 50000, 1.5 * 1000 * 50000, "bytes of samples")
    asprof("stop", process.pid)
    path = temp_path("whole.jfr")
    asprof("dump", "-f", path, process.pid)
    kept = {event: total([line for line in collapsed(path, "--event", event, "--total") if "by_keeping" in line.frames])
            for event in ("malloc", "malloc-live")}
    expect_equal(kept, {"malloc": 1000 * 50000, "malloc-live": 1000 * 50000}, "bytes of each call")


@test
def of_two_that_start_one_begins():
    need_root()
    jvm = workload(17)
    env = {**os.environ, "HOSTPROF": HOSTPROF, "XDG_RUNTIME_DIR": ""}
    both = [Process([ASPROF, "start", str(jvm.pid)], env=env) for _ in range(2)]
    for one in both:
        one.finish(code=None)
    expect_equal(sorted(one.popen.returncode for one in both), [0, 200], "exit codes")
    expect_equal(len([line for line in recorders_of(jvm.pid) if " record " in line]), 1, "recorders")
    asprof("stop", "-o", "summary", jvm.pid)
    expect_equal(recorders_of(jvm.pid), [], "after stop")


@test
@alone
def recordings_end_with_their_target():
    need_root()
    jvm, place = workload(17), temp_dir()
    asprof("start", "-f", os.path.join(place, "last.collapsed"), jvm.pid)
    time.sleep(1)
    jvm.stop()
    wait_until(lambda: not recorders_of(jvm.pid), 30, "the recorder's end")
    wait_until(lambda: os.path.exists(os.path.join(place, "last.collapsed")), 30, "the view")
    with open(os.path.join(place, "last.collapsed"), encoding="utf-8") as file:
        expect_in("java/lang/Thread.run;Profiled$Hot.run", file.read())


@test
def a_loop_writes_file_after_file():
    need_root()
    jvm, place = workload(17), temp_dir()
    # More names than files: the first one is not written again.
    asprof("start", "--loop", 1, "-f", os.path.join(place, "%n{9}.jfr"), jvm.pid)
    until = time.monotonic() + 30
    while not os.path.exists(os.path.join(place, "2.jfr")):
        expect(time.monotonic() < until, "no third file")
        asprof("start", jvm.pid, code=200)  # also between two files
    asprof("stop", "-o", "summary", jvm.pid)
    expect_equal(recorders_of(jvm.pid), [], "after stop")
    expect(collapsed(os.path.join(place, "0.jfr")), "the first file is empty")


@test
def files_by_their_names():
    need_root()
    jvm, place = workload(17), temp_dir()
    asprof("-d", 1, "-f", os.path.join(place, "%p-%n-%{WORD}.html"), "--title", "It's <hot>", jvm.pid, WORD="w")
    with open(os.path.join(place, f"{jvm.pid}-0-w.html"), encoding="utf-8") as file:
        expect_in("It&#39;s &lt;hot&gt;".replace("&#39;", "'"), file.read().replace("&#39;", "'"))
    asprof("dump", "-f", os.path.join(place, "x.jfr"), jvm.pid)
    expect(collapsed(os.path.join(place, "x.jfr")), "an empty recording")
    asprof("start", "--timeout", 1, "-f", os.path.join(place, "x.collapsed"), jvm.pid)
    wait_until(lambda: os.path.exists(os.path.join(place, "x.collapsed")), 30, "the timeout's file")


@test
def wall_clock():
    """A thread that waits all the time has all the time."""
    need_root()
    jvm = workload(17)
    asprof("-d", 2, "-e", "wall", "-i", "5ms", "--total", "-o", "collapsed", jvm.pid)
    out = asprof("dump", "--total", "-o", "collapsed", jvm.pid).out
    waits = [n for frames, n in stacks(out) if any("ReferenceHandler.run" in frame for frame in frames)]
    expect_between(sum(waits), 1_900_000_000, 6_000_000_000, "nanoseconds of the reference handler")


@test
def refusals():
    need_root()
    jvm = workload(17)
    for args, code, words in ((("--bogus", jvm.pid), 1, "Unrecognized option: --bogus"), (("-d",), 1, "Missing"),
                              (("--lock", "x", jvm.pid), 100, "lock"), (("--wall", "2s", jvm.pid), 100, "an interval of wall"),
                              (("-f", "x.svg", jvm.pid), 100, "SVG"),
                              (("-i", "0", jvm.pid), 100, "Invalid interval"),
                              (("--minwidth", "101", jvm.pid), 100, "--minwidth 101"),
                              (("--begin", "f", jvm.pid), 100, "--begin"), (("-F", "stats", jvm.pid), 100, "-F"),
                              (("-e", "cpu", "-e", "itimer", jvm.pid), 100, "Duplicate event"),
                              (("4194303",), 1, "Process 4194303 not found"), (("NoSuchApp",), 1, "No Java process"),
                              (("-e", "cpu,alloc", "-o", "flat", jvm.pid), 200, "multiple events")):
        expect_in(words, asprof(*args, code=code).err, " ".join(map(str, args)))
    expect_in("Usage: asprof", asprof(code=1).out)
    expect_match(r"^hostprof \d", asprof("-v").out)
    expect_in("  ctimer\n", asprof("list", jvm.pid).out)


@test
def every_option_of_a_view():
    """-l, -g, -a, --dot, --reverse, --minwidth, --title, tree, --all-user and --all-kernel, of one session."""
    need_root()
    jvm, place = workload(17), temp_dir()
    asprof("-d", 2, "-i", "1ms", "--cstack", "vmx", "-F", "vtable,comptask", "-o", "summary", jvm.pid)
    mixed = ("dump", "--cstack", "vmx", "-o", "collapsed")
    expect_match(r"^libc\.so\.6`clone3?;.*libjvm\.so`", asprof(*mixed, "--lib", jvm.pid).out)
    expect_in(";java.lang.Thread.run;", asprof(*mixed, "--dot", jvm.pid).out)
    expect_match(r"(^|;)java/lang/Thread\.run\(\)V;(.*;)?Profiled\$Hot\.heavy\([IJ]*\)[IJV]",
                 asprof("dump", "-o", "collapsed", "-g", jvm.pid).out)
    expect_in(";java.lang.Thread.run()V;", asprof(*mixed, "--dot", "--sig", jvm.pid).out)
    counts, times = (stacks(asprof("dump", "-o", "collapsed", *more, jvm.pid).out) for more in ((), ("--total",)))
    expect_equal(sorted(frames for frames, _ in counts), sorted(frames for frames, _ in times), "stacks")
    expect(sum(n for _, n in times) > 100_000 * sum(n for _, n in counts), "--total counts nanoseconds")
    sizes = []
    for args in ((), ("--minwidth", "20"), ("--reverse",), ("-o", "tree")):
        page = os.path.join(place, f"{len(sizes)}.html")
        asprof("dump", "-f", page, *args, jvm.pid)
        sizes.append(os.path.getsize(page))
    expect(sizes[1] < sizes[0] and min(sizes) > 10000, f"pages: {sizes}")
    user = asprof("-d", 1, "--all-user", "--threads", "-a", "-o", "collapsed", jvm.pid).out
    expect_match(r"^\[hot-worker tid=\d+\];java/lang/Thread\.run_\[[01ji]\];", user)
    expect_not_in("_[k]", user, "--all-user")
    expect_in("Profiled$Hot.heavy", user)
    expect_not_in("Profiled", asprof("-d", 1, "--all-kernel", "-o", "collapsed", jvm.pid).out, "--all-kernel")
    expect_match(r"Recorder, outside the JVM: +\d+ KB", asprof("meminfo", jvm.pid).out)


def need_alloc():
    need_root()
    if "alloc" not in hostprof("help", "events").out:
        skip("this hostprof has no event alloc")


# Of each round of Profiled.fill, as objects lie in the heap (16 bytes before an array's first element):
# byte[1000], char[2], one or two byte[] of a String, and perhaps the String.
FILLED, FILLED_ROUND = 1016, 1016 + 24 + 2 * 24 + 24


@test
def allocation_evidence():
    """As a heap-evidence script asks: -e alloc -d 5 -f out.html PID, and reads the file."""
    need_alloc()
    jvm, out = workload(17), temp_path("out.html")
    asprof("-e", "alloc", "-d", 5, "-f", out, jvm.pid)
    expect(os.path.getsize(out) > 10000, "the page is empty")
    rows = [row for row in stacks(asprof("dump", "-o", "collapsed", jvm.pid).out) if "Profiled.fill" in row[0]]
    samples = sum(count for _, count in rows)
    expect(samples > 100, f"{samples} samples")
    arrays = sum(count for frames, count in rows if frames == ["Profiled.main", "Profiled.fill", "byte[]_[i]"])
    expect(arrays / samples > within(FILLED / FILLED_ROUND, samples)[0], f"byte[] of fill: {arrays} of {samples}")
    bytes_of = dict((";".join(frames), size) for frames, size in
                    stacks(asprof("dump", "-o", "collapsed", "--total", jvm.pid).out))
    # A sample stands for the interval and half of its object; before JDK 25 it is held to what the thread allocated.
    expect_between(bytes_of["Profiled.main;Profiled.fill;byte[]_[i]"] / arrays, 0.85 * 512 * 1024, 1.15 * (512 * 1024 + FILLED))
    expect_match(r"^ +bytes  percent  samples  top\n.*\n +\d+ +\d+\.\d\d% +\d+  byte\[\]$",
                 asprof("dump", "-o", "flat=1", jvm.pid).out)


@test
def allocations_beside_time():
    need_alloc()
    jvm, place = workload(17), temp_dir()
    for form in ("jfr", "html"):
        path = os.path.join(place, "both." + form)
        asprof("start", "-e", "cpu,alloc", "--alloc", "64k", "-f", path, jvm.pid)
        time.sleep(2)
        asprof("stop", jvm.pid)
        expect(os.path.getsize(path) > 10000, form)
    both = os.path.join(place, "both.jfr")
    expect(any("Profiled$Hot.heavy" in line.frames for line in collapsed(both, "--event", "cpu")), "cpu")
    expect(any("byte[]" in line.frames for line in collapsed(both, "--event", "alloc")), "alloc")
    expect_in("multiple events", asprof("start", "-e", "cpu,alloc", "-f", "x.txt", jvm.pid, code=200).err)


def kept(share):
    return java(17, "Kept", share, 20, flags=("-Xmx300m",), stdin=subprocess.PIPE)


def allocate(jvm):
    jvm.text = ""
    jvm.go()
    return int(re.search(r"kept (\d+) bytes", jvm.wait_text("bytes\n").text).group(1))


@test
def only_what_lives():
    """--live: the leak and nothing else; while it records nobody knows."""
    need_alloc()
    jvm = kept(0.5)
    asprof("start", "-e", "alloc", "--alloc", "8k", "--live", jvm.pid)
    true = allocate(jvm)
    expect_in("known after stop", asprof("dump", "-o", "collapsed", jvm.pid, code=100).err)
    rows = stacks(asprof("stop", "--total", "-o", "collapsed", jvm.pid).out)
    leaked = sum(size for frames, size in rows if "Kept.leak" in frames)
    print(f"# {leaked} of {true} bytes")
    # Half a megabyte of it is the array that holds the others, and the JVM's own.
    expect(abs(leaked / true - 1) < 0.10 + 4 / (true / 8192) ** 0.5, f"{leaked} of {true} bytes")
    # A collection can come while one is not dropped yet.
    dropped = sum(size for frames, size in rows if "Kept.drop" in frames)
    expect(dropped <= 2 * 8192, f"of what is dropped {dropped} bytes live")
    expect(rows == stacks(asprof("dump", "--total", "-o", "collapsed", jvm.pid).out), "dump after stop")


@test
def allocations_without_the_agent():
    """--tlab is HotSpot's own probe; --live beside it, and beside no allocations at all."""
    need_alloc()
    jvm = workload(17)
    rows = stacks(asprof("-e", "alloc", "--tlab", "-d", 3, "-o", "collapsed", jvm.pid).out)
    expect(sum(count for frames, count in rows if frames[-1].startswith("byte[]") and "Profiled.fill" in frames) > 50,
           f"samples of fill: {rows[:4]}")
    with open(f"/proc/{jvm.pid}/maps", encoding="utf-8") as maps:
        expect_not_in("libhostprof-agent", maps.read(), "mappings of the JVM")
    expect_in("without the agent", asprof("-e", "alloc", "--live", "--tlab", jvm.pid, code=100).err)
    for flag in ("--live", "--tlab"):
        lines = asprof(flag, "-d", 1, "-i", "1ms", "-o", "collapsed", jvm.pid).out
        expect_in("Profiled$Hot.heavy", lines, f"cpu with {flag}")


main(lanes=2)
