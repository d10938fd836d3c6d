# SPDX-License-Identifier: Apache-2.0
"""Compiles programs made at random, and judges the samples of their threads."""
import collections
import os
import re

from hp import jdk, of_pid, plain, run
from known_stacks import symbol_at
from random_program import Judge
from random_sources import write_sources

EXAMPLES = 6

Row = collections.namedtuple("Row", "kinds paths reasons")


def compiled(program, directory):
    """The program in a directory; returns that."""
    java_files, c_file = write_sources(program, directory)
    home = jdk(17)
    run([f"{home}/bin/javac", "-nowarn", "--release", "8", "-d", directory,
         *(os.path.join(directory, name) for name in java_files)], code=0, timeout=120)
    run(["gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fwrapv", "-shared",
         "-fPIC", f"-I{home}/include", f"-I{home}/include/linux", "-o", f"{directory}/libmade.so",
         os.path.join(directory, c_file)], code=0, timeout=120)
    return directory


class LineJudge:
    """Judges whole lines of the collapsed format."""

    def __init__(self, program, directory):
        self.judge = Judge(program)
        self.library = os.path.join(directory, "libmade.so")

    def name_of(self, frame):
        """A frame's name. On a busy machine a file's symbols may be read too late for a sample."""
        address = re.fullmatch(r"\[libmade\.so\+0x([0-9a-f]+)\]", frame)
        if address:
            return symbol_at(self.library, int(address.group(1), 16))
        return plain(frame)

    def judge_line(self, worker, frames):
        """Kind and path, or the reason, of one stack."""
        user = [self.name_of(frame) for frame in frames if not frame.endswith("_[k]")]
        return judge_user(self.judge, worker, user)


def judge_user(judge, worker, user):
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


def judge_pid(judge, lines, pid):
    """The row of a process in the table; prints some of what is wrong."""
    row = Row(collections.Counter(), collections.Counter(), collections.Counter())
    examples = {}
    for line in of_pid(lines, pid):
        name = re.match(r"\[made-(\d) tid", line.thread)
        if not name:
            continue
        worker = int(name.group(1))
        kind, what = judge.judge_line(worker, line.frames)
        row.kinds[kind] += line.count
        if kind == "bad":
            row.reasons[what] += line.count
            examples.setdefault(what, ";".join(line.frames))
        elif kind != "outside":
            row.paths[worker, what] += line.count
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
          f"{100 * row.kinds['bad'] / max(count, 1):.4f} % bad", flush=True)
