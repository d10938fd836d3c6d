# SPDX-License-Identifier: Apache-2.0
"""What gdb and perf --call-graph dwarf see of a program that works for long: how many of its stacks go on to where a thread begins."""
import signal
import subprocess
import time

from place import *  # noqa: F403  (sets the path of the next)
from hp import *

STOPS, PERF_SECONDS = 20, 3
# Its outermost frame, as gdb and perf call it; Go's first, and ld.so's.
START = re.compile(r"_start|_dl_start_user|_dl_start|__start_context|(?:__)?clone3?|start_thread|runtime\.(?:goexit|mstart|rt0_go|mcall|morestack).*|_rt0_amd64.*")
GDB_FRAME = re.compile(r"#\d+ +(?:0x([0-9a-f]+) in )?([^ ]+)")
GDB = ["gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off", "-ex", "set backtrace past-main on",
       "-ex", "set backtrace past-entry on"]


def children_of(pid):
    """It and all that descend from it."""
    found = [pid]
    for tid in glob_tasks(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
                for child in file.read().split():
                    found += children_of(int(child))
        except OSError:
            pass
    return found


def glob_tasks(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def ticks_of(pid):
    """What it has run, in clock ticks; its name."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return 0, ""
    fields = rest.split()
    return int(fields[11]) + int(fields[12]), name


def busiest(root, who):
    """Of the processes that descend from ROOT and are called so the one that ran most lately."""
    before = {pid: ticks_of(pid)[0] for pid in children_of(root)}
    time.sleep(0.2)
    rows = [(ticks_of(pid)[0] - before.get(pid, 0), pid) for pid in children_of(root) if who.fullmatch(ticks_of(pid)[1])]
    return max(rows, default=(0, 0))[1]


def busiest_thread(pid):
    def ticks(tid):
        try:
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])
        except OSError:
            return 0
    before = {tid: ticks(tid) for tid in glob_tasks(pid)}
    time.sleep(0.05)
    return max(((ticks(tid) - was, tid) for tid, was in before.items()), default=(0, str(pid)))[1]


def code_of(pid):
    """A function: is that address in code?"""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        rows = [line.split() for line in file]
    ranges = [[int(end, 16) for end in row[0].split("-")] for row in rows if "x" in row[1]]
    return lambda address: any(start <= address < end for start, end in ranges)


def is_whole(frames, is_code):
    """Where gdb knows nothing it goes through the words of the stack, one by one, until something is a function: no frame may be such a word."""
    return bool(START.fullmatch(frames[-1][2])) and all(is_code(int(match[1], 16)) for match in frames if match[1])


def gdb_sees(root, who):
    """(stops whose stack begins where a thread can, stops)"""
    whole = stops = 0
    for _ in range(STOPS):
        pid = busiest(root, who)
        if not pid:
            continue
        try:
            tid, is_code = busiest_thread(pid), code_of(pid)
        except OSError:
            continue  # it has ended
        said = run([*GDB, "-p", pid, "-ex", f"python [t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == {tid}]",
                    "-ex", "bt 2000"], timeout=120)
        frames = list(filter(None, map(GDB_FRAME.match, said.out.splitlines())))
        stops += bool(frames)
        whole += bool(frames) and is_whole(frames, is_code)
    return whole, stops


def perf_sees(root, who):
    """(samples whose stack begins where a thread can, samples)"""
    path = temp_path("perf.data")
    pid = busiest(root, who)
    # Of who has ended by then it has what there was.
    subprocess.run(["perf", "record", "-q", "-F", "199", "--call-graph", "dwarf,32768", "-o", path, "-p", str(pid), "--", "sleep", str(PERF_SECONDS)],
                   timeout=60, check=False, capture_output=True)
    said = run(["perf", "script", "-i", path, "-F", "ip,sym", "--no-inline"], timeout=600)
    stacks = [block.splitlines() for block in said.out.split("\n\n") if block.strip()]
    lasts = [stack[-1].split(None, 1)[-1].split("+0x")[0] for stack in stacks]
    return sum(1 for last in lasts if START.fullmatch(last.strip())), len(stacks)


def beside(argv, environment, directory, who):
    """Run a program once more, and a line of what both see."""
    who = re.compile(who)
    with subprocess.Popen([str(arg) for arg in argv], env={**environment, "SECS": "120"}, cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as popen:
        try:
            time.sleep(3)
            perf, gdb = perf_sees(popen.pid, who), gdb_sees(popen.pid, who)
        finally:
            for pid in reversed(children_of(popen.pid)):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    return f"gdb: {gdb[0]} of {gdb[1]} stops go on to a thread's start; perf --call-graph dwarf: {perf[0]} of {perf[1]} samples"
