# SPDX-License-Identifier: Apache-2.0
"""Tests beside each other: each in a process of its own, whose output is shown when it has ended."""
import os
import select
import shutil
import signal
import sys
import tempfile

# What a test came to, in the order of its process's exit codes.
RESULTS = ["passed", "skipped", "failed", "died"]


class Lane:
    """A child that runs JOB, which returns one of RESULTS."""

    def __init__(self, name, job):
        self.name = name
        self._output = tempfile.TemporaryFile()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            self._run(job)
        self._end = os.pidfd_open(self.pid)

    def _run(self, job):
        code = len(RESULTS)
        try:
            os.dup2(self._output.fileno(), 1)
            os.dup2(self._output.fileno(), 2)
            code = RESULTS.index(job())
            sys.stdout.flush()
        finally:
            # The parent's cleanups are not this one's.
            os._exit(code)

    def fileno(self):
        """Readable at its end."""
        return self._end

    def finish(self):
        """Show what it printed; returns what it came to."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._end)
        self._output.seek(0)
        shutil.copyfileobj(self._output, sys.stdout.buffer)
        self._output.close()
        known = 0 <= code < len(RESULTS)
        if not known:
            print(f"FAIL {self.name}: its process ended with {code}")
        sys.stdout.flush()
        return RESULTS[code] if known else "died"

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)


def run_lanes(jobs, lanes):
    """Run (name, job) of JOBS, at most LANES at once; gives (name, result) as they end."""
    left, running = list(jobs), []
    try:
        while left or running:
            while left and len(running) < lanes:
                running.append(Lane(*left.pop(0)))
            for lane in select.select(running, [], [])[0]:
                running.remove(lane)
                yield lane.name, lane.finish()
    finally:
        for lane in running:
            lane.stop()
