#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--live: what is still alive at the end, by its bytes and its sites; and that nothing stays in the JVM."""
import subprocess
import time

import codemap
from hp import *
from stream_reader import Lines

MEGABYTES = 50
# Of what is kept, besides four deviations of the samples that say it.
BOUND = 0.10
DEVIATIONS = 4
# All of a JVM that keeps nothing, its classes' and our own objects: a hundredth of what it allocates.
NOTHING = 1 << 20


def workload(version, share, *flags):
    if version >= 21:
        flags += ("-XX:+EnableDynamicAgentLoading",)
    return java(version, "Kept", share, MEGABYTES, flags=("-Xmx300m", *flags),
                stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


def allocate(process):
    """Bytes that it says it keeps now."""
    process.go()
    return int(re.search(r"kept (\d+) bytes", process.wait_text("bytes\n").text).group(1))


def recorded(process, *args, meanwhile=None):
    """A recording in which PROCESS allocates; (path, bytes that it keeps, what was said)."""
    path = temp_path("live.jfr")
    recorder = Process([HOSTPROF, "record", "-e", "alloc=8k", "--live", "-p", process.pid, "-o",
                        path, *args], stderr=subprocess.STDOUT)
    wait_until(lambda: codemap.find(process.pid), 20, "the agent")
    time.sleep(1)
    kept = allocate(process)
    if meanwhile:
        meanwhile()
    recorder.signal(signal.SIGINT)
    recorder.finish()
    return path, kept, recorder.text


def live(path, *args):
    """The lines of the live view, the heaviest first; none when it has none."""
    lines = collapsed(path, "--event", "live", *args)
    return sorted(lines, key=lambda line: -line.count)


def check_kept(version, share, *flags, args=(), meanwhile=None):
    process = workload(version, share, *flags)
    path, kept, _ = recorded(process, *args, meanwhile=meanwhile)
    lines, samples = live(path, "--total"), total(live(path))
    expect(kept >= share * MEGABYTES * 0.99 * (1 << 20), "the workload keeps its share")
    came = total(lines)
    print(f"# {version} {share}: {samples} samples, {came} of {kept} bytes")
    expect(total(collapsed(path, "--event", "alloc")) > 500, "allocations were sampled")
    if not share:
        expect(came < NOTHING, f"nothing is alive: {came} bytes")
        expect(not any("Kept.leak" in line.frames for line in lines), "no leak")
        return
    bound = BOUND + DEVIATIONS / samples ** 0.5
    expect(abs(came / kept - 1) < bound, f"{came} of {kept} bytes within {bound:.3f}")
    expect_in("Kept.leak", lines[0].frames, "the top line")
    expect_equal(lines[0].frames[-1], "byte[]", "its class")


@for_each_jdk([11, 17, 25])
def all_is_kept(version):
    check_kept(version, 1)


@for_each_jdk([17, 25])
def a_tenth_is_kept(version):
    check_kept(version, 0.1)


@for_each_jdk([17, 25])
def nothing_is_kept(version):
    check_kept(version, 0)


@for_each_jdk([25])
def chunks_do_not_lose_them(version):
    # In the last chunk nothing is sampled: its tables have only what was brought there.
    check_kept(version, 1, args=("--chunk-time", "1s"), meanwhile=lambda: time.sleep(2.5))


@for_each_jdk([17])
def a_full_collection_first(version):
    process = workload(version, 0.1, "-XX:+UseSerialGC", "-Xlog:gc:stdout")
    path, _, _ = recorded(process, "--live=gc")
    process.wait_text("Pause Full (JvmtiEnv ForceGarbageCollection)", 5)
    expect_in("Kept.leak", live(path)[0].frames, "the top line")


def weak_references(version, process):
    text = run([os.path.join(jdk(version), "bin", "jcmd"), process.pid, "Thread.print"]).out
    return int(re.search(r"weak refs: (\d+)", text).group(1))


@for_each_jdk([17, 25])
def nothing_stays_in_the_jvm(version):
    process = workload(version, 1)
    before = weak_references(version, process)
    most = []
    recorded(process, meanwhile=lambda: most.append(weak_references(version, process)))
    print(f"# weak references: {before}, {most[0]}, {weak_references(version, process)}")
    expect(most[0] > before + 500, "objects are followed while it records")
    expect_equal(weak_references(version, process), before, "weak references after it")
    expect(not codemap.find(process.pid), "the agent has gone")


@for_each_jdk([17])
def a_killed_recorder_leaves_nothing(version):
    process = workload(version, 1)
    before = weak_references(version, process)
    recorder = Process([HOSTPROF, "record", "-e", "alloc=8k", "--live", "-p", process.pid, "-o",
                        temp_path("killed.jfr")])
    wait_until(lambda: codemap.find(process.pid), 20, "the agent")
    time.sleep(1)
    allocate(process)
    expect(weak_references(version, process) > before + 500, "objects are followed")
    recorder.signal(signal.SIGKILL)
    recorder.finish(code=None)
    wait_until(lambda: weak_references(version, process) == before, 10, "no weak references", step=1)


def stand_still(process):
    """On a busy machine its threads run on until one of them has taken the signal."""
    process.signal(signal.SIGSTOP)
    wait_until(lambda: all(status_of(task)["State"].startswith("T") for task in glob.glob(f"/proc/{process.pid}/task/*")),
               10, "all threads to stop")


@for_each_jdk([17])
def a_jvm_that_stands_still_is_named(version):
    process = workload(version, 1)
    path, _, text = recorded(process, meanwhile=lambda: stand_still(process))
    process.signal(signal.SIGCONT)
    expect_equal(live(path), [], "live objects")
    expect_match(rf"JVM {process.pid}: it did not say in time which objects are alive", text)


@for_each_jdk([17])
def a_stream_has_them_at_its_end(version):
    """As a recording of the same run has them: each a line of its own, before the last one; also for a slow reader."""
    process, path = workload(version, 1), temp_path("live.jfr")
    read_fd, write_fd = os.pipe()
    recorder = subprocess.Popen([HOSTPROF, "record", "-e", "alloc=8k", "--live", "-p", str(process.pid), "-o", path,
                                 "--stream", str(write_fd)], pass_fds=[write_fd], stderr=subprocess.DEVNULL)
    os.close(write_fd)
    lines = Lines(read_fd)
    wait_until(lambda: codemap.find(process.pid), 20, "the agent")
    time.sleep(1)
    allocate(process)
    lines.stop()
    recorder.send_signal(signal.SIGINT)
    time.sleep(0.5)  # not the second after which a reader is left
    lines.go_on()
    expect_equal(recorder.wait(30), 0, "exit code of record")
    rows = [json.loads(line.text) for line in lines.all()]
    os.close(read_fd)
    alive = [row for row in rows if row["type"] == "sample" and row["event"] == "live"]
    threads = {row["thread"]: row["name"] for row in rows if row["type"] == "thread"}
    recorded_lines = collapsed(path, "--event", "live", "--total", "--threads")
    expect(len(alive) > 1000, f"{len(alive)} lines of live")
    expect_equal(len(alive), total(live(path)), "lines, and samples of the recording")
    expect_equal(sum(row["weight"] for row in alive), total(recorded_lines), "bytes")
    expect_equal(rows[-1]["type"], "end", "the last line")
    expect_equal(rows[-1]["samples"], sum(row["type"] == "sample" for row in rows), "samples by the last line")
    expect_equal(rows[-1]["lost_lines"], 0, "lines lost")
    expect_equal({row["pid"] for row in alive}, {process.pid}, "whose they are")
    expect(all(row["age"] > 0 and row["objects"] > 0 and row["state"] == "unknown" for row in alive), f"{alive[:2]}")
    leaks = [row for row in alive if any(frame["name"] == "Kept.leak" for frame in row["frames"])]
    expect(len(leaks) > 0.9 * len(alive), f"{len(leaks)} of {len(alive)} are the leak")
    expect_equal({threads[row["thread"]] for row in leaks}, {"main"}, "their thread")
    sampled = [row for row in rows if row["type"] == "sample" and row["event"] == "alloc"]
    expect(all(row["objects"] > 0 and row["weight_unit"] == "bytes" for row in sampled), "objects of allocations")


@test
def without_the_agent_it_is_refused():
    result = run([HOSTPROF, "record", "--live", "--agent=never", "-d", "1s"], code=2)
    expect_in("--live does not go with --agent=never", result.err)


if __name__ == "__main__":
    main(lanes=4)
