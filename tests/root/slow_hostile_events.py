#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Who makes events without end, where six are recorded at once: all that the programs of others know is in the recording all the
same, as without him, within the memory limit and in time.
"""
from mixed_judge import judge_bytes, judge_jvm, read_profiles, start_mixed
from under_attack import *

EVENTS = "cpu,offcpu,lock,alloc,malloc,page-faults"
# What needs no agent.
OUTSIDE_EVENTS = "cpu,offcpu,alloc,malloc,page-faults"
SECONDS = 6


def attacked(attacker=None, event=None, events=EVENTS, options=()):
    """A recording beside who makes EVENT, and JVMs that know what they do, which must be told rightly."""
    with attack("-a", "-e", events, *options, victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(*filter(None, [attacker]))
        jvms = [(version, start_mixed(version, SECONDS)) for version in (17, 25)]
        it.record(seconds=SECONDS + 4, during=lambda: run_jvms(it, events, jvms))
    it.expect_unharmed()
    profiles = read_profiles(it.path, events)
    print(f"# {it.stats['samples']} samples, lost {it.stats['lost']}, {100 * it.stats['complete_share']:.2f} % whole", flush=True)
    for name, (lines, _) in profiles.items():
        print_cut(name, lines)
    for version, jvm in jvms:
        judge_jvm(version, jvm, profiles)
    judge_bytes(jvms, profiles)
    if attacker:
        count, weight = (total(of_pid(lines, attacker.pid)) for lines in profiles[event])
        print(f"# the attacker: {count} samples of {event}, {weight}")
        expect(count > LEAST, f"{count} samples of the attacker's {event}")


def run_jvms(it, events, jvms):
    """When the recorder has found them: waits for locks are told by their agents."""
    if "lock" in events:
        for _, jvm in jvms:
            wait_lease(it.recorder.pid, jvm.pid)
    time.sleep(1)
    for _, jvm in jvms:
        jvm.go()
    for _, jvm in jvms:
        jvm.wait_text("done", SECONDS + 60)


def print_cut(event, lines):
    cut = collections.Counter()
    for line in lines:
        if line.frames[0].startswith("[unwind") or "[native frames skipped]" in line.frames:
            cut[f"{line.process} {line.frames[0]}"] += line.count
    print(f"# {event}: {sum(cut.values())} of {total(lines)} stacks are not whole: {cut.most_common(3)}", flush=True)


def storm(kind, threads=2):
    directory = public_dir()
    return start_as(ATTACKER, [public_copy(os.path.join(WORKLOADS, "storm"), directory), kind, threads]).wait_text("ready")


def java_storm(kind, *flags, threads=2):
    return java_as(ATTACKER, jdk(17), "Storm", kind, threads, flags=flags)


@test
def nobody():
    attacked()


@test
def threads_that_wake_each_other():
    attacked(storm("switches"), "offcpu")


@test
def native_memory():
    attacked(storm("memory"), "malloc")


@test
def page_faults():
    attacked(storm("faults"), "page-faults")


@test
def threads_that_end_at_once():
    attacked(storm("threads"), "cpu")


# Of other collectors compiled code takes memory that is in no TLAB itself, and nobody is told (share/opto/macro.cpp until JDK 19).
OUTSIDE = ("-XX:-UseTLAB", "-XX:+UseG1GC")


@test
def objects_outside_of_tlabs():
    attacked(java_storm("allocations", *OUTSIDE), "alloc")


@test
def objects_outside_of_tlabs_by_probes():
    attacked(java_storm("allocations", *OUTSIDE), "alloc", events=OUTSIDE_EVENTS, options=["--agent=never"])


@test
def parks():
    attacked(java_storm("parks", "-XX:+UseSerialGC"), "offcpu")


@test
def monitors():
    attacked(java_storm("monitors", "-XX:+UseSerialGC"), "lock")


main()
