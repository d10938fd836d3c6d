#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostprof stream: every sample as a line, at once; what the lines add up to; slow readers; ends."""
import statistics

from hp import *
from stream_reader import Lines, Model, Stream

FREQ = 997
JVM_FLAGS = ["-Xmx64m", "-XX:+UseSerialGC"]


def burning_jvms(seconds=60, versions=(17, 25)):
    return [java(version, "Bench", 1, seconds, flags=JVM_FLAGS, stdin=subprocess.PIPE)
            for version in versions]


def record_with_stream(*args, stopped=None):
    """
    Record with --stream into a pipe that is read here; returns (recording, figures, model). STOPPED:
    seconds for which nothing is read meanwhile.
    """
    read_fd, write_fd = os.pipe()
    cleanup(os.close, read_fd)
    lines = Lines(read_fd)
    path, stats = temp_path("x.jfr"), temp_path("stats.json")
    recorder = subprocess.Popen([HOSTPROF, "record", "-o", path, "--stats", stats, "--stream",
                                 str(write_fd), *map(str, args)], pass_fds=[write_fd],
                                stderr=subprocess.PIPE)
    cleanup(recorder.kill)
    os.close(write_fd)
    if stopped:
        wait_until(lambda: lines.count() > 100, 60, "lines")
        lines.stop()
        time.sleep(stopped)
        lines.go_on()
    _, err = recorder.communicate(timeout=120)
    expect_equal(recorder.returncode, 0, f"exit code of record ({err})")
    return path, read_json(stats), Model(lines.all())


def recorded_sums(path):
    """The same of a recording: (process, thread, frames...) -> [samples, weight]."""
    sums = {}
    for at, more in enumerate(([], ["--total"])):
        for line in collapsed(path, "-t", *more):
            key = (line.process, line.thread, *line.frames)
            sums.setdefault(key, [0, 0])[at] += line.count
    return sums


def expect_equal_sums(model, path):
    came, wanted = model.sums(), recorded_sums(path)
    both = [f"{';'.join(key)}: {came.get(key)}, recorded {wanted.get(key)}"
            for key in sorted(came.keys() | wanted.keys()) if came.get(key) != wanted.get(key)]
    expect(not both, f"{len(both)} stacks have other sums:\n" + "\n".join(both[:5]))


def tell_delays(model, what):
    delays = sorted(model.delays_ns)
    cuts = statistics.quantiles(delays, n=100)
    print(f"# {what}: {len(delays)} samples, {100 * (1 - model.late_share(50e6)):.2f} % of lines within "
          f"50 ms; median {cuts[49] / 1e6:.1f}, 95 % {cuts[94] / 1e6:.1f}, 99 % {cuts[98] / 1e6:.1f} ms, "
          f"longest {delays[-1] / 1e6:.0f} ms; {model.corrected} corrected", flush=True)


@test
@alone
def lines_of_two_jvms():
    """How soon they come is printed and judged by `make bench`."""
    need_root()
    jvms = burning_jvms(9)
    stream = Stream("-F", FREQ, "-d", 4)
    model = Model(stream.lines.all())
    expect_equal(stream.popen.wait(30), 0, "exit code")
    tell_delays(model, f"two JVMs, the whole host at {FREQ} Hz")
    expect_equal((model.begin["format"], model.begin["version"]), ("hostprof-stream", 1), "format")
    expect_equal([(e["event"], e["weight_unit"]) for e in model.begin["events"]],
                 [("cpu", "nanoseconds")], "events")
    expect_equal(sorted(model.samples), list(range(1, len(model.samples) + 1)), "ids")
    expect_equal(model.end["samples"], len(model.samples), "samples of the last line")
    expect_equal((model.orphans, model.lines_lost, model.end["lost_lines"]), (0, 0, 0), "lost lines")
    for jvm in jvms:
        stacks = [s for s in model.samples.values() if s["pid"] == jvm.pid]
        expect(len(stacks) > FREQ / 2, f"only {len(stacks)} samples of a JVM that burns")
        names = [frame["name"] for s in stacks for frame in s["frames"]]
        expect("Bench.run" in names, "Bench.run is in no stack")
    described = {p["pid"]: p for p in model.processes.values()}
    expect_equal(described[jvms[0].pid]["main_class"], "Bench", "main class")


@test
@alone
def sums_are_those_of_the_recording():
    """Processes that come and go, threads that change their names, files that are new."""
    need_root()
    burning_jvms(9)
    start(["/bin/sh", "-c", "while :; do /bin/ls -l /usr/bin >/dev/null; done"])
    path, figures, model = record_with_stream("-F", FREQ, "-d", 4)
    expect_equal(len(model.samples), figures["samples"], "samples")
    expect_equal(model.end["samples"], figures["samples"], "samples of the last line")
    expect_equal(model.end["late_samples"], figures["late_samples"], "late samples")
    expect_equal(model.end["lost_samples"], figures["lost"], "lost samples")
    expect(model.corrected > 0, "nothing was corrected")
    expect_equal_sums(model, path)
    tell_delays(model, "beside a recording")


@test
def chunks_change_nothing():
    """Tables are emptied while samples are on their way."""
    need_root()
    start(["/bin/sh", "-c", "while :; do /bin/ls -l /usr/bin >/dev/null; done"])
    native("burn", 30)
    path, figures, model = record_with_stream("-F", 499, "-d", 4, "--chunk-time", "1s")
    expect_equal(len(model.samples), figures["samples"], "samples")
    expect_equal_sums(model, path)


@test
def an_agents_names():
    """Full names of Java threads, inlined methods: of a code map, which is read as the run goes on."""
    need_root()
    jvm, = burning_jvms(versions=[17])
    path, figures, model = record_with_stream("-F", 499, "-d", 5, "--agent", "always", "-p", jvm.pid)
    expect_equal(len(model.samples), figures["samples"], "samples")
    kinds = {frame["kind"] for s in model.samples.values() for frame in s["frames"]}
    expect("java-inlined" in kinds, "no inlined methods")
    expect_equal_sums(model, path)


@test
def a_reader_that_stops():
    """For three seconds: lines are lost and counted, the recording is whole."""
    need_root()
    # They end with the recording: to judge it takes long.
    native("burn", 10)
    native("burn", 10)
    burning_jvms(10)
    path, figures, model = record_with_stream("-F", 4999, "-d", 5, stopped=3)
    expect(model.lost_samples > 0, "no line was lost")
    expect_equal(model.end["lost_lines"], model.lines_lost, "lost lines of the last line")
    expect_equal(len(model.samples) + model.lost_samples, figures["samples"], "lines and lost lines")
    expect_equal(sum(line.count for line in collapsed(path)), figures["samples"],
                 "samples of the recording")
    print(f"# {figures['samples']} samples, lines of {model.lost_samples} lost "
          f"in {model.counts['lost_lines']} gaps, {figures['lost']} samples lost", flush=True)
    # Whoever was announced while nobody read is announced again.
    for sample in model.samples.values():
        expect(sample["thread"] in model.threads, "a thread of which nothing was told")


@test
def processes_start_and_end():
    need_root()
    shell = start(["/bin/sh", "-c", "while :; do /bin/sleep 0.05; done"])
    stream = Stream("-d", 2)
    model = Model(stream.lines.all())
    starts = {d["pid"] for d in model.lives if d["type"] == "process_start" and d["ppid"] == shell.pid}
    ends = {d["pid"] for d in model.lives if d["type"] == "process_exit"}
    programs = {d["pid"]: d["name"] for d in model.lives if d["type"] == "process_exec"}
    expect(len(starts) > 3, f"only {len(starts)} children started")
    expect(len(starts - ends) <= 1, "children that do not end")
    expect(all(programs.get(pid) == "sleep" for pid in starts & ends), "what they ran")


@test
def targets_only():
    """With -p nothing is told of other processes."""
    need_root()
    shell = start(["/bin/sh", "-c", "while :; do /bin/true; done"])
    burn = native("burn", 30)
    stream = Stream("-d", 1, "-p", burn.pid)
    model = Model(stream.lines.all())
    expect_equal({s["pid"] for s in model.samples.values()}, {burn.pid}, "pids")
    expect_equal([d for d in model.lives if d.get("ppid") == shell.pid], [], "children of others")


@test
@alone
def sigterm_ends_it():
    need_root()
    native("burn", 30)
    for number in (signal.SIGTERM, signal.SIGINT):
        stream = Stream("-F", 99)
        wait_until(lambda: stream.lines.count() > 20, 60, "lines")
        begin = time.monotonic()
        stream.signal(number)
        expect_equal(stream.popen.wait(30), 0, "exit code")
        print(f"# ended {time.monotonic() - begin:.2f} s after the signal", flush=True)
        model = Model(stream.lines.all())
        expect_equal(model.end["samples"], len(model.samples), "samples of the last line")


@test
@alone
def a_reader_that_leaves():
    """The stream ends, quietly and well; a recording beside it goes on."""
    need_root()
    native("burn", 30)
    read_fd, write_fd = os.pipe()
    stream = subprocess.Popen([HOSTPROF, "stream", "-F", "99"], stdout=write_fd,
                              stderr=subprocess.PIPE)
    cleanup(stream.kill)
    os.close(write_fd)
    os.read(read_fd, 10)
    os.close(read_fd)
    begin = time.monotonic()
    _, err = stream.communicate(timeout=30)
    print(f"# ended {time.monotonic() - begin:.2f} s after its reader", flush=True)
    expect_equal((stream.returncode, err), (0, b""), "exit code, standard error")
    read_fd, write_fd = os.pipe()
    path = temp_path("x.jfr")
    recorder = subprocess.Popen([HOSTPROF, "record", "-o", path, "-d", "2", "--stream",
                                 str(write_fd)], pass_fds=[write_fd], stderr=subprocess.PIPE)
    cleanup(recorder.kill)
    os.close(write_fd)
    os.read(read_fd, 10)
    os.close(read_fd)
    _, err = recorder.communicate(timeout=60)
    expect_equal(recorder.returncode, 0, f"exit code of record ({err})")
    expect(sum(line.count for line in collapsed(path)) > 99, "the recording ended with the stream")


@test
def names_that_would_break_a_line():
    need_root()
    code = ("import ctypes, time\n"
            "ctypes.CDLL(None).prctl(15, b'a\\nb\\xff\"\\\\;\\x1b[1m', 0, 0, 0)\n"
            "print('ready', flush=True)\n"
            "end = time.time() + 30\n"
            "while time.time() < end: pass\n")
    burn = start([sys.executable, "-c", code]).wait_text()
    for args in ([], ["--format", "collapsed"]):
        stream = Stream("-d", 1.5, "-p", burn.pid, *args)
        lines = stream.lines.all()
        if args:
            rows = [line.text.decode("utf-8", "replace") for line in lines]
            stacks = [row for row in rows if not row.startswith("#")]
            expect(all(re.fullmatch(r"[^;]+(;[^;]+)+ \d+", row) for row in stacks), "rows")
            expect(any("a b" in row and "\x1b" not in row for row in stacks), "the name")
        else:
            model = Model(lines)
            names = {model.threads[s["thread"]]["name"] for s in model.samples.values()}
            expect_equal(names, {'a\nb\ufffd"\\;\x1b[1m'}, "names")


@test
def collapsed_lines():
    need_root()
    native("burn", 30)
    stream = Stream("-d", 2, "--format", "collapsed")
    rows = [line.text.decode("utf-8", "replace") for line in stream.lines.all()]
    expect_equal(rows[0], "# hostprof-stream 1 collapsed", "first line")
    expect_equal(rows[-1], "# end", "last line")
    lines = parse_collapsed("\n".join(row for row in rows if not row.startswith("#")))
    told = expect_match(r"standard output: ([\d,]+) samples", stream.last_words()).group(1)
    expect_equal(len(lines), int(told.replace(",", "")), "lines")
    expect(any("level_three" in line.frames for line in lines), "level_three is missing")


main(lanes=2)
