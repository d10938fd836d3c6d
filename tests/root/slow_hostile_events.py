#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Who makes events without end, where six are recorded at once: all that the programs of others know is in the recording all the
same, as without him, within the memory limit and in time.
"""
from mixed_judge import judge_bytes, judge_jvm
from under_attack import *

EVENTS = "cpu,offcpu,lock,alloc,malloc,page-faults"
# What needs no agent.
OUTSIDE_EVENTS = "cpu,offcpu,alloc,malloc,page-faults"
SECONDS = 6


def attacked(*storms, events=EVENTS, options=()):
    """A recording beside these, and JVMs that know what they do; returns it, judged."""
    with attack("-a", "-e", events, *options, victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(*storms)
        jvms = [(version, java(version, "Mixed", SECONDS, stdin=subprocess.PIPE,
                               flags=["-Xmx64m", *(["-XX:+EnableDynamicAgentLoading"] if version >= 21 else [])]))
                for version in (17, 25)]
        it.record(seconds=SECONDS + 4, during=lambda: run_jvms(it, jvms))
    it.expect_unharmed()
    profiles = {event: (collapsed(it.path, "--event", event, "-t"), collapsed(it.path, "--event", event, "-t", "--total"))
                for event in events.split(",")}
    print(f"# {it.stats['samples']} samples, lost {it.stats['lost']}, {100 * it.stats['complete_share']:.2f} % whole", flush=True)
    for event, (lines, _) in profiles.items():
        cut = collections.Counter()
        for line in lines:
            if line.frames[0].startswith("[unwind") or "[native frames skipped]" in line.frames:
                cut[f"{line.process} {line.frames[0]}"] += line.count
        print(f"# {event}: {sum(cut.values())} of {total(lines)} stacks are not whole: {cut.most_common(3)}", flush=True)
    for version, jvm in jvms:
        judge_jvm(version, jvm, profiles)
    judge_bytes(jvms, profiles)
    return it, profiles


def run_jvms(it, jvms):
    """When the recorder has found them: their agents are loaded."""
    time.sleep(1.5)
    for _, jvm in jvms:
        jvm.go()
    for _, jvm in jvms:
        jvm.wait_text("done", SECONDS + 60)


def storm(kind, threads=2):
    directory = public_dir()
    return start_as(ATTACKER, [public_copy(os.path.join(WORKLOADS, "storm"), directory), kind, threads]).wait_text("ready")


def java_storm(kind, *flags, threads=2):
    classes = public_dir()
    for path in glob.glob(os.path.join(WORKLOADS, "Storm*.class")):
        public_copy(path, classes)
    return start_as(ATTACKER, [os.path.join(jdk(17), "bin", "java"), "-Xmx64m", *flags, "-cp", classes, "Storm", kind, threads],
                    cwd=public_dir(ATTACKER)).wait_text("ready", timeout=60)


def expect_seen(profiles, event, attacker):
    count, weight = (total(of_pid(lines, attacker.pid)) for lines in profiles[event])
    print(f"# the attacker: {count} samples of {event}, {weight}")
    expect(count > LEAST, f"{count} samples of the attacker's {event}")


@test
def nobody():
    attacked()


@test
def threads_that_wake_each_other():
    attacker = storm("switches")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "offcpu", attacker)


@test
def native_memory():
    attacker = storm("memory")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "malloc", attacker)


@test
def page_faults():
    attacker = storm("faults")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "page-faults", attacker)


@test
def threads_that_end_at_once():
    attacker = storm("threads")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "cpu", attacker)


# Of other collectors compiled code takes memory that is in no TLAB itself, and nobody is told (share/opto/macro.cpp until JDK 19).
OUTSIDE = ("-XX:-UseTLAB", "-XX:+UseG1GC")


@test
def objects_outside_of_tlabs():
    attacker = java_storm("allocations", *OUTSIDE)
    _, profiles = attacked(attacker)
    expect_seen(profiles, "alloc", attacker)


@test
def objects_outside_of_tlabs_by_probes():
    attacker = java_storm("allocations", *OUTSIDE)
    _, profiles = attacked(attacker, events=OUTSIDE_EVENTS, options=["--agent=never"])
    expect_seen(profiles, "alloc", attacker)


@test
def parks():
    attacker = java_storm("parks", "-XX:+UseSerialGC")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "offcpu", attacker)


@test
def monitors():
    attacker = java_storm("monitors", "-XX:+UseSerialGC")
    _, profiles = attacked(attacker)
    expect_seen(profiles, "lock", attacker)


main()
