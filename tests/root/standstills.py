# SPDX-License-Identifier: Apache-2.0
"""
When a cpu of this machine stood still. A virtual machine's cpu may get no time of the real one for a tenth of a second, while
others go on: what had to be done then by who ran on it was not done, whoever he is. Who sleeps for 2 ms on each cpu, before
all others there, hostprof's own threads, too, knows of it.
"""
import os
import signal
import sys

from hp import start

LEAST_NS = 20_000_000
WATCH = f"""import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
print("ready", flush=True)
last = time.monotonic_ns()
while True:
    time.sleep(0.002)
    now = time.monotonic_ns()
    if now - last > {LEAST_NS}:
        print(last, now, flush=True)
    last = now
"""


class Standstills:
    """Watches from now on, until end()."""

    def __init__(self):
        self._watches = [start([sys.executable, "-c", WATCH, cpu]) for cpu in sorted(os.sched_getaffinity(0))]
        for watch in self._watches:
            watch.wait_text("ready")
        self.spans = []

    def end(self):
        """Then spans has (begin, end) of each, by CLOCK_MONOTONIC."""
        for watch in self._watches:
            watch.signal(signal.SIGTERM)
        texts = [watch.finish(code=None) for watch in self._watches]
        self.spans = [tuple(map(int, row.split())) for text in texts for row in text.splitlines() if row != "ready"]

    def has(self, at_ns, after_ns=0):
        """Did a cpu stand still at that time, or not longer ago than that?"""
        return any(begin <= at_ns <= end + after_ns for begin, end in self.spans)
