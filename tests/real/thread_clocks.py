# SPDX-License-Identifier: Apache-2.0
"""How long each thread of some processes has run, as the scheduler keeps it, at any moment of a recording.

Clocks are polled, and read between two polls by a straight line. What the line may be wrong by is known, since a
thread runs on one cpu at a time; it is told as the least and the most that the clock can have been.
"""
import bisect
import collections
import contextlib
import os
import threading
import time

from hp import expect

# Around the start and the end of a recording, and between them.
OFTEN_S, SELDOM_S = 0.05, 0.5

Reading = collections.namedtuple("Reading", "time_ns run_ns")
Span = collections.namedtuple("Span", "low_ns ns high_ns")  # at least, by the line, at most


class Clock:
    """Readings of one clock that runs on at most CPUS at a time. MISSED: when it was looked for last, and was not there."""

    def __init__(self, name, missed_ns=None, cpus=1):
        self.name, self.missed_ns, self.cpus, self.readings = name, missed_ns, cpus, []
        self.gone_ns = None  # it was looked for then, and had ended

    def add(self, time_ns, run_ns):
        self.readings.append(Reading(time_ns, run_ns))

    def at(self, time_ns):
        """A Span: what it had run at this time."""
        after = bisect.bisect_left(self.readings, time_ns, key=lambda each: each.time_ns)
        if after == len(self.readings):
            return self._after_its_end(time_ns)
        if after:
            return self._between(self.readings[after - 1], self.readings[after], time_ns)
        expect(self.missed_ns is not None, f"{self.name} was first read after {time_ns}")
        if time_ns <= self.missed_ns:
            return Span(0, 0, 0)
        return self._between(Reading(self.missed_ns, 0), self.readings[0], time_ns)

    def _between(self, before, after, time_ns):
        passed, rest, ran = time_ns - before.time_ns, after.time_ns - time_ns, after.run_ns - before.run_ns
        value = before.run_ns + ran * passed / (passed + rest)
        low = max(before.run_ns, after.run_ns - self.cpus * rest)
        high = min(after.run_ns, before.run_ns + self.cpus * passed)
        return Span(min(low, value), value, max(high, value))

    def _after_its_end(self, time_ns):
        last = self.readings[-1]
        expect(self.gone_ns is not None, f"{self.name} was last read before {time_ns}")
        more = self.cpus * (min(time_ns, self.gone_ns) - last.time_ns)
        return Span(last.run_ns, last.run_ns, last.run_ns + max(more, 0))

    def between(self, start_ns, end_ns):
        """A Span: what it ran from one time to another."""
        start, end = self.at(start_ns), self.at(end_ns)
        return Span(max(end.low_ns - start.high_ns, 0), end.ns - start.ns, end.high_ns - start.low_ns)


class ProcessClocks:
    """The clock of a process, in which that of its ended threads is, and those of its threads."""

    def __init__(self, pid):
        self.pid, self.threads, self.polled_ns = pid, {}, None
        self.whole = Clock(f"process {pid}", cpus=os.cpu_count())
        self._files = {}

    def poll(self):
        began = time.monotonic_ns()
        self.whole.add(began, time.clock_gettime_ns(~self.pid << 3 | 2))  # CPUCLOCK_SCHED, linux/posix-timers.h
        for tid in map(int, os.listdir(f"/proc/{self.pid}/task")):
            with contextlib.suppress(OSError):  # ended
                self._read(tid)
        for tid in [tid for tid in self._files if not self._was_read(tid, began)]:
            if tid in self.threads:
                self.threads[tid].gone_ns = time.monotonic_ns()
            os.close(self._files.pop(tid))
        self.polled_ns = began

    def _read(self, tid):
        if tid not in self._files:
            self._files[tid] = os.open(f"/proc/{self.pid}/task/{tid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        now = time.monotonic_ns()
        text = os.pread(self._files[tid], 64, 0)
        if tid not in self.threads:
            with open(f"/proc/{self.pid}/task/{tid}/comm", encoding="utf-8", errors="replace") as file:
                self.threads[tid] = Clock(f"{file.read().strip()} {tid}", self.polled_ns)
        self.threads[tid].add(now, int(text.split()[0]))

    def _was_read(self, tid, since_ns):
        return tid in self.threads and self.threads[tid].readings[-1].time_ns >= since_ns

    def close(self):
        for tid in list(self._files):
            os.close(self._files.pop(tid))


class Polling:
    """Polls the clocks of some processes while it is entered."""

    def __init__(self, pids):
        self.processes = {pid: ProcessClocks(pid) for pid in pids}
        self.often, self.rounds, self.cost_ns = True, 0, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._poll()
        self._thread.start()
        return self

    def __exit__(self, *ignored):
        self._ended.set()
        self._thread.join()
        for process in self.processes.values():
            process.close()

    def _poll(self):
        for process in self.processes.values():
            process.poll()
        self.rounds += 1

    def _run(self):
        with contextlib.suppress(OSError):  # a process has ended: who asks for its clock hears it
            while not self._ended.wait(OFTEN_S if self.often else SELDOM_S):
                self._poll()
            self._poll()
        self.cost_ns = time.thread_time_ns()
