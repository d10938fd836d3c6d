#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that let whoever looks at them wait for ever; and brokers that are killed or stopped."""
import random
import tempfile

from hp import *

SOMEBODY = 65534
# What an end may take beyond its time on a busy host; without a wall there is none.
LATE = 10
BURN = re.compile(r"(?:.*;)?(main|thread_main);level_one;level_two;level_three")


def unanswering(directory=None, *command):
    """A running one; skips where no file system of a server can be mounted."""
    need_root()
    process = start([os.path.join(WORKLOADS, "unanswering"), directory or temp_dir(), SOMEBODY, *command], cwd="/")
    return ready_or_skip(process, "no FUSE file system can be mounted")


def expect_burn_whole(path, pid):
    """The neighbour's stacks, each of them: what it runs is known."""
    lines = [line for line in of_pid(collapsed(path), pid) if not in_kernel(line)]
    samples = sum(line.count for line in lines)
    bad = [line for line in lines if not BURN.match(";".join(line.frames)) and "level_three" in line.frames]
    incomplete = [line for line in lines if any("[unwind:" in frame for frame in line.frames)]
    expect(samples > 50, f"{samples} samples of the neighbour")
    expect_equal(bad + incomplete, [], "stacks of the neighbour that are not whole")
    print(f"# {samples} samples of the neighbour, all of them whole")


def in_kernel(line):
    return "level_three" not in line.frames


def end_of(recorder, begin, allowed):
    text = recorder.popen.communicate(timeout=allowed + LATE)[1].decode()
    expect_equal(recorder.popen.returncode, 0, "exit code of hostprof")
    expect(time.monotonic() - begin < allowed + LATE, "hostprof ends in time")
    return text


@test
def a_deadline_is_kept():
    culprit, neighbour = unanswering(), native("burn", 30)
    path, stats, begin = temp_path("x.jfr"), temp_path("s.json"), time.monotonic()
    recorder = start([HOSTPROF, "record", "-d", 3, "-p", f"{culprit.pid},{neighbour.pid}", "-F", 499, "-o", path, "--stats", stats],
                     stderr=subprocess.PIPE)
    text = end_of(recorder, begin, 3)
    expect_in(f"process {culprit.pid} (unanswering) did not let its memory", text)
    expect(read_json(stats)["wall"]["late"] >= 1, "calls without an answer")
    expect_burn_whole(path, neighbour.pid)


@test
def an_interrupt_ends_it():
    culprit, neighbour = unanswering(), native("burn", 30)
    recorder = Recorder("-p", f"{culprit.pid},{neighbour.pid}", "-F", 499)
    time.sleep(2)
    recorder.signal(signal.SIGINT)
    end_of(recorder, time.monotonic(), 0)
    expect(read_json(recorder.stats_path)["wall"]["late"] >= 1, "calls without an answer")
    expect_burn_whole(recorder.path, neighbour.pid)


def jvm_without_tmp():
    """Whoever looks into its /tmp, and be it for its attach socket, waits until it ends."""
    need_root()
    classes = tempfile.mkdtemp(dir="/var/tmp")
    cleanup(shutil.rmtree, classes, True)
    os.chmod(classes, 0o755)
    shutil.copy(os.path.join(WORKLOADS, "Idle.class"), classes)
    return unanswering("/tmp", os.path.join(jdk(17), "bin", "java"), "-XX:-UsePerfData", "-XX:+UseSerialGC", "-Xmx32m",
                       "-cp", classes, "Idle", 60)


def expect_attach_given_up(text, stats_path, jvm):
    expect_in(f"JVM {jvm.pid}: the files of process {jvm.pid} did not answer in time", text)
    expect(read_json(stats_path)["wall"]["late"] >= 1, "helpers without an answer")


@test
def an_attach_is_given_up():
    jvm, neighbour = jvm_without_tmp(), native("burn", 30)
    path, stats, begin = temp_path("x.jfr"), temp_path("s.json"), time.monotonic()
    recorder = start([HOSTPROF, "record", "-d", 3, "-p", f"{jvm.pid},{neighbour.pid}", "-F", 499, "--agent=always", "-o", path,
                      "--stats", stats], stderr=subprocess.PIPE)
    text = end_of(recorder, begin, 3)
    print(f"# ended {time.monotonic() - begin - 3:.1f} s after its deadline")
    expect_attach_given_up(text, stats, jvm)
    expect_burn_whole(path, neighbour.pid)
    expect(jvm.running(), "the JVM goes on")


@test
def an_attach_does_not_hold_the_end():
    """It is interrupted while the helper waits; the helper comes back when the JVM has ended, and ends."""
    jvm, neighbour = jvm_without_tmp(), native("burn", 30)
    recorder = Recorder("-p", f"{jvm.pid},{neighbour.pid}", "-F", 499, "--agent=always")
    wait_until(lambda: below(recorder.pid, "hostprof-attach"), 20, "a helper")
    helpers = below(recorder.pid, "hostprof-attach")
    recorder.signal(signal.SIGINT)
    begin = time.monotonic()
    expect_attach_given_up(end_of(recorder, begin, 0), recorder.stats_path, jvm)
    print(f"# ended {time.monotonic() - begin:.1f} s after SIGINT")
    jvm.stop()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in helpers), 20, "the end of all helpers")


@test
def brokers_are_killed_and_stopped():
    """A hundred times at random moments; new processes need them all the time."""
    need_root()
    neighbour = native("burn", 60)
    recorder = Recorder("-F", 199)
    dice = random.Random(14)
    for _ in range(100):
        run(["/bin/true"], code=0)
        for broker in below(recorder.pid, "hostprof-broker")[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(broker, dice.choice([signal.SIGKILL, signal.SIGSTOP]))
        time.sleep(dice.random() * 0.05)
    stopped = below(recorder.pid, "hostprof-broker")
    recorder.end()
    stats = read_json(recorder.stats_path)
    print(f"# late {stats['wall']['late']}, refused {stats['wall']['refused']}, {len(stopped)} brokers at the end")
    expect_burn_whole(recorder.path, neighbour.pid)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in stopped), 20, "the end of all brokers")


main()
