#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole stacks of a Java/JNI program made at random: exact frames and shares, JDK 17 and 25.

The seed is printed; HOSTPROF_SEED=N makes that program again, HOSTPROF_SEEDS=N tries N programs.
"""
import atexit
import math
import random
import tempfile

from hp import *
from native_programs import Recording
from random_program import Judge, Program
from random_sources import write_sources

FREQUENCY = 997
SECONDS = 9
MUST_SHARE = 0.002
MODES = {"default": [], "-Xint": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"]}
EXAMPLES = 6

first_seed = int(os.environ.get("HOSTPROF_SEED") or random.randrange(2**31))
seeds = [first_seed + number for number in range(int(os.environ.get("HOSTPROF_SEEDS") or 1))]
directories = {}

Row = collections.namedtuple("Row", "kinds paths reasons")


def compiled(seed):
    """Where the program of a seed is; it is compiled once for all tests."""
    if seed in directories:
        return directories[seed]
    directory = tempfile.mkdtemp(prefix="hostprof-random-")
    atexit.register(shutil.rmtree, directory, True)
    java_files, c_file = write_sources(Program(seed), directory)
    home = jdk(17)
    run([f"{home}/bin/javac", "-nowarn", "--release", "8", "-d", directory,
         *(os.path.join(directory, name) for name in java_files)], code=0, timeout=120)
    run(["gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fwrapv", "-shared",
         "-fPIC", f"-I{home}/include", f"-I{home}/include/linux", "-o", f"{directory}/libmade.so",
         os.path.join(directory, c_file)], code=0, timeout=120)
    directories[seed] = directory
    return directory


class Running:
    """The program in one JVM."""

    def __init__(self, directory, home, version, flags):
        allowed = ["--enable-native-access=ALL-UNNAMED"] if version > 21 else []
        self.process = start([f"{home}/bin/java", "-Xmx64m", "-XX:+UseSerialGC", *allowed, *flags,
                              "-cp", directory, "made.Plan", f"{directory}/libmade.so", 500],
                             stdin=subprocess.PIPE)
        self.asked = 0

    def clocks(self):
        """(worker, path) → CPU time in ns and turns, so far."""
        self.process.wait_text("ready")
        self.asked += 1
        seen = len(self.process.text)
        self.process.popen.stdin.write(b"?")
        self.process.popen.stdin.flush()
        self.process.wait_text(f"shown {self.asked}\n")
        rows = re.findall(r"^path (\d+) (\d+) (\d+) (\d+)$", self.process.text[seen:], re.MULTILINE)
        return {(int(row[0]), int(row[1])): (int(row[2]), int(row[3])) for row in rows}


# --- judging ------------------------------------------------------------------------------------


def judge_line(judge, worker, frames):
    """Kind and path, or the reason, of one stack."""
    user = [re.sub(r"_\[[a-z0-9]\]$", "", frame) for frame in frames if not frame.endswith("_[k]")]
    run_frame = f"made.W{worker}.run"
    if run_frame not in user:
        return "bad", user[0] if user else "no user frames"
    at = user.index(run_frame)
    if not is_thread_start(user[:at]):
        return "bad", f"starts with {user[0] if at else run_frame}"
    return judge.judge(worker, user[at + 1:])


def is_thread_start(frames):
    """clone3, start_thread, the JVM's, the call stub."""
    return len(frames) > 4 and re.fullmatch(r"\[thread start\]|(?:__)?clone3?", frames[0]) and \
        not any(frame.startswith(("[unwind", "made.")) for frame in frames)


def judge_lines(judge, lines):
    """One row of the table; prints some of what is wrong."""
    row = Row(collections.Counter(), collections.Counter(), collections.Counter())
    examples = collections.defaultdict(list)
    for line in lines:
        name = re.match(r"\[made-(\d) tid", line.thread)
        if not name:
            continue
        worker = int(name.group(1))
        kind, what = judge_line(judge, worker, line.frames)
        row.kinds[kind] += line.count
        if kind == "bad":
            row.reasons[what] += line.count
            examples[what].append(";".join(line.frames))
        elif kind != "outside":
            row.paths[worker, what] += line.count
    for what, _ in row.reasons.most_common(EXAMPLES):
        print(f"# {row.reasons[what]} x {what}: {shortened(examples[what][0], what)}")
    return row


def shortened(text, what):
    """Its beginning, its end, and what is around the place where it goes wrong."""
    at = text.find(";".join(reversed(what.split(" behind "))))
    middle = text[max(at - 300, 300):at + 300] if at > 0 else ""
    return text if len(text) < 1200 else f"{text[:300]} … {middle} … {text[-400:]}"


def expect_shares(row, before, after):
    """Each path has its part of its worker's samples; a call may lie across either end."""
    for worker in sorted({worker for worker, _ in after}):
        paths = [key for key in after if key[0] == worker]
        spent = {key: after[key][0] - before[key][0] for key in paths}
        samples = sum(row.paths[key] for key in paths)
        for key in paths:
            part = spent[key] / sum(spent.values())
            one_call = spent[key] / max(after[key][1] - before[key][1], 1) * FREQUENCY / 1e9
            slack = 4 * math.sqrt(samples * part * (1 - part)) + 2 * one_call
            expect(abs(row.paths[key] - part * samples) <= slack,
                   f"path {key}: {row.paths[key]} samples of {samples}, "
                   f"{part * samples:.0f} ± {slack:.0f} by its clock")


def print_row(name, row):
    count = row.kinds.total()
    kinds = ", ".join(f"{kind} {row.kinds[kind]}" for kind in ("leaf", "part", "outside", "bad"))
    print(f"# {name:12} {count:6} samples: {kinds}: "
          f"{100 * row.kinds['bad'] / max(count, 1):.4f} % bad", flush=True)


def stacks_are_exact(version, seed):
    home, directory = jdk(version), compiled(seed)
    judge = Judge(Program(seed))
    jvms = {mode: Running(directory, home, version, flags) for mode, flags in MODES.items()}
    before = {mode: jvm.clocks() for mode, jvm in jvms.items()}
    recording = Recording("--max-depth", 2048)
    time.sleep(SECONDS)
    lines, _ = recording.finish("-t")
    rows = {}
    for mode, jvm in jvms.items():
        print(f"# JDK {version} {mode}, seed {seed}")
        rows[mode] = judge_lines(judge, of_pid(lines, jvm.process.pid))
        print_row(mode, rows[mode])
    for mode, row in rows.items():
        count = row.kinds.total()
        expect(count > 300 * SECONDS, f"{mode}: only {count} samples")
        expect(row.kinds["leaf"] > 0.5 * count, f"{mode}: {row.kinds['leaf']} of {count} at a leaf")
        expect(row.kinds["bad"] <= MUST_SHARE * count, f"{mode}: {row.kinds['bad']} of {count} are bad")
        expect_shares(row, before[mode], jvms[mode].clocks())


def try_seeds(version):
    need_root()
    for seed in seeds:
        print(f"# JDK {version}: again with HOSTPROF_SEED={seed}", flush=True)
        stacks_are_exact(version, seed)


@test
def random_program_17():
    try_seeds(17)


@test
def random_program_25():
    try_seeds(25)


main()
