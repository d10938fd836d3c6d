# SPDX-License-Identifier: Apache-2.0
"""What gdb and perf --call-graph dwarf see of a program that works for long: how many of its stacks go on to where a thread begins."""
import glob
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


def ticks_of(path):
    """What the process or thread of this directory has run, in clock ticks; 0: it has gone."""
    with contextlib.suppress(OSError), open(f"{path}/stat", encoding="utf-8", errors="replace") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return 0


def busiest(paths, seconds):
    """The number of whom of these directories of processes or threads has run most in the next so many seconds; 0: there is none."""
    before = {path: ticks_of(path) for path in paths}
    time.sleep(seconds)
    path = max(before, key=lambda path: ticks_of(path) - before[path], default="0")
    return int(os.path.basename(path))


def busiest_process(root, who):
    """Of those that descend from ROOT and are called so."""
    paths = [f"/proc/{pid}" for pid in family(root)]
    return busiest([path for path in paths if who.fullmatch(status_of(path).get("Name", ""))], 0.2)


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
        pid = busiest_process(root, who)
        if not pid:
            continue
        try:
            tid, is_code = busiest(glob.glob(f"/proc/{pid}/task/*"), 0.05), code_of(pid)
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
    pid = busiest_process(root, who)
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
            for pid in reversed(family(popen.pid)):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    return f"gdb: {gdb[0]} of {gdb[1]} stops go on to a thread's start; perf --call-graph dwarf: {perf[0]} of {perf[1]} samples"
