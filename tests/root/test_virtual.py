#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole stacks of carriers with virtual threads, their frames in the heap included: JDK 21 to 28.

HOSTPROF_SAMPLES=N: records until there are so many (3000).
"""
import atexit
import tempfile

import gates
from hp import *
from native_programs import FREQUENCY, Recording
from virtual_judge import Row
from virtual_program import write_sources

SECONDS = 12
OTHERS_SECONDS = 4
# Recordings of little more than their beginning.
MOMENT_SECONDS = 0.2
# Of a short recording: code is met for the first time in each.
MOST_CUT_SHORT = 0.005
MAX_ROUNDS = 30
SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES") or 3000)
# To the program: objects are made and collected.
# In the first moments userspace finishes more walks.
MOST_MOVING_SHORT = 0.02
# And carriers look for work again that waited for a cpu while hostprof began (seen: 1.7 to 4.1 %).
MOST_CARRIERS_SHORT = 0.08
MOVES = "-Dallocating=true"
# To the program: thrice the work at the leaf, where the way there and back is the interpreter's.
LONGER = "-Drounds=12000"
sums = collections.Counter()  # samples, bad


@shared
def compiled():
    """The directory of the program: by the newest javac that there is, for 21; once for all tests."""
    directory = tempfile.mkdtemp(prefix="hostprof-virtual-")
    atexit.register(shutil.rmtree, directory, True)
    write_sources(directory)
    home = jdk(25)
    run([f"{home}/bin/javac", "-nowarn", "-encoding", "UTF-8", "--release", "21", "-d", directory,
         f"{directory}/made/Virtual.java"], code=0, timeout=120)
    run(["gcc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", f"-I{home}/include",
         f"-I{home}/include/linux", "-o", f"{directory}/libvirtual.so", f"{directory}/virtual.c"],
        code=0, timeout=60)
    return directory


def start_program(version, flags, seconds):
    """Runs already when it is recorded."""
    need_root()
    home, directory = jdk(version), compiled()
    jvm = start([f"{home}/bin/java", "-Xmx128m", *flags, "--enable-native-access=ALL-UNNAMED",
                 "-Djdk.virtualThreadScheduler.parallelism=2", "-cp", directory, "made.Virtual",
                 f"{directory}/libvirtual.so", seconds])
    jvm.wait_text("ready")
    return jvm


def add_carriers(row, lines, pid):
    for line in of_pid(lines, pid):
        # JDK 28 shortens names in their midst. Threads that are carried have a name of their own, if only this one.
        if line.thread.startswith(("[ForkJoi", "[VirtualThread #")):
            row.add(line)


def add_figures(row, stats):
    row.add_dropped(gates.dropped(stats))
    row.frozen_frames += sum(it["value"] for it in stats["counters"]
                             if it["name"] == "unwind.frames.frozen")


def carriers(version, flags, samples, seconds=SECONDS):
    """The samples of a JVM's carriers."""
    jvm, row = start_program(version, flags, 40 + samples // 100), Row()
    for _ in range(MAX_ROUNDS):
        recording = Recording()
        time.sleep(seconds)
        # It is not to run beside what judges it.
        jvm.signal(signal.SIGSTOP)
        lines, stats = recording.finish("-t")
        add_carriers(row, lines, jvm.pid)
        add_figures(row, stats)
        if row.kinds.total() >= samples:
            break
        jvm.signal(signal.SIGCONT)
    row.show(f"JDK {version} {' '.join(flags)}")
    expect(row.kinds.total() >= samples, f"only {row.kinds.total()} samples of carriers")
    return row


def judge(row, name, **gate):
    sums.update(samples=row.kinds.total(), bad=row.kinds["bad"])
    expect_equal(list(row.faults(**gate)), [], name)


def carriers_are_whole(version):
    judge(carriers(version, [], SAMPLES), f"JDK {version}")


def others_are_whole(version, *flags):
    row = carriers(version, flags, SAMPLES // 3, OTHERS_SECONDS)
    judge(row, f"JDK {version} {' '.join(flags)}", most_cut=MOST_CUT_SHORT)


@test
def virtual_threads_21():
    carriers_are_whole(21)


@test
def virtual_threads_25():
    carriers_are_whole(25)


@test
def virtual_threads_26():
    others_are_whole(26, "-XX:+UseParallelGC")


@test
def virtual_threads_27():
    others_are_whole(27, "-XX:+UseSerialGC")


@test
def virtual_threads_28():
    others_are_whole(28)


@test
def interpreted_and_compiled_frames():
    """Interpreted frames are kept otherwise than compiled ones."""
    others_are_whole(25, LONGER, "-XX:CompileCommand=quiet",
                     *(f"-XX:CompileCommand=exclude,made.Virtual::{name}"
                       for name in ("s1", "s2", "s5", "deep23", "deep100")))


@test
def whole_references():
    others_are_whole(25, "-XX:-UseCompressedOops", "-XX:+UseSerialGC", MOVES)


@test
def compact_headers():
    others_are_whole(25, "-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders", "-XX:+UseParallelGC", MOVES)


@test
def collectors_that_move_chunks():
    """Frames in chunks that were moved are thawed otherwise, and pause into chunks of their own."""
    for collector in ("G1", "Shenandoah"):
        others_are_whole(25, f"-XX:+Use{collector}GC", MOVES)


@test
def a_collector_that_moves_objects_beside_threads():
    """ZGC: what is in the heap is not read, and says so."""
    row = carriers(25, ["-XX:+UseZGC"], SAMPLES // 3, OTHERS_SECONDS)
    expect_equal(row.frozen_frames, 0)
    expect(row.kinds["cut"] > 0.03 * row.kinds.total(), f"{row.kinds}")
    expect(row.kinds["bad"] <= gates.most_bad(row.kinds.total()), f"{row.reasons}")


@test
def from_the_first_sample():
    """What a walk through the heap needs is known before there is a sample."""
    jvm, row = start_program(25, [], 60), Row()
    for _ in range(MAX_ROUNDS):
        if row.kinds.total() >= SAMPLES // 2:
            break
        stats = temp_path("stats.json")
        path = record("-F", FREQUENCY, "-d", MOMENT_SECONDS, "--stats", stats)
        add_carriers(row, collapsed(path, "--annotate", "-t"), jvm.pid)
        add_figures(row, read_json(stats))
    row.show("JDK 25, moments")
    expect(row.kinds.total() >= SAMPLES // 2, f"only {row.kinds.total()} samples of carriers")
    judge(row, "JDK 25, moments", most_cut=MOST_CUT_SHORT, most_moving=MOST_MOVING_SHORT, most_carriers=MOST_CARRIERS_SHORT)


@test
def virtual_threads_together():
    """The sum over what the tests before recorded."""
    if not sums:
        skip("it judges what other tests of this file record")
    most = gates.most_bad_of_suite(sums["samples"])
    print(f"# {sums['bad']} of {sums['samples']} are bad; {most} may be")
    expect(sums["bad"] <= most, f"{sums['bad']} of {sums['samples']} are bad")


main()
