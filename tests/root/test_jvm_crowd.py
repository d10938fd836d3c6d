#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JVMs of several releases that begin and end while they are recorded, whose code lies at the same addresses: each sample has its own JVM's names."""
import time

from hp import *

VERSIONS = [int(v) for v in (os.environ.get("HOSTPROF_MATRIX") or "17,25").split(",")]
JVMS, AT_A_TIME = 20, 4
# Of a JVM; every third one is killed in the middle.
LIFE_MS, KILLED_S = 2500, 1.5
FREQUENCY = 499
WAY = ("main", "run", "a", "b", "c", "leaf", "burn")
OWN = re.compile(r"(Crowd\d\d)\.(\w+)$")
MOST_EVICTED = 0.001
LEAST_SAMPLES = 2000


class Coming:
    """JVMs that take turns: name → process."""

    def __init__(self, homes):
        self.homes, self.classes, self.jvms, self.begun = homes, numbered_classes("Crowd00", JVMS), {}, {}

    def begin(self, i):
        name = f"Crowd{i:02}"
        self.begun[name] = time.monotonic()
        self.jvms[name] = start([os.path.join(self.homes[i % len(self.homes)], "bin/java"), "-Xmx32m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=4m", "-cp",
                                 self.classes, name, LIFE_MS])

    def running(self):
        return [name for name, jvm in self.jvms.items() if jvm.running()]

    def end_some(self):
        for i, name in enumerate(self.jvms):
            if i % 3 == 2 and self.jvms[name].running() and time.monotonic() - self.begun[name] > KILLED_S:
                self.jvms[name].signal(signal.SIGKILL)

    def all_of_them(self):
        for i in range(JVMS):
            wait_until(lambda: self.end_some() or len(self.running()) < AT_A_TIME, 60, "a JVM's end")
            self.begin(i)
        wait_until(lambda: self.end_some() or not self.running(), 60, "the last JVM's end")


def fault_of(line, name):
    """What is wrong with a stack of the JVM whose class is NAME, or None."""
    own = [match.groups() for match in map(OWN.match, line.frames) if match]
    others = {which for which, _ in own} - {name}
    if others:
        return f"names of {', '.join(sorted(others))}"
    methods = [method for _, method in own]
    # Each of them computes, too, by a method that all of them call.
    way = methods[:-1] if methods[-1:] == ["burn"] else methods
    return None if tuple(way) == WAY[:len(way)] else f"calls {' '.join(methods)}"


def judge(lines, names):
    """Counts of samples by what is said of them, of Crowd's own main threads."""
    sums = collections.Counter()
    for line in lines:
        name = names.get(int(line.process.rpartition("-")[2]))
        if not name:
            continue
        fault = fault_of(line, name)
        sums["samples"] += line.count
        sums["own"] += line.count * any(map(OWN.match, line.frames))
        sums["evicted"] += line.count * ("[evicted]" in line.frames)
        if fault:
            sums["wrong"] += line.count
            print(f"# {name}: {fault}: {';'.join(line.frames)}")
    return sums


@test
def each_sample_has_its_own_jvm():
    need_root()
    homes = list(filter(None, map(find_jdk, VERSIONS))) or skip("no JDK")
    coming = Coming(homes)
    recorder = Recorder("-a", "-F", FREQUENCY, "--agent=never")
    coming.all_of_them()
    path = recorder.end()
    sums = judge(collapsed(path), {jvm.pid: name for name, jvm in coming.jvms.items()})
    stats = read_json(recorder.stats_path)
    print(f"# {len(coming.jvms)} JVMs of {len(homes)} releases, {sums['samples']} samples, {sums['own']} of their own code: {sums['wrong']} wrong, {sums['evicted']} evicted, "
          f"{stats['lost']} lost")
    expect(sums["own"] >= LEAST_SAMPLES, "too few samples")
    expect_equal(sums["wrong"], 0, "samples with another's names")
    expect(sums["evicted"] <= MOST_EVICTED * sums["samples"], f"{sums['evicted']} of {sums['samples']} samples have code that is gone")


@test
def judge_sees_another_jvms_names():
    def said(*frames):
        return fault_of(collections.namedtuple("Line", "frames")([f"Crowd{frame}" for frame in frames]), "Crowd07")

    expect_equal(said("07.main", "07.run", "07.a", "07.burn"), None, "a whole one")
    expect(said("07.main", "07.run", "08.a"), "another JVM's method")
    expect(said("07.main", "07.run", "07.b"), "a caller that is missing")
    expect(said("07.main", "07.run", "07.burn", "07.a"), "what calls nobody")


main()
