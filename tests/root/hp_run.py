# SPDX-License-Identifier: Apache-2.0
"""Tests by name, what each leaves behind, and the sums."""
import atexit
import collections
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from hp_deaths import note_crash_reports, take_deaths
from hp_expect import Failed, Skipped, skip
from hp_lanes import run_lanes

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("HOSTPROF_BUILD", os.path.join(ROOT, "build")))
# scripts/check.sh allows a second try, counts those that needed it, and limits their number.
MAY_RETRY = os.environ.get("HOSTPROF_RETRY") == "1"
# The kernel's clock of files lags behind by a tick.
FILE_CLOCK_LAG = 0.1

_tests = {}
_cleanups = []
_judges = []
_shared = []


def test(function):
    """Register FUNCTION as a test by its name."""
    _tests[function.__name__] = function
    return function


def alone(function):
    """In a file whose tests run beside each other: not this one. Below @test or its kin."""
    function.alone = True
    return function


def slow(function):
    """Not in a whole check, but in one of its kind (make check-hostile), or when it is asked for. Below @test."""
    @functools.wraps(function)
    def run_it():
        if os.environ.get("HOSTPROF_FAST"):
            skip("it takes long: make check-hostile")
        function()
    return run_it


def shared(function):
    """FUNCTION's answer is shared by the tests of a file; a second try makes it anew."""
    cached = functools.cache(function)
    _shared.append(cached)
    return cached


def cleanup(function, *args):
    """Call FUNCTION when the test is over; the last one first."""
    _cleanups.append((function, args))


def at_end(function):
    """Call FUNCTION when the test has ended, before anything is cleaned up."""
    _judges.append(function)


def _call(function, *args):
    try:
        function(*args)
    except Exception as error:  # a test's end must not hide its result
        print(f"# cleanup: {error!r}", flush=True)


def run_cleanups():
    while _cleanups:
        function, args = _cleanups.pop()
        _call(function, *args)


atexit.register(run_cleanups)


def need_root():
    if os.geteuid() != 0:
        skip("needs root")


# --- files ----------------------------------------------------------------------------------


def _remove_temp(path):
    for directory, _, _ in os.walk(path):
        note_crash_reports(directory)
    shutil.rmtree(path, True)


def temp_dir():
    """A directory that goes when the test is over."""
    path = tempfile.mkdtemp(prefix="hostprof-test-")
    cleanup(_remove_temp, path)
    return path


def temp_path(name):
    return os.path.join(temp_dir(), name)


# --- running --------------------------------------------------------------------------------


def _place(error):
    """File and line in the test, not in this harness or a library."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.abspath(frame.filename).startswith(os.path.join(ROOT, "tests", ""))]
    for frame in reversed(frames or traceback.extract_tb(error.__traceback__)):
        name = os.path.basename(frame.filename)
        if not name.startswith("hp_"):
            return f"{name}:{frame.lineno}"
    return "hp.py"


def _end_test(since):
    """Free what the test holds; returns who died in it unasked."""
    for judge in _judges:
        _call(judge)
    _judges.clear()
    run_cleanups()
    for directory in {os.getcwd(), tempfile.gettempdir()}:
        note_crash_reports(directory, since - FILE_CLOCK_LAG)
    return take_deaths()


def _run_once(name, function):
    """Returns "passed", "skipped", "failed", or "died", which fails, too, and stands."""
    begin, since = time.monotonic(), time.time()
    try:
        function()
        line, result = f"ok {name}", "passed"
    except Skipped as error:
        line, result = f"skip {name}: {error}", "skipped"
    except (Failed, subprocess.TimeoutExpired) as error:
        line, result = f"FAIL {name}: {_place(error)}: {error}", "failed"
    except Exception as error:
        traceback.print_exc()
        line, result = f"FAIL {name}: {_place(error)}: {error!r}", "failed"
    finally:
        dead = _end_test(since)
    if dead:
        line = line if result == "failed" else f"FAIL {name}: {result}, but a process died unasked"
        result = "died"
    print(f"{line} ({time.monotonic() - begin:.1f} s)" if result == "passed" else line, flush=True)
    print("".join(dead), end="")
    if result in ("failed", "died"):
        script = os.path.relpath(sys.argv[0])
        print(f"# alone: sudo HOSTPROF_BUILD={BUILD} {script} {name}", flush=True)
    return result


def _once_in_a_lane(name):
    # What the parent began it ends itself.
    _cleanups.clear()
    return _run_once(name, _tests[name])


def _batches(names, lanes):
    """Those that run beside each other, in their order; what must be alone is a batch."""
    batch = []
    for name in names:
        if lanes == 1 or getattr(_tests[name], "alone", False):
            yield from filter(None, [batch, [name]])
            batch = []
        else:
            batch.append(name)
    yield from filter(None, [batch])


def _run_batch(names, lanes):
    """Gives (name, result) of each."""
    if len(names) == 1:
        yield names[0], _run_once(names[0], _tests[names[0]])
    else:
        yield from run_lanes([(name, functools.partial(_once_in_a_lane, name)) for name in names], lanes)


def _run(names, lanes, counts):
    """What failed is tried once more when nothing else runs."""
    results = dict(_run_batch(names, lanes))
    for name in [name for name in names if results[name] == "failed" and MAY_RETRY]:
        print(f"# {name}: a second try", flush=True)
        for cached in _shared:
            cached.cache_clear()
        if _run_once(name, _tests[name]) == "passed":
            counts["on retry"] += 1
            results[name] = "passed"
    counts.update("failed" if result == "died" else result for result in results.values())


def _end_asked(*_):
    """Once: what is started is ended meanwhile."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def main(lanes=1):
    """Run the tests named on the command line, or all, LANES at once; ends the program."""
    signal.signal(signal.SIGTERM, _end_asked)
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(_tests))
        sys.exit(0)
    unknown = [name for name in names if name not in _tests]
    if unknown:
        print(f"no such test: {', '.join(unknown)}; --list shows them", file=sys.stderr)
        sys.exit(2)
    counts = collections.Counter()
    for batch in _batches(names or list(_tests), lanes):
        _run(batch, lanes, counts)
    if counts["on retry"]:
        print(f"{counts['on retry']} passed on retry")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)
