# SPDX-License-Identifier: Apache-2.0
"""The harness of the root tests.

A test file registers functions and ends with main():

    from hp import *

    @test
    def burns_as_much_as_its_clock_says():
        burn = native("burn", 5)
        path = record("-p", burn.pid, "-d", 2)
        lines = collapsed(path)
        expect(any("level_three" in line.frames for line in lines), "level_three is missing")

    main()

Each test prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why`; the last line has the sums. A test
that fails is tried once more, and fails when it fails again. Run one
alone with `tests/root/test_x.py NAME`, list them with `--list`. Everything that a test starts is
ended when it is over, also when it failed. The build directory comes from HOSTPROF_BUILD.
"""
import atexit
import collections
import contextlib
import glob
import inspect
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("HOSTPROF_BUILD", os.path.join(ROOT, "build")))
HOSTPROF = os.path.join(BUILD, "hostprof")
AGENT = os.path.join(BUILD, "libhostprof-agent.so")
WORKLOADS = os.path.join(BUILD, "workloads")
# Of a JVM's report on its crash: the signal, the thread, the registers and the stack.
HS_ERR_LINES = 150

_tests = {}
_cleanups = []
_processes = []


class Failed(Exception):
    """An expectation was not met."""


class Skipped(Exception):
    """The test cannot say anything here."""


# --- expectations ---------------------------------------------------------------------------


def expect(condition, why):
    """Fail with WHY unless CONDITION."""
    if not condition:
        raise Failed(why)


def expect_equal(came, wanted, what="value"):
    if came != wanted:
        raise Failed(f"{what}: expected {wanted!r}, came {came!r}")


def expect_in(part, text, what="text"):
    if part not in text:
        raise Failed(f"{what}: {part!r} is missing in {_shorten(text)}")


def expect_not_in(part, text, what="text"):
    if part in text:
        raise Failed(f"{what}: {part!r} must not be in {_shorten(text)}")


def expect_match(pattern, text, what="text"):
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise Failed(f"{what}: nothing matches {pattern!r} in {_shorten(text)}")
    return found


def expect_between(came, low, high, what="value"):
    if not low <= came <= high:
        raise Failed(f"{what}: expected {low} .. {high}, came {came}")


def skip(why):
    raise Skipped(why)


def _shorten(text, limit=2000):
    text = repr(text)
    return text if len(text) <= limit else text[:limit] + "…"


# --- registration and running ---------------------------------------------------------------


def test(function):
    """Register FUNCTION as a test by its name."""
    _tests[function.__name__] = function
    return function


def cleanup(function, *args):
    """Call FUNCTION when the test is over; the last one first."""
    _cleanups.append((function, args))


def _run_cleanups():
    while _cleanups:
        function, args = _cleanups.pop()
        try:
            function(*args)
        except Exception as error:  # a test's end must not hide its result
            print(f"# cleanup: {error!r}", flush=True)


atexit.register(_run_cleanups)


def _place(error):
    """File and line in the test, not in this harness."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.abspath(frame.filename) != os.path.abspath(__file__):
            return f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return "hp.py"


def _run_twice(name, function):
    """A busy machine may upset a measurement once; what is wrong fails twice. Both tries are shown."""
    result = _run_one(name, function)
    if result != "failed":
        return result
    print(f"# {name}: a second try", flush=True)
    return _run_one(name, function)


def _run_one(name, function):
    begin = time.monotonic()
    try:
        function()
        line, result = f"ok {name}", "passed"
    except Skipped as error:
        line, result = f"skip {name}: {error}", "skipped"
    except Failed as error:
        line, result = f"FAIL {name}: {_place(error)}: {error}", "failed"
    except subprocess.TimeoutExpired as error:
        line, result = f"FAIL {name}: {_place(error)}: {error}", "failed"
    except Exception as error:
        traceback.print_exc()
        line, result = f"FAIL {name}: {_place(error)}: {error!r}", "failed"
    finally:
        ended = [text for process in _processes if (text := process.unasked_end())]
        _processes.clear()
        _run_cleanups()
    print(f"{line} ({time.monotonic() - begin:.1f} s)" if result == "passed" else line, flush=True)
    if result == "failed":
        print("".join(ended), end="")
        script = os.path.relpath(sys.argv[0])
        print(f"# alone: sudo HOSTPROF_BUILD={BUILD} {script} {name}", flush=True)
    return result


def main():
    """Run the tests named on the command line, or all; ends the program."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(_tests))
        sys.exit(0)
    unknown = [name for name in names if name not in _tests]
    if unknown:
        print(f"no such test: {', '.join(unknown)}; --list shows them", file=sys.stderr)
        sys.exit(2)
    counts = collections.Counter()
    for name in names or list(_tests):
        counts[_run_twice(name, _tests[name])] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


def need_root():
    if os.geteuid() != 0:
        skip("needs root")


# --- files ----------------------------------------------------------------------------------


def temp_dir():
    """A directory that goes when the test is over."""
    path = tempfile.mkdtemp(prefix="hostprof-test-")
    cleanup(shutil.rmtree, path, True)
    return path


def temp_path(name):
    return os.path.join(temp_dir(), name)


# --- processes ------------------------------------------------------------------------------

Result = collections.namedtuple("Result", "code out err")


def run(argv, timeout=60, code=None, env=None, cwd=None, stdin=subprocess.DEVNULL, text=True):
    """Run a program to its end. With CODE, fail when it exits otherwise."""
    argv = [str(a) for a in argv]
    done = subprocess.run(argv, timeout=timeout, env=env, cwd=cwd, stdin=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    out, err = done.stdout, done.stderr
    if text:
        out, err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    if code is not None and done.returncode != code:
        raise Failed(f"{' '.join(argv)}: expected exit code {code}, came {done.returncode}; "
                     f"stderr {_shorten(err)}")
    return Result(done.returncode, out, err)


def hostprof(*args, code=0, **more):
    """Run hostprof to its end; CODE None accepts every exit code."""
    return run([HOSTPROF, *args], code=code, **more)


def record(*args, output=None, timeout=None, **more):
    """Record into a temporary .jfr (or OUTPUT); returns its path."""
    output = output or temp_path("out.jfr")
    hostprof("record", "-o", output, *args, timeout=timeout or 120, **more)
    return output


class Process:
    """A program running beside the test; ended by pid when the test is over."""

    def __init__(self, argv, env=None, cwd=None, stderr=None, preexec_fn=None, stdin=None):
        self.argv = [str(a) for a in argv]
        self.text = ""
        self.popen = subprocess.Popen(self.argv, stdin=stdin or subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=stderr, env=env, cwd=cwd,
                                      preexec_fn=preexec_fn)
        self.pid = self.popen.pid
        self._cwd = cwd
        self._signalled = False
        _processes.append(self)
        cleanup(self.stop)

    def running(self):
        return self.popen.poll() is None

    def unasked_end(self):
        """What is known of its end when it failed and nobody sent it a signal, else None."""
        if self.running() or not self.popen.returncode or self._signalled:
            return None
        with contextlib.suppress(Failed, ValueError, OSError):
            while self._read_more(time.monotonic() + 1):
                pass
        lines = [f"{' '.join(self.argv)} ended with {self.popen.returncode}; its last words:",
                 *self.text.splitlines()[-30:]]
        for path in glob.glob(os.path.join(self._cwd or ".", f"hs_err_pid{self.pid}.log")):
            with open(path, encoding="utf-8", errors="replace") as log:
                lines += [path, *log.read().splitlines()[:HS_ERR_LINES]]
        return "".join(f"# {line}\n" for line in lines)

    def _read_more(self, until):
        """One piece of its output; False at its end. Fails when UNTIL has passed."""
        left = until - time.monotonic()
        ready, _, _ = select.select([self.popen.stdout], [], [], max(left, 0))
        if not ready:
            raise Failed(f"{' '.join(self.argv)}: no answer in time; so far {_shorten(self.text)}")
        piece = os.read(self.popen.stdout.fileno(), 65536)
        self.text += piece.decode("utf-8", "replace")
        return bool(piece)

    def wait_text(self, text="ready", timeout=30):
        """Wait until its standard output holds TEXT."""
        until = time.monotonic() + timeout
        while text not in self.text:
            if not self._read_more(until):
                raise Failed(f"{' '.join(self.argv)}: ended (code {self.popen.wait()}) without "
                             f"{text!r}; said {_shorten(self.text)}")
        return self

    def finish(self, timeout=60, code=0):
        """Wait for its end; returns all that it printed."""
        until = time.monotonic() + timeout
        while self._read_more(until):
            pass
        came = self.popen.wait(max(until - time.monotonic(), 1))
        if code is not None:
            expect_equal(came, code, f"{' '.join(self.argv)}: exit code")
        return self.text

    def signal(self, number):
        self._signalled = True
        self.popen.send_signal(number)

    def stop(self):
        """End it and free what it holds; harmless when it has ended."""
        if self.running():
            self.popen.terminate()
            try:
                self.popen.wait(5)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        self.popen.stdout.close()


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
        """Until it reads the agent of this JVM: another recording of the host may have it first."""
        wait_until(lambda: json_of("status", pid)["agent_lease_pid"] == self.pid, 180,
                   "the agent's lease", step=0.5)


def native(name, *args, **more):
    """Start a workload of tests/workloads/NAME.c."""
    return Process([os.path.join(WORKLOADS, name), *args], **more)


def wait_until(condition, timeout=10, what="condition", step=0.02):
    """Wait until CONDITION() gives something true; returns it."""
    until = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Failed(f"{what}: not within {timeout} s")
        time.sleep(step)


def cpu_seconds(pid):
    """User and system time of all threads, to the clock tick."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_seconds(pid, name):
    """As cpu_seconds(), of the threads with this name; the kernel keeps 15 letters of it."""
    ticks = 0
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as stat:
            _, comm, fields = re.fullmatch(r"(\d+) \((.*)\) (.*)", stat.read().strip()).groups()
            if comm == name[:15]:
                ticks += sum(map(int, fields.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def let_run(pid, frequency, samples, timeout=150):
    """Wait until each thread of SAMPLES (name → number) has run for as long as its samples take, and
    a tenth more: on a busy machine that is much longer than on an idle one."""
    wanted = {name: thread_seconds(pid, name) + 1.1 * count / frequency
              for name, count in samples.items()}
    wait_until(lambda: all(thread_seconds(pid, name) >= seconds for name, seconds in wanted.items()),
               timeout, f"CPU time of {', '.join(samples)}", step=0.1)


def rss_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# --- Java -----------------------------------------------------------------------------------

JDKS = [8, 11, 17, 21, 25, 26, 27, 28]


def jdk(version):
    """Home of a JDK of this feature version, or skip the test."""
    places = os.environ.get("HOSTPROF_JDKS", "").split(":") + ["/usr/lib/jvm"]
    for place in filter(None, places):
        for home in sorted(glob.glob(os.path.join(place, f"*{version}*"))):
            if os.access(os.path.join(home, "bin", "java"), os.X_OK) and \
               _feature_version(home) == version:
                return home
    skip(f"no JDK {version} in /usr/lib/jvm")


def _feature_version(home):
    try:
        with open(os.path.join(home, "release"), encoding="utf-8") as release:
            found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read(), re.MULTILINE)
    except OSError:
        # Debian's 8 has no such file; get-jdks.sh names directories by their version.
        name = os.path.basename(home)
        return int(name) if name.isdigit() else None
    return int(found.group(1)) if found else None


def for_each_jdk(versions):
    """A function as one test per version, under its name and the version, which it is given."""
    def register(function):
        for version in versions:
            def one(version=version):
                need_root()
                function(version)
            one.__name__ = f"{function.__name__}_{version}"
            test(one)
        return function
    return register


def java(version, main_class, *args, flags=(), ready="ready", **more):
    """Start a Java workload; VERSION is a number or a JDK's home. Waits for its "ready"."""
    home = jdk(version) if isinstance(version, int) else version
    more.setdefault("cwd", temp_dir())  # where it leaves its word when it crashes
    process = Process([os.path.join(home, "bin", "java"), *flags, "-cp", WORKLOADS, main_class,
                       *args], **more)
    return process.wait_text(ready) if ready else process


# --- reading results ------------------------------------------------------------------------

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
    """Report a recording as collapsed stacks and parse them."""
    return parse_collapsed(hostprof("report", path, "-f", "collapsed", "-o", "-", *args).out)


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


def json_of(*args):
    """What a command says with --json."""
    return json.loads(hostprof(*args, "--json").out)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def stats_of(*args, **more):
    """Record with --stats; returns (path of the recording, the figures)."""
    stats = temp_path("stats.json")
    path = record("--stats", stats, *args, **more)
    return path, read_json(stats)


__all__ = [name for name, value in globals().items()
           if not name.startswith("_") and not (inspect.ismodule(value) and name in ("atexit",))]
