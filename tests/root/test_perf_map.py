#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Names of other runtimes' code from /tmp/perf-PID.map and from jitdumps: by the right pid, and whatever lies there."""
import shutil

from hp import *

JITTED = os.path.join(WORKLOADS, "unwind", "uw-jitted")
JIT_FRAMES = {"jit_one", "jit_two", "jit_three"}
MOST_RECORDINGS = 10


def map_of(pid):
    """Where its map is, which goes when the test is over."""
    path = f"/tmp/perf-{pid}.map"
    cleanup(lambda: os.path.lexists(path) and os.unlink(path))
    return path


def names_in(path):
    with open(path, encoding="utf-8") as file:
        return {line.split()[-1] for line in file if line.strip()}


def start_jitted():
    """A program that burns in code without a file; returns (process, path of its map)."""
    jitted = start([JITTED, 60])
    path = map_of(jitted.pid)
    wait_until(lambda: os.path.exists(path) and JIT_FRAMES <= names_in(path), 60, "its perf map")
    return jitted, path


def frames_of(lines):
    return {frame for line in lines for frame in line.frames}


def names_without(replace):
    """Record a program whose map became something else; returns its frames."""
    need_root()
    jitted, path = start_jitted()
    os.unlink(path)
    replace(path)
    lines = []
    # Beside others it may get no cpu for seconds.
    for _ in range(MOST_RECORDINGS):
        # hostprof() fails when the recording does not end on its deadline.
        lines += of_pid(collapsed(record("-F", 499, "-d", 2, "-p", jitted.pid, timeout=60)), jitted.pid)
        if total(lines) > 50:
            return frames_of(lines)
    raise Failed(f"only {total(lines)} samples")


@test
def a_map_that_leads_to_kmsg():
    """Its reader would wait for the kernel's next message."""
    frames = names_without(lambda path: os.symlink("/proc/kmsg", path))
    expect_equal(frames & JIT_FRAMES, set(), "names from nowhere")
    expect_in("[anon]", frames)


@test
def a_map_that_is_a_pipe():
    frames = names_without(os.mkfifo)
    expect_in("[anon]", frames)


@test
def a_map_in_a_container():
    """It is named by the pid of the namespace, and lies in the container's /tmp."""
    need_root()
    inside = temp_dir()
    shutil.copy(JITTED, inside)
    outer = start(["unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c",
                   f"mount --bind {inside} /tmp && exec /tmp/{os.path.basename(JITTED)} 60"])
    path = os.path.join(inside, "perf-1.map")
    wait_until(lambda: os.path.exists(path) and JIT_FRAMES <= names_in(path), 60, "its perf map")
    with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as children:
        pid = int(children.read())
    with open(map_of(pid), "w", encoding="ascii") as wrong:
        wrong.write("0 7fffffffffff of_another_process\n")
    lines = of_pid(collapsed(record("-F", 499, "-d", 2, "-p", pid)), pid)
    expect(total(lines) > 50, f"only {total(lines)} samples")
    expect_not_in("of_another_process", frames_of(lines))
    expect(JIT_FRAMES <= frames_of(lines), f"names of its map are missing: {frames_of(lines)}")


def start_dumping(wanted):
    """The same program with a jitdump, which is gone from its directory unless WANTED."""
    jitted = start([JITTED, 60, "dump"])
    path = f"/tmp/jit-{jitted.pid}.dump"
    cleanup(lambda: os.path.lexists(path) and os.unlink(path))
    jitted.wait_text("ready")
    wait_until(lambda: os.path.exists(path), 30, "its dump")
    if not wanted:
        os.unlink(path)
    return jitted


@test
def dumps_that_are_mapped():
    need_root()
    dumping = [start_dumping(True), start_dumping(False)]
    pids = [it.pid for it in dumping]
    lines = collapsed(record("-F", 499, "-d", 2, "-p", ",".join(map(str, pids)), timeout=60))
    for pid in pids:
        own = of_pid(lines, pid)
        expect(total(own) > 50, f"only {total(own)} samples")
        # Each of the three works itself, too.
        expect(JIT_FRAMES <= frames_of(own), f"names of its dump are missing: {frames_of(own)}")
        wrong = [line.frames for line in own if "[anon]" in line.frames or "back_in_c" in line.frames and
                 not in_order(line.frames, "run_jit", "jit_one", "jit_two", "jit_three", "back_in_c")]
        expect_equal(wrong[:3], [], f"{len(wrong)} stacks")


main()
