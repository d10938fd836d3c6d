# SPDX-License-Identifier: Apache-2.0
"""A reader of `hostprof stream`: its lines, when each came, and what they add up to."""
import collections
import json
import os
import subprocess
import threading
import time

from hp_expect import expect, expect_equal
from hp_process import HOSTPROF, Process

PIECE = 1 << 20

Line = collections.namedtuple("Line", "time_ns text")


class Lines:
    """Reads a descriptor on a thread of its own, so that the time of each line is when it came."""

    def __init__(self, fd):
        self._fd, self._pieces = fd, []
        self._may_read = threading.Event()
        self._may_read.set()
        self._thread = threading.Thread(target=self._read_all, daemon=True)
        self._thread.start()

    def _read_all(self):
        # It is not the reader's wait for a cpu that is measured.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while True:
            self._may_read.wait()
            piece = os.read(self._fd, PIECE)
            self._pieces.append((time.monotonic_ns(), piece))
            if not piece:
                return

    def stop(self):
        """Read nothing until go_on()."""
        self._may_read.clear()

    def go_on(self):
        self._may_read.set()

    def count(self):
        return sum(piece.count(b"\n") for _, piece in list(self._pieces))

    def all(self, timeout=60):
        """All lines, when the writer has ended."""
        self._thread.join(timeout)
        expect(not self._thread.is_alive(), "the stream does not end")
        lines, rest = [], b""
        for time_ns, piece in self._pieces:
            *whole, rest = (rest + piece).split(b"\n")
            lines += [Line(time_ns, text) for text in whole]
        expect_equal(rest, b"", "what follows the last newline")
        return lines


class Stream(Process):
    """hostprof stream beside the test."""

    def __init__(self, *args):
        super().__init__([HOSTPROF, "stream", *args], stderr=subprocess.PIPE)
        self.lines = Lines(self.popen.stdout.fileno())

    def last_words(self):
        return self.popen.stderr.read().decode("utf-8", "replace")


class Model:
    """What a reader knows at the end: each sample as it was corrected last."""

    def __init__(self, lines):
        self.samples, self.processes, self.threads = {}, {}, {}
        self.counts, self.lost_samples, self.lines_lost = collections.Counter(), 0, 0
        self.lost = self.late = self.corrected = 0
        self.delays_ns, self.end, self.begin = [], None, None
        self.lives, self.orphans = [], 0
        for line in lines:
            self._take(line, json.loads(line.text.decode("utf-8")))

    def _take(self, line, d):
        kind = d["type"]
        self.counts[kind] += 1
        if kind == "begin":
            expect_equal(self.counts.total(), 1, "place of the first line")
            self.begin = d
        elif kind == "process":
            self.processes[d["process"]] = d
        elif kind == "thread":
            self.threads[d["thread"]] = d
        elif kind == "sample":
            expect(d["id"] not in self.samples, "an id is there twice")
            self.samples[d["id"]] = d
            self.delays_ns.append(line.time_ns - d["time_ns"])
        elif kind == "correction":
            self._correct(d)
        elif kind == "lost":
            self.lost += d["samples"]
        elif kind == "lost_lines":
            self.lines_lost += d["lines"]
            self.lost_samples += d["samples"]
        elif kind == "end":
            self.end = d
        else:
            self.lives.append(d)

    def _correct(self, d):
        sample = self.samples.get(d["id"])
        if not sample:
            self.orphans += 1
            return
        self.corrected += 1
        sample["thread"], sample["frames"] = d["thread"], d["frames"]

    def late_share(self, limit_ns):
        return sum(delay > limit_ns for delay in self.delays_ns) / max(len(self.delays_ns), 1)

    def sums(self):
        """(process, thread, frames root first) -> [samples, weight], as collapsed stacks have them."""
        result = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples.values():
            thread = self.threads[sample["thread"]]
            process = self.processes[thread["process"]]
            number = f" #{thread['java_tid']}" if thread.get("virtual") else ""
            key = (f"{process['name']}-{process['pid']}", f"[{thread['name']}{number} tid={thread['tid']}]",
                   *[frame["name"] for frame in reversed(sample["frames"])])
            key = tuple(plain_text(part) for part in key)
            result[key][0] += 1
            result[key][1] += sample["weight"]
        return dict(result)


def plain_text(text):
    """As collapsed stacks have it."""
    text = text.replace(";", ":").replace("\n", " ").replace("\r", " ")
    return "".join(c if c >= " " and c != "\x7f" else "?" for c in text)
