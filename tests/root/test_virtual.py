#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole stacks of carriers with virtual threads, frozen, thawed and pinned: JDK 21 and 25.

HOSTPROF_SAMPLES=N: records until there are so many (3000).
"""
from hp import *
from native_programs import Recording
from virtual_program import judge_carrier, write_sources

MUST_SHARE = 0.005
SECONDS = 5
MAX_ROUNDS = 30
SAMPLES = int(os.environ.get("HOSTPROF_SAMPLES") or 3000)


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


def judge_lines(lines, kinds, reasons):
    """Adds up; one example of each reason."""
    for line in lines:
        if not line.thread.startswith("[ForkJoin"):
            continue
        frames = plain_user(line.frames)
        kind, why = judge_carrier(frames)
        kinds[kind] += line.count
        if kind == "bad":
            reasons[why] += line.count
            if reasons[why] == line.count:
                print(f"# {why}: {';'.join(line.frames)[:3000]}")


def carriers_are_whole(version):
    need_root()
    home, directory = jdk(version), compiled(temp_dir())
    jvm = start([f"{home}/bin/java", "-Xmx128m", "--enable-native-access=ALL-UNNAMED",
                 "-Djdk.virtualThreadScheduler.parallelism=2", "-cp", directory, "made.Virtual",
                 f"{directory}/libvirtual.so", 40 + SAMPLES // 100])
    jvm.wait_text("ready")
    kinds, reasons = collections.Counter(), collections.Counter()
    for _ in range(MAX_ROUNDS):
        recording = Recording()
        time.sleep(SECONDS)
        lines, _ = recording.finish("-t")
        judge_lines(of_pid(lines, jvm.pid), kinds, reasons)
        if kinds.total() >= SAMPLES:
            break
    print(f"# JDK {version}: {dict(kinds)}: {100 * kinds['bad'] / max(kinds.total(), 1):.4f} % bad"
          f"; {dict(reasons.most_common(8))}")
    expect(kinds.total() >= SAMPLES, f"only {kinds.total()} samples of carriers")
    for kind in ("frozen", "whole"):
        expect(kinds[kind] > 0.03 * kinds.total(),
               f"only {kinds[kind]} stacks are {kind}: this proves nothing")
    expect(kinds["bad"] <= MUST_SHARE * kinds.total(), f"{kinds['bad']} of {kinds.total()} are bad")


@test
def virtual_threads_21():
    carriers_are_whole(21)


@test
def virtual_threads_25():
    carriers_are_whole(25)


main()
