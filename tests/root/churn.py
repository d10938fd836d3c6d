#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-churn: nothing of hostprof grows with the age of a recording.

usage: churn.py [SECONDS] [BINARIES] [more options of hostprof]

The host is recorded at 99 Hz for SECONDS (7200), while BINARIES (10000) programs start that nobody has ever run: copies of burn with
another name, another build id and another inode each, gone a moment later, every tenth in a cgroup of its own. One long-lived process
opens and closes as many new libraries. Every twentieth program is a JVM instead, one in three seconds at most. Where others
record the host at the same time, who runs this puts it into a cgroup and gives --cgroup PATH: of two recordings one reads an agent, and this is
the one for two hours. Once a second the memory of all of hostprof's processes and its
BPF maps is looked at; a line is printed for each tenth of the time. What must hold:
  * it is flat: neither own memory nor maps take more than TOLERANCE more in the last quarter than in the third (medians);
  * nothing is lost, and the stacks of all these programs are whole and named.
"""
import collections
import random
import statistics
import subprocess

import gates
from hp import *
from hp_cgroup import enter
from hp_memory import MB, map_bytes, map_descriptors

FREQUENCY = 99
TOLERANCE = 1 * MB
BURN_SECONDS = 0.04
# A chunk's tables are emptied once a minute: quarters must be longer for their medians to be of equal states.
LEAST_SECONDS = 250

seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 7200
binaries = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
options = sys.argv[3:]
del sys.argv[1:]

Look = collections.namedtuple("Look", "at pss own workers maps processes")


# --- what comes and goes ----------------------------------------------------------------------


def build_id_at(content):
    """Where the build id is: behind the note's header, { 4, 20, NT_GNU_BUILD_ID, "GNU" }."""
    at = content.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
    return at + 16


class Copies:
    """New files that differ from SOURCE in their build id, and so in everything that is known of them."""

    def __init__(self, source):
        with open(source, "rb") as file:
            self.content = bytearray(file.read())
        self.at = build_id_at(self.content)

    def write(self, path):
        self.content[self.at:self.at + 20] = random.randbytes(20)
        with open(path, "wb") as file:
            file.write(self.content)
        os.chmod(path, 0o755)
        return path


LOADER = """
import ctypes, _ctypes, os, sys
for line in sys.stdin:
    path = line.strip()
    library = ctypes.CDLL(path)
    library.plugin_run(ctypes.c_uint64(3000000))
    _ctypes.dlclose(library._handle)
    os.unlink(path)
"""


class Churn:
    def __init__(self):
        self.directory = temp_dir()
        self.programs = Copies(os.path.join(WORKLOADS, "burn"))
        self.libraries = Copies(os.path.join(WORKLOADS, "unwind", "libuw-plugin.so"))
        self.java = os.path.join(jdk(17), "bin", "java")
        self.loader = subprocess.Popen(["/usr/bin/python3", "-c", LOADER], stdin=subprocess.PIPE, text=True)
        self.running, self.count, self.last_jvm = [], 0, 0
        self.cgroups = self._cgroup_tree()
        cleanup(self.stop)

    def _cgroup_tree(self):
        """Where the programs' own cgroups are made: below that which is recorded."""
        if "--cgroup" in options:
            return options[options.index("--cgroup") + 1]
        with open("/proc/mounts", encoding="utf-8") as mounts:
            trees = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
        return trees[0] if trees and os.access(trees[0], os.W_OK) else None

    def one_more(self):
        self.reap()
        number = self.count
        self.count += 1
        if number % 20 == 19 and time.monotonic() - self.last_jvm > 3:
            self.last_jvm = time.monotonic()
            argv = [self.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", WORKLOADS, "Startup", "200"]
            self.running.append((subprocess.Popen(argv, stdout=subprocess.DEVNULL), None, None))
            return
        path = self.programs.write(os.path.join(self.directory, f"churn-{number}"))
        cgroup = self._new_cgroup(number) if number % 10 == 0 else None
        process = subprocess.Popen([path, str(BURN_SECONDS)], stdout=subprocess.DEVNULL)
        if cgroup:
            with contextlib.suppress(OSError):
                enter(cgroup, process.pid)
        self.running.append((process, path, cgroup))
        self.loader.stdin.write(self.libraries.write(os.path.join(self.directory, f"lib-{number}.so")) + "\n")
        self.loader.stdin.flush()

    def _new_cgroup(self, number):
        if not self.cgroups:
            return None
        path = os.path.join(self.cgroups, f"hostprof-churn-{os.getpid()}-{number}")
        with contextlib.suppress(OSError):
            os.mkdir(path)
            return path
        return None

    def reap(self):
        left = []
        for process, path, cgroup in self.running:
            if process.poll() is None:
                left.append((process, path, cgroup))
                continue
            if path:
                os.unlink(path)
            if cgroup:
                with contextlib.suppress(OSError):
                    os.rmdir(cgroup)
        self.running = left

    def stop(self):
        for process, _, _ in self.running:
            process.wait()
        self.reap()
        self.loader.stdin.close()
        self.loader.wait()


# --- hostprof's memory ------------------------------------------------------------------------


def field(text, name):
    return sum(int(row.split()[1]) << 10 for row in text.splitlines() if row.startswith(name + ":"))


def private_bytes(pid):
    """What no file has: anonymous pages and shared memory; those of BPF maps are counted as maps."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        text = file.read()
        return field(text, "RssAnon") + field(text, "RssShmem")
    return 0


def pss_bytes(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return field(file.read(), "Pss")
    return 0


def look(pid, maps, at):
    pids = family(pid)
    return Look(at, sum(map(pss_bytes, pids)), private_bytes(pid), sum(private_bytes(p) for p in pids[1:]),
                map_bytes(pid, maps), len(pids))


def print_tenth(number, looks, count):
    print(f"# {number:2}/10 at {looks[-1].at:5.0f} s: {count:6} programs; own "
          f"{statistics.median(l.own for l in looks) / MB:6.2f} MB (most {max(l.own for l in looks) / MB:6.2f}), others "
          f"{statistics.median(l.workers for l in looks) / MB:6.2f} in {looks[-1].processes - 1}, maps "
          f"{statistics.median(l.maps for l in looks) / MB:6.2f}; PSS of all "
          f"{statistics.median(l.pss for l in looks) / MB:6.2f} (most {max(l.pss for l in looks) / MB:6.2f})", flush=True)


def follow(recorder, churn):
    """Churn for SECONDS; a look each second."""
    began, looks, printed, done, maps = time.monotonic(), [], 0, 0, []
    while (now := time.monotonic() - began) < seconds:
        while churn.count < binaries and churn.count <= now * binaries / (seconds - 2) and len(churn.running) < 16:
            churn.one_more()
        churn.reap()
        if now >= len(looks):
            expect(recorder.running(), "hostprof has ended")
            maps = maps if now > 5 and maps else map_descriptors(recorder.pid)
            looks.append(look(recorder.pid, maps, now))
        if now * 10 / seconds >= done + 1:
            done += 1
            print_tenth(done, looks[printed:], churn.count)
            printed = len(looks)
        time.sleep(0.02)
    if printed < len(looks):
        print_tenth(10, looks[printed:], churn.count)
    return looks


def expect_flat(looks):
    quarter = len(looks) // 4
    third, last = looks[2 * quarter:3 * quarter], looks[3 * quarter:]
    for name in ("own", "workers", "maps"):
        before, after = (statistics.median(getattr(l, name) for l in part) for part in (third, last))
        print(f"# {name}: {before / MB:.2f} MB in the third quarter, {after / MB:.2f} in the last: "
              f"{(after - before) / 1024:+.0f} kB", flush=True)
        expect(after - before <= TOLERANCE, f"{name} grew by {(after - before) / MB:.2f} MB, {TOLERANCE / MB:.2f} may be")


# --- what was taken ---------------------------------------------------------------------------


def expect_nothing_lost(stats):
    counters = collections.Counter()
    for row in stats["counters"]:
        counters[row["name"]] += row["value"]
    wanted = ("files.known", "files.forgotten", "unwind.files", "unwind.pages-made", "symbols.file-not-read", "sideband.lost",
              "samples.lost", "memory.room-made")
    print(f"# {stats['samples']} samples, lost {stats['lost']}, late {stats['late_samples']}; "
          f"{ {name: counters[name] for name in wanted} }", flush=True)
    expect_equal(stats["lost"], 0, "lost samples")
    expect_equal(counters["sideband.lost"], 0, "lost records of the side-band")


def expect_named(path):
    """The programs' stacks, from main down to where they burn."""
    lines = [line for line in collapsed(path) if line.process.startswith("churn-")]
    inner = [line for line in lines if "level_three" in line.frames or
             any(frame.startswith("[churn-") for frame in line.frames)]
    wrong = [line for line in inner if not in_order(line.frames, "main", "level_one", "level_two", "level_three")]
    print(f"# programs: {total(lines)} samples of {len({line.process for line in lines})}, {total(inner)} where they burn, "
          f"{total(wrong)} of these not named rightly", flush=True)
    for line in wrong[:5]:
        print(f"#   {line}", flush=True)
    expect(total(inner) > binaries / 4, "too few samples of the programs")
    expect(total(wrong) <= gates.most_bad(total(inner)), "stacks without their names")


@test
def memory_is_flat():
    need_root()
    expect(seconds >= LEAST_SECONDS, f"{seconds} s are too few to tell")
    churn = Churn()
    path, stats = temp_path("x.jfr"), temp_path("stats.json")
    recorder = start([HOSTPROF, "record", "-F", FREQUENCY, "-o", path, "--stats", stats, *options], stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(path) and os.path.getsize(path), 30, "recording")
    looks = follow(recorder, churn)
    recorder.signal(signal.SIGINT)
    recorder.finish(60)
    expect_nothing_lost(read_json(stats))
    expect_named(path)
    expect_equal(churn.count, binaries, "programs that were started")
    expect_flat(looks)


main()
