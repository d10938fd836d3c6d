# SPDX-License-Identifier: Apache-2.0
"""
Processes that died though nobody ended them, and JVMs' reports on their crashes. One of either fails
the test in which it happened, whatever the test itself says, and no second try excuses it.
"""
import glob
import os
import signal

# What a program dies of by its own fault.
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE,
           signal.SIGTRAP, signal.SIGSYS}
# Of a JVM's report: the signal, the thread, the registers and the stack.
HS_ERR_LINES = 150
LAST_WORDS = 30

_deaths = []
_seen_reports = set()


def note_death(what, words=""):
    """WHAT says who died and how, WORDS is what it printed."""
    _deaths.append("".join(f"# {line}\n" for line in [what, *words.splitlines()[-LAST_WORDS:]]))


def take_deaths():
    """The text of each since the last call."""
    taken = _deaths[:]
    _deaths.clear()
    return taken


def signal_of(code):
    """What ended a process with this exit code; a shell and its like add 128. 0: nothing did."""
    return -code if code < 0 else code - 128 if code > 128 else 0


def crashed(code, sent=()):
    """Whether a process with this exit code died by its own fault, SENT being the signals it got."""
    return signal_of(code) in CRASHES and signal_of(code) not in sent


def note_crash_reports(directory, since=0.0):
    """A JVM leaves hs_err_pidN.log where it runs, or in /tmp where it may not write."""
    for path in glob.glob(os.path.join(glob.escape(directory), "hs_err_pid*.log")):
        try:
            written = os.stat(path).st_mtime
            with open(path, encoding="utf-8", errors="replace") as report:
                lines = report.read().splitlines()[:HS_ERR_LINES]
        except OSError:  # another test's, gone by now
            continue
        if written < since or (path, written) in _seen_reports:
            continue
        _seen_reports.add((path, written))
        _deaths.append("".join(f"# {line}\n" for line in [f"a JVM crashed: {path}", *lines]))
