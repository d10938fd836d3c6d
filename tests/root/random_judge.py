# SPDX-License-Identifier: Apache-2.0
"""Compiles programs made at random, and judges the samples of their threads."""
import collections
import math
import os
import re

from hp import jdk, of_pid, plain, run
from jvm_frames import (LIBJVM, allowed_cause, below_leaf, call_back, flaw, is_java, is_kernel, name_of,
                        thread_start)
from known_stacks import symbol_at
from random_program import C, calls_back
from random_sources import CALLS, write_sources

EXAMPLES = 6
# Java methods that a worker's run() calls between two paths.
OUTSIDE = r"made\.W%d\.(?:adjust|poorest)|made\.Plan\.clock|java\.lang\.Math\.(?:max|min)|" \
    r"java\.util\.Arrays\.fill"

# paths: (worker, path) → samples; leaves: of these, those that reach the leaf; allowed: known causes.
Row = collections.namedtuple("Row", "kinds paths leaves reasons allowed")


def compiled(program, directory):
    """The program in a directory; returns that."""
    java_files, c_file = write_sources(program, directory)
    home = jdk(17)
    run([f"{home}/bin/javac", "-nowarn", "-encoding", "UTF-8", "--release", "8", "-d", directory,
         *(os.path.join(directory, name) for name in java_files)], code=0, timeout=120)
    run(["gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fwrapv", "-shared",
         "-fPIC", f"-I{home}/include", f"-I{home}/include/linux", "-o", f"{directory}/libmade.so",
         os.path.join(directory, c_file)], code=0, timeout=120)
    return directory


def frames_of(path):
    """What a path's frames must be, root first: (name, whether it is Java's), or a call back's pattern."""
    wanted = []
    for caller, callee in zip([None, *path.functions], path.functions):
        if caller and calls_back(caller, callee):
            wanted.append(call_back(callee.static, CALLS[callee.result]))
        wanted += [(name, callee.kind != C and place == 0)
                   for place, name in enumerate(callee.frames)]
    return wanted


class Judge:
    """Says of a stack of a worker whether it is one that the program can have."""

    def __init__(self, program):
        self.own = {frame for function in program.functions for frame in function.frames}
        self.paths = [{path.functions[0].frames[0]: (path.number, frames_of(path))
                       for path in paths} for paths in program.workers]

    def judge(self, worker, frames):
        """
        FRAMES root first, from behind the worker's run() on. ("leaf" or "part", number of the path)
        or ("bad", why); ("outside", "") between two paths.
        """
        if not frames or plain(frames[0]) not in self.own:
            return self._judge_outside(worker, frames)
        number, wanted = self.paths[worker].get(plain(frames[0]), (None, None))
        if number is None:
            return "bad", f"{plain(frames[0])} begins no path"
        at, met = follow(frames, wanted)
        if not met:
            return "bad", f"{frames[0]} is no Java frame"
        strange = [plain(frame) for frame in frames[at:] if plain(frame) in self.own]
        if strange:
            return "bad", f"{plain(frames[at])} behind {plain(frames[at - 1])}"
        why = judge_end(frames[at - 1], frames[at:], wanted[met:])
        if why:
            return "bad", why
        return ("part" if met < len(wanted) else "leaf"), number

    def _judge_outside(self, worker, frames):
        """Between two paths: what run() calls else."""
        strange = [plain(frame) for frame in frames if plain(frame) in self.own]
        if strange:
            return "bad", f"{strange[0]} without a caller"
        method = f"made.W{worker}.run"
        why = below_leaf(f"{method}_[0]", frames, re.compile(OUTSIDE % worker),
                         {"made.Plan.clock": "Java_made_Plan_clock"})
        return ("bad", why) if why else ("outside", "")


def follow(frames, wanted):
    """How many of FRAMES are as WANTED, and of how many of these."""
    at = 0
    for met, part in enumerate(wanted):
        if isinstance(part, re.Pattern):
            count = part.pattern.count(";") + 1
            if not part.fullmatch(";".join(map(name_of, frames[at:at + count]))):
                return at, met
            at += count
        elif at < len(frames) and (plain(frames[at]), is_java(frames[at])) == part:
            at += 1
        else:
            return at, met
    return at, len(wanted)


def judge_end(last, rest, missing):
    """Why what lies below the LAST frame that is as wanted cannot be there; MISSING: what was wanted."""
    if not rest:
        return ""
    if is_java(last) or last == "call_stub":
        is_native = missing and isinstance(missing[0], tuple) and not missing[0][1]
        return below_leaf(last, rest, natives={name_of(last): missing[0][0]} if is_native else {})
    # C calls C, and a leaf in C nobody; the JVM is on its way to the Java method that C calls.
    jni = missing[0].pattern.split(";")[0] if missing and isinstance(missing[0], re.Pattern) else None
    if not jni or not re.fullmatch(jni, name_of(rest[0])) and not re.fullmatch(LIBJVM, rest[0]):
        return f"{name_of(rest[0])} below {name_of(last)}"
    java = [name_of(frame) for frame in rest if is_java(frame)]
    return f"{java[0]} below {name_of(last)}" if java else ""


class LineJudge:
    """Judges whole lines of the collapsed format."""

    def __init__(self, program, directory):
        self.judge = Judge(program)
        self.library = os.path.join(directory, "libmade.so")

    def named(self, frame):
        """A frame with its name. On a busy machine a file's symbols may be read too late for a sample."""
        address = re.fullmatch(r"\[libmade\.so\+0x([0-9a-f]+)\]", frame)
        return symbol_at(self.library, int(address.group(1), 16)) if address else frame

    def judge_line(self, worker, frames):
        """Kind and path, or the reason, of one annotated stack."""
        user = [self.named(frame) for frame in frames if not is_kernel(frame)]
        return judge_user(self.judge, worker, user)


def judge_user(judge, worker, user):
    why = flaw(user)
    if why:
        return "bad", why
    count = thread_start(user)
    if not count or count == len(user) or plain(user[count]) != f"made.W{worker}.run" or \
            not is_java(user[count]):
        return "bad", f"starts with {';'.join(map(name_of, user[:count + 1]))}"
    return judge.judge(worker, user[count + 1:])


def judge_pid(judge, lines, pid):
    """The row of a process in the table; prints some of what is wrong."""
    row = Row(*(collections.Counter() for _ in Row._fields))
    examples = {}
    for line in of_pid(lines, pid):
        name = re.match(r"\[made-(\d) tid", line.thread)
        if not name:
            continue
        worker = int(name.group(1))
        kind, what = judge.judge_line(worker, line.frames)
        row.kinds[kind] += line.count
        cause = "" if kind == "bad" else allowed_cause(line.frames)
        row.allowed.update({cause: line.count} if cause else {})
        if kind == "bad":
            row.reasons[what] += line.count
            examples.setdefault(what, ";".join(line.frames))
        elif kind != "outside":
            row.paths[worker, what] += line.count
            row.leaves[worker, what] += line.count * (kind == "leaf")
    for what, count in row.reasons.most_common(EXAMPLES):
        print(f"# {count} x {what}: {shortened(examples[what], what)}")
    return row


def shortened(text, what):
    """Its beginning, its end, and what is around the place where it goes wrong."""
    at = text.find(";".join(reversed(what.split(" behind "))))
    middle = text[max(at - 300, 300):at + 300] if at > 0 else ""
    return text if len(text) < 1200 else f"{text[:300]} … {middle} … {text[-400:]}"


def print_row(name, row):
    count = row.kinds.total()
    kinds = ", ".join(f"{kind} {row.kinds[kind]}" for kind in ("leaf", "part", "outside", "bad"))
    print(f"# {name:12} {count:6} samples: {kinds}: "
          f"{100 * row.kinds['bad'] / max(count, 1):.4f} % bad; allowed {dict(row.allowed)}", flush=True)


# --- shares -------------------------------------------------------------------------------------

# Of a path: CPU time in ns and turns, and of these the turns that do not work at the leaf.
Took = collections.namedtuple("Took", "spent turns way ways")
ENOUGH_WAYS = 10


class Clocks:
    """What a program's workers took by their own clocks: paths by (worker, path), workers by number."""

    def __init__(self, paths, workers):
        self.paths, self.workers = paths, workers

    def since(self, before):
        """The differences; of a path with few turns that only go its way, all such turns so far where these took longer."""
        paths = {}
        for key, now in self.paths.items():
            path = Took(*(a - b for a, b in zip(now, before.paths[key])))
            if path.ways < ENOUGH_WAYS and path.way * now.ways <= now.way * path.ways:
                path = path._replace(way=now.way, ways=now.ways)
            paths[key] = path
        return Clocks(paths, {worker: clock - before.workers[worker]
                              for worker, clock in self.workers.items()})


def parse_clocks(text):
    paths = {tuple(map(int, row[:2])): Took(*map(int, row[2:])) for row in
             re.findall(r"^path (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", text, re.MULTILINE)}
    workers = re.findall(r"^worker (\d+) (\d+)$", text, re.MULTILINE)
    return Clocks(paths, {int(worker): int(clock) for worker, clock in workers})


def spread(count, part):
    """What chance makes of a part of so many samples."""
    return 4 * math.sqrt(count * part * max(1 - part, 0))


def strange_shares(row, took, frequency):
    """Where a path, its leaf or what lies between paths has other samples than the program's clocks say."""
    found = []
    for (worker, number), path in took.paths.items():
        paths = [key for key in took.paths if key[0] == worker]
        samples = sum(row.paths[key] for key in paths)
        part = path.spent / sum(took.paths[key].spent for key in paths)
        # A call may lie across either end.
        slack = spread(samples, part) + 2 * path.spent / max(path.turns, 1) * frequency / 1e9
        came = row.paths[worker, number]
        if abs(came - part * samples) > slack:
            found.append(f"path {worker}/{number}: {came} samples of {samples}, "
                         f"{part * samples:.0f} ± {slack:.0f} by its clock")
        found += strange_leaf(row, (worker, number), path, frequency)
    # The clock is read in the midst of its call, whose other half is in the paths' time.
    between = 2 * (1 - sum(path.spent for path in took.paths.values()) / sum(took.workers.values()))
    count = row.kinds.total()
    if row.kinds["outside"] > count * between + spread(count, between) + 2:
        found.append(f"{row.kinds['outside']} of {count} samples between paths, at most "
                     f"{100 * between:.2f} % by the clocks")
    return found


def strange_leaf(row, key, path, frequency):
    """A turn works at the leaf for what it takes longer than one that only goes there and back."""
    one_way = path.way / max(path.ways, 1)
    # Few turns say what the way takes, so it may be half as much again.
    part = min(1.5 * path.turns * one_way / path.spent, 1)
    least = row.paths[key] * (1 - part) - spread(row.paths[key], part) - 2 - \
        2 * one_way * frequency / 1e9
    if row.leaves[key] >= least:
        return []
    return [f"path {key[0]}/{key[1]}: {row.leaves[key]} of {row.paths[key]} samples reach the leaf, "
            f"at least {least:.0f} by its clock"]
