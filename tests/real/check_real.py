#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-real: programs that people run, under load while the whole host is recorded, without an
agent and without a flag: how many of their samples are whole, and do they weigh what each thread ran?

usage: check_real.py [--list] [NAME…]

The time that is recorded of each is HOSTPROF_REAL_SECONDS (25). A program whose files cannot be had is
skipped; recordings of the same one are judged as one. With HOSTPROF_REAL_KEEP=DIR the recordings,
their stacks and figures stay there.
"""
import collections
import time

from fetch import Unavailable
from programs import Beside, accepts, test_programs, tomcat_command
from hp import *
import gates
from java_calls import of_jdk
import weights
from judge import WHOLE, judge
from pairs import Pairs, jars_of
from row import Row
from thread_clocks import SELDOM_S, Polling
from threads import dump_threads, tid_of, without_its_start
from weighing import Weighing, faults_of, rare_threads

FREQUENCY = 997
SECONDS = int(os.environ.get("HOSTPROF_REAL_SECONDS", "25"))
KEEP = os.environ.get("HOSTPROF_REAL_KEEP")
# What the program's load must outlive the recording by.
SLACK_S = 30
ROWS = collections.defaultdict(Row)


# --- one recording --------------------------------------------------------------------------


def collapsed_text(path):
    return hostprof("report", path, "-f", "collapsed", "-o", "-", "-t", "--annotate", "--no-normalize", timeout=300).out


def judged(lines, pairs):
    """Each line with the verdict on it alone; what PAIRS needs to say of whole ones is read."""
    found = [(line, judge(line.frames)) for line in lines]
    pairs.load([line.frames for line, verdict in found if verdict == WHOLE])
    return found


class Recording:
    """hostprof over the whole host, beside the program, with its threads as the JVM names them."""

    def __init__(self, program, home, running):
        directory = KEEP or temp_dir()
        os.makedirs(directory, exist_ok=True)
        base = os.path.join(directory, program.name)
        self.path, self.stats_path = f"{base}.jfr", f"{base}.json"
        if os.path.exists(self.path):
            os.remove(self.path)
        self.home = home
        with Polling(running.jvms.values()) as self.clocks:
            self._record(base, home, running)
        self.stats = read_json(self.stats_path)
        self.sums = weights.weigh(self.path)
        text = collapsed_text(self.path)
        if KEEP:
            with open(f"{base}.collapsed", "w", encoding="utf-8") as file:
                file.write(text)
        self.lines = parse_collapsed(text)

    def _record(self, base, home, running):
        recorder = Beside([HOSTPROF, "record", "-a", "-F", FREQUENCY, "--agent=never", "-o", self.path,
                           "--stats", self.stats_path], f"{base}.log")
        # On a busy machine it takes long to start; what is flushed tells that it runs.
        recorder.wait_for(lambda: os.path.exists(self.path) and os.path.getsize(self.path))
        self.clocks.often = False
        began = time.monotonic()
        time.sleep(SECONDS / 3)
        self.threads = {pid: dump_threads(home, pid) for pid in running.jvms.values()}
        self.class_paths = {pid: jars_of(pid) for pid in running.jvms.values()}
        time.sleep(max(began + SECONDS - time.monotonic(), 0))
        self.clocks.often = True
        time.sleep(2 * SELDOM_S)
        recorder.popen.send_signal(signal.SIGINT)
        expect(not recorder.popen.wait(60), f"hostprof failed: {recorder.text()}")

    def weigh(self, pid):
        lost_ns = sum(each["lost_weight"] for each in self.stats["processes"] if each["pid"] == pid)
        start_ns = self.stats["start_ns"]
        return Weighing(self.clocks.processes[pid], self.sums, lost_ns, start_ns,
                        start_ns + self.stats["elapsed_ns"], FREQUENCY)

    def judge_jvm(self, pid, row):
        """Add the samples of one JVM to a row."""
        pairs = Pairs(of_jdk(self.home, self.class_paths[pid]))
        for line, verdict in judged(of_pid(self.lines, pid), pairs):
            wanted = None if verdict.why else without_its_start(line, self.threads[pid])
            why = f"does not begin with {', '.join(wanted)}" if wanted else verdict.why
            row.add(line, why or pairs.wrong(line), tid_of(line) in self.threads[pid])
        row.pairs.update(pairs.counts)
        others = [each for each in self.stats["processes"] if each["pid"] != pid]
        # Of late, nested and invalid samples nobody knows the process: they may be its own.
        row.add_dropped(gates.dropped(self.stats) - sum(each["lost"] for each in others))
        row.add_weighing(self.weigh(pid))


def print_figures(recording):
    """What the unwinder counted, for whoever looks for the cause of an unfinished stack; what polling cost."""
    stats, clocks = recording.stats, recording.clocks
    figures = ", ".join(f"{row['name'].removeprefix('unwind.')} {row['value']}"
                        for row in stats["counters"])
    print(f"# whole host: {stats['samples']} samples, {100 * stats['complete_share']:.3f} % complete "
          f"by its own word, lost {stats['lost']}; {figures}")
    print(f"# {clocks.rounds} times {sum(len(each.threads) for each in clocks.processes.values())} clocks "
          f"were polled, {clocks.cost_ns / clocks.rounds / 1e6:.2f} ms of CPU each")


def record_program(program):
    """Run a program and record it; returns its rows' names."""
    home = jdk(program.version)
    try:
        running = program.start(home, temp_dir(), program.warm_s + SECONDS + SLACK_S)
    except Unavailable as error:
        skip(str(error))
    running.load()
    time.sleep(program.warm_s)
    recording = Recording(program, home, running)
    for name, pid in running.jvms.items():
        recording.judge_jvm(pid, ROWS[name])
    print_figures(recording)
    return list(running.jvms)


# --- what it shows --------------------------------------------------------------------------


def print_table(rows):
    print(f"# {'program':16} {'samples':>8} {'with Java':>9} {'unfinished':>10} {'share':>9} "
          f"{'threads':>8} {'ends':>5} {'frozen':>7} {'CPU s':>6} {'sampled':>7}  reasons")
    for name, row in rows.items():
        counts = row.counts
        reasons = ", ".join([f"{why} {count}" for why, count in row.reasons.most_common(6)] +
                            [f"allowed: {cause} {count}" for cause, count in row.allowed.items()])
        print(f"# {name:16} {counts['samples']:8} {counts['java']:9} {row.unfinished():10} "
              f"{100 * row.share():8.4f}% {counts['threads']:8} {counts['ends']:5} "
              f"{counts['frozen']:7} {row.cpu_s:6.1f} {row.sampled_s:7.1f}  {reasons}")


def print_reasons(name, row):
    """Where the unfinished stacks stood, one whole stack for each reason, and what weighs what."""
    for line in row.weighing_lines():
        print(f"# {name}: {line}")
    print(f"# {name}: who calls whom: " + ", ".join(f"{count} {what}" for what, count in row.pairs.most_common()))
    for (why, leaf), count in row.leaves.most_common(12):
        print(f"# {name}: {count} x {why}: … {leaf}")
    for why, stack in list(row.examples.items())[:12]:
        text = stack if len(stack) < 1600 else f"{stack[:800]} … {stack[-800:]}"
        print(f"# {name}: {why}: {text}")


def check_program(program):
    need_root()
    names = record_program(program)
    rows = {name: ROWS[name] for name in names}
    print_table(rows)
    for name, row in rows.items():
        print_reasons(name, row)
    faults = [f"{name}: {why}" for name, row in rows.items() for why in row.faults()]
    expect(not faults, "; ".join(faults))


test_programs(check_program)


# --- from the first instruction on ----------------------------------------------------------


# Of one start; a JVM that is new has its first walks finished by userspace.
STARTS, START_SECONDS = 3, 8


def check_start(version):
    """Tomcat, recorded from its exec on until it serves: all of its stacks, from the first one on."""
    need_root()
    home = jdk(version)
    row, pairs = Row(), None
    for _ in range(STARTS):
        directory = temp_dir()
        try:
            argv, env, port = tomcat_command(home, directory)
        except Unavailable as error:
            skip(str(error))
        path, stats_path = os.path.join(directory, "x.jfr"), os.path.join(directory, "stats.json")
        recorder = Beside([HOSTPROF, "record", "-F", FREQUENCY, "--agent=never", "-o", path, "--stats", stats_path, "--",
                           "timeout", "-k", "5", START_SECONDS, *argv], os.path.join(directory, "log"), env=env)
        recorder.wait_for(lambda: accepts(port))
        jvm, = below(recorder.pid, "java")
        class_path = jars_of(jvm)
        recorder.popen.wait(60)
        stats = read_json(stats_path)
        row.add_dropped(gates.dropped(stats))
        pairs = pairs or Pairs(of_jdk(home, class_path))
        for line, verdict in judged(of_pid(parse_collapsed(collapsed_text(path)), jvm), pairs):
            row.add(line, verdict.why or pairs.wrong(line))
    row.pairs.update(pairs.counts)
    name = f"start on {version}"
    print_table({name: row})
    print_reasons(name, row)
    bad, samples = row.unfinished(), row.counts["samples"]
    expect(samples >= 2000, f"only {samples} samples")
    expect(row.counts["java"] >= 0.2 * samples, f"{row.counts['java']} of {samples} samples have a Java frame")
    expect(bad <= gates.most_bad(samples), f"{bad} of {samples} are not whole; {gates.most_bad(samples)} may be")


@test
def tomcat_from_exec_17():
    check_start(17)


@test
def tomcat_from_exec_25():
    check_start(25)


@test
def all_together():
    """The sum over the programs that were recorded before."""
    if not ROWS:
        skip("it judges what other tests of this file record")
    print_table(ROWS)
    samples = sum(row.counts["samples"] for row in ROWS.values())
    bad, most = sum(row.unfinished() for row in ROWS.values()), gates.most_bad_of_suite(samples)
    print(f"# {bad} of {samples} are not whole; {most} may be")
    weighings = [weighing for row in ROWS.values() for weighing in row.weighings]
    print(f"# {sum(len(each.wrong()) for each in weighings)} of {sum(len(each.threads) for each in weighings)} "
          "threads weigh what they did not run")
    rare = rare_threads(weighings)
    print(f"# {rare.name}: {rare.samples} samples weigh {rare.weighed_ns / 1e6:.1f} ms of {rare.clock.ns / 1e6:.1f}")
    faults = [f"{bad} of {samples} are not whole"] if bad > most else []
    expect(not faults + list(faults_of(weighings)), "; ".join(faults + list(faults_of(weighings))))


main()
