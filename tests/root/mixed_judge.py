# SPDX-License-Identifier: Apache-2.0
"""What a JVM that does a little of everything (tests/workloads/Mixed.java) knows, against what a recording says of it."""
from hp import *
from hp_memory import MB

# A kind's thread, its event, what is in its stacks, and how far the recording may be from what the thread knows: waits are measured around
# what is recorded of them, on a host that has more to do than it can.
KINDS = {"waiter": ("lock", "Mixed$Gate", 0.9, 1.05), "parker": ("lock", "Mixed$Spot", 0.9, 1.05), "sleeper": ("offcpu", "[sleep]", 0.8, 1.05)}
# So many of a JVM's waits may be missing: one that outlasts the recording, or began before.
MISSED = 2
# Of bytes of all JVMs together, some thousand samples: four deviations.
BYTES_WITHIN = 0.1


def start_mixed(version, seconds):
    """It has nothing to do until it is told to begin. Its agent may be loaded while it runs."""
    return java(version, "Mixed", seconds, flags=["-Xmx64m", *(["-XX:+EnableDynamicAgentLoading"] if version >= 21 else [])],
                stdin=subprocess.PIPE)


def read_profiles(path, events):
    """Of each event, "A,B", samples and their sums, with threads."""
    return {event: (collapsed(path, "--event", event, "-t"), collapsed(path, "--event", event, "-t", "--total"))
            for event in events.split(",")}


def told_by(jvm):
    rows = [line.split() for line in jvm.text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[1].isdigit()}


def of_kind(lines, kind, what):
    return [line for line in lines if line.thread.startswith(f"[{kind} tid=") and what in line.frames]


def judge_jvm(version, jvm, profiles):
    """Of the events that were recorded."""
    told, text = told_by(jvm), []
    for kind, (event, what, least, most) in KINDS.items():
        if event not in profiles:
            continue
        number, ns = told[kind]
        counts, lengths = (of_kind(of_pid(profiles[event][i], jvm.pid), kind, what) for i in range(2))
        text.append(f"{kind} {total(counts)} of {number}, {100 * (total(lengths) / ns - 1):+.2f} % of {ns / 1e9:.2f} s")
        expect_between(total(lengths) / ns, least, most, f"{kind} of JDK {version}")
        if event == "lock":
            expect_between(total(counts), number - MISSED, number, f"waits of {kind}, JDK {version}")
    print(f"# JDK {version}, {jvm.pid}: {'; '.join(text)}")


def judge_bytes(jvms, profiles):
    known = sum(told_by(jvm)["allocator"][1] for _, jvm in jvms)
    lines = [line for _, jvm in jvms for line in of_pid(profiles["alloc"][1], jvm.pid) if line.thread.startswith("[allocator tid=")]
    count = sum(total(of_pid(profiles["alloc"][0], jvm.pid)) for _, jvm in jvms)
    print(f"# allocators: {count} samples, {100 * (total(lines) / known - 1):+.2f} % of {known / MB:.0f} MB")
    expect_between(total(lines) / known, 1 - BYTES_WITHIN, 1 + BYTES_WITHIN, "bytes")


__all__ = [name for name in list(globals()) if not name.startswith("_")]
