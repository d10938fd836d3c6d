# SPDX-License-Identifier: Apache-2.0
"""Recordings beside somebody who does not want them, or wants them wrong: the harness of the hostile tests.

    with attack() as it:                     # a recording of the whole host, at 499 Hz
        it.begin(my_attackers)               # before hostprof starts: who comes first is asked first
        it.record(seconds=4)                 # with victims, to its deadline
    it.expect_unharmed()

What must hold of each, and expect_unharmed() says:
  * hostprof ends in time, on its deadline (or on SIGINT: record(end="sigint"));
  * at each look, every POLL seconds, the memory of all its processes and its BPF maps stay below its limit;
  * the victims, programs of another user that know their frames, have every stack whole and rightly named,
    at least half as many as their CPU time stands for (tests/root/gates.py says how many may be bad);
and the test itself says what the attacker must be seen by: it.said() are messages, it.stats figures.
"""
import contextlib
import ctypes
import glob
import threading

import gates
from hp import *
from native_programs import UNWIND, add_lost, judge_lines, print_examples, unfinished

ATTACKER, VICTIM = 65534, 65533
FREQUENCY = 499
POLL = 0.05
# A deadline, or SIGINT, is met within so many seconds: what was taken is written, and agents have 2 s to answer.
IN_TIME = 8
LIMIT = 128 << 20
# Fewer samples of a victim prove nothing.
LEAST = 30
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

libc = ctypes.CDLL(None, use_errno=True)


# --- other users ------------------------------------------------------------------------------


def become(user):
    """Run in a child before its program: for preexec_fn."""
    def drop():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    return drop


def start_as(user, argv, **more):
    return Process(argv, preexec_fn=become(user), cwd=more.pop("cwd", "/"), **more)


def public_dir(user=0):
    """A directory that every user may look into, and this one writes."""
    path = temp_dir()
    os.chmod(path, 0o755)
    os.chown(path, user, user)
    return path


def public_copy(source, directory, name=None, user=0):
    """A copy that every user may run."""
    path = os.path.join(directory, name or os.path.basename(source))
    shutil.copy(source, path)
    os.chmod(path, 0o755)
    os.chown(path, user, user)
    return path


def java_as(user, home, main_class, *args, flags=()):
    """A JVM of USER, with the workload's classes where he may read them."""
    classes = public_dir()
    for path in glob.glob(os.path.join(WORKLOADS, f"{main_class}*.class")):
        public_copy(path, classes)
    return start_as(user, [os.path.join(home, "bin", "java"), "-Xmx64m", *flags, "-cp", classes, main_class, *args],
                    cwd=public_dir(user)).wait_text("ready", timeout=60)


class Forked:
    """
    BODY run as USER in a process of its own until the test is over: attackers whose work is system calls. With
    UNSHARE, in a user and a mount namespace of its own, where it is root.
    """

    def __init__(self, body, *args, user=ATTACKER, unshare=False):
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._child(reader, writer, body, args, user, unshare)
        os.close(writer)
        self._reader = reader
        cleanup(self.stop)
        if unshare:
            self._map_ids()

    def _child(self, reader, writer, body, args, user, unshare):
        status = 1
        try:
            os.close(reader)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            become(user)()
            if unshare:
                call(libc.unshare, CLONE_NEWUSER | CLONE_NEWNS)
                os.write(writer, b"u")
                wait_until(lambda: os.geteuid() == 0, 10, "root of its own namespace")
                call(libc.mount, None, b"/", None, MS_REC | MS_PRIVATE, None)
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            body(lambda: os.write(writer, b"r"), *args)
            status = 0
        except BaseException as error:  # nothing of the test goes on here
            print(f"# attacker: {error!r}", flush=True)
        finally:
            os._exit(status)

    def _map_ids(self):
        """The test is root and may; the attacker could map its own id alone, which is all that it gets here."""
        expect_equal(os.read(self._reader, 1), b"u", "no user namespace can be had")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{self.pid}/{name}", "w", encoding="ascii") as file:
                file.write(f"0 {ATTACKER} 1")

    def wait_ready(self):
        """Until BODY has called the function that it was given."""
        expect_equal(os.read(self._reader, 1), b"r", "the attacker ended")
        return self

    def running(self):
        return os.waitpid(self.pid, os.WNOHANG)[0] == 0

    def stop(self):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._reader >= 0:
            os.close(self._reader)
        self._reader = -1


def call(function, *args):
    """A function of the C library that says -1 when it fails."""
    result = function(*args)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")
    return result


def need_user_namespaces():
    probe = Forked(lambda ready: ready(), unshare=True)
    try:
        probe.wait_ready()
    except (Failed, OSError):
        skip("an ordinary user can make no user and mount namespace here")
    finally:
        probe.stop()


def forever():
    while True:
        time.sleep(60)


# --- its memory -------------------------------------------------------------------------------


def own_bytes(pid):
    """What is in no other process and no file."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return sum(int(row.split()[1]) << 10 for row in file if row.startswith(("RssAnon", "RssShmem")))


def bpf_maps(pid):
    """Map id → bytes."""
    maps = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
            text = file.read()
            if "map_id:" in text:
                maps[re.search(r"map_id:\s*(\d+)", text).group(1)] = \
                    int(re.search(r"memlock:\s*(\d+)", text).group(1))
    return maps


class Watch(threading.Thread):
    """Looks at the memory of a hostprof until it ends."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over = pid, threading.Event()
        self.looks = self.peak = self.peak_own = self.peak_maps = 0
        self.start()

    def run(self):
        maps, looks = {}, 0
        while not self.over.wait(POLL):
            with contextlib.suppress(OSError, AttributeError, ValueError):
                # There are hundreds of descriptors to read, and maps are made at the start.
                if looks % 10 == 0:
                    maps = bpf_maps(self.pid)
                own = sum(own_bytes(pid) for pid in family(self.pid))
                looks += 1
                self.peak = max(self.peak, own + sum(maps.values()))
                self.peak_own = max(self.peak_own, own)
                self.peak_maps = max(self.peak_maps, sum(maps.values()))
                self.looks = looks

    def stop(self):
        self.over.set()
        self.join()


def of_program(lines, pid):
    """Those of a process since its execve(): between that and fork() it is this test."""
    mine = of_pid(lines, pid)
    ours = [line for line in mine if any(frame.startswith("[python3") for frame in line.frames)]
    if ours:
        print(f"# process {pid}: {total(ours)} samples from before its execve()", flush=True)
    return [line for line in mine if line not in ours]


# --- a recording ------------------------------------------------------------------------------

# What runs beside the attacker, as VICTIM: name → arguments behind the seconds.
VICTIMS = {"uw-chain": (), "uw-threads": (), "uw-calling": ()}


class Attack:
    """One recording; see above."""

    def __init__(self, victims, options):
        self.victims, self.options = victims, options
        self.directory = public_dir()
        for name in ("libuw-tiny.so", "libuw-plugin.so"):
            public_copy(os.path.join(UNWIND, name), self.directory)
        self.programs = {name: public_copy(os.path.join(UNWIND, name.split("/")[0]), self.directory)
                         for name in victims}
        self.path, self.stats_path = temp_path("x.jfr"), temp_path("stats.json")
        self.attackers, self.running = [], {}
        self.err = self.lines = self.stats = self.late = self.watch = self.rows = None

    def begin(self, *attackers):
        """Those that are there before hostprof, and are watched to be there to the end."""
        self.attackers += attackers
        return self

    def start(self, *args, seconds):
        """hostprof alone, from its first samples on."""
        argv = [HOSTPROF, "record", "-F", FREQUENCY, "-o", self.path, "--stats", self.stats_path,
                "--memory-limit", LIMIT, "-d", seconds, *self.options, *args]
        self.err_file = open(temp_path("err"), "w+", encoding="utf-8", errors="replace")
        cleanup(self.err_file.close)
        self.recorder = Process(argv, stderr=self.err_file)
        self.watch = Watch(self.recorder.pid)
        wait_until(lambda: not self.recorder.running() or
                   os.path.exists(self.path) and os.path.getsize(self.path), 60, "recording")
        expect(self.recorder.running(), "hostprof ended at its start")
        self.began = time.monotonic()

    def run_victims(self, seconds):
        self.running = {name: start_as(VICTIM, [self.programs[name], seconds, *args])
                        for name, args in self.victims.items()}

    def record(self, *args, seconds=4, end="deadline", during=None):
        """
        hostprof, then the victims, which end before it, and DURING(); END: "deadline" or "sigint". Called in a
        test once.
        """
        self.start(*args, seconds=seconds + 2 if end == "deadline" else 600)
        self.run_victims(seconds - 1)
        if during:
            during()
        for victim in self.running.values():
            victim.finish(seconds + 60)
        self.finish(seconds + 2, end)

    def finish(self, seconds, end="deadline"):
        due = self.began + seconds
        if end == "sigint":
            self.recorder.signal(signal.SIGINT)
            due = time.monotonic()
        try:
            self.recorder.popen.wait(max(due - time.monotonic(), 0) + 60)
        except subprocess.TimeoutExpired:
            raise Failed(f"hostprof did not end within 60 s of its {end}") from None
        finally:
            self.late = time.monotonic() - due
            self.watch.stop()
        self.err_file.seek(0)
        self.err = self.err_file.read()
        expect_equal(self.recorder.popen.returncode, 0, f"exit code; it said {shorten(self.err)}")
        self.lines = collapsed(self.path, "--annotate")
        self.stats = read_json(self.stats_path)
        self.rows = {name: self._row(name, victim) for name, victim in self.running.items()}

    def _row(self, name, victim):
        lost = sum(row["lost"] for row in self.stats["processes"] if row["pid"] == victim.pid)
        return add_lost(judge_lines(name.split("/")[0], of_program(self.lines, victim.pid)), lost)

    def _cpu_seconds(self, name):
        """Attackers may take what they get of a busy machine: a victim's samples are judged by what was left for it."""
        return int(expect_match(r"cpu_ns (\d+)", self.running[name].text).group(1)) / 1e9

    # --- what must hold ---

    def expect_unharmed(self):
        """Everything but that the attacker is named."""
        samples = sum(row.samples for row in self.rows.values())
        bad = sum(unfinished(row) for row in self.rows.values())
        print(f"# {self.late:.1f} s late; peak {self.watch.peak >> 20} MB ({self.watch.peak_own >> 20} own, "
              f"{self.watch.peak_maps >> 20} of maps) at {self.watch.looks} looks; victims: {bad} bad of "
              f"{samples}, {', '.join(f'{name} {row.samples}' for name, row in self.rows.items())}; "
              f"lost {self.stats['lost']}", flush=True)
        print_examples({name: row for name, row in self.rows.items() if unfinished(row)}, 3)
        expect(self.late <= IN_TIME, f"hostprof ended {self.late:.1f} s late")
        expect(self.watch.looks >= 10, f"its memory was looked at {self.watch.looks} times only")
        expect(self.watch.peak <= LIMIT, f"hostprof took {self.watch.peak >> 20} MB of {LIMIT >> 20}")
        for name, row in self.rows.items():
            expect(row.samples >= max(LEAST, self._cpu_seconds(name) * FREQUENCY / 2), f"only {row.samples} samples of {name} "
                   f"in {self._cpu_seconds(name):.2f} s of its CPU time")
            expect(unfinished(row) <= gates.most_bad(row.samples),
                   f"{unfinished(row)} of {row.samples} stacks of {name} are not its own: "
                   f"{dict(row.reasons.most_common(3))}")

    def frames_of(self, pid):
        """All names in the stacks of a process."""
        return {frame for line in of_pid(self.lines, pid) for frame in line.frames}

    def said(self, text):
        """hostprof's messages have TEXT (a regular expression)."""
        expect_match(text, self.err, "messages")


@contextlib.contextmanager
def attack(*options, victims=None):
    """A recording to be attacked; OPTIONS are hostprof's."""
    need_root()
    yield Attack(VICTIMS if victims is None else victims, options)


def mapped_bytes(pid, name):
    """[start, end, offset] of the mappings whose path ends with NAME."""
    rows = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        for row in file:
            if row.rstrip().endswith(name):
                start, end = (int(word, 16) for word in row.split()[0].split("-"))
                rows.append((start, end, int(row.split()[2], 16)))
    return rows


def counters(it):
    """The figures of a recording: (name, detail) → value."""
    return {(row["name"], row.get("detail", "")): row["value"] for row in it.stats["counters"]}


__all__ = [name for name in list(globals()) if not name.startswith("_")]
