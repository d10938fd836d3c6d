#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-events: five events in one recording of the whole host, with ten JVMs and Debian's PostgreSQL under load.

usage: all_events.py [SECONDS]

JVMs of JDK 17 and 25 in turn do a little of everything and know how much (tests/workloads/Mixed.java); pgbench loads a PostgreSQL of its own.
What must hold: all that a JVM knows is in the recording, what is lost has been counted (nothing), each process's CPU time is
what the kernel says, and memory stays below the limit. What the recording took is printed.
"""
import os
import sys

from hp import *
from hp_memory import MB, MemoryWatch, expect_within
from mixed_judge import judge_bytes, judge_jvm, read_profiles, start_mixed

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
del sys.argv[1:]
JVMS = 10
LIMIT = 128 * MB
EVENTS = "cpu,offcpu,lock,alloc,page-faults"
POSTGRES = "/usr/lib/postgresql/15/bin"
# Of the CPU time by /proc, of all JVMs together. A thread's weights are as old as its last sample, some 10 ms of its own time, so that each thread
# of a JVM may have so much more or less: four deviations of that.
CPU_WITHIN = 0.05
THREAD_WITHIN = 4 * 0.0101


def install():
    if not os.path.exists(os.path.join(POSTGRES, "pgbench")):
        run(["apt-get", "install", "-y", "-q", "postgresql-15"], code=0, timeout=600, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def as_nobody(*argv):
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *argv]


class Database:
    def __init__(self):
        self.directory = temp_dir()
        os.chmod(self.directory, 0o777)
        data = os.path.join(self.directory, "data")
        run(as_nobody(f"{POSTGRES}/initdb", "-D", data, "-A", "trust", "-U", "x"), code=0, timeout=120, cwd="/")
        self.server = start(as_nobody(f"{POSTGRES}/postgres", "-D", data, "-k", self.directory, "-c", "listen_addresses="), cwd="/",
                            stderr=subprocess.DEVNULL)
        wait_until(lambda: self._client("pg_isready", "-q").code == 0, 60, "PostgreSQL")
        self._client("createdb", "t", code=0)
        self._client("pgbench", "-q", "-i", "-s", "2", "t", code=0)
        self.load = None

    def _client(self, program, *args, code=None):
        return run([os.path.join(POSTGRES, program), "-h", self.directory, "-U", "x", *args], code=code, timeout=120)

    def begin(self):
        self.load = start([f"{POSTGRES}/pgbench", "-h", self.directory, "-U", "x", "-c", "2", "-T", SECONDS, "t"], stderr=subprocess.DEVNULL)

    def end(self):
        self.load.finish(timeout=SECONDS + 60)
        self.server.signal(signal.SIGINT)
        self.server.finish(timeout=60, code=None)
        return float(expect_match(r"tps = ([\d.]+)", self.load.text).group(1))


def begin_jvms():
    versions = [(17, 25)[i % 2] for i in range(JVMS)]
    return [(version, start_mixed(version, SECONDS - 4)) for version in versions]


def judge_cpu(jvms, seconds, profiles):
    sums = 0
    for version, jvm in jvms:
        lines = of_pid(profiles["cpu"][1], jvm.pid)
        came, threads = total(lines) / 1e9, len(os.listdir(f"/proc/{jvm.pid}/task"))
        sums += came
        print(f"# JDK {version}, {jvm.pid}: CPU {came:.2f} s of {threads} threads, {seconds[jvm.pid]:.2f} by /proc")
        expect(abs(came - seconds[jvm.pid]) <= THREAD_WITHIN * threads ** 0.5, f"CPU time of JVM {jvm.pid}")
    known = sum(seconds[jvm.pid] for _, jvm in jvms)
    print(f"# CPU of all JVMs: {100 * (sums / known - 1):+.2f} % of {known:.2f} s")
    expect_between(sums / known, 1 - CPU_WITHIN, 1 + CPU_WITHIN, "CPU time of all JVMs")


def judge_database(profiles):
    for event in ("cpu", "offcpu", "page-faults"):
        lines = [line for line in profiles[event][0] if line.process.startswith("postgres-")]
        print(f"# PostgreSQL, {event}: {total(lines)} samples in {len(lines)} stacks")
        expect(total(lines) > 20, f"{event} of PostgreSQL")


def judge_figures(stats, own_seconds, elapsed):
    wanted = [row for row in stats["counters"] if row["name"].startswith(("lock.", "offcpu.", "alloc.", "sideband.", "unwind.misses", "memory."))]
    counters = {row["name"]: row["value"] for row in wanted}
    print(f"# {stats['samples']} samples, lost {stats['lost']}, late {stats['late_samples']}, {100 * stats['complete_share']:.2f} % whole; own CPU {100 * own_seconds / elapsed:.1f} % of a core")
    for row in wanted:
        print(f"# {row['value']:12} {row['name']} {row.get('detail') or ''}")
    expect_equal(stats["lost"], 0, "lost samples")
    expect_equal(counters.get("sideband.lost", 0), 0, "lost records of the side-band")
    for name in ("lock.not-seen", "lock.parks-not-seen", "alloc.not-seen"):
        expect_equal(counters.get(name, 0), 0, name)


@test
def five_events_of_eleven_programs():
    need_root()
    install()
    database, jvms = Database(), begin_jvms()
    # They have nothing to do until they are told to begin.
    before = {jvm.pid: cpu_seconds(jvm.pid) for _, jvm in jvms}
    recorder = Recorder("-a", "-e", EVENTS, "--memory-limit", LIMIT)
    watch = MemoryWatch(recorder.pid)
    for _, jvm in jvms:
        recorder.wait_lease(jvm.pid)
    time.sleep(1)
    own, begin = sum(map(cpu_seconds, family(recorder.pid))), time.monotonic()
    database.begin()
    for _, jvm in jvms:
        jvm.go()
    for _, jvm in jvms:
        jvm.wait_text("done", SECONDS + 60)
    own, elapsed = sum(map(cpu_seconds, family(recorder.pid))) - own, time.monotonic() - begin
    tps = database.end()
    seconds = {jvm.pid: cpu_seconds(jvm.pid) - before[jvm.pid] for _, jvm in jvms}
    peak = watch.finish()
    path = recorder.end()
    print("# RSS and maps by second: " + " ".join(f"{p.at:.0f}:{p.rss / MB:.0f}+{p.maps / MB:.0f}" for p in watch.polls[::20]))
    profiles, stats = read_profiles(path, EVENTS), read_json(recorder.stats_path)
    print(f"# pgbench: {tps:.0f} transactions a second")
    judge_figures(stats, own, elapsed)
    expect_within(peak, LIMIT)
    for version, jvm in jvms:
        judge_jvm(version, jvm, profiles)
    judge_bytes(jvms, profiles)
    judge_cpu(jvms, seconds, profiles)
    judge_database(profiles)


main()
