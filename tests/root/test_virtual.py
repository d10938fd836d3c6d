#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole stacks of carriers with virtual threads, frozen, thawed and pinned: JDK 21 and 25.

HOSTPROF_SAMPLES=N: records until there are so many (3000).
"""
import gates
from hp import *
from native_programs import Recording
from virtual_judge import Row
from virtual_program import write_sources

SECONDS = 5
MAX_ROUNDS = 30
SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES") or 3000)
sums = collections.Counter()  # samples, bad


def compiled(directory):
    """By the newest javac that there is, for 21."""
    write_sources(directory)
    home = jdk(25)
    run([f"{home}/bin/javac", "-nowarn", "--release", "21", "-d", directory,
         f"{directory}/made/Virtual.java"], code=0, timeout=120)
    run(["gcc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", f"-I{home}/include",
         f"-I{home}/include/linux", "-o", f"{directory}/libvirtual.so", f"{directory}/virtual.c"],
        code=0, timeout=60)
    return directory


def carriers_are_whole(version):
    need_root()
    home, directory = jdk(version), compiled(temp_dir())
    jvm = start([f"{home}/bin/java", "-Xmx128m", "--enable-native-access=ALL-UNNAMED",
                 "-Djdk.virtualThreadScheduler.parallelism=2", "-cp", directory, "made.Virtual",
                 f"{directory}/libvirtual.so", 40 + SAMPLES // 100])
    jvm.wait_text("ready")
    row = Row()
    for _ in range(MAX_ROUNDS):
        recording = Recording()
        time.sleep(SECONDS)
        lines, stats = recording.finish("-t")
        for line in of_pid(lines, jvm.pid):
            if line.thread.startswith("[ForkJoin"):
                row.add(line)
        row.add_dropped(gates.dropped(stats))
        if row.kinds.total() >= SAMPLES:
            break
    row.show(f"JDK {version}")
    samples = row.kinds.total()
    sums.update(samples=samples, bad=row.kinds["bad"])
    expect(samples >= SAMPLES, f"only {samples} samples of carriers")
    expect_equal(list(row.faults()), [], f"JDK {version}")


@test
def virtual_threads_21():
    carriers_are_whole(21)


@test
def virtual_threads_25():
    carriers_are_whole(25)


@test
def virtual_threads_together():
    """The sum over what the tests before recorded."""
    if not sums:
        skip("it judges what other tests of this file record")
    most = gates.most_bad_of_suite(sums["samples"])
    print(f"# {sums['bad']} of {sums['samples']} are bad; {most} may be")
    expect(sums["bad"] <= most, f"{sums['bad']} of {sums['samples']} are bad")


main()
