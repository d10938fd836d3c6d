#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-gdb: programs that have no call frame information for hostprof are stopped at random places, and gdb, who reads theirs in a file of
its own (.debug_frame), says the frames. hostprof has the same stack of each stop, since the thread leaves its cpu there (`-e offcpu=0`).

usage: check_gdb.py [--list] [NAME…]

HOSTPROF_STOPS (80) of each of the programs, which are compiled in several ways. Where gdb itself is lost, as in a C library of which it has no debug
information (musl), nothing is judged; that is counted.
"""
import bisect
import collections
import json
import time

from place import *  # noqa: F403  (sets the path of the next)
from hp import *

WORKLOADS = os.path.join(ROOT, "tests", "workloads")
STOPS = int(os.environ.get("HOSTPROF_STOPS", "80"))
LEAST_JUDGED = 500
# Not position-independent: gdb moves only a file whose headers are those of what runs.
NO_CFI = ["-g", "-pthread", "-no-pie", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"]
# (name, compiler and options, stripped, source)
BUILDS = [("calls", ["gcc", "-O2"], False, "nocfi/musl_calls.c"),
          ("calls_stripped", ["gcc", "-O2"], True, "nocfi/musl_calls.c"),
          ("calls_small", ["gcc", "-Os"], True, "nocfi/musl_calls.c"),
          ("calls_far", ["gcc", "-O3", "-mavx2"], True, "nocfi/musl_calls.c"),
          ("calls_musl", ["musl-gcc", "-O2", "-static"], False, "nocfi/musl_calls.c"),
          ("chain", ["gcc", "-O2"], True, "unwind/chain.c"),
          ("chain_plain", ["gcc", "-O0", "-fno-omit-frame-pointer"], True, "unwind/chain.c"),
          ("chain_clang", ["clang", "-O2"], True, "unwind/chain.c"),
          ("realigned", ["gcc", "-O2"], True, "unwind/realigned.c")]

SIGNAL, UNKNOWN = "<signal handler called>", "?"
# The outermost frames, by any name of theirs.
ENDS = re.compile(r"start|clone3?")
# The C library's functions have several names, of which gdb takes another one than hostprof.
ALIASES = [(r"^IO_new_", "IO_"), (r"^libc_(?=free|malloc|calloc|realloc|memalign)", ""), (r"^memmove", "memcpy")]

# gdb goes on, is interrupted some milliseconds later, and writes what it sees.
GDB_SCRIPT = r"""
import gdb, json, os, random, signal, threading, time
gdb.execute('set pagination off')
gdb.execute('set backtrace past-main on')
gdb.execute('set backtrace past-entry on')
gdb.execute('handle SIGINT stop print nopass', to_string=True)
gdb.execute('handle SIGUSR1 nostop noprint pass', to_string=True)
gdb.execute('handle SIGALRM nostop noprint pass', to_string=True)
chance = random.Random(SEED)
with open(OUT, 'w') as out:
    for _ in range(STOPS):
        threading.Timer(chance.uniform(0.002, 0.02), os.kill, (PID, signal.SIGINT)).start()
        gdb.execute('continue', to_string=True)
        stopped_ns = time.monotonic_ns()
        frames, frame = [], gdb.newest_frame()
        while frame is not None:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                frames.append(SIGNAL if frame.type() == gdb.SIGTRAMP_FRAME else frame.name() or UNKNOWN)
            try:
                frame = frame.older()
            except gdb.error:
                frames.append(UNKNOWN)
                break
        time.sleep(0.003)  # a wait that can be told from those of the program itself
        out.write(json.dumps([stopped_ns, gdb.selected_thread().ptid[1], frames]) + '\n')
gdb.execute('detach', to_string=True)
"""


def build(name, command, stripped, source):
    """(program for hostprof, the same for gdb)."""
    if not shutil.which(command[0]):
        skip(f"no {command[0]}")
    directory = temp_dir()
    full, path = os.path.join(directory, f"{name}.full"), os.path.join(directory, name)
    options = [option for option in NO_CFI if f"-fno-{option[2:]}" not in command]
    if command[0] == "clang":
        options.remove("-fno-unwind-tables")
    run([*command[:1], *options, *command[1:], "-o", full, os.path.join(WORKLOADS, source), "-lm"], code=0)
    run(["objcopy", "-S" if stripped else "-g", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", full, path], code=0)
    return path, full


def addresses_of(full):
    """Where each function of the program begins, and their names."""
    rows = sorted((int(words[0], 16), words[2]) for words in map(str.split, run(["nm", full], code=0).out.splitlines())
                  if len(words) == 3 and words[1] in "tTwWi")
    return [at for at, _ in rows], [name for _, name in rows]


def name_in(frame, program, functions):
    """Of a frame of the stream; in the program by its address, as it may have no symbols."""
    if "address" not in frame or os.path.basename(frame.get("module", "")) != os.path.basename(program):
        return frame["name"]
    begins, names = functions
    at = bisect.bisect_right(begins, frame["address"]) - 1
    return names[at] if at >= 0 else "?"


def own_stacks(lines, program, functions):
    """[(left_ns, back_ns, tid, names leaf first, why it is cut)] of all waits."""
    waits, tids = [], {}
    for line in map(json.loads, lines):
        if line["type"] == "thread":
            tids[line["thread"]] = line["tid"]
        if line["type"] != "sample" or line["event"] != "offcpu":
            continue
        user = [frame for frame in line["frames"] if frame["kind"] not in ("kernel", "inlined")]
        why = user[-1]["name"] if user and user[-1]["name"].startswith("[unwind") else ""
        user = user[:-1] if why else user
        waits.append((line["time_ns"], line["time_ns"] + line["weight"], tids[line["thread"]], [name_in(frame, program, functions) for frame in user], why))
    return sorted(waits)


def plain(name):
    """One of a function's names."""
    name = re.sub(r"(?:\.(?:cold|part|constprop|isra)(?:\.\d+)?)+$", "", name).strip("[]").replace("process start", "start")
    name = re.sub(r"^_*(?:GI_)?_*|_impl$", "", name)
    for alias, one in ALIASES:
        name = re.sub(alias, one, name)
    return name


def agree(ours, theirs):
    """Frames of the same functions. A signal's trampoline may have any name."""
    return len(ours) == len(theirs) and all(two == SIGNAL or plain(one) == plain(two) for one, two in zip(ours, theirs))


def check(name, command, stripped, source):
    need_root()
    if not shutil.which("gdb"):
        skip("no gdb")
    program, full = build(name, command, stripped, source)
    functions = addresses_of(full)
    directory = temp_dir()
    running = start([program, STOPS + 60])
    time.sleep(0.3)
    out, script, stream = (os.path.join(directory, each) for each in ("gdb.json", "script.py", "stream.json"))
    write_file(script, f"PID = {running.pid}\nSTOPS = {STOPS}\nSEED = {len(name)}\nOUT = {out!r}\nSIGNAL = {SIGNAL!r}\nUNKNOWN = {UNKNOWN!r}\n{GDB_SCRIPT}")
    recorder = Recorder("-F", 99, "-e", "offcpu=0", "-p", running.pid, "--stream", stream)
    done = subprocess.run(["gdb", "-batch", "-nx", "-ex", f"file {full}", "-ex", f"attach {running.pid}", "-x", script],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    recorder.end()
    running.stop()
    with open(out, encoding="utf-8") as file:
        stops = [json.loads(row) for row in file]
    expect(len(stops) == STOPS, f"gdb stopped {len(stops)} times: {done.stdout.decode('utf-8', 'replace')[-1500:]}")
    with open(stream, encoding="utf-8") as file:
        waits = own_stacks(file, program, functions)
    judge(name, stops, waits)


SUMS = collections.Counter()


def judge(name, stops, waits):
    counts, examples = collections.Counter(), {}
    for stopped_ns, tid, theirs in stops:
        mine = [wait for wait in waits if wait[0] <= stopped_ns <= wait[1] and wait[2] == tid]
        if len(mine) != 1:
            counts["not sampled"] += 1
            continue
        *_, ours, why = mine[0]
        if agree(ours, theirs):
            verdict = "same"
        elif UNKNOWN in theirs or not ENDS.fullmatch(plain(theirs[-1])):
            verdict = "gdb is lost"
        elif not why and len(theirs) > len(ours) and agree(ours, theirs[:len(ours)]):
            verdict = "called whole, and is not"
        else:
            verdict = f"cut {why}" if why else "different"
        counts[verdict] += 1
        if verdict != "same":
            examples.setdefault((verdict, *{plain(two) for one, two in zip(ours, theirs) if two != SIGNAL and plain(one) != plain(two)}), (ours, theirs))
    print(f"# {name}: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    for (what, *_), (ours, theirs) in list(examples.items())[:6]:
        print(f"#   {what}: ours {';'.join(ours)}")
        print(f"#   {' ' * len(what)}  gdb's {';'.join(theirs)}")
    SUMS.update(counts)
    expect(counts["called whole, and is not"] == 0, "a stack is called whole that gdb shows longer")
    # A thread that waits for a lock all the time has its waits thinned.
    sampled = sum(counts.values()) - counts["not sampled"]
    expect(sampled >= 0.5 * len(stops), f"only {sampled} of {len(stops)} stops were sampled")


def register(row):
    def run_one():
        check(*row)
    run_one.__name__ = row[0]
    test(run_one)


for each in BUILDS:
    register(each)


@test
def all_together():
    """The sum: at least 99 in 100 are the same."""
    if not SUMS:
        skip("it judges what other tests of this file record")
    judged = sum(SUMS.values()) - SUMS["not sampled"] - SUMS["gdb is lost"]
    print("# all: " + ", ".join(f"{count} {what}" for what, count in SUMS.most_common()))
    expect(SUMS["same"] >= 0.99 * judged, f"{SUMS['same']} of {judged} are the same")
    expect(judged >= LEAST_JUDGED, f"only {judged} stops are judged")


main()
