#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-programs: a table of real programs. Of each some seconds of load are recorded alone: how many stacks are whole, how
many of these begin where a thread can, how many frames have names, how many were left by rows inferred from code?

usage: check_programs.py [--list] [NAME…]

Debian's packages that a program needs are installed, where apt-get may; one that cannot be had is skipped. HOSTPROF_PROGRAM_SECONDS (8) is
the time of each, HOSTPROF_GOS has the roots of more Go toolchains. With HOSTPROF_REAL_KEEP=DIR stacks and figures stay there. With
HOSTPROF_PEERS each is run again, and gdb and perf --call-graph dwarf say what they see of it; no judge goes by that.
"""
import collections

from place import *  # noqa: F403  (sets the path of the next)
from hp import *
from hp_memory import MB, MemoryWatch, together
from kinds import KINDS, PRELUDE, command_of
from peers import beside
from programs import free_port

SECONDS = int(os.environ.get("HOSTPROF_PROGRAM_SECONDS", "8"))
KEEP = os.environ.get("HOSTPROF_REAL_KEEP")
FREQUENCY = 997
# As deep as can be: Go's compiler and OCaml's programs recurse.
MAX_DEPTH = 2048
# The aims: whole stacks, plausible roots of these; of frames with names kinds/kind.py says it.
WHOLE, PLAUSIBLE = 0.999, 0.999
# Fewer samples show nothing.
LEAST_SAMPLES = 300

# What a thread's outermost frame may be. hostprof has a list of its own (profile/roots.c), which this one judges. mcall and morestack
# are where Go's own tracebacks end (traceback.go, topofstack()): the scheduler has left a goroutine. Below morestack it does so only there:
START = re.compile(r"_start|_dl_start_user|_dl_start|__start_context|(?:__)?clone3?|runtime\.(?:goexit|mstart|rt0_go|clone|mcall|morestack)(?:\.abi0)?|"
                   r"_rt0_amd64(?:_linux)?(?:\.abi0)?|\[(?:thread|process) start\]|coroutine_trampoline")
LEAVES = re.compile(r"runtime\.(?:gopreempt_m|preemptPark)")
# Neither a name nor a place in a file.
NAMELESS = re.compile(r"\[(?:anon|unknown|heap|stack|JIT|vdso|evicted|interpreted)[^\]]*\]")
PLACE_IN_FILE = re.compile(r"\[.*\+0x[0-9a-f]+\]")
CUT = re.compile(r"\[unwind: (.*)\]")
ROWS = {}


def is_start(frames):
    if not START.fullmatch(frames[0]):
        return False
    return not frames[0].startswith("runtime.morestack") or any(LEAVES.fullmatch(frame) for frame in frames[1:3])


class Row:
    """What one program's samples came to."""

    def __init__(self, lines, stats, peak):
        self.counts, self.reasons, self.examples = collections.Counter(), collections.Counter(), {}
        for line in lines:
            self._add(plain_user(line.frames), line.count)
        counters = {row["name"]: row["value"] for row in stats["counters"]}
        left = sum(counters.get(f"unwind.frames.{name}", 0) for name in ("row", "frame-pointer", "jit", "java"))
        self.inferred = counters.get("unwind.frames.inferred", 0) / max(left, 1)
        self.lost = stats["lost"]
        self.peak_bytes, self.limit_bytes = together(peak), stats["memory_limit_bytes"]

    def _add(self, frames, count):
        cut = frames and CUT.fullmatch(frames[0])
        frames = frames[1:] if cut else frames
        if not frames:
            return
        counts = self.counts
        counts["samples"] += count
        counts["frames"] += count * len(frames)
        counts["nameless"] += count * sum(1 for frame in frames if NAMELESS.fullmatch(frame))
        counts["places"] += count * sum(1 for frame in frames if PLACE_IN_FILE.fullmatch(frame))
        if cut:
            self._note(cut[1], frames, count)
            return
        counts["whole"] += count
        if is_start(frames):
            counts["plausible"] += count
        else:
            self._note(f"root {frames[0]}", frames, count)

    def _note(self, why, frames, count):
        self.reasons[why] += count
        key = why, frames[0], frames[-1]
        self.examples[key] = (self.examples.get(key, (0,))[0] + count, ";".join(frames))

    def share(self, part, whole="samples"):
        return self.counts[part] / max(self.counts[whole], 1)

    def faults(self, kind):
        """What is below the aims; what is listed as impossible must still not be called whole."""
        counts = self.counts
        if counts["samples"] < LEAST_SAMPLES:
            yield f"only {counts['samples']} samples"
        whole = kind.least if kind.impossible else WHOLE
        if counts["samples"] - counts["whole"] > (1 - whole) * counts["samples"] + 3:
            yield f"{100 * self.share('whole'):.2f} % are whole, not {100 * whole:.1f}"
        if counts["whole"] - counts["plausible"] > (1 - PLAUSIBLE) * counts["whole"] + 3:
            yield f"{counts['whole'] - counts['plausible']} of {counts['whole']} that are called whole begin nowhere"
        if not kind.impossible and counts["nameless"] > (1 - kind.named) * counts["frames"]:
            yield f"{100 * self.share('nameless', 'frames'):.1f} % of frames have no name"
        if self.peak_bytes > self.limit_bytes:
            yield f"hostprof had {self.peak_bytes / MB:.1f} MB, more than --memory-limit"

    def line(self):
        counts = self.counts
        reasons = ", ".join(f"{why} {count}" for why, count in self.reasons.most_common(3))
        return (f"{counts['samples']:7} {100 * self.share('whole'):8.3f} {100 * self.share('plausible', 'whole'):8.3f} "
                f"{100 * (1 - self.share('nameless', 'frames')):7.2f} "
                f"{100 * (1 - (counts['nameless'] + counts['places']) / max(counts['frames'], 1)):7.2f} {100 * self.inferred:8.2f} "
                f"{counts['frames'] / max(counts['samples'], 1):7.1f} {self.lost:5} {self.peak_bytes / MB:6.1f}  {reasons}")


# --- having and running one -------------------------------------------------------------------------


def is_there(command):
    return os.path.exists(command) if command.startswith("/") else shutil.which(command)


def have(kind):
    """Install what is not there, or skip."""
    missing = [name for command, name in map(command_of, kind.packages) if not is_there(command)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        skip(f"no {', '.join(missing)}")
    done = run(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "install", "-y", "--no-install-recommends", *missing], timeout=900)
    if done.code:
        skip(f"no {', '.join(missing)}: {(done.err.strip().splitlines() or ['?'])[-1]}")


def shell(directory, text):
    path = os.path.join(directory, "run.sh")
    write_file(path, PRELUDE + text)
    return ["sh", "-eu", path]


def remove_maps(directory):
    """What programs that make code say of it."""
    path = os.path.join(directory, "pid")
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            pid = int(file.read())
        for name in (f"perf-{pid}.map", f"jit-{pid}.dump"):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join("/tmp", name))


def recorded(kind):
    directory = temp_dir()
    env = {**os.environ, **kind.environment, "HERE": REAL, "DIR": directory, "SECS": str(SECONDS), "PORT": str(free_port()), "HOSTPROF": HOSTPROF}
    env["PATH"] += ":/usr/sbin:/usr/local/sbin"
    made = run(shell(directory, f"cd {directory}\n{kind.make}"), env=env, cwd=directory, timeout=300)
    if made.code:
        skip(f"it cannot be made: {(made.err.strip().splitlines() or made.out.strip().splitlines() or ['?'])[-1]}")
    path, stats = temp_path("x.jfr"), temp_path("stats.json")
    argv = shell(directory, f"cd {directory}\n{kind.script}")
    recorder = start([HOSTPROF, "record", "-F", FREQUENCY, "--max-depth", MAX_DEPTH, "-d", SECONDS + 20, "-o", path, "--stats", stats, "--", *argv],
                     env=env, cwd=directory, stderr=subprocess.STDOUT)
    watch = MemoryWatch(recorder.pid, step=0.1, helpers=True)
    recorder.finish(SECONDS + 90, code=None)
    peak = watch.finish()
    remove_maps(directory)
    peers = beside(argv, env, directory, kind.who) if os.environ.get("HOSTPROF_PEERS") else ""
    lines = collapsed(path, "--annotate")
    who = re.compile(rf"(?:{kind.who})-\d+")
    if KEEP:
        os.makedirs(KEEP, exist_ok=True)
        for suffix, text in (("json", json.dumps(read_json(stats))), ("collapsed", "\n".join(f"{x.process};{';'.join(x.frames)} {x.count}" for x in lines))):
            write_file(os.path.join(KEEP, f"{test_name(kind)}.{suffix}"), text)
    return Row([line for line in lines if who.fullmatch(line.process)], read_json(stats), peak), peers


# --- what it shows ----------------------------------------------------------------------------------

TITLE = (f"# {'program':22} {'samples':>7} {'whole %':>8} {'starts %':>8} {'named %':>7} {'symb. %':>7} {'inferr %':>8} "
         f"{'frames':>7} {'lost':>5} {'MB':>6}  reasons")


def print_row(kind, row):
    print(f"# {kind.name:22} {row.line()}", flush=True)


def check_kind(kind):
    need_root()
    have(kind)
    row, peers = recorded(kind)
    ROWS[kind.name] = kind, row
    print(TITLE)
    print_row(kind, row)
    for (why, *_), (count, stack) in sorted(row.examples.items(), key=lambda each: -each[1][0])[:6]:
        print(f"#   {count} {why}: {stack if len(stack) < 700 else stack[:350] + ' … ' + stack[-350:]}")
    for why in filter(None, (kind.impossible, kind.nameless)):
        print(f"#   listed: {why}")
    if peers:
        print(f"#   beside: {peers}")
    faults = list(row.faults(kind))
    expect(not faults, "; ".join(faults))


def test_name(kind):
    return re.sub(r"\W+", "_", kind.name).strip("_")


def register(kind):
    def check():
        check_kind(kind)
    check.__name__ = test_name(kind)
    test(check)


for each in KINDS:
    register(each)


@test
def all_together():
    """The table of what was recorded before, and those that the docs list as impossible."""
    if not ROWS:
        skip("it shows what other tests of this file record")
    print(TITLE)
    for kind, row in ROWS.values():
        print_row(kind, row)
    for kind, row in ROWS.values():
        if kind.impossible:
            print(f"# impossible: {kind.name}, {100 * row.share('whole'):.1f} % whole: {kind.impossible}")
        if kind.nameless:
            print(f"# impossible: {kind.name}, {100 * (1 - row.share('nameless', 'frames')):.1f} % named: {kind.nameless}")


main()
