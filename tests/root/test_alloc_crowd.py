#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations of a crowd of JVMs in one recording: each has its own class, which no other one has."""
from hp import *

JVMS = 20
SECONDS = 6
# Of what a JVM allocates its own class is nearly all; the rest are its start's and the agent's.
OWN_SHARE = 0.9
STACK = re.compile(r".*;java\.lang\.Thread\.run(?:With)?(?:;java\.lang\.Thread\.run)?;(Alloc\d\d)\.run;\1\.make00;\1")


def crowd():
    """pid → class; half of them of each JDK."""
    homes = list(filter(None, map(find_jdk, (17, 25)))) or skip("no JDK")
    classes, jvms = numbered_classes("Alloc00", JVMS), {}
    for i in range(JVMS):
        name = f"Alloc{i:02}"
        jvm = start([os.path.join(homes[i % len(homes)], "bin/java"), "-Xmx32m", "-XX:+UseSerialGC", "-cp", classes,
                     name, 600])
        jvms[jvm.pid] = (name, jvm)
    for _, jvm in jvms.values():
        jvm.wait_text("ready", timeout=90)
    return {pid: name for pid, (name, _) in jvms.items()}


def check_stacks(lines, name):
    """Stacks of its class are its source's."""
    for line in lines:
        stack = ";".join(line.frames)
        expect(line.frames[-1] != name or STACK.fullmatch(stack), f"stack of {name}: {stack}")


@test
def none_is_mixed_up():
    need_root()
    names = crowd()
    path, stats = temp_path("crowd.jfr"), temp_path("crowd.json")
    hostprof("record", "-e", "alloc", "-p", ",".join(map(str, names)), "-d", SECONDS, "-o", path, "--stats", stats)
    expect_equal(read_json(stats)["lost"], 0, "lost")
    lines = collapsed(path, "--total")
    samples = sum(line.count for line in collapsed(path))
    print(f"# {samples} samples of {len(names)} JVMs, {sum(line.count for line in lines) / 1e6:.0f} MB")
    for pid, name in names.items():
        of_jvm = of_pid(lines, pid)
        bytes_of = collections.Counter()
        for line in of_jvm:
            bytes_of[line.frames[-1]] += line.count
        foreign = [frame for frame in bytes_of if re.fullmatch(r"Alloc\d\d", frame) and frame != name]
        expect_equal(foreign, [], f"classes of others in {name}")
        expect(bytes_of[name] > OWN_SHARE * bytes_of.total() > 0, f"{name}: {bytes_of.most_common(4)}")
        check_stacks(of_jvm, name)


main()
