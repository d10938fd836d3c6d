# SPDX-License-Identifier: Apache-2.0
"""Recordings as stacks and figures, read through hostprof's own views."""
import collections
import json
import os
import re

from hp_process import hostprof, record, run
from hp_run import BUILD, temp_path

Line = collections.namedtuple("Line", "process thread frames count")


def parse_collapsed(text):
    """Lines of the collapsed format; frames root first, thread "" when there is none."""
    lines = []
    for row in text.splitlines():
        stack, _, count = row.rpartition(" ")
        parts = stack.split(";")
        thread = ""
        frames = parts[1:]
        if frames and re.fullmatch(r"\[.* tid=\d+\]", frames[0]):
            thread, frames = frames[0], frames[1:]
        lines.append(Line(parts[0], thread, frames, int(count)))
    return lines


def collapsed(path, *args):
    """Report a recording as collapsed stacks and parse them; with all that names have."""
    return parse_collapsed(hostprof("report", path, "-f", "collapsed", "-o", "-", "--no-normalize", *args).out)


def timed_lines(path):
    """Each sample of a recording by itself: its time (CLOCK_MONOTONIC, nanoseconds), and a line as of --annotate --threads, whose count is the sample's weight."""
    rows = [row.split(" ", 1) for row in run([os.path.join(BUILD, "tools", "timed_stacks"), path], code=0, timeout=300).out.splitlines()]
    return list(zip((int(time_ns) for time_ns, _ in rows), parse_collapsed("\n".join(row for _, row in rows))))


def of_pid(lines, pid):
    """Those lines that belong to a pid."""
    return [line for line in lines if line.process.endswith(f"-{pid}")]


def plain(frame):
    """A frame without the kind that --annotate puts behind it."""
    return re.sub(r"_\[[a-z0-9]\]$", "", frame)


def plain_user(frames):
    """The names of an annotated stack's user frames."""
    return [plain(frame) for frame in frames if not frame.endswith("_[k]")]


def total(lines):
    return sum(line.count for line in lines)


def share(lines, frame):
    """Part of the samples that have FRAME anywhere."""
    return total([line for line in lines if frame in line.frames]) / max(total(lines), 1)


def in_order(frames, *wanted):
    """Whether WANTED appear in FRAMES in this order (others may lie between)."""
    rest = iter(frames)
    return all(any(frame == want for frame in rest) for want in wanted)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def stats_of(*args, **more):
    """Record with --stats; returns (path of the recording, the figures)."""
    stats = temp_path("stats.json")
    path = record("--stats", stats, *args, **more)
    return path, read_json(stats)
