# SPDX-License-Identifier: Apache-2.0
"""Programs that a test runs to their end, or beside itself."""
import collections
import contextlib
import glob
import json
import os
import select
import signal
import subprocess
import time

from hp_clocks import wait_until
from hp_deaths import crashed, note_crash_reports, note_death
from hp_expect import Failed, expect, expect_equal, shorten, skip
from hp_run import BUILD, FILE_CLOCK_LAG, at_end, cleanup, temp_path

HOSTPROF = os.path.join(BUILD, "hostprof")
AGENT = os.path.join(BUILD, "libhostprof-agent.so")
WORKLOADS = os.path.join(BUILD, "workloads")

# Signals that end nothing.
PAUSES = {signal.SIGSTOP, signal.SIGCONT}

Result = collections.namedtuple("Result", "code out err")


def _ended(argv, code):
    return f"{' '.join(argv)} ended with {code} unasked; its last words:"


def run(argv, timeout=60, code=None, env=None, cwd=None, stdin=subprocess.DEVNULL, text=True):
    """
    Run a program to its end. With CODE, fail when it exits otherwise; that a signal ended it fails
    the test in any case.
    """
    argv = [str(a) for a in argv]
    done = subprocess.run(argv, timeout=timeout, env=env, cwd=cwd, stdin=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    out, err = done.stdout, done.stderr
    if text:
        out, err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    if done.returncode != code and (done.returncode < 0 or crashed(done.returncode)):
        note_death(_ended(argv, done.returncode), str(err))
    if code is not None and done.returncode != code:
        raise Failed(f"{' '.join(argv)}: expected exit code {code}, came {done.returncode}; "
                     f"stderr {shorten(err)}")
    return Result(done.returncode, out, err)


def hostprof(*args, code=0, **more):
    """Run hostprof to its end; CODE None accepts every exit code."""
    return run([HOSTPROF, *args], code=code, **more)


def record(*args, output=None, timeout=None, **more):
    """Record into a temporary .jfr (or OUTPUT); returns its path."""
    output = output or temp_path("out.jfr")
    hostprof("record", "-o", output, *args, timeout=timeout or 120, **more)
    return output


def family(pid):
    """PID and all that descend from it."""
    found = [pid]
    for parent in found:
        for path in glob.glob(f"/proc/{parent}/task/*/children"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def status_of(path):
    """The lines of PATH/status, a process's or thread's directory; empty when it has gone."""
    with contextlib.suppress(OSError), open(f"{path}/status", encoding="utf-8", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {}


def below(pid, name):
    """Processes of that name that descend from PID."""
    return [one for one in family(pid)[1:] if status_of(f"/proc/{one}").get("Name") == name]


class Process:
    """
    A program running beside the test; ended by pid when the test is over. It must not end before
    with an error, but by signal() or as finish() expects it.
    """

    def __init__(self, argv, env=None, cwd=None, stderr=None, preexec_fn=None, stdin=None):
        self.argv = [str(a) for a in argv]
        self.text = ""
        self.popen = subprocess.Popen(self.argv, stdin=stdin or subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=stderr, env=env, cwd=cwd,
                                      preexec_fn=preexec_fn)
        self.pid = self.popen.pid
        self._cwd, self._begin = cwd, time.time() - FILE_CLOCK_LAG
        self._sent, self._expected, self._dead = set(), set(), False
        at_end(self._judge_end)
        cleanup(self.stop)

    def running(self):
        return self.popen.poll() is None

    def _judge_end(self):
        """At the end of the test: it must run yet, or have ended well, or as it was asked to."""
        if self.running() or not self.popen.returncode:
            return
        if not self._sent - PAUSES and self.popen.returncode not in self._expected:
            self._note_death()

    def _judge_crash(self):
        """Also of one that was asked to end, or that finish() waited for."""
        if crashed(self.popen.returncode, self._sent):
            self._note_death()

    def _note_death(self):
        if self._dead:
            return
        self._dead = True
        with contextlib.suppress(Failed, ValueError, OSError):
            while self._read_more(time.monotonic() + 1):
                pass
        note_death(_ended(self.argv, self.popen.returncode), self.text)
        note_crash_reports(self._cwd or ".", self._begin)

    def _read_more(self, until):
        """One piece of its output; False at its end. Fails when UNTIL has passed."""
        left = until - time.monotonic()
        ready, _, _ = select.select([self.popen.stdout], [], [], max(left, 0))
        if not ready:
            raise Failed(f"{' '.join(self.argv)}: no answer in time; so far {shorten(self.text)}")
        piece = os.read(self.popen.stdout.fileno(), 65536)
        self.text += piece.decode("utf-8", "replace")
        return bool(piece)

    def wait_text(self, text="ready", timeout=30):
        """Wait until its standard output holds TEXT."""
        until = time.monotonic() + timeout
        while text not in self.text:
            if not self._read_more(until):
                raise Failed(f"{' '.join(self.argv)}: ended (code {self.popen.wait()}) without "
                             f"{text!r}; said {shorten(self.text)}")
        return self

    def go(self):
        """The line that a workload waits for (it was started with stdin=subprocess.PIPE)."""
        self.popen.stdin.write(b"\n")
        self.popen.stdin.flush()
        return self

    def finish(self, timeout=60, code=0):
        """Wait for its end; returns all that it printed. CODE None accepts every exit code."""
        until = time.monotonic() + timeout
        while self._read_more(until):
            pass
        came = self.popen.wait(max(until - time.monotonic(), 1))
        if code is None and came > 0:
            self._expected.add(came)
        if code is not None:
            self._expected.add(code)
            expect_equal(came, code, f"{' '.join(self.argv)}: exit code")
        return self.text

    def signal(self, number):
        self._sent.add(number)
        self.popen.send_signal(number)

    def stop(self):
        """End it and free what it holds; harmless when it has ended."""
        if self.running():
            self.signal(signal.SIGTERM)
            if signal.SIGSTOP in self._sent:
                self.popen.send_signal(signal.SIGCONT)
            try:
                self.popen.wait(5)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        self._judge_crash()
        # A JVM that was killed leaves its socket behind, which another user's JVM of this pid could not use.
        with contextlib.suppress(OSError):
            os.unlink(f"/tmp/.java_pid{self.pid}")
        self.popen.stdout.close()


def go_to_the_end(processes, timeout=60):
    """Workloads go beside each other, until each says that it is done."""
    for process in processes:
        process.go()
    for process in processes:
        process.wait_text("done", timeout)


def start(argv, **more):
    return Process(argv, **more)


class Recorder(Process):
    """hostprof recording beside the test: from its first samples, which are flushed, to end()."""

    def __init__(self, *args):
        self.path, self.stats_path = temp_path("x.jfr"), temp_path("stats.json")
        super().__init__([HOSTPROF, "record", "-o", self.path, "--stats", self.stats_path, *args],
                         stderr=subprocess.PIPE)
        # On a busy machine it takes long to start.
        wait_until(lambda: not self.running() or
                   os.path.exists(self.path) and os.path.getsize(self.path), 90, "recording")
        expect(self.running(), "hostprof ended at its start")

    def end(self):
        """The recording's path; its figures are at stats_path."""
        self.signal(signal.SIGINT)
        self.finish()
        return self.path

    def wait_lease(self, pid):
        wait_lease(self.pid, pid)


def wait_lease(recorder_pid, pid):
    """Until that recorder reads the agent of this JVM: another recording of the host may have it first."""
    wait_until(lambda: json_of("status", pid)["agent_lease_pid"] == recorder_pid, 180,
               "the agent's lease", step=0.5)


# Exit code of a workload that this host does not let do what it is for.
CANNOT = 77


def ready_or_skip(process, why, timeout=20):
    """PROCESS, when it says that it is ready; where the host does not allow it the test is skipped."""
    try:
        return process.wait_text("ready", timeout=timeout)
    except Failed:
        process.finish(code=None)
        expect_equal(process.popen.returncode, CANNOT, f"exit code of {process.argv[0]}")
        return skip(why)


def native(name, *args, **more):
    """Start a workload of tests/workloads/NAME.c."""
    return Process([os.path.join(WORKLOADS, name), *args], **more)


def json_of(*args):
    """What a command says with --json."""
    return json.loads(hostprof(*args, "--json").out)
